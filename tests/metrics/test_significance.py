import math

import numpy as np
import pytest
from drawn import noisy
from scipy import stats

from cselab.metrics.significance import (
    UndefinedCorrelation,
    _ranks_of_drawn,
    accuracy,
    bootstrap_interval,
    correlation,
    mcnemar,
    paired_bootstrap,
    paired_t_test,
    runs_interval,
    score,
)


@pytest.mark.parametrize("levels", [None, 1, 3])
def test_correlations_are_scipys(levels):
    both = noisy(levels=levels)
    assert correlation(*both) == pytest.approx(stats.spearmanr(*both).statistic, rel=1e-12)
    assert correlation(*both, "pearson") == pytest.approx(stats.pearsonr(*both).statistic, rel=1e-12)


SCALES = (1e-300, 1e-160, 1e-30, 1e-9, 1e9, 1e150, 1e300)
KINDS = {
    "float16": np.float16,
    "float32": np.float32,
    "int8": np.int8,
    "int64": np.int64,
    "bool": bool,
    "uint8": np.uint8,
}


@pytest.mark.parametrize("scale", SCALES)
def test_scale_and_offset_change_no_correlation(scale):
    draw = np.random.default_rng(5)
    x, y = draw.normal(size=50), draw.normal(size=50)
    for metric in ("pearson", "spearman"):
        expected, interval = correlation(x, y, metric), bootstrap_interval(x, y, metric, resamples=50)
        assert correlation(x * scale, y, metric) == pytest.approx(expected, abs=1e-12)
        assert correlation(x, y * scale, metric) == pytest.approx(expected, abs=1e-12)
        assert bootstrap_interval(scale * x, y, metric, resamples=50) == pytest.approx(interval, abs=1e-12)
    assert correlation(x + 1e6, y, "pearson") == pytest.approx(correlation(x, y, "pearson"), abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_the_type_of_the_numbers_changes_no_correlation(kind):
    draw = np.random.default_rng(5)
    x, y = draw.integers(0, 100, 3000).astype(KINDS[kind]), draw.integers(0, 5, 3000)
    y = y + x.astype(int)
    for metric, of_scipy in (("pearson", stats.pearsonr), ("spearman", stats.spearmanr)):
        assert correlation(x, y, metric) == pytest.approx(of_scipy(x.astype(float), y).statistic, abs=1e-12)


@pytest.mark.parametrize("value", [0.0, 0.1, 1 / 3, 1e-300, 1e300, -7.7])
@pytest.mark.parametrize("metric", ["pearson", "spearman"])
def test_a_constant_side_has_no_interval(metric, value):
    same, gold = np.full(30, value), np.arange(30.0)
    for sides in ((same, gold), (gold, same)):
        with pytest.raises(UndefinedCorrelation):
            bootstrap_interval(*sides, metric, resamples=20)
    nearly = same.copy()
    nearly[0] += 1.0 if abs(value) < 1e10 else value / 2
    low, high = bootstrap_interval(nearly, gold, metric, resamples=200)
    assert -1 <= low <= high <= 0


def test_strata_are_weighted_by_their_shares():
    predicted, gold = noisy(n=100)
    parts = [np.arange(30), np.arange(30, 100)]
    each = [correlation(predicted[rows], gold[rows]) for rows in parts]
    found = score(predicted, gold, strata=[(parts[0], 0.25), (parts[1], 0.75)])
    assert found == pytest.approx(0.25 * each[0] + 0.75 * each[1])


@pytest.mark.parametrize("metric", ["spearman", "pearson"])
def test_a_resample_is_scored_as_scipy_scores_its_rows(metric):
    predicted, gold = noisy(n=40, levels=2)
    drawn = np.random.default_rng(7).integers(40, size=(1, 40)).ravel()
    interval = bootstrap_interval(predicted, gold, metric, resamples=1, seed=7)
    reference = {"spearman": stats.spearmanr, "pearson": stats.pearsonr}[metric]
    expected = reference(predicted[drawn], gold[drawn]).statistic
    assert interval == pytest.approx((expected, expected), rel=1e-12)


def test_the_interval_is_as_wide_as_theory_says():
    both = noisy(n=400)
    r = correlation(*both, "pearson")
    low, high = bootstrap_interval(*both, "pearson", resamples=2000)
    half = 1.96 / math.sqrt(400 - 3)
    assert low == pytest.approx(math.tanh(math.atanh(r) - half), abs=0.015)
    assert high == pytest.approx(math.tanh(math.atanh(r) + half), abs=0.015)


def test_the_bootstrap_is_drawn_from_its_seed():
    assert bootstrap_interval(*noisy(), seed=3) == bootstrap_interval(*noisy(), seed=3)
    assert bootstrap_interval(*noisy(), seed=3) != bootstrap_interval(*noisy(), seed=4)


def test_an_encoder_does_not_differ_from_itself():
    predicted, gold = noisy()
    comparison = paired_bootstrap(predicted, predicted, gold)
    assert comparison.difference == 0 and comparison.interval == (0, 0) and comparison.p_value == 1


def test_the_paired_bootstrap_finds_nothing_in_noise_about():
    """The paired bootstrap finds nothing in noise about 95 times in 100."""
    found = 0
    for seed in range(100):
        first, gold = noisy(n=80, seed=seed)
        other = gold + np.random.default_rng(1000 + seed).normal(size=80)
        found += paired_bootstrap(first, other, gold, resamples=200).p_value < 0.05
    assert found <= 12


# ------------------------------------------------------------------------------------ classes


GOLD = np.arange(300) % 3
BY = {"metric": "accuracy"}


def classified(right):
    """Classes that are right where it is said so; the true classes are 0, 1, 2, 0, ..."""
    gold = np.arange(len(right)) % 3
    return np.where(right, gold, (gold + 1) % 3)


def folds(n, k):
    return [(rows, 1 / k) for rows in np.array_split(np.arange(n), k)]


def drawn(share, n=300, seed=0):
    return np.random.default_rng(seed).random(n) < share


def test_accuracy_is_the_mean_over_the_folds():
    right = np.array([1, 1, 1, 0, 0], dtype=bool)
    both = classified(right), GOLD[:5]
    assert accuracy(*both) == 3 / 5
    assert score(*both, **BY) == pytest.approx(3 / 5)
    assert score(*both, **BY, strata=folds(5, 2)) == pytest.approx((1 + 0) / 2)


def test_a_resample_of_classes_is_drawn_within_the_folds():
    right = drawn(0.7, n=31)
    strata = folds(31, 2)
    generator = np.random.default_rng(5)
    expected = sum(0.5 * right[rows][generator.integers(len(rows), size=len(rows))].mean() for rows, _ in strata)
    found = bootstrap_interval(classified(right), GOLD[:31], **BY, strata=strata, resamples=1, seed=5)
    assert found == pytest.approx((expected, expected))


def test_the_paired_interval_of_accuracies_is_as_wide():
    """The paired interval of accuracies is as wide as theory says."""
    first, second = drawn(0.7, n=2000), drawn(0.75, n=2000, seed=1)
    gold = np.arange(2000) % 3
    comparison = paired_bootstrap(classified(first), classified(second), gold, **BY, resamples=4000)
    difference = second.astype(float) - first
    half = 1.96 * difference.std() / math.sqrt(2000)
    assert comparison.difference == pytest.approx(100 * difference.mean())
    expected = (100 * (difference.mean() - half), 100 * (difference.mean() + half))
    assert comparison.interval == pytest.approx(expected, abs=0.15)


@pytest.mark.parametrize("b, c", [(4, 12), (12, 4), (1, 0), (7, 7)])
def test_mcnemar_is_the_binomial_test_of_the_rows(b, c):
    """Mcnemar is the binomial test of the rows that one alone has right."""
    first = classified(np.array([1] * b + [0] * c + [1] * 30 + [0] * 14, dtype=bool))
    second = classified(np.array([0] * b + [1] * c + [1] * 30 + [0] * 14, dtype=bool))
    n = b + c + 44
    comparison = mcnemar(first, second, GOLD[:n], "toy")
    fewer = sum(math.comb(b + c, k) for k in range(min(b, c) + 1)) / 2 ** (b + c)
    assert comparison.p_value == pytest.approx(min(1, 2 * fewer))
    assert comparison.difference == pytest.approx(100 * (c - b) / n)
    low, high = comparison.interval
    assert low <= comparison.difference <= high
    if min(b, c):  # at a bound of the share, each tail beyond what was found holds 2.5 %
        share = (low / 100 * n / (b + c) + 1) / 2
        assert stats.binom.sf(c - 1, b + c, share) == pytest.approx(0.025)
    assert comparison.samples == n
    assert str(comparison).startswith("toy: ") and "McNemar's exact test over" in str(comparison)


def test_encoders_that_are_right_on_the_same_rows_do_not_differ():
    comparison = mcnemar(classified(drawn(0.7)), classified(drawn(0.7)), GOLD)
    assert (comparison.difference, comparison.interval, comparison.p_value) == (0, (0, 0), 1)


def test_the_t_test_over_seeds_is_scipys():
    first, second = [70.0, 71.0, 69.5], [71.2, 71.9, 71.0]
    comparison = paired_t_test(first, second, name="simcse, focal")
    assert comparison.p_value == pytest.approx(stats.ttest_rel(second, first).pvalue)
    assert comparison.difference == pytest.approx(1.2)
    mean, error = 1.2, np.std([1.2, 0.9, 1.5], ddof=1) / math.sqrt(3)
    half = stats.t.ppf(0.975, df=2) * error
    assert comparison.interval == pytest.approx((mean - half, mean + half))
    assert str(comparison).startswith("simcse, focal: +1.20 (95 % interval +0.45 to +1.95), p = 0.0")


def test_the_interval_of_runs_holds_the_chance_of_rows():
    """The interval of runs holds the chance of rows and of seeds."""
    rows, runs = (drawn(0.7, 1000), np.stack([drawn(share, 1000, seed) for seed, share in enumerate((0.6, 0.8))]))
    low, high = runs_interval(rows[None], resamples=4000)
    half = 1.96 * rows.std() / math.sqrt(1000)
    assert (low, high) == pytest.approx((rows.mean() - half, rows.mean() + half), abs=0.003)
    low, high = runs_interval(runs)  # half of the draws are of one run alone
    assert low < runs[0].mean() and runs[1].mean() < high


@pytest.mark.parametrize("kind", ["distinct", "tied", "constant", "broken"])
def test_ranks_of_resampled_rows_are_those_of_ranking_each_anew(kind):
    generator = np.random.default_rng(0)
    values = {
        "distinct": generator.normal(size=40),
        "tied": generator.integers(0, 6, size=40) / 5,
        "constant": np.full(40, 2.5),
        "broken": np.where(np.arange(40) == 3, np.nan, generator.normal(size=40)),
    }[kind]
    drawn = generator.integers(40, size=(30, 40))
    np.testing.assert_array_equal(_ranks_of_drawn(values, drawn), stats.rankdata(values[drawn], axis=1))
