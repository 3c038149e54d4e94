"""One table in five forms: the same in a terminal, a notebook, a paper and a page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pandas import DataFrame

FORMS = ("text", "markdown", "latex", "csv", "html")


def table(rows: Mapping[str, Mapping[str, float | str]] | DataFrame, digits: int = 2, form: str = "text") -> str:
    """A line for each row, a column for each name in any of them; what a row does not have stays blank.

    >>> print(table({"plain": {"STS-B": 47.03}, "SimCSE": {"STS-B": 51.5, "SICK-R": 55.25}}))
            STS-B  SICK-R
    plain   47.03
    SimCSE  51.50   55.25
    >>> print(table({"plain": {"STS-B": 47.03}}, digits=1, form="markdown"))
    |       |   STS-B |
    |:------|--------:|
    | plain |    47.0 |

    Args:
        rows: numbers or words by row and column, or a DataFrame of them.
        digits: after the point.
        form: "text", "markdown", "latex" (with booktabs), "csv" or "html".

    Raises:
        ValueError: an unknown form; lists the known.
    """
    from pandas import DataFrame
    from tabulate import tabulate

    if form not in FORMS:
        raise ValueError(f"unknown form {form!r}; choose one of {', '.join(FORMS)}")
    frame = DataFrame(list(rows.values()), index=list(rows)) if isinstance(rows, Mapping) else rows
    cells = frame.map(lambda value: _shown(value, digits)).astype(object)
    if form == "csv":
        return cells.to_csv()
    if form == "html":
        return cells.to_html(border=0)
    drawn = tabulate(
        cells,
        headers="keys",
        tablefmt={"text": "plain", "markdown": "pipe", "latex": "latex_booktabs"}[form],
        disable_numparse=True,
        colalign=("left", *("right" for _ in cells.columns)),
    )
    drawn = drawn.replace("±", r"$\pm$") if form == "latex" else drawn
    return "\n".join(line.rstrip() for line in drawn.splitlines())


def _shown(value: float | str | None, digits: int) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None or value != value else f"{value:.{digits}f}"
