"""Statistics on numbers that are missing, infinite or too few are refused, not computed."""

import numpy as np
import pytest

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

GOLD = np.linspace(0, 5, 20)
GOOD = np.random.default_rng(0).normal(size=20)


def without(values, bad, place=3):
    return np.where(np.arange(len(values)) == place, bad, values)


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


@pytest.mark.parametrize("rows", [1, 2, 9])
@pytest.mark.parametrize(
    "statistic",
    [
        lambda rows: bootstrap_interval(GOOD[:rows], GOLD[:rows]),
        lambda rows: paired_bootstrap(GOOD[:rows], GOLD[:rows], GOLD[:rows]),
        lambda rows: rank_predictions(np.stack([GOOD[:rows], GOLD[:rows]]), GOLD[:rows]),
    ],
)
def test_below_ten_rows_there_is_no_interval(statistic, rows):
    with pytest.raises(ValueError, match=f"at least 10 rows.*got {rows}"):
        statistic(rows)


@pytest.mark.parametrize("function", [correlation, bootstrap_interval])
def test_a_prediction_for_other_rows_is_refused(function):
    with pytest.raises(ValueError, match="20 predictions of 15 rows"):
        function(GOOD, GOLD[:15])
    with pytest.raises(ValueError, match="20 and 20 predictions of 15 rows"):
        mcnemar(np.arange(20), np.arange(20), np.arange(15))


def test_resamples_without_a_correlation_do_not_shrink_a_p_value():
    """One row alone differs in the gold scores, so a third of the resamples have no correlation."""
    gold = without(np.zeros(20), 1.0)
    first, second = without(GOOD, -5.0), without(GOOD, 5.0)
    found = paired_bootstrap(first, second, gold)
    with_row = 1 - (1 - 1 / 20) ** 20
    assert found.p_value == pytest.approx(2 / (1000 * with_row + 1), rel=0.1)
    with pytest.raises(UndefinedCorrelation, match="no correlation"):
        paired_bootstrap(first, second, np.zeros(20))


def test_scores_whose_squares_overflow_are_refused():
    with pytest.raises(ValueError, match="a score of 1e\\+308"):
        rank_means(np.array([[1e308, 1.0], [2.0, 3.0]]))


@pytest.mark.parametrize("p", [[2.0, 0.1], [-0.1, 0.5], [np.nan, 0.5]])
def test_a_p_value_lies_between_0_and_1(p):
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm(np.array(p))


def test_adjusted_p_values_never_fall_along_the_ordered_tests():
    """Without the monotone step the second would be 0.03, below the first, in Holm's; 1/11 in step_down."""
    assert holm(np.array([0.02, 0.03])).tolist() == [0.04, 0.04]
    null = np.array([[2.5, 0.1]] * 5 + [[0.1, 0.1]] * 5)
    assert step_down(np.array([2.0, 1.0]), [null]).tolist() == pytest.approx([6 / 11, 6 / 11])
