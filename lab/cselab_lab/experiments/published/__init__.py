"""The published numbers of the four papers, as data for comparison with ours.

Every table of WhitenedCSE, ImSimCSE, Focal-InfoNCE and the survey is a CSV in `tables/`, one number per line, as
printed (trailing zeros are kept). A cell that is copied from elsewhere, misprinted or impossible has a note; no number
was corrected. `titles.csv` has the content of each table in words, `claims.csv` the numbers of the running text,
recomputed from the tables.

See also: `cselab_lab.experiments`, which run these tables again.
"""

import csv
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from cselab._util.arguments import check_choice

HERE = Path(__file__).parent

PAPERS = {
    "whitenedcse": "WhitenedCSE (Zhuo et al. 2023)",
    "imsimcse": "ImSimCSE, also SimCSE++ (Xu et al. 2023)",
    "focal": "Focal-InfoNCE (Hou and Li 2023)",
    "survey": "the survey of contrastive sentence embeddings",
}


def _lines(file: str | Path) -> list[dict[str, str]]:
    with open(HERE / file, encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened))


TITLES = {(line["paper"], int(line["table"])): line["title"] for line in _lines("titles.csv")}
"""The tables with numbers, and their content."""


@dataclass(frozen=True)
class Cell:
    """One printed number.

    Attributes:
        row, column: the paper's labels, cleaned of typesetting.
        printed: the number as printed; empty if our copy of the text had lost it.
        spread: the printed standard deviation, or empty.
        unit: for example "Spearman x100" or "accuracy %".
        note: the source of a copied number, or the reason for doubt; or empty.
    """

    row: str
    column: str
    printed: str
    spread: str
    unit: str
    note: str

    @cached_property
    def value(self) -> float | None:
        """The number; None where it is lost, or where the cell is text."""
        try:
            return float(self.printed)
        except ValueError:
            return None

    @cached_property
    def deviation(self) -> float | None:
        """The printed standard deviation, if any."""
        return float(self.spread) if self.spread else None


NO_CELL = Cell("", "", "", "", "", "")
"""In place of a number that no paper prints."""


@dataclass(frozen=True)
class PublishedTable:
    """A table of a paper, cell by cell."""

    paper: str
    number: int
    cells: tuple[Cell, ...]

    @cached_property
    def title(self) -> str:
        """Which table this is, in words."""
        return f"{PAPERS[self.paper]}, Table {self.number}: {TITLES[self.paper, self.number]}"

    @cached_property
    def by_place(self) -> dict[tuple[str, str], Cell]:
        """The cells by row and column; of two with the same names, the first."""
        return {(cell.row, cell.column): cell for cell in reversed(self.cells)}

    def cell(self, row: str, column: str) -> Cell:
        """One cell.

        Raises:
            ValueError: an unknown row or column; lists the known ones.
        """
        if (row, column) in self.by_place:
            return self.by_place[row, column]
        rows, columns = (dict.fromkeys(getattr(cell, side) for cell in self.cells) for side in ("row", "column"))
        what, names, asked = ("column", columns, column) if row in rows else ("row", rows, row)
        raise ValueError(f"{self.title} has no {what} {asked!r}; it has {', '.join(names)}")

    def as_printed(self) -> tuple[dict[str, dict[str, str]], list[str]]:
        """Rows of printed cells, "value ± spread [n]", and the notes: note n is the n-th of them."""
        notes = list(dict.fromkeys(cell.note for cell in self.cells if cell.note))
        rows: dict[str, dict[str, str]] = {}
        for cell in self.cells:
            spread = f" ± {cell.spread}" if cell.spread else ""
            mark = f" [{notes.index(cell.note) + 1}]" if cell.note else ""
            rows.setdefault(cell.row, {})[cell.column] = f"{cell.printed or 'lost'}{spread}{mark}"
        return rows, notes


@cache
def published_table(paper: str, number: int) -> PublishedTable:
    """A table of a paper.

    >>> published_table("whitenedcse", 6).cell("WhitenedCSE-BERT_base", "STS-Avg.").printed
    '78.78'

    Raises:
        ValueError: an unknown paper, or a table that it does not have; lists the known ones.
    """
    if number not in tables_of(paper):
        raise ValueError(
            f"no numbers of table {number!r} of {paper}; expected one of tables {', '.join(map(str, tables_of(paper)))}"
        )
    (path,) = (HERE / "tables").glob(f"{paper}_table{number}_*.csv")
    names = ("row", "column", "value", "spread", "unit", "note")
    return PublishedTable(paper, number, tuple(Cell(*(line[name] for name in names)) for line in _lines(path)))


def tables_of(paper: str) -> list[int]:
    """The numbers of a paper's tables.

    Raises:
        ValueError: an unknown paper; the message lists the known ones.
    """
    check_choice("paper", paper, PAPERS)
    return [number for name, number in TITLES if name == paper]


def claims(paper: str) -> list[dict[str, str]]:
    """The numbers in a paper's running text: paper, where, claim, value, recomputed (from the tables), verdict.

    Raises:
        ValueError: an unknown paper; the message lists the known ones.
    """
    tables_of(paper)
    return [line for line in _lines("claims.csv") if line["paper"] == paper]
