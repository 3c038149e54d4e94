"""Statistics on numbers that are missing, infinite or too few are refused, not computed."""

import numpy as np
import pytest
from refusals import check_refused, refusals

from cselab.metrics import holm, paired_bootstrap
from cselab.metrics.ranking import step_down

NAMES, each_refusal = refusals("metrics/refusals.md")
_, each_not_finite = refusals("metrics/not_finite.md")
GOOD, without = NAMES["GOOD"], NAMES["without"]


@each_refusal
def test_metrics_refuse_what_has_no_value(kind, words, call):
    check_refused(kind, words, call, NAMES)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@each_not_finite
def test_a_number_that_is_not_finite_is_refused_with_its_place(kind, words, call, bad):
    check_refused(kind, words, call, NAMES, bad=without(GOOD, bad))


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
