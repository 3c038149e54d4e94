"""Numbers of several encoders side by side, as plain text: the same in a notebook, a terminal and a page."""

from __future__ import annotations

from collections.abc import Mapping


def table(rows: Mapping[str, Mapping[str, float]], digits: int = 2) -> str:
    """A line for each row, a column for each name in any of them; what a row does not have stays blank.

    >>> print(table({"plain": {"STS-B": 47.03}, "SimCSE": {"STS-B": 51.5, "SICK-R": 55.25}}))
            STS-B  SICK-R
    plain   47.03
    SimCSE  51.50   55.25
    """
    columns = list(dict.fromkeys(column for row in rows.values() for column in row))
    lines = [["", *columns]]
    for name, row in rows.items():
        lines.append([name, *(f"{row[column]:.{digits}f}" if column in row else "" for column in columns)])
    first, *others = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            [line[0].ljust(first), *(cell.rjust(width) for cell, width in zip(line[1:], others, strict=True))]
        ).rstrip()
        for line in lines
    )
