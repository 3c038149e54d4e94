"""Where a batch is cut: never dearer than any other cut, never more rows than allowed, every row in one part."""

from itertools import combinations, pairwise

from hypothesis import given
from hypothesis import strategies as st

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


LENGTHS = st.lists(st.integers(1, 70), max_size=9).map(sorted)


@given(LENGTHS, st.none() | st.integers(1, 9), st.integers(0, 70))
def test_bucket_by_length_finds_the_cheapest_cut(lengths, most_rows, overhead):
    parts = bucket_by_length(lengths, most_rows, overhead)
    allowed = [
        cut
        for cut in every_cut(len(lengths))
        if most_rows is None or all(part.stop - part.start <= most_rows for part in cut)
    ]
    assert parts in allowed if lengths else parts == []
    assert not lengths or cost(lengths, parts, overhead) == min(cost(lengths, cut, overhead) for cut in allowed)
