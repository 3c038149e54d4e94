"""A claim is a number a seed; the verdict says how sure its sign is."""

import numpy as np
import pytest
from cselab_lab.experiments import Above, Order, Trend
from cselab_lab.experiments.claims import judge
from scipy.stats import ttest_rel

UP = Above("b is above a", "b", "a")


def seeds(*gains):
    return [{"a": 50.0 + 3 * seed, "b": 50.0 + 3 * seed + gain} for seed, gain in enumerate(gains)]


def test_what_a_seed_does_to_all_rows_drops_out():
    verdict = judge(UP, "STS-B", None, seeds(1.0, 1.2, 0.8))
    assert verdict.ours == pytest.approx(1.0) and verdict.answer == "holds here"


def test_the_test_is_the_paired_t_test():
    rows = seeds(0.5, 1.5, -0.3, 0.9)
    verdict = judge(UP, "STS-B", None, rows)
    paired = ttest_rel([row["b"] for row in rows], [row["a"] for row in rows])
    assert verdict.p_value == pytest.approx(paired.pvalue)
    assert verdict.interval == pytest.approx(tuple(paired.confidence_interval(0.95)))


def test_the_exact_test_counts_changes_of_sign():
    assert judge(UP, "STS-B", None, seeds(1.0, 2.0, 3.0, 4.0, 5.0)).p_exact == pytest.approx(2 / 32)


@pytest.mark.parametrize(
    ("gains", "published", "answer"),
    [
        ((1.0, 1.2, 0.8), 1.0, "holds here"),
        ((-1.0, -1.2, -0.8), 1.0, "the opposite here"),
        ((0.1, -0.1, 0.05), 2.0, "no effect here"),
        ((4.0, -3.0, 2.0), 2.0, "undecided"),
        ((4.0, -3.0, 2.0), None, "undecided"),
        ((1.0,), 2.0, "one run only"),
        ((), 2.0, "not run"),
    ],
)
def test_the_answer_follows_from_where_the_interval_lies(gains, published, answer):
    paper = None if published is None else {"a": 70.0, "b": 70.0 + published}
    assert judge(UP, "STS-B", paper, seeds(*gains)).answer == answer


def test_the_sentence_has_the_number_the_interval_and_the_paper():
    said = str(judge(UP, "STS-B", {"a": 76.0, "b": 76.8}, seeds(-0.2, 0.1, -0.3, -0.4, -0.2)))
    assert said.startswith(
        "b is above a: no effect here, -0.2 points of STS-B (95 % interval -0.4 to +0.0 over 5 seeds"
    )
    assert said.endswith("the paper has +0.8")


def test_geometry_is_not_in_points():
    said = str(judge(UP, "uniformity", None, seeds(0.2, 0.3)))
    assert "+0.25 of uniformity" in said


def test_differences_without_spread_are_said_to_be_the_same():
    verdict = judge(UP, "STS-B", None, seeds(1.0, 1.0))
    assert verdict.p_value is None and verdict.answer == "holds here"


def test_a_trend_is_the_slope_of_the_line():
    rising = Trend("rises", ("a", "b", "c", "d"))
    values = {"a": 1.0, "b": 4.0, "c": 2.0, "d": 8.0}
    assert rising.statistic(values) == pytest.approx(np.polyfit(range(4), [1.0, 4.0, 2.0, 8.0], 1)[0])


def test_an_order_is_one_when_kept_and_minus_one_when_reversed():
    order = Order("a < b < c", ("a", "b", "c"))
    assert order.statistic({"a": 1.0, "b": 2.0, "c": 9.0}) == 1.0
    assert order.statistic({"a": 9.0, "b": 2.0, "c": 1.0}) == -1.0
