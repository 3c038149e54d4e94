import math

import numpy as np
import pytest
from scipy import stats

from cselab.evaluators import Scores
from cselab.evaluators.records import Outcome
from cselab.evaluators.significance import (
    UndefinedCorrelation,
    bootstrap_interval,
    compare,
    correlation,
    paired_bootstrap,
    paired_t_test,
    stratified_correlation,
)


def noisy(n=200, noise=1.0, seed=0, levels=None):
    """Gold scores and predictions that follow them; with levels, both with ties."""
    generator = np.random.default_rng(seed)
    gold = generator.normal(size=n)
    predicted = gold + noise * generator.normal(size=n)
    if levels:
        gold, predicted = np.round(gold * levels) / levels, np.round(predicted * levels) / levels
    return Outcome(predicted, gold, [(np.arange(n), 1.0)])


@pytest.mark.parametrize("levels", [None, 1, 3])
def test_correlations_are_scipys(levels):
    outcome = noisy(levels=levels)
    assert correlation(outcome.predicted, outcome.gold) == pytest.approx(
        stats.spearmanr(outcome.predicted, outcome.gold).statistic, rel=1e-12
    )
    assert correlation(outcome.predicted, outcome.gold, "pearson") == pytest.approx(
        stats.pearsonr(outcome.predicted, outcome.gold).statistic, rel=1e-12
    )


@pytest.mark.parametrize("side", [0, 1])
def test_a_constant_side_has_no_correlation(side):
    sides = [np.arange(5.0), np.arange(5.0)]
    sides[side] = np.full(5, 0.3)
    with pytest.raises(UndefinedCorrelation, match="all the same"):
        correlation(*sides)


def test_an_unknown_metric_lists_the_known():
    with pytest.raises(ValueError, match="unknown metric 'kendall'; the metrics are: spearman, pearson"):
        correlation(np.arange(3.0), np.arange(3.0), "kendall")


def test_strata_are_weighted_by_their_shares():
    outcome = noisy(n=100)
    parts = [np.arange(30), np.arange(30, 100)]
    each = [correlation(outcome.predicted[rows], outcome.gold[rows]) for rows in parts]
    split = Outcome(outcome.predicted, outcome.gold, [(parts[0], 0.25), (parts[1], 0.75)])
    assert stratified_correlation(split) == pytest.approx(0.25 * each[0] + 0.75 * each[1])


@pytest.mark.parametrize("metric", ["spearman", "pearson"])
def test_a_resample_is_scored_as_scipy_scores_its_rows(metric):
    outcome = noisy(n=40, levels=2)
    drawn = np.random.default_rng(7).integers(40, size=(1, 40)).ravel()
    interval = bootstrap_interval(outcome, metric, resamples=1, seed=7)
    reference = {"spearman": stats.spearmanr, "pearson": stats.pearsonr}[metric]
    expected = reference(outcome.predicted[drawn], outcome.gold[drawn]).statistic
    assert interval == pytest.approx((expected, expected), rel=1e-12)


def test_the_interval_is_as_wide_as_theory_says():
    outcome = noisy(n=400)
    r = correlation(outcome.predicted, outcome.gold, "pearson")
    low, high = bootstrap_interval(outcome, "pearson", resamples=2000)
    half = 1.96 / math.sqrt(400 - 3)
    assert low == pytest.approx(math.tanh(math.atanh(r) - half), abs=0.015)
    assert high == pytest.approx(math.tanh(math.atanh(r) + half), abs=0.015)


def test_the_interval_covers_the_true_correlation_about_95_times_in_100():
    truth = 1 / math.sqrt(2)
    covered = 0
    for seed in range(200):
        low, high = bootstrap_interval(noisy(n=100, seed=seed), "pearson", resamples=200, seed=seed)
        covered += low < truth < high
    assert 0.89 <= covered / 200 <= 0.99


def test_the_bootstrap_is_drawn_from_its_seed():
    assert bootstrap_interval(noisy(), seed=3) == bootstrap_interval(noisy(), seed=3)
    assert bootstrap_interval(noisy(), seed=3) != bootstrap_interval(noisy(), seed=4)


def test_the_paired_bootstrap_sees_a_difference_that_separate_intervals_hide():
    base = noisy(n=150, noise=1.0)
    better = Outcome(base.predicted * 0.75 + base.gold * 0.25, base.gold, base.strata)
    comparison = paired_bootstrap(base, better)
    assert comparison.difference > 0 and comparison.interval[0] > 0
    assert comparison.p_value < 0.01
    first, second = bootstrap_interval(base), bootstrap_interval(better)
    assert second[0] < first[1]


def test_an_encoder_does_not_differ_from_itself():
    comparison = paired_bootstrap(noisy(), noisy())
    assert comparison.difference == 0 and comparison.interval == (0, 0) and comparison.p_value == 1


def test_the_paired_bootstrap_finds_nothing_in_noise_about_95_times_in_100():
    found = 0
    for seed in range(100):
        first = noisy(n=80, seed=seed)
        other = first.gold + np.random.default_rng(1000 + seed).normal(size=80)
        found += (
            paired_bootstrap(first, Outcome(other, first.gold, first.strata), resamples=200).p_value < 0.05
        )
    assert found <= 12


def test_a_paired_comparison_needs_the_same_pairs():
    with pytest.raises(ValueError, match="the same pairs"):
        paired_bootstrap(noisy(seed=0), noisy(seed=1))


def test_two_encoders_are_compared_task_by_task():
    first = Scores([], outcomes={"A": noisy(), "B": noisy(seed=1)})
    second = Scores([], outcomes={"B": noisy(seed=1)})
    assert [comparison.name for comparison in compare(first, second)] == ["B"]
    with pytest.raises(ValueError, match="nothing to compare"):
        compare(first, Scores([]))


def test_the_t_test_over_seeds_is_scipys():
    first, second = [70.0, 71.0, 69.5], [71.2, 71.9, 71.0]
    comparison = paired_t_test(first, second, name="simcse, focal")
    assert comparison.p_value == pytest.approx(stats.ttest_rel(second, first).pvalue)
    assert comparison.difference == pytest.approx(1.2)
    mean, error = 1.2, np.std([1.2, 0.9, 1.5], ddof=1) / math.sqrt(3)
    half = stats.t.ppf(0.975, df=2) * error
    assert comparison.interval == pytest.approx((mean - half, mean + half))
    assert str(comparison).startswith("simcse, focal: +1.20 (95 % interval +0.45 to +1.95), p = 0.0")


def test_a_t_test_without_a_spread_is_refused():
    with pytest.raises(ValueError, match="no spread"):
        paired_t_test([1.0, 2.0], [2.0, 3.0])
    with pytest.raises(ValueError, match="same two or more seeds"):
        paired_t_test([1.0], [2.0])
