"""Notebooks without the folded solutions of their exercises: `python scripts/student_version.py notebooks handout`.

The solutions go into notebooks of their own, `handout/solutions/`, for the teacher.
"""

import re
import shutil
import sys
from pathlib import Path

import nbformat

SOLUTION = "<details><summary>Solution</summary>"


def is_solution(cell: nbformat.NotebookNode) -> bool:
    return cell.cell_type == "markdown" and cell.source.startswith(SOLUTION)


def unfolded(cell: nbformat.NotebookNode) -> nbformat.NotebookNode:
    text = cell.source.removeprefix(SOLUTION).strip().removesuffix("</details>").strip()
    return nbformat.v4.new_markdown_cell(text, id=cell.id)


def split(notebook: nbformat.NotebookNode) -> tuple[nbformat.NotebookNode, nbformat.NotebookNode]:
    """The student's notebook, and the teacher's: every exercise with its solution."""
    student = nbformat.from_dict({**notebook, "cells": [cell for cell in notebook.cells if not is_solution(cell)]})
    teacher = []
    for cell in notebook.cells:
        if is_solution(cell):
            teacher.append(unfolded(cell))
        elif cell.cell_type == "markdown":
            asked = cell
        elif "exercise" in cell.metadata.get("tags", []):
            heading = re.search(r"^#+ (?:\d\. )?(?:Piece|Further)", asked.source, re.MULTILINE)  # text may come before
            question = asked.source[heading.start() :] if heading else asked.source
            teacher.append(nbformat.v4.new_markdown_cell(question, id=asked.id))
    return student, nbformat.from_dict({**notebook, "cells": teacher})


def main(folder: Path, target: Path) -> None:
    solutions = target / "solutions"
    solutions.mkdir(parents=True, exist_ok=True)
    for path in sorted(folder.glob("*.ipynb")):
        student, teacher = split(nbformat.read(path, as_version=4))
        nbformat.write(student, target / path.name)
        nbformat.write(teacher, solutions / path.name)
    if (folder / "recorded").is_dir():
        shutil.copytree(folder / "recorded", target / "recorded", dirs_exist_ok=True)
    print(f"ready: {target}, the solutions in {solutions}")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:3]))
