"""Where a batch is cut: never dearer than any other cut, never more rows than allowed, every row in one part."""

import random
from itertools import combinations, pairwise

import pytest

from cselab.encoders.parts import parts_by_length


def every_cut(rows):
    """All ways to cut so many rows into neighbouring parts."""
    for many in range(rows):
        for cuts in combinations(range(1, rows), many):
            ends = [0, *cuts, rows]
            yield [slice(*pair) for pair in pairwise(ends)]


def cost(lengths, parts, a_pass):
    """Tokens computed, padding among them, and what the passes cost."""
    return sum(len(lengths[part]) * max(lengths[part]) + a_pass for part in parts)


@pytest.mark.parametrize("a_pass", [0, 7, 64])
@pytest.mark.parametrize("most_rows", [None, 1, 3])
def test_no_cut_is_cheaper(a_pass, most_rows):
    draw = random.Random(a_pass)
    for _ in range(40):
        lengths = sorted(draw.choices([4, 5, 9, 12, 30, 64], k=draw.randint(1, 9)))
        parts = parts_by_length(lengths, most_rows, a_pass)
        allowed = [
            cut
            for cut in every_cut(len(lengths))
            if most_rows is None or all(part.stop - part.start <= most_rows for part in cut)
        ]
        assert parts in allowed
        assert cost(lengths, parts, a_pass) == min(cost(lengths, cut, a_pass) for cut in allowed)


def test_rows_of_one_length_are_one_part():
    assert parts_by_length([7] * 200) == [slice(0, 200)]


def test_a_pass_that_costs_nothing_is_made_for_every_length():
    assert parts_by_length([3, 3, 4, 9, 9], a_pass=0) == [slice(0, 2), slice(2, 3), slice(3, 5)]


def test_no_rows_are_no_parts():
    assert parts_by_length([]) == []
