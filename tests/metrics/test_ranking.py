"""Rankings of systems: what is equal is seldom told apart, what differs is; intervals hold the ranks that are true."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import false_discovery_control, ttest_rel

from cselab.metrics import holm, rank_means, rank_predictions
from cselab.metrics.ranking import step_down


def tables(systems, units, count, gap=0.0, seed=0):
    """Scores of systems whose true means lie `gap` apart, with units of unlike difficulty and unlike noise."""
    draw = np.random.default_rng(seed)
    for _ in range(count):
        noise = draw.uniform(0.5, 3, size=(systems, 1)) * draw.standard_t(5, size=(systems, units))
        yield gap * np.arange(systems)[:, None] + 5 * draw.normal(size=units) + noise


@pytest.mark.parametrize("units", [3, 5, 12, 40])
def test_systems_that_are_equal_share_all_ranks_in_95_of_100_tables(units):
    wrong = sum(
        rank_means(scores, resamples=300, seed=number).intervals != [(1, 6)] * 6
        for number, scores in enumerate(tables(6, units, 200))
    )
    assert wrong <= 18  # 10 are expected at the most; the binomial's 99th percentile is 18


def test_the_true_ranks_lie_within_all_intervals_at_once_in_95_of_100_tables():
    held = 0
    for number, scores in enumerate(tables(5, 20, 100, gap=1.0)):
        ranks = rank_means(scores, resamples=300, seed=number).intervals
        held += all(low <= 5 - place <= high for place, (low, high) in enumerate(ranks))
    assert held >= 90


@pytest.mark.parametrize("units", [4, 30])
def test_what_differs_widely_is_told_apart_and_order_of_rows_does_not_matter(units):
    (scores,) = tables(4, units, 1, gap=40.0)
    found = rank_means(scores, resamples=500)
    assert found.intervals == [(4, 4), (3, 3), (2, 2), (1, 1)]
    assert found.groups == [[3], [2], [1], [0]] and found.tied_neighbours == (0, 3)
    shuffled = rank_means(scores[[2, 0, 3, 1]], resamples=500)
    assert_allclose(shuffled.p_values, found.p_values[np.ix_([2, 0, 3, 1], [2, 0, 3, 1])])


def test_of_few_units_the_p_values_are_those_of_paired_t_tests_by_holm():
    (scores,) = tables(3, 5, 1, gap=2.0, seed=4)
    pairs = [(0, 1), (0, 2), (1, 2)]
    raw = [ttest_rel(scores[one], scores[other]).pvalue for one, other in pairs]
    found = rank_means(scores)
    assert_allclose([found.p_values[pair] for pair in pairs], holm(np.array(raw)))


def test_holm_is_the_formula_and_never_below_benjamini_and_hochberg():
    p_values = np.random.default_rng(1).uniform(size=20) ** 3
    order, reached, slow = sorted(range(20), key=p_values.__getitem__), 0.0, np.empty(20)
    for place, one in enumerate(order):
        reached = slow[one] = max(reached, min(1.0, (20 - place) * p_values[one]))
    assert_allclose(holm(p_values), slow)
    assert (holm(p_values) >= false_discovery_control(p_values) - 1e-12).all()


def test_step_down_of_one_statistic_is_its_share_of_chance_and_of_several_no_less():
    null = np.abs(np.random.default_rng(2).normal(size=(999, 3)))
    assert step_down(np.array([2.0]), null[:, :1])[0] == (1 + (null[:, 0] >= 2).sum()) / 1000
    alone = [step_down(np.array([value]), null[:, [k]])[0] for k, value in enumerate((2.0, 3.0, 0.5))]
    together = step_down(np.array([2.0, 3.0, 0.5]), null)
    assert (together >= alone).all() and together[1] <= together[0] <= together[2]


def test_predictions_that_follow_gold_better_rank_higher_and_copies_tie():
    draw = np.random.default_rng(3)
    gold = draw.normal(size=400)
    good, bad = gold + 0.3 * draw.normal(size=400), draw.normal(size=400)
    found = rank_predictions(np.stack([bad, good, good**3]), gold, resamples=200)
    assert found.intervals == [(3, 3), (1, 2), (1, 2)]  # ranks do not see a cube
    assert [sorted(group) for group in found.groups] == [[1, 2], [0]]


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        (np.ones((1, 5)), "at least two systems"),
        (np.ones((3, 1)), "two shared units"),
        (np.array([[1, np.nan]] * 2), "2 of the 4 scores"),
    ],
)
def test_what_cannot_be_ranked_is_refused_with_the_reason(scores, said):
    with pytest.raises(ValueError, match=said):
        rank_means(scores)
