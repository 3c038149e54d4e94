"""One table in five forms: the same in a terminal, a notebook, a paper and a page."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from cselab._util.arguments import did_you_mean

if TYPE_CHECKING:
    from pandas import DataFrame

FORMS = ("text", "md", "latex", "csv", "html")
SHORT_FOR = {"markdown": "md", "tex": "latex", "plain": "text", "txt": "text"}  # common short names


def table(rows: "Mapping[str, Mapping[str, float | str]] | DataFrame", digits: int = 2, form: str = "text") -> str:
    """A line for each row, a column for each name in any row; missing cells are blank.

    >>> print(table({"plain": {"STS-B": 47.03}, "SimCSE": {"STS-B": 51.5, "SICK-R": 55.25}}))
            STS-B  SICK-R
    plain   47.03
    SimCSE  51.50   55.25
    >>> print(table({"plain": {"STS-B": 47.03}}, digits=1, form="md"))
    |       |   STS-B |
    |:------|--------:|
    | plain |    47.0 |

    Args:
        rows: numbers or words by row and column, or a DataFrame of them.
        digits: after the point.
        form: "text", "md" (Markdown), "latex" (with booktabs), "csv" or "html".

    Raises:
        ValueError: an unknown form; names the nearest, and all forms.
    """
    from pandas import DataFrame, option_context
    from tabulate import tabulate

    check_form(form)
    if not isinstance(rows, Mapping | DataFrame):
        raise TypeError(f"rows are {rows!r:.60}; expected {{name: {{column: number or words}}}}, or a DataFrame")
    frame = DataFrame(list(rows.values()), index=list(rows)) if isinstance(rows, Mapping) else rows
    cells = frame.map(lambda value: shown(value, digits)).astype(object)
    if form in SAFE:
        cells = cells.map(SAFE[form]).rename(index=SAFE[form], columns=SAFE[form])
    if form == "csv":
        return cells.to_csv()
    if form == "html":
        with option_context("display.max_colwidth", None):
            return cells.to_html(border=0)
    drawn = tabulate(
        cells,
        headers="keys",
        tablefmt={"text": "plain", "md": "pipe", "latex": "latex_booktabs"}[form],
        disable_numparse=True,
        colalign=("left", *("right" for _ in cells.columns)),
    )
    drawn = drawn.replace("±", r"$\pm$") if form == "latex" else drawn
    return "\n".join(line.rstrip() for line in drawn.splitlines())


def _in_markdown(cell: object) -> str:
    """A cell that neither ends its column or row nor opens an HTML element, a link or a picture."""
    return " ".join(str(cell).splitlines()).replace("|", r"\|").replace("<", "&lt;").replace("](", r"]\(")


def _in_a_spreadsheet(cell: object) -> str:
    """A cell that no spreadsheet treats as a formula."""
    text = str(cell).replace("\r", " ")
    return f"'{text}" if text.lstrip()[:1] in FORMULA and not re.fullmatch(r"[-+][\d.]+(e[-+]?\d+)?", text) else text


FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""The first character of a formula; the last four are the full-width forms."""

SAFE = {"md": _in_markdown, "csv": _in_a_spreadsheet}
"""The function that escapes a cell; tabulate and pandas escape LaTeX and HTML."""


def check_form(form: str, known: Sequence[str] = FORMS) -> str:
    """The form, if it is known.

    Raises:
        ValueError: an unknown form, with the nearest, and all forms.
    """
    if form not in known:
        meant = SHORT_FOR.get(form.lower(), form.lower())
        raise ValueError(f"unknown form {form!r}.{did_you_mean(meant, known)} Choose one of {', '.join(known)}")
    return form


def shown(value: float | str | None, digits: int) -> str:
    """A cell: words as they are, a number with its digits, nothing if it is missing.

    >>> shown(47.031, 2), shown("failed", 2), shown(None, 2)
    ('47.03', 'failed', '')
    """
    if isinstance(value, str):
        return value
    return "" if value is None or value != value else f"{value:.{digits}f}"
