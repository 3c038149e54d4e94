import math

import numpy as np
import pytest
from scipy import stats

from cselab.evaluators import Scores
from cselab.evaluators.records import Outcome
from cselab.evaluators.significance import (
    UndefinedCorrelation,
    accuracy,
    bootstrap_interval,
    compare,
    correlation,
    mcnemar,
    paired_bootstrap,
    paired_t_test,
    stratified_score,
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
    assert stratified_score(split) == pytest.approx(0.25 * each[0] + 0.75 * each[1])


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


def test_a_paired_comparison_needs_the_same_rows():
    with pytest.raises(ValueError, match=r"the same rows, not 200 rows and 200 rows"):
        paired_bootstrap(noisy(seed=0), noisy(seed=1))


def test_two_encoders_are_compared_task_by_task():
    first = Scores([], outcomes={"A": noisy(), "B": noisy(seed=1)})
    second = Scores([], outcomes={"B": noisy(seed=1)})
    assert [comparison.name for comparison in compare(first, second)] == ["B"]
    with pytest.raises(ValueError, match="nothing to compare"):
        compare(first, Scores([]))


# ------------------------------------------------------------------------------------ classes


def classified(right, gold=None, folds=1, **about):
    """An outcome that is right where it is said to be; the true classes are 0, 1, 2, 0, ..."""
    gold = np.arange(len(right)) % 3 if gold is None else gold
    predicted = np.where(right, gold, (gold + 1) % 3)
    strata = [(rows, 1 / folds) for rows in np.array_split(np.arange(len(gold)), folds)]
    return Outcome(predicted, gold, strata, **{"metrics": ("accuracy",), "protocol": "senteval", **about})


def drawn(share, n=300, seed=0):
    return np.random.default_rng(seed).random(n) < share


def test_accuracy_is_the_mean_over_the_folds():
    right = np.array([1, 1, 1, 0, 0], dtype=bool)
    assert accuracy(classified(right).predicted, classified(right).gold) == 3 / 5
    assert stratified_score(classified(right)) == pytest.approx(3 / 5)
    assert stratified_score(classified(right, folds=2)) == pytest.approx((1 + 0) / 2)


def test_a_resample_of_classes_is_drawn_within_the_folds():
    right = drawn(0.7, n=31)
    outcome = classified(right, folds=2)
    generator = np.random.default_rng(5)
    expected = sum(
        0.5 * right[rows][generator.integers(len(rows), size=len(rows))].mean() for rows, _ in outcome.strata
    )
    assert bootstrap_interval(outcome, resamples=1, seed=5) == pytest.approx((expected, expected))


def test_the_paired_interval_of_accuracies_is_as_wide_as_theory_says():
    first, second = drawn(0.7, n=2000), drawn(0.75, n=2000, seed=1)
    comparison = paired_bootstrap(classified(first), classified(second), resamples=4000)
    difference = second.astype(float) - first
    half = 1.96 * difference.std() / math.sqrt(2000)
    assert comparison.difference == pytest.approx(100 * difference.mean())
    expected = (100 * (difference.mean() - half), 100 * (difference.mean() + half))
    assert comparison.interval == pytest.approx(expected, abs=0.15)


def test_pairing_sees_a_difference_that_separate_intervals_hide_in_classes_too():
    first = drawn(0.7)
    second = first | drawn(0.1, seed=1)
    better, worse = classified(second), classified(first)
    for comparison in (paired_bootstrap(worse, better), mcnemar(worse, better)):
        assert comparison.interval[0] > 0 and comparison.p_value < 0.01
    assert bootstrap_interval(better)[0] < bootstrap_interval(worse)[1]


@pytest.mark.parametrize(("b", "c"), [(4, 12), (12, 4), (1, 0), (7, 7)])
def test_mcnemar_is_the_binomial_test_of_the_rows_that_one_alone_has_right(b, c):
    first = classified(np.array([1] * b + [0] * c + [1] * 30 + [0] * 14, dtype=bool))
    second = classified(np.array([0] * b + [1] * c + [1] * 30 + [0] * 14, dtype=bool))
    comparison, n = mcnemar(first, second, "toy"), b + c + 44
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
    comparison = mcnemar(classified(drawn(0.7)), classified(drawn(0.7)))
    assert (comparison.difference, comparison.interval, comparison.p_value) == (0, (0, 0), 1)


def test_tests_on_classes_find_nothing_in_noise_about_95_times_in_100():
    found = np.zeros(2)
    for seed in range(100):
        both = classified(drawn(0.7, 120, seed), folds=3), classified(drawn(0.7, 120, 1000 + seed), folds=3)
        found += [paired_bootstrap(*both, resamples=200).p_value < 0.05, mcnemar(*both).p_value < 0.05]
    assert (found <= 12).all()


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (classified(drawn(0.7, 290)), r"CR: .* same rows, not 300 rows and 290 rows"),
        (classified(drawn(0.7), data_hash="ab" * 32), r"not 300 rows and 300 rows of data abababababab$"),
        (classified(drawn(0.7), protocol="lbfgs"), r"CR: .* same protocol, not 'senteval' and 'lbfgs'"),
        (classified(drawn(0.7), folds=2), r"same folds or subsets, not 1 of 300 rows and 2 of 150/150 rows"),
    ],
)
def test_other_rows_protocols_or_folds_are_not_compared_and_both_are_named(other, message):
    one = classified(drawn(0.7))
    with pytest.raises(ValueError, match=message):
        compare(Scores([], outcomes={"CR": one}), Scores([], outcomes={"CR": other}))
    with pytest.raises(ValueError, match="a paired comparison needs"):
        mcnemar(one, other)


def test_sts_of_other_aggregations_is_not_compared():
    first = noisy(n=20)
    mean = Outcome(first.predicted, first.gold, first.strata, protocol="aggregation mean")
    with pytest.raises(ValueError, match="same protocol, not 'spearman/pearson' and 'aggregation mean'"):
        paired_bootstrap(first, mean)


def test_an_outcome_is_scored_by_its_own_metrics_only():
    with pytest.raises(ValueError, match="unknown metric 'spearman'; the metrics are: accuracy"):
        paired_bootstrap(classified(drawn(0.5)), classified(drawn(0.5)), "spearman")
    with pytest.raises(ValueError, match="unknown metric 'accuracy'; the metrics are: spearman, pearson"):
        mcnemar(noisy(), noisy())
    with pytest.raises(ValueError, match="unknown metric 'kendall'; the metrics are: spearman, pearson"):
        compare(Scores([], outcomes={"A": noisy()}), Scores([], outcomes={"A": noisy()}), "kendall")


def test_sts_and_transfer_tasks_are_compared_together_each_by_its_own_tests():
    first = Scores([], outcomes={"A": noisy(), "CR": classified(drawn(0.6))})
    second = Scores([], outcomes={"A": noisy(), "CR": classified(drawn(0.8, seed=1))})
    found = compare(first, second)
    assert [(comparison.name, comparison.test) for comparison in found] == [
        ("A", "paired bootstrap"),
        ("CR", "paired bootstrap"),
        ("CR", "McNemar's exact test"),
    ]
    assert found[1].difference == pytest.approx(found[2].difference) and found[1].difference > 0


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
