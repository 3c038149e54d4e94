"""Parts by length: where to cut a batch so that a pass computes words and little padding."""

from collections.abc import Sequence

import numpy as np

A_PASS = 64
"""What one more forward and backward pass costs, in tokens: some 60 for `mini`, 80 for `micro`, on a CPU."""


def parts_by_length(lengths: Sequence[int], most_rows: int | None = None, a_pass: float = A_PASS) -> list[slice]:
    """The cheapest cut of rows into neighbouring parts, each padded to its longest row.

        cost = sum over the parts of (rows * longest row + a_pass)

    Args:
        lengths: tokens of each row, ascending.
        most_rows: of a part; None allows any number.
        a_pass: tokens that could be computed in the time that a further pass costs.

    Returns:
        the parts in order: slices that cover all rows. Of two cuts of the same cost the one whose last part is larger.

    >>> parts_by_length([5, 5, 6, 30], a_pass=10)
    [slice(0, 3, None), slice(3, 4, None)]
    >>> parts_by_length([5, 5, 6, 30], a_pass=100)
    [slice(0, 4, None)]
    """
    row = np.asarray(lengths)
    least = np.zeros(len(row) + 1)  # the cost of the first n rows
    begins = np.zeros(len(row) + 1, dtype=int)  # where the last part of the first n rows begins
    for end in range(1, len(row) + 1):
        first = 0 if most_rows is None else max(0, end - most_rows)
        costs = least[first:end] + (end - np.arange(first, end)) * row[end - 1] + a_pass
        begins[end] = first + costs.argmin()
        least[end] = costs.min()
    parts, end = [], len(row)
    while end:
        parts.append(slice(int(begins[end]), end))
        end = int(begins[end])
    return parts[::-1]
