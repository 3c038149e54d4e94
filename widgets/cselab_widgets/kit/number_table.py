"""A table of numbers under a panel, in HTML."""

from collections.abc import Iterable, Sequence
from html import escape


def number_table(heads: Sequence[str], rows: Iterable[tuple[str, Sequence[str]]]) -> str:
    """A line for each row: what it is, then its numbers. Heads are text; what stands in rows is HTML already.

    >>> number_table(["", "gain"], [("SimCSE", ["0.5"])])
    '<table><tr><td></td><th class="number">gain</th></tr><tr><td>SimCSE</td><td class="number">0.5</td></tr></table>'
    """
    corner, *names = map(escape, heads)
    head = "".join(f'<th class="number">{name}</th>' for name in names)
    lines = "".join(
        f"<tr><td>{row}</td>" + "".join(f'<td class="number">{cell}</td>' for cell in cells) + "</tr>"
        for row, cells in rows
    )
    first = f"<th>{corner}</th>" if corner else "<td></td>"
    return f"<table><tr>{first}{head}</tr>{lines}</table>"
