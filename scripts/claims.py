"""What the lessons claim, and where each claim can be seen: `python scripts/claims.py [LESSON ...]` prints a table.

The claims and their checks stand in `tests/notebooks/test_claims.py`. Each check is run once, on the classroom numbers
(where it is about `micro` alone, on those of smoke), and what it reads is written down: numbers that the lesson records
(with the cell that shows them), what another cell shows, results of recorded experiments, and printed tables of the
papers.
"""

import re
import sys
from functools import cache, partial
from pathlib import Path
from unittest.mock import patch

import nbformat
from cselab_lab.experiments import Results
from cselab_lab.experiments.published import PublishedTable
from cselab_lab.headless.notebook_folder import bundled_notebooks

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "notebooks"))
import test_claims as claims

OF_ONE_PLACE = {
    "floor_of_64": "cell `floors`: computed again",
    "mean_of_the_tokens": "recorded, `suites-mini.json`: the seven sets",
    "pulls_of_rows": "cell `rows-of-any-length`: computed again, on rows drawn at random",
}
"""Functions of the checks that read one place each, and that place."""


class Reading(claims.Run):
    """A run that notes which numbers are read, of what it recorded and of what its cells show."""

    def __init__(self, run: claims.Run, cells: list[nbformat.NotebookNode], read: list[str], where: str = "") -> None:
        super().__init__(**vars(run))
        self.__dict__ |= {"cells": cells, "read": read, "where": where}

    def __getitem__(self, name: str) -> float:
        self.read.append(f"{self.where}cell `{shown_by(self.cells, name)}`: {name}")
        return self.recorded[name]

    def shown(self, cell: str, numbers: claims.Shown) -> dict:
        known = cell if cell in [one.id for one in self.cells] else "?"
        self.read.append(f"cell `{known}`: computed again")
        return super().shown(cell, numbers)


@cache
def cells_of(lesson: str) -> list[nbformat.NotebookNode]:
    return nbformat.read(bundled_notebooks() / f"{lesson}.ipynb", as_version=4).cells


def shown_by(cells: list[nbformat.NotebookNode], name: str) -> str:
    """The cell that records a number; its name may be put together: `f"{kind}: mean cosine"`."""
    cells_by_name = {"": "?"}
    for cell in cells:
        for written in re.findall(r'lab\.record\(f?"([^"]+)"', cell.source):
            letters = re.sub(r"\{.*?\}", "", written)
            if re.fullmatch(re.sub(r"\\\{.*?\\\}", ".+", re.escape(written)), name):
                cells_by_name[letters] = cell.id
    return cells_by_name[max(cells_by_name, key=len)]


def sources(check: claims.Check, run: claims.Run) -> list[str]:
    """What a check reads, each once, in order."""
    read: list[str] = []
    originals = {name: getattr(claims, name) for name in ("published_table", "results", "recorded_runs", *OF_ONE_PLACE)}
    values, curves = Results.values, Results.curves

    def of_results(self: Results, label: str, *measure: str) -> dict:
        read.append(f"recorded, `{self.experiment.name}`: {', '.join((label, *measure))}")
        return (values if measure else curves)(self, label, *measure)

    def of_a_paper(paper: str, number: int) -> PublishedTable:
        read.append(f"the paper's: {paper}, Table {number}")
        return originals["published_table"](paper, number)

    def named(experiment: str) -> Results:
        read.append(f"recorded, `{experiment}`")
        return originals["results"](experiment)

    def of_lesson(lesson: str, profile: str) -> list[Reading]:
        where = "" if lesson == run.lesson else f"`{lesson}`, "
        return [Reading(one, cells_of(lesson), read, where) for one in originals["recorded_runs"](lesson, profile)]

    def of_one_place(name: str, *given: object) -> object:
        read.append(OF_ONE_PLACE[name])
        return originals[name](*given)

    for kept in (claims.gains_of_systems, claims.gain_over_simcse, claims.difference_on):
        kept.cache_clear()
    doubles = {"published_table": of_a_paper, "results": named, "recorded_runs": of_lesson}
    doubles |= {name: partial(of_one_place, name) for name in OF_ONE_PLACE}
    with (
        patch.object(Results, "values", of_results),
        patch.object(Results, "curves", of_results),
        patch.multiple(claims, **doubles),
    ):
        check(Reading(run, cells_of(run.lesson), read))
    return list(dict.fromkeys(read))


def by_place(read: list[str]) -> list[str]:
    """What was read in one place together: the first two, and how many more; `?` where nothing was."""
    places: dict[str, list[str]] = {}
    for one in read or ["`?`"]:
        place, _, what = one.partition(": ")
        places.setdefault(place, []).extend([what] if what else [])
    return [
        place + ": " * bool(what) + "; ".join(what[:2]) + f" and {len(what) - 2} more" * (len(what) > 2)
        for place, what in places.items()
    ]


def table(lesson: str) -> str:
    """A lesson's claims as Markdown: the sentence, the cell where it stands, and what shows it."""
    cells = cells_of(lesson)
    run, small = (claims.recorded_runs(lesson, profile)[0] for profile in ("classroom", "smoke"))
    lines = [f"## {lesson}", "", "| claim | said in | shown by |", "|---|---|---|"]
    for claim, check in claims.CLAIMS[lesson].items():
        said = next((cell.id for cell in cells if claim in claims.words(cell.source)), "?")
        read = sources(check, run) or [f"`micro`, {one}" for one in sources(check, small)]
        lines.append(f"| {claim} | `{said}` | {'; '.join(by_place(read))} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(*map(table, sys.argv[1:] or claims.CLAIMS), sep="\n\n")
