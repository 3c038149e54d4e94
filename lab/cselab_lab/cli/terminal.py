"""Tables and colours on a terminal, by rich; plain text in a pipe, with NO_COLOR, and without UTF-8."""

import os
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import click

from cselab_lab.tables import shown

if TYPE_CHECKING:
    from pandas import DataFrame
    from rich.table import Table

VERDICTS = {"ok": "green", "FAULT": "bold red", "failed": "bold red"}  # a style for each word
WIDEST = 10_000  # characters of a table
POSITIVE, NEGATIVE = (0, 114, 178), (194, 82, 0)  # of a heat map: the blue and the orange of the panels


def is_rich() -> bool:
    """Whether standard output shows tables and colours."""
    encoding = (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "")
    dumb = os.environ.get("TERM") == "dumb" or bool(os.environ.get("NO_COLOR"))
    return sys.stdout.isatty() and encoding == "utf8" and not dumb


def show(*parts: Any) -> None:
    """Print renderables of rich; a terminal that is too narrow for a table breaks its lines, and nothing is cut."""
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    for part in parts:
        if isinstance(part, Table):
            for column in part.columns:
                if column.no_wrap:
                    column.min_width = max(console.measure(cell).maximum for cell in (column.header, *column.cells))
            least = console.measure(part, options=console.options.update(max_width=WIDEST)).minimum
            console.width = max(console.width, least)
        console.print(part)


def print_line(words: str, style: str) -> None:
    """A line, with a style of rich where the terminal shows it; in one piece, so that a command can be copied."""
    if is_rich():
        from rich.console import Console
        from rich.text import Text

        Console(highlight=False).print(Text(words, style=style), soft_wrap=True)
    else:
        click.echo(words)


def empty_table(columns: Iterable[str]) -> "Table":
    """A table of rich: a column of words without a name, then columns of numbers."""
    from rich import box
    from rich.table import Table

    made = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False, padding=(0, 1, 0, 0))
    for column in ("", *columns):
        made.add_column(column, justify="right" if column else "left", no_wrap=bool(column))
    return made


def print_rows(rows: Mapping[str, Mapping[str, Any]], digits: int) -> None:
    """Rows of named cells, as `cselab_lab.tables.table` has them, in a table that fits the width."""
    from rich.markup import escape

    columns = list(dict.fromkeys(column for row in rows.values() for column in row))
    table = empty_table(columns)
    for name, row in rows.items():
        cells = [escape(shown(row.get(column), digits)) for column in columns]
        table.add_row(
            f"[bold]{escape(name)}[/]",
            *(f"[{VERDICTS[cell]}]{cell}[/]" if cell in VERDICTS else cell for cell in cells),
        )
    show(table)


def print_heat_map(values: "DataFrame") -> None:
    """Numbers on blue above zero and orange below, the stronger the larger; the last row and column are sums."""
    from rich.text import Text

    largest = values.iloc[:-1, :-1].abs().to_numpy().max(initial=1e-9)
    table = empty_table(values.columns)
    table.padding = 0  # the shaded cells bring their own
    for name, numbers in values.iterrows():
        is_sum = name == values.index[-1]
        cells = [Text(str(name), style="bold")]
        for place, value in enumerate(numbers):
            total = is_sum or place == len(numbers) - 1
            cells.append(Text(f" {value:z.2f} ", style="bold" if total else _shade(value / largest)))
        table.add_row(*cells)
    show(table)


def _shade(share: float) -> str:
    """The style of a share of -1 to 1: the colour on black or white, whichever text is legible."""
    colour = POSITIVE if share > 0 else NEGATIVE
    strength = min(1.0, abs(share))
    mixed = [round(255 + (one - 255) * strength) for one in colour]
    return f"{'white' if strength > 0.55 else 'black'} on rgb({mixed[0]},{mixed[1]},{mixed[2]})"
