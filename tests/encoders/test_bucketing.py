"""Where a batch is cut: never dearer than any other cut, never more rows than allowed, every row in one part."""

import random
from itertools import combinations, pairwise

import pytest

from cselab.encoders.speed import bucket_by_length


def every_cut(rows):
    """All ways to cut so many rows into neighbouring parts."""
    for many in range(rows):
        for cuts in combinations(range(1, rows), many):
            ends = [0, *cuts, rows]
            yield [slice(*pair) for pair in pairwise(ends)]


def cost(lengths, parts, overhead):
    """Tokens computed, padding among them, and what the passes cost."""
    return sum(len(lengths[part]) * max(lengths[part]) + overhead for part in parts)


@pytest.mark.parametrize("overhead", [0, 7, 64])
@pytest.mark.parametrize("most_rows", [None, 1, 3])
def test_no_cut_is_cheaper(overhead, most_rows):
    draw = random.Random(overhead)
    for _ in range(40):
        lengths = sorted(draw.choices([4, 5, 9, 12, 30, 64], k=draw.randint(1, 9)))
        parts = bucket_by_length(lengths, most_rows, overhead)
        allowed = [
            cut
            for cut in every_cut(len(lengths))
            if most_rows is None or all(part.stop - part.start <= most_rows for part in cut)
        ]
        assert parts in allowed
        assert cost(lengths, parts, overhead) == min(cost(lengths, cut, overhead) for cut in allowed)


def test_no_rows_are_no_parts():
    assert bucket_by_length([]) == []
