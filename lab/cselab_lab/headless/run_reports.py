"""Reports of a run for a terminal, a GitHub page (Markdown), and a CI server (JUnit)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

from cselab._util.writing import write_text
from cselab_lab.headless.record import shown
from cselab_lab.headless.result import NotebookResult

NOT_IN_XML = re.compile(r"\x1b\[[0-9;]*m|[\x00-\x08\x0b\x0c\x0e-\x1f]")


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


def write_junit(results: Sequence[NotebookResult], file: Path) -> None:
    """A JUnit file: a suite for each notebook, a case for its run and one for each of its compared numbers."""
    root = ElementTree.Element("testsuites", name="notebooks")
    for result in results:
        cases = [("runs to its end", "\n".join(result.failures))]
        cases += [(one.name, one.trouble) for one in result.comparisons]
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            name=result.name,
            tests=str(len(cases)),
            failures=str(sum(bool(trouble) for _, trouble in cases)),
            time=f"{result.seconds:.1f}",
        )
        for name, trouble in cases:
            seconds = f"{result.seconds:.1f}" if name == "runs to its end" else "0"
            case = ElementTree.SubElement(suite, "testcase", classname=result.name, name=name, time=seconds)
            if trouble:
                clean = NOT_IN_XML.sub("", trouble)
                ElementTree.SubElement(case, "failure", message=clean.splitlines()[0]).text = clean
    ElementTree.indent(root)
    file.parent.mkdir(parents=True, exist_ok=True)
    ElementTree.ElementTree(root).write(file, encoding="utf-8", xml_declaration=True)


def _table(result: NotebookResult, form: str) -> str:
    from cselab_lab.tables import table

    return table({one.name: one.row() for one in result.comparisons}, form=form)
