"""A lesson takes 45 minutes with its exercises; what goes beyond is marked *Further*, and may be left out."""

import re

import nbformat
import pytest
from cselab_lab.headless.notebook_folder import bundled_notebooks, find_notebooks

LESSONS = [path for path in find_notebooks(bundled_notebooks()) if path.stem[:2].isdecimal()]
BUILT = ("02", "04", "05", "06", "07")  # from pieces that the student writes and that are then trained
MOST = 45  # minutes
WORDS, LINE = 200, 1.2  # that are read in a minute; minutes for a line that is written
GIVEN = ("import ", "from ", "def ", "#")


def asked_and_solution(path):
    """Each exercise of a lesson: what asks for it, its cell, and the lines of its solution that are written."""
    cells = nbformat.read(path, as_version=4).cells
    for at, cell in enumerate(cells):
        if "exercise" in cell.metadata.get("tags", []):
            solution = "\n".join(re.findall(r"```python\n(.+?)```", cells[at + 2].source, re.DOTALL)).splitlines()
            written = [line for line in map(str.strip, solution) if line and not line.startswith(GIVEN)]
            yield cells[at - 1], cell, written


def is_further(cell):
    return "further" in cell.metadata.get("tags", [])


def read_in(path):
    """The words of a lesson, a formula counted as one; without the folded solutions."""
    cells = nbformat.read(path, as_version=4).cells
    prose = [c.source for c in cells if c.cell_type == "markdown" and not c.source.startswith("<details>")]
    return len(re.sub(r"\$\$.*?\$\$|\$[^$]*\$", "x", " ".join(prose), flags=re.DOTALL).split())


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_a_lesson_is_read_and_written_in_45_minutes_without_what_is_further(path):
    lines = sum(len(written) for _, cell, written in asked_and_solution(path) if not is_further(cell))
    assert read_in(path) / WORDS + LINE * lines <= MOST


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_what_is_further_says_so_and_nothing_else_does(path):
    for asked, cell, _ in asked_and_solution(path):
        says_so = re.search(r"^(?:## |\*\*)Further: ", asked.source, re.MULTILINE)
        assert is_further(cell) == bool(says_so), cell.id


@pytest.mark.parametrize("path", [path for path in LESSONS if path.stem[:2] in BUILT], ids=lambda path: path.stem)
def test_at_least_forty_lines_are_written_in_a_lesson_that_is_built(path):
    assert sum(len(written) for *_, written in asked_and_solution(path)) >= 40


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_the_top_says_how_long_it_takes_with_and_without_what_is_further(path):
    time = re.search(r"\*\*Time\.\*\*.*?(?=\n\n)", nbformat.read(path, as_version=4).cells[0].source, re.DOTALL)[0]
    said = re.search(r"(\d+)\s+minutes", time)
    assert said and int(said[1]) <= MOST, time
    assert ("*Further*" in time) == any(is_further(cell) for _, cell, _ in asked_and_solution(path))
