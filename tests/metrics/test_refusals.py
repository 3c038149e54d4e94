"""Statistics on numbers that are missing, infinite or too few are refused, not computed."""

import numpy as np
import pytest

from cselab.metrics import alignment, effective_rank, feature_correlation, mean_cosine, uniformity
from cselab.metrics.agreement import matched, normalized_mutual_information
from cselab.metrics.degenerate import DegenerateEmbeddings
from cselab.metrics.geometry import diversity, rank, sampled_uniformity, token_contributions
from cselab.metrics.rank_bottleneck import barlow_twins_floor, dimension_contrastive_floor
from cselab.metrics.ranking import holm, rank_means, rank_predictions, step_down
from cselab.metrics.significance import (
    UndefinedCorrelation,
    bootstrap_interval,
    correlation,
    mcnemar,
    paired_bootstrap,
    paired_t_test,
    score,
)

MEASURES = (uniformity, mean_cosine, feature_correlation, effective_rank)
SAMPLED = (*MEASURES, rank, sampled_uniformity)
GOLD = np.linspace(0, 5, 20)
GOOD = np.random.default_rng(0).normal(size=20)


def without(values, bad, place=3):
    return np.where(np.arange(len(values)) == place, bad, values)


NONE, ONES, CLOUD = np.zeros(0, dtype=int), np.ones((9, 4)), np.random.default_rng(1).normal(size=(9, 4))
FEW = GOOD[:9]
REFUSED = {
    ValueError: [
        (lambda: correlation(GOOD, GOLD[:15]), "20 predictions of 15 rows"),
        (lambda: bootstrap_interval(GOOD, GOLD[:15]), "20 predictions of 15 rows"),
        (lambda: mcnemar(np.arange(20), np.arange(20), np.arange(15)), "20 and 20 predictions of 15 rows"),
        (lambda: paired_bootstrap(GOOD, GOOD[:4], GOLD), "20 and 4 predictions of 20 rows"),
        (lambda: correlation(GOOD, GOLD, "kendall"), "metric is 'kendall'.*'spearman' or 'pearson'"),
        (lambda: bootstrap_interval(FEW, FEW), "at least 10 rows.*got 9"),
        (lambda: paired_bootstrap(FEW, FEW, FEW), "at least 10 rows.*got 9"),
        (lambda: rank_predictions(np.stack([FEW, FEW]), FEW), "at least 10 rows.*got 9"),
        (lambda: paired_t_test([1.0, 2.0], [2.0, 3.0]), "no spread"),
        (lambda: paired_t_test([1.0], [2.0]), "at least two; got"),
        (lambda: rank_means(np.array([[1e308, 1.0], [2.0, 3.0]])), r"a score of 1e\+308"),
        (lambda: rank_means(np.ones((1, 5))), "at least two systems"),
        (lambda: rank_means(np.ones((3, 1))), "two shared units"),
        (lambda: rank_means(np.array([[1, np.nan]] * 2)), "2 of the 4 scores"),
        *((lambda p=p: holm(np.array(p)), "between 0 and 1") for p in ([2.0, 0.1], [-0.1, 0.5], [np.nan, 0.5])),
        (lambda: matched(NONE, NONE), "no rows"),
        (lambda: normalized_mutual_information(NONE, NONE), "no rows"),
        (lambda: token_contributions(np.ones((1, 2)), np.ones((1, 3))), "width 2 and of width 3"),
        (lambda: alignment(ONES, ONES[:3]), r"x is \(9, 4\), y is \(3, 4\)"),
        (lambda: barlow_twins_floor(0, 1, 0.1), "dimensions is 0.*at least 1"),
        (lambda: barlow_twins_floor(4, 0, 0.1), "rank is 0.*at least 1"),
        (lambda: barlow_twins_floor(4, 2, 2.0), "weight is 2.0.*from 0 to 1"),
        (lambda: dimension_contrastive_floor(1, 5.0), "dimensions is 1.*at least 2"),
        (lambda: dimension_contrastive_floor(4, 0.0), r"temperature is 0\.0.*above 0"),
        (lambda: diversity([CLOUD]), "1 given, 2 needed"),
    ],
    DegenerateEmbeddings: [
        (lambda: token_contributions(np.array([[1.0], [-1.0]]), np.ones((1, 1))), "mean of the token vectors is zero"),
        (lambda: token_contributions(np.ones((0, 2)), np.ones((1, 2))), "0 embeddings; at least 1"),
        (lambda: effective_rank(0.1 * ONES), "all 9 embeddings are the same vector"),
        (lambda: feature_correlation(CLOUD * [1, 0, 0, 0]), "fewer than two dimensions change"),
        (lambda: diversity([CLOUD, 0 * CLOUD]), "zero vectors"),
        *(
            (lambda f=f: f(without(CLOUD[:, 0], 0.0)[:, None]), "1 embeddings are zero")
            for f in (uniformity, mean_cosine)
        ),
        *((lambda f=f: f(CLOUD[:1]), "1 embeddings; at least 2") for f in (*MEASURES, rank)),
        *((lambda f=f, b=b: f(CLOUD * [1, b, 1, 1]), "not finite") for f in SAMPLED for b in (np.nan, np.inf)),
    ],
    UndefinedCorrelation: [
        (lambda: correlation(GOOD, 0.3 * np.ones(20)), "all the same"),
        (lambda: correlation(0.3 * np.ones(20), GOOD), "all the same"),
        (lambda: paired_bootstrap(GOOD, GOLD, np.zeros(20)), "no correlation"),
    ],
}


@pytest.mark.parametrize(("kind", "call", "said"), [(kind, *case) for kind in REFUSED for case in REFUSED[kind]])
def test_metrics_refuse_what_has_no_value(kind, call, said):
    with pytest.raises(kind, match=said):
        call()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(
    "statistic",
    [
        lambda bad: correlation(bad, GOLD),
        lambda bad: correlation(GOOD, bad),
        lambda bad: correlation(bad, GOLD, "pearson"),
        lambda bad: score(bad, GOLD),
        lambda bad: bootstrap_interval(bad, GOLD),
        lambda bad: bootstrap_interval(GOOD, bad),
        lambda bad: paired_bootstrap(bad, GOOD, GOLD),
        lambda bad: paired_bootstrap(GOOD, bad, GOLD),
        lambda bad: paired_bootstrap(GOOD, GOOD, bad),
        lambda bad: paired_t_test(bad.tolist(), GOOD.tolist()),
        lambda bad: paired_t_test(GOOD.tolist(), bad.tolist()),
        lambda bad: rank_means(np.stack([bad, GOOD])),
        lambda bad: rank_predictions(np.stack([bad, GOOD]), GOLD),
        lambda bad: rank_predictions(np.stack([GOOD, GOLD]), bad),
    ],
)
def test_a_number_that_is_not_finite_is_refused_with_its_place(statistic, bad):
    with pytest.raises(ValueError, match=r"1 of the \d+ .* are not finite .* the first at \[.*3\]"):
        statistic(without(GOOD, bad))


def test_resamples_without_a_correlation_do_not_shrink_a_p_value():
    """One row alone differs in the gold scores, so a third of the resamples have no correlation."""
    gold = without(np.zeros(20), 1.0)
    first, second = without(GOOD, -5.0), without(GOOD, 5.0)
    found = paired_bootstrap(first, second, gold)
    with_row = 1 - (1 - 1 / 20) ** 20
    assert found.p_value == pytest.approx(2 / (1000 * with_row + 1), rel=0.1)


def test_adjusted_p_values_never_fall_along_the_ordered_tests():
    """Without the monotone step the second would be 0.03, below the first, in Holm's; 1/11 in step_down."""
    assert holm(np.array([0.02, 0.03])).tolist() == [0.04, 0.04]
    null = np.array([[2.5, 0.1]] * 5 + [[0.1, 0.1]] * 5)
    assert step_down(np.array([2.0, 1.0]), [null]).tolist() == pytest.approx([6 / 11, 6 / 11])
