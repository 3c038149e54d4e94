"""A claim is a number a seed; the verdict says direction and size apart, and how many tests that makes."""

from dataclasses import replace

import numpy as np
import pytest
from cselab_lab.experiments import EXPERIMENTS, Above, Equivalent, ManyTests, Order, Results, Trend, get_profile
from cselab_lab.experiments.store import JobRecord, JobSpec
from cselab_lab.experiments.verdicts import GEOMETRY, MARGIN, MARGINS, Verdict, judge, signed
from scipy.stats import ttest_rel

UP = Above("b is above a", "b", "a")
SMALL = Equivalent("b hardly differs from a", "b", "a")


def seeds(*gains):
    return [{"a": 50.0 + 3 * seed, "b": 50.0 + 3 * seed + gain} for seed, gain in enumerate(gains)]


def paper(gain):
    return None if gain is None else {"a": 70.0, "b": 70.0 + gain}


def test_the_test_is_the_paired_t_test():
    rows = seeds(0.5, 1.5, -0.3, 0.9)
    verdict = judge(UP, "STS-B", None, rows)
    paired = ttest_rel([row["b"] for row in rows], [row["a"] for row in rows])
    assert verdict.p_value == pytest.approx(paired.pvalue)
    assert verdict.interval == pytest.approx(tuple(paired.confidence_interval(0.95)))
    assert verdict.ours == pytest.approx(0.65)  # what a seed does to both rows drops out


def test_the_exact_test_counts_changes_of_sign_and_its_least_is_said():
    verdict = judge(UP, "STS-B", None, seeds(1.0, 2.0, 3.0, 4.0, 5.0))
    assert verdict.p_exact == pytest.approx(2 / 32) and "exact 0.062, the least possible)" in str(verdict)
    assert "the least" not in str(judge(UP, "STS-B", None, seeds(1.0, -2.0, 3.0, 4.0, 5.0)))


@pytest.mark.parametrize(
    ("gains", "published", "answer"),
    [
        ((1.0, 1.4, 0.6), 1.2, "compatible with the paper"),
        ((0.1, 0.12, 0.08), 0.1, "compatible with the paper"),  # and small, as the paper has it
        ((1.0, 1.2, 0.8), 12.0, "the same direction, smaller"),
        ((1.0, 1.2, 0.8), 0.1, "the same direction, larger"),
        ((1.0, 1.2, 0.8), None, "the same direction"),
        ((0.2, 0.3, 0.25), 2.0, "the same direction, smaller than 0.5 points"),
        ((0.2, 0.3, 0.25), None, "the same direction, smaller than 0.5 points"),
        ((-1.0, -1.2, -0.8), 1.0, "the opposite"),
        ((-0.2, -0.3, -0.25), 1.0, "the opposite, smaller than 0.5 points"),
        ((0.1, -0.1, 0.05), 2.0, "smaller than 0.5 points"),
        ((0.0, 0.0, 0.0), None, "smaller than 0.5 points"),
        ((4.0, -3.0, 2.0), 2.0, "undecided"),
        ((4.0, -3.0, 2.0), None, "undecided"),
        ((3.9, 0.2, 3.0, 0.1, 0.1), 4.0, "undecided, short of the paper"),
        ((1.0,), 2.0, "one run only"),
        ((), 2.0, "not run"),
    ],
)
def test_direction_and_size_are_judged_apart(gains, published, answer):
    verdict = judge(UP, "STS-B", paper(published), seeds(*gains))
    assert verdict.answer == answer and str(verdict).startswith(f"b is above a: {answer}")


@pytest.mark.parametrize(
    ("gains", "answer"),
    [
        ((0.1, -0.1, 0.05), "smaller than 0.5 points"),
        ((1.7, 1.8, 1.6), "the opposite"),
        ((-1.7, -1.8, -1.6), "the opposite"),
        ((0.2, 0.9, 0.4), "undecided"),
        ((0.1,), "one run only"),
    ],
)
def test_a_claim_of_smallness_is_compared_with_the_margin(gains, answer):
    assert judge(SMALL, "STS-B", None, seeds(*gains)).answer == answer


def test_the_spread_that_the_paper_prints_counts():
    gains, published = seeds(1.0, 1.2, 0.8), paper(1.5)
    assert judge(UP, "STS-B", published, gains).answer == "the same direction, smaller"
    spread = judge(UP, "STS-B", published, gains, spreads={"a": 0.3, "b": 0.4})
    assert spread.published_spread == pytest.approx(0.5) and spread.answer == "compatible with the paper"
    assert str(spread).endswith("the paper has +1.5 ± 0.5")
    rising = Trend("rises", ("a", "b"))
    assert judge(rising, "STS-B", published, gains, spreads={"a": 0.3, "b": 0.4}).published_spread == pytest.approx(0.5)


def test_the_margin_belongs_to_the_measure_and_the_statistic():
    close = seeds(0.03, 0.05, 0.04)
    assert judge(UP, "uniformity", None, close).answer == "the same direction, smaller than 0.1"
    assert judge(UP, "alignment", None, close).answer == "the same direction"
    rows = [{"a": 0.0, "b": 0.2 + seed / 100, "c": 0.4} for seed in range(3)]  # 0.2 a row is 0.4 in all
    verdict = judge(Trend("rises", ("a", "b", "c")), "STS-B", None, rows)
    assert verdict.answer == "the same direction, smaller than 0.25 points a row"
    order = judge(Order("a < b", ("a", "b")), "STS-B", None, seeds(0.0, 0.0))
    assert order.answer == "undecided"  # no order is small


DECLARED = [
    pytest.param(experiment, claim, id=f"{experiment.name}: {claim.claim}")
    for experiment in EXPERIMENTS.values()
    for claim in experiment.claims
]


@pytest.mark.parametrize(("experiment", "claim"), DECLARED)
def test_every_declared_claim_is_the_papers_and_tells_large_small_and_opposite_differences(experiment, claim):
    column, count = experiment.column(claim.on or experiment.columns[0].measure), len(claim.labels)
    alone = replace(experiment, claims=(claim,), headlines=())

    def verdict(size):
        lines = {label: {} for label in claim.labels}
        for place, label in enumerate(claim.labels):
            place = 1 - place if isinstance(claim, Above) else place
            for seed in range(5):
                scores = dict.fromkeys(column.over or (column.measure,), 50.0 + place * size * (1 + seed / 100))
                lines[label][seed] = JobRecord("", "", label, seed, "", JobSpec(), scores=scores)
        (found,) = Results(alone, get_profile("study"), lines, {}).verdicts()
        return found

    small = 1e-3 * MARGINS.get(column.measure, MARGIN) / count
    large, tiny, opposite = (verdict(size) for size in (100.0, small, -100.0))
    assert opposite.answer == "the opposite"
    if isinstance(claim, Equivalent):
        assert large.answer == "the opposite" and tiny.answer.startswith("smaller than")
    elif isinstance(claim, Order):
        assert large.answer.startswith(("the same direction", "compatible"))
        assert verdict(0.0).answer.startswith("undecided")
    else:
        assert large.answer.startswith("the same direction")
        assert "smaller than" in tiny.answer and "smaller than" in verdict(-small).answer
    if large.published is not None:
        within = abs(large.published) < large.margin
        assert within if isinstance(claim, Equivalent) else large.published > 0


def test_the_sentence_has_the_number_the_interval_and_the_paper():
    said = str(judge(UP, "STS-B", paper(0.8), seeds(-0.2, 0.1, -0.3, -0.4, -0.2)))
    assert said.startswith(
        "b is above a: smaller than 0.5 points, -0.2 points of STS-B (95 % interval -0.4 to +0.03 over 5 seeds, p = "
    )
    assert said.endswith("the paper has +0.8")


def test_a_bound_never_hides_its_sign():
    assert [signed(x, 1) for x in (-0.031, 0.031, -0.0004, 0.0, -0.0, 0.96)] == [
        "-0.03", "+0.03", "-0.0004", "+0.0", "+0.0", "+1.0",
    ]  # fmt: skip


def test_geometry_is_not_in_points_and_differences_without_spread_have_no_test():
    assert "+0.25 of uniformity" in str(judge(UP, "uniformity", None, seeds(0.2, 0.3)))
    assert set(MARGINS) == set(GEOMETRY)
    verdict = judge(UP, "STS-B", None, seeds(1.0, 1.0))
    assert verdict.p_value is None and verdict.answer == "the same direction"
    assert "the same with every seed" in str(verdict)


def test_a_trend_is_the_slope_of_the_line():
    rising = Trend("rises", ("a", "b", "c", "d"))
    values = {"a": 1.0, "b": 4.0, "c": 2.0, "d": 8.0}
    assert rising.statistic(values) == pytest.approx(np.polyfit(range(4), [1.0, 4.0, 2.0, 8.0], 1)[0])


def test_an_order_is_one_when_kept_and_minus_one_when_reversed():
    order = Order("a < b < c", ("a", "b", "c"))
    assert order.statistic({"a": 1.0, "b": 2.0, "c": 9.0}) == 1.0
    assert order.statistic({"a": 9.0, "b": 2.0, "c": 1.0}) == -1.0


def with_p(p_value, sample, measure="Avg."):
    return Verdict("c", "points", measure, 0.5, sample=sample, interval=(0.0, 1.0), p_value=p_value, p_exact=0.5)


def test_holm_multiplies_the_smallest_by_how_many_there_are_and_never_falls():
    p_values = (0.01, 0.04, 0.03, 0.005)
    verdicts = [with_p(p, (float(place), 1.0)) for place, p in enumerate(p_values)]
    tests = ManyTests.of(verdicts)
    assert [tests.by_holm[one.test] for one in verdicts] == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert "p = 0.005, 0.02 by Holm" in tests.sentence(verdicts[3])
    assert str(tests) == (
        "4 claims make 4 different tests: 4 have p < 0.05 (expected by chance: 0.2), and 2 remain "
        "significant after Holm over all tests."
    )


def test_the_same_test_counts_once_whichever_row_stands_first():
    rows = seeds(1.0, 2.0, 3.0)
    there, back = judge(UP, "Avg.", None, rows), judge(Above("a above b", "a", "b"), "Avg.", paper(1.0), rows)
    other = judge(UP, "STS-B", None, rows)
    tests = ManyTests.of([there, back, other, judge(UP, "Avg.", None, [])])
    assert tests.claims == 4 and len(tests.raw) == 2
    assert there.test == back.test != other.test
