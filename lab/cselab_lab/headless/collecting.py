"""Guesses and verdicts of a class, from the notebooks that students hand in. No student code is executed."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from cselab_lab.tables import table

from .notebook_folder import read_notebook
from .record import GUESS_TYPE

if TYPE_CHECKING:
    from nbformat import NotebookNode
    from pandas import DataFrame

LESSON = re.compile(r"""lesson\.setup\(\s*["'](\w+)["']""")
NO_OUTPUT = "not run"


@dataclass(frozen=True)
class Answer:
    """A guess or a piece of a student, with the verdict from the outputs of the notebook."""

    student: str
    lesson: str
    what: str  # "compare-logits: lowest_at", or "piece: my-focal"
    answer: str
    found: str
    verdict: str


def collect(folder: Path) -> tuple[list[Answer], list[str]]:
    """The answers in all notebooks below a folder, and a line for each file that gave none.

    A student is a subfolder (`ada/07_focal_infonce.ipynb`), or the rest of a file's name
    (`07_focal_infonce_ada.ipynb`). The lesson is read from the call of `lesson.setup`, so a renamed file is recognised.
    Of two files of a student for a lesson the newer one counts. See also: `run_notebooks`, which executes notebooks.

    Raises:
        FileNotFoundError: no notebooks in the folder.
    """
    files = [
        path for path in folder.rglob("*.ipynb") if not any(part.startswith(".") for part in _inside(path, folder))
    ]
    if not files:
        raise FileNotFoundError(f"no notebooks in {folder}: pass the folder with the notebooks of your students.")
    read: dict[tuple[str, str], NotebookNode] = {}
    left_out = []
    for path in sorted(files, key=lambda path: (-path.stat().st_mtime, path)):
        try:
            notebook = read_notebook(path)
        except ValueError as error:
            left_out.append(str(error))
            continue
        lesson = next((found[1] for cell in notebook.cells if (found := LESSON.search(cell.source))), "")
        student = _inside(path, folder)[0] if path.parent != folder else path.stem.replace(lesson, "").strip(" _-.")
        if not lesson:
            left_out.append(f"{path} is not a lesson: no cell calls lesson.setup")
        elif read.setdefault((student or path.stem, lesson), notebook) is not notebook:
            left_out.append(f"{path} is older than another file of {student or path.stem} for {lesson}")
    answers = (answer for (student, lesson), notebook in read.items() for answer in _answers(student, lesson, notebook))
    return sorted(answers, key=lambda answer: (answer.lesson, answer.student)), left_out


def _inside(path: Path, folder: Path) -> tuple[str, ...]:
    return path.relative_to(folder).parts


def _answers(student: str, lesson: str, notebook: "NotebookNode") -> Iterator[Answer]:
    """The guesses that were compared, and the pieces."""
    for at, cell in enumerate(notebook.cells):
        name = str(cell.get("id", at))
        for output in cell.get("outputs", []):
            for one in output.get("data", {}).get(GUESS_TYPE, {}).get("found", []):
                values = (str(one.get(key, "")) for key in ("guess", "words", "verdict"))
                yield Answer(student, lesson, f"{name}: {one.get('name')}", *values)
        if "check" in cell.metadata.get("tags", []):
            lines = _printed(cell)
            verdict = lines[-1] if lines else NO_OUTPUT
            yield Answer(student, lesson, f"piece: {name.removeprefix('check-')}", "", "", verdict)


def _printed(cell: "NotebookNode") -> list[str]:
    """The lines of text in a cell's outputs."""
    texts = [output.get("text") or output.get("data", {}).get("text/plain", "") for output in cell.get("outputs", [])]
    return [line for text in texts for line in "".join(text).splitlines() if line.strip()]


def to_frame(answers: list[Answer]) -> "DataFrame":
    """A row for each answer."""
    from pandas import DataFrame

    return DataFrame([vars(answer) for answer in answers], columns=list(Answer.__annotations__))


def page(answers: list[Answer], left_out: list[str]) -> str:
    """A page with the guesses of the class and a table of students for each lesson."""
    parts = [
        "<!doctype html><meta charset='utf-8'><title>Answers of a class</title>",
        STYLE,
        "<h1>Answers of a class</h1>",
    ]
    for lesson in sorted({answer.lesson for answer in answers}):
        here = [answer for answer in answers if answer.lesson == lesson]
        columns = list(dict.fromkeys(answer.what for answer in here))
        rows: dict[str, dict[str, str]] = {"the class": {}}
        for what in columns:
            verdicts = Counter(_short(answer.verdict) for answer in here if answer.what == what)
            rows["the class"][what] = ", ".join(f"{count} × {verdict}" for verdict, count in verdicts.most_common())
        for answer in here:
            said = f"{answer.answer}: " if answer.answer else ""
            rows.setdefault(answer.student, {})[answer.what] = f"{said}{_short(answer.verdict)}"
        found = {answer.what: answer.found for answer in here if answer.found}
        rows["result"] = {what: found.get(what, "") for what in columns}
        parts.append(f"<h2>{escape(lesson)}</h2><div>{table(rows, form='html')}</div>")
    if left_out:
        parts.append("<h2>Left out</h2><ul>" + "".join(f"<li>{escape(line)}" for line in left_out) + "</ul>")
    return "\n".join(parts) + "\n"


STYLE = """<style>body{font:15px/1.4 system-ui,sans-serif;margin:2em}div{overflow-x:auto}table{border-collapse:collapse}
th,td{border-bottom:1px solid #ccc;padding:.3em .7em;text-align:left;vertical-align:top;font-weight:normal}
thead th,tbody tr:first-child *{font-weight:600}</style>"""


def _short(verdict: str) -> str:
    """A verdict without its reason: "solved", "2 of 5 checks", "not solved"."""
    if passed := re.match(r"not yet \((\d+ of \d+)\)", verdict):
        return f"{passed[1]} checks"
    return re.split(r"[.:;]", verdict)[0]
