"""Tables and colours on a terminal, by rich; plain text in a pipe, with NO_COLOR, and without UTF-8."""

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from cselab_lab.tables import shown

if TYPE_CHECKING:
    from rich.table import Table

VERDICTS = {"ok": "green", "FAULT": "bold red", "failed": "bold red"}  # a style for each word
WIDEST = 10_000  # characters of a table


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


def empty_table(columns: Sequence[str], left: Iterable[str] = ()) -> "Table":
    """A table of rich; columns in `left` hold words, the rest numbers."""
    from rich import box
    from rich.table import Table

    words = set(left)
    made = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False, padding=(0, 1, 0, 0))
    for column in columns:
        made.add_column(column, justify="left" if column in words else "right", no_wrap=column not in words)
    return made


def print_rows(rows: Mapping[str, Mapping[str, Any]], digits: int) -> None:
    """Rows of named cells, as `cselab_lab.tables.table` has them, in a table that fits the width."""
    from rich.markup import escape

    columns = list(dict.fromkeys(column for row in rows.values() for column in row))
    table = empty_table(["", *columns], left=[""])
    for name, row in rows.items():
        cells = [escape(shown(row.get(column), digits)) for column in columns]
        table.add_row(
            f"[bold]{escape(name)}[/]",
            *(f"[{VERDICTS[cell]}]{cell}[/]" if cell in VERDICTS else cell for cell in cells),
        )
    show(table)
