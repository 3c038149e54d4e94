"""Rankings of systems: what is equal is seldom told apart, what differs is; intervals hold the ranks that are true."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import false_discovery_control, ttest_rel

from cselab.metrics import holm, paired_t_test, rank_means
from cselab.metrics.ranking import step_down


def tables(systems, units, count, gap=0.0, seed=0):
    """Scores of systems whose true means lie `gap` apart, with units of unlike difficulty and unlike noise."""
    draw = np.random.default_rng(seed)
    for _ in range(count):
        noise = draw.uniform(0.5, 3, size=(systems, 1)) * draw.standard_t(5, size=(systems, units))
        yield gap * np.arange(systems)[:, None] + 5 * draw.normal(size=units) + noise


@pytest.mark.parametrize("units", [3, 5, 12, 40])
def test_systems_that_are_equal_share_all_ranks(units):
    """Systems that are equal share all ranks in 95 of 100 tables."""
    wrong = sum(
        rank_means(scores, resamples=300, seed=number).intervals != [(1, 6)] * 6
        for number, scores in enumerate(tables(6, units, 200))
    )
    assert wrong <= 18  # 10 are expected at the most; the binomial's 99th percentile is 18


def test_the_true_ranks_lie_within_all_intervals_at_once():
    """The true ranks lie within all intervals at once in 95 of 100 tables."""
    held = 0
    for number, scores in enumerate(tables(5, 20, 100, gap=1.0)):
        ranks = rank_means(scores, resamples=300, seed=number).intervals
        held += all(low <= 5 - place <= high for place, (low, high) in enumerate(ranks))
    assert held >= 90


@pytest.mark.parametrize("units", [4, 30])
def test_what_differs_widely_is_told_apart(units):
    """What differs widely is told apart and order of rows does not matter."""
    (scores,) = tables(4, units, 1, gap=40.0)
    found = rank_means(scores, resamples=500)
    assert found.intervals == [(4, 4), (3, 3), (2, 2), (1, 1)]
    assert found.groups == [[3], [2], [1], [0]] and found.tied_neighbours == (0, 3)
    shuffled = rank_means(scores[[2, 0, 3, 1]], resamples=500)
    assert_allclose(shuffled.p_values, found.p_values[np.ix_([2, 0, 3, 1], [2, 0, 3, 1])])


def test_of_few_units_the_p_values_are_those_of_paired_t_tests():
    """Of few units the p values are those of paired t tests by holm."""
    (scores,) = tables(3, 5, 1, gap=2.0, seed=4)
    pairs = [(0, 1), (0, 2), (1, 2)]
    raw = [ttest_rel(scores[one], scores[other]).pvalue for one, other in pairs]
    found = rank_means(scores)
    assert_allclose([found.p_values[pair] for pair in pairs], holm(np.array(raw)))


def test_holm_is_the_formula_and_never_below_benjamini():
    """Holm is the formula and never below benjamini and hochberg."""
    p_values = np.random.default_rng(1).uniform(size=20) ** 3
    order, reached, slow = sorted(range(20), key=p_values.__getitem__), 0.0, np.empty(20)
    for place, one in enumerate(order):
        reached = slow[one] = max(reached, min(1.0, (20 - place) * p_values[one]))
    assert_allclose(holm(p_values), slow)
    assert (holm(p_values) >= false_discovery_control(p_values) - 1e-12).all()


def test_step_down_of_one_statistic_is_its_share_of_chance():
    """Step down of one statistic is its share of chance and of several no less."""
    null = np.abs(np.random.default_rng(2).normal(size=(999, 3)))
    assert step_down(np.array([2.0]), [null[:, :1]])[0] == (1 + (null[:, 0] >= 2).sum()) / 1000
    alone = [step_down(np.array([value]), [null[:, [k]]])[0] for k, value in enumerate((2.0, 3.0, 0.5))]
    together = step_down(np.array([2.0, 3.0, 0.5]), np.split(null, 9))
    assert (together >= alone).all() and together[1] <= together[0] <= together[2]


# ------------------------------------------------------------------------------------ letters, and what has no spread


def share_a_letter(ranking):
    shared = np.zeros(ranking.p_values.shape, dtype=bool)
    for group in ranking.groups:
        shared[np.ix_(group, group)] = True
    return shared


def test_two_systems_share_a_letter_exactly_if_they_tie():
    boards = [*tables(20, 41, 20, gap=1.0, seed=1), *tables(9, 5, 100, gap=3.0, seed=2), *tables(5, 3, 100, gap=9.0)]
    for scores in boards:
        ranking = rank_means(scores, resamples=200)
        assert np.array_equal(share_a_letter(ranking), ranking.p_values >= 0.05)
        assert not any(set(a) < set(b) for a in ranking.groups for b in ranking.groups)


def test_a_noisy_system_further_down_shares_the_letters():
    """A noisy system further down shares the letters of those above."""
    ranking = rank_means(np.array([[80, 80.1, 79.9, 80, 80.1], [79, 79.05, 78.9, 79.1, 79], [86, 70, 60, 88, 75.0]]))
    assert ranking.groups == [[0, 2], [1, 2]] and ranking.intervals == [(1, 2), (2, 3), (1, 3)]


SAME = {
    "two tasks": ([50.0, 60.0], 0.1),
    "three tasks": ([50.0, 60.0, 70.0], 0.1),
    "fractions": ([0.5, 0.61, 0.43], 0.001),
    "twelve tasks": (np.linspace(40, 90, 12).round(1), 0.3),
    "large numbers": ([1e6 + 0.1, 2e6 + 0.7, 3e6 + 0.9], 0.1),
    "large differences": ([10.0, 20.0, 30.0, 40.0], 50.0),
    "negative": ([-2.1, -1.7, -3.3], 0.2),
}


@pytest.mark.parametrize("case", SAME)
def test_the_same_difference_everywhere_is_not_certain(case):
    low, step = SAME[case]
    scores = np.array([low, np.add(low, step), np.multiply(low, 1.5)])
    ranking = rank_means(scores)
    assert ranking.p_values[0, 1] == 1 and ranking.untested == [(0, 1)]
    with pytest.raises(ValueError, match="no spread to test against"):
        paired_t_test(scores[0].tolist(), scores[1].tolist())
    others = rank_means(scores[1:])
    assert (others.p_values[0, 1] <= ranking.p_values[1, 2]) and not others.untested


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e-160, 1e-12, 1e12, 1e97])
@pytest.mark.parametrize("units", [4, 15])
def test_the_unit_of_the_scores_changes_no_p_value(scale, units):
    (scores,) = tables(4, units, 1, gap=3.0)
    assert_allclose(rank_means(scale * scores, 100).p_values, rank_means(scores, 100).p_values, atol=1e-9)
    one, two = paired_t_test(*scores[:2].tolist()), paired_t_test(*(scale * scores[:2]).tolist())
    assert_allclose(
        [two.p_value, two.difference / scale, two.interval[0] / scale], [one.p_value, one.difference, one.interval[0]]
    )


def test_a_copy_of_a_system_ties():
    """A copy of a system ties with it and changes no other p value."""
    (scores,) = tables(3, 15, 1, gap=2.0, seed=8)
    alone, with_copy = rank_means(scores), rank_means(np.concatenate([scores, scores[:1]]))
    assert with_copy.p_values[0, 3] == 1 and not with_copy.untested
    assert_allclose(with_copy.p_values[:3, :3], alone.p_values)


def test_a_difference_in_one_task_only_hides_no_other_difference():
    (scores,) = tables(4, 12, 1, gap=40.0)
    near = scores[0].copy()
    near[5] += 1.0
    ranking = rank_means(np.concatenate([scores, near[None]]))
    assert ranking.intervals == [(4, 5), (3, 3), (2, 2), (1, 1), (4, 5)]


@pytest.mark.slow
def test_a_thousand_systems_need_bounded_memory():
    scores = next(tables(1000, 12, 1, gap=0.02))
    tracemalloc.start()
    ranking = rank_means(scores, resamples=20)
    assert tracemalloc.get_traced_memory()[1] < 600e6 and len(ranking.groups) > 1
    tracemalloc.stop()
