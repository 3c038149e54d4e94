"""A table of numbers under a panel, in HTML."""

from collections.abc import Iterable, Sequence
from html import escape


def number_table(heads: Sequence[str], rows: Iterable[tuple[str, Sequence[str]]]) -> str:
    """A line for each row: what it is, then its numbers. Heads are text; what stands in rows is HTML already.

    >>> number_table(["", "gain"], [("a", ["2"])]).split("</tr>")[0]
    '<table tabindex=0><tr><td></td><th class="number">gain</th>'
    """
    corner, *names = map(escape, heads)
    head = "".join(f'<th class="number">{name}</th>' for name in names)
    lines = "".join(
        f"<tr><td>{row}</td>" + "".join(f'<td class="number">{cell}</td>' for cell in cells) + "</tr>"
        for row, cells in rows
    )
    first = f"<th>{corner}</th>" if corner else "<td></td>"
    return f"<table tabindex=0><tr>{first}{head}</tr>{lines}</table>"
