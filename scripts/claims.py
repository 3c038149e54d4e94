"""What the lessons claim, and where each claim can be seen: `python scripts/claims.py [LESSON ...]` prints a table.

The claims and their checks stand in `tests/notebooks/test_claims.py`. Each check is run once, on the classroom numbers,
and what it reads is written down: numbers that the lesson records (with the cell that shows them), results of recorded
experiments, and printed tables of the papers.
"""

import re
import sys
from pathlib import Path
from unittest.mock import patch

import nbformat
from cselab_lab.experiments import Results
from cselab_lab.headless.notebook_folder import bundled_notebooks

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "notebooks"))
import test_claims as claims


class Reading(claims.Run):
    """A run that notes which recorded numbers are read."""

    def __init__(self, run: claims.Run, cells: list[nbformat.NotebookNode], read: list[str]) -> None:
        super().__init__(run.seed, run.recorded)
        self.__dict__ |= {"cells": cells, "read": read}

    def __getitem__(self, name: str) -> float:
        self.read.append(f"cell `{shown_by(self.cells, name)}`: {name}")
        return self.recorded[name]


def shown_by(cells: list[nbformat.NotebookNode], name: str) -> str:
    """The cell that records a number; its name may be put together: `f"{kind}: mean cosine"`."""
    cells_by_name = {"": "?"}
    for cell in cells:
        for written in re.findall(r'lab\.record\(f?"([^"]+)"', cell.source):
            letters = re.sub(r"\{.*?\}", "", written)
            if re.fullmatch(re.sub(r"\\\{.*?\\\}", ".+", re.escape(written)), name):
                cells_by_name[letters] = cell.id
    return cells_by_name[max(cells_by_name, key=len)]


def sources(check: claims.Check, run: claims.Run, cells: list[nbformat.NotebookNode]) -> list[str]:
    """What a check reads, each once, in order."""
    read: list[str] = []
    values, curves, printed = Results.values, Results.curves, claims.printed

    def of_results(self: Results, label: str, *measure: str) -> dict:
        read.append(f"recorded, `{self.experiment.name}`: {', '.join((label, *measure))}")
        return (values if measure else curves)(self, label, *measure)

    def of_a_paper(paper: str, number: int, row: str, column: str) -> float:
        read.append(f"the paper's: {paper}, Table {number}")
        return printed(paper, number, row, column)

    def named(experiment: str) -> Results:
        read.append(f"recorded, `{experiment}`")
        return recorded(experiment)

    recorded = claims.results
    with (
        patch.object(Results, "values", of_results),
        patch.object(Results, "curves", of_results),
        patch.object(claims, "printed", of_a_paper),
        patch.object(claims, "results", named),
    ):
        check(Reading(run, cells, read))
    return list(dict.fromkeys(read)) or ["computed by the check itself"]


def table(lesson: str) -> str:
    """A lesson's claims as Markdown: the sentence, the cell where it stands, and what shows it."""
    cells = nbformat.read(bundled_notebooks() / f"{lesson}.ipynb", as_version=4).cells
    run = claims.recorded_runs(lesson, "classroom")[0]
    lines = [f"## {lesson}", "", "| claim | said in | shown by |", "|---|---|---|"]
    for claim, check in claims.CLAIMS[lesson].items():
        said = next((cell.id for cell in cells if claim in claims.words(cell.source)), "?")
        first, *others = sources(check, run, cells)
        more = f" and {len(others)} more" if len(others) > 2 else "".join(f"; {other}" for other in others)
        lines.append(f"| {claim} | `{said}` | {first}{more} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(*map(table, sys.argv[1:] or claims.CLAIMS), sep="\n\n")
