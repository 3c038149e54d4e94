"""Reports of a run for a terminal and for a page in Markdown."""

from collections.abc import Sequence
from pathlib import Path

from cselab._util.writing import write_text

from .record import shown
from .result import NotebookResult


def within_tolerance(result: NotebookResult) -> str:
    """The number of agreeing numbers: `"22 of 22 within tolerance"`."""
    good = sum(one.ok for one in result.comparisons)
    return f"{good} of {len(result.comparisons)} within tolerance"


def comparison_lines(result: NotebookResult) -> list[str]:
    """The table number | recorded | now | difference | tolerance | ok, and the number that agree.

    A run without recorded numbers prints the numbers of the run.
    """
    if not result.comparisons:
        return [f"{entry['name']} = {shown(entry['value'])}" for entry in result.records]
    return [*_table(result, "text").splitlines(), within_tolerance(result)]


def write_summary(results: Sequence[NotebookResult], file: Path) -> None:
    """A page in Markdown: each notebook's verdict, the numbers that disagree, all numbers folded."""
    rows = ["# Notebooks", "", "| notebook | profile | verdict | seconds | numbers |", "|---|---|---|---:|---|"]
    for result in results:
        numbers = within_tolerance(result) if result.comparisons else f"{len(result.records)}, not compared"
        verdict = "passed" if result.passed else "**failed**"
        rows.append(f"| {result.name} | {result.profile} | {verdict} | {result.seconds:.0f} | {numbers} |")
    for result in results:
        rows += ["", f"## {result.name}", ""]
        rows += [f"* problem: {' '.join(problem.split())}" for problem in result.problems]
        rows += [f"* {note}" for note in result.notes]
        if result.comparisons:
            rows += ["", "<details><summary>The numbers</summary>", "", _table(result, "md"), ""]
            rows += ["</details>"]
    file.parent.mkdir(parents=True, exist_ok=True)
    write_text(file, "\n".join(rows) + "\n")


def _table(result: NotebookResult, form: str) -> str:
    from cselab_lab.tables import table

    return table({one.name: one.row() for one in result.comparisons}, form=form)
