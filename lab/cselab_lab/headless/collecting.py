"""Guesses and verdicts of a class, from the notebooks that students hand in. No student code is executed."""

import re
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any

from cselab._util.arguments import checked
from cselab_lab.tables import table

from .notebook_folder import code_cells, output_data, read_notebook, tags_of
from .record import GUESS_TYPE

if TYPE_CHECKING:
    from nbformat import NotebookNode
    from pandas import DataFrame

LESSON = re.compile(r"""lesson\.setup\(\s*["'](\w+)["']""")
CHECKED = re.compile(r"""lesson\.check\(\s*["']\w+["']\s*,\s*(\w+)=|staged_check\(\s*(\w+)""")
SETTING = re.compile(r"""^(profile|seed)\s*=\s*["']?([\w.-]+)""", re.MULTILINE)
PLACEHOLDER = re.compile(r"^[^#\n]*(?:return|=|:)\s*\.\.\.", re.MULTILINE)
COPY = re.compile(r"\s*(?:\(\d+\)|[-_ ]*\bcopy\s*\d*)\s*$", re.IGNORECASE)
NO_OUTPUT = "not run"
NO_CELL = "cell missing"


@dataclass(frozen=True)
class Answer:
    """A guess or a piece of a student, with the verdict from the outputs of the notebook."""

    student: str
    lesson: str
    what: str  # "compare-logits: lowest_at", or "piece: my-focal"
    answer: str
    found: str
    verdict: str
    status: str  # of a guess: made, open; of a piece: solved, not yet, not run, stale
    profile: str = ""
    seed: str = ""


HandedIn = dict[tuple[str, str], "tuple[Path, NotebookNode]"]
"""The newest notebook by student and lesson, with its path."""


def handed_in(folder: Path, left_out: list[str]) -> HandedIn:
    """The notebooks below a folder; a line is added to `left_out` for each file that does not count.

    A student is a subfolder (`ada/07_focal_infonce.ipynb`), or the rest of a file's name
    (`07_focal_infonce_ada.ipynb`). The lesson is read from the call of `lesson.setup`, so a renamed file is recognised.
    Of two files of a student for a lesson the newer one counts. If a subfolder holds a lesson in several folders of its
    own, each of these is a student.

    Raises:
        FileNotFoundError: no notebooks in the folder.
    """
    files = _newest_first(folder, left_out)
    if not any(path.suffix.lower() == ".ipynb" for path in files):
        raise FileNotFoundError(f"no notebooks in {folder}: pass the folder with the notebooks of your students.")
    found: list[tuple[Path, str, NotebookNode]] = []
    for path in files:
        if path.suffix.lower() != ".ipynb":
            left_out.append(f"{path} is not a notebook: its name does not end in .ipynb")
            continue
        try:
            notebook = read_notebook(path)
        except ValueError as error:
            left_out.append(str(error))
            continue
        lesson = next((named[1] for cell in notebook.cells if (named := LESSON.search(cell.source))), "")
        if lesson:
            found.append((path, lesson, notebook))
        else:
            left_out.append(f"{path} is not a lesson: no cell calls lesson.setup")
    read: HandedIn = {}
    students = _students(folder, [(path, lesson) for path, lesson, _ in found], left_out)
    for (path, lesson, notebook), student in zip(found, students, strict=True):
        if read.setdefault((student, lesson), (path, notebook))[1] is not notebook:
            left_out.append(f"{path} is older than another file of {student} for {lesson}")
    return read


@checked
def collect(folder: Path, class_list: Sequence[str] = ()) -> tuple[list[Answer], list[str]]:
    """The answers in all notebooks below a folder (`handed_in`), and a line for each file that gave none.

    Args:
        class_list: names; one that handed in nothing has a row. See also: `check_pieces`, which runs the pieces.

    Raises:
        FileNotFoundError: no notebooks in the folder.
    """
    left_out: list[str] = []
    read = handed_in(folder, left_out)
    pieces = {key: _pieces(notebook) for key, (_, notebook) in read.items()}
    answers = []
    for (student, lesson), (path, notebook) in read.items():
        of_class = {
            goal: name for (_, other), known in pieces.items() if other == lesson for goal, name in known.items()
        }
        found = _answers(student, lesson, notebook, of_class, f"{path}", left_out)
        given = [replace(answer, **_settings(notebook)) for answer in found]
        if not given:
            left_out.append(f"{path} holds no guess that was compared, and no check")
        answers += given
    absent = dict.fromkeys(name for name in class_list if name not in {student for student, _ in read})
    below = [line.removeprefix(f"{folder}") for line in left_out]
    answers += [Answer(name, "", "nothing", "", "", _missing(name, below), "not run") for name in absent]
    return sorted(answers, key=lambda answer: (answer.lesson, answer.student)), left_out


def _missing(student: str, left_out: Sequence[str]) -> str:
    """Whether a student without an answer handed in a file that was left out."""
    named = re.compile(rf"(?<![^\W_]){re.escape(student)}(?![^\W_])")
    return "all files were left out" if any(map(named.search, left_out)) else "nothing was handed in"


def _settings(notebook: "NotebookNode") -> dict[str, str]:
    """Profile and seed of the parameters, those of an injected cell included."""
    cells = [cell.source for cell in notebook.cells if "parameters" in " ".join(tags_of(cell))]
    return dict(SETTING.findall("\n".join(cells)))


def _newest_first(folder: Path, left_out: list[str]) -> list[Path]:
    """The files below a folder, those behind links included, but not hidden ones; unreadable ones are left out."""
    dated: list[tuple[float, Path]] = []
    entered: set[Path] = set()
    waiting = [folder]
    while waiting:
        here = waiting.pop()
        try:
            if here.resolve() in entered:
                left_out.append(f"{here} is a link to a folder that was read already")
                continue
            entered.add(here.resolve())
            for path in sorted(here.iterdir()):
                if path.name.startswith("."):
                    continue
                if path.is_dir():
                    waiting.append(path)
                    continue
                try:
                    dated.append((-path.stat().st_mtime, path))
                except OSError as error:
                    left_out.append(f"{path} cannot be read ({error.strerror})")
        except (OSError, RuntimeError) as error:  # RuntimeError: a link to itself, before Python 3.13
            left_out.append(f"{here} cannot be read ({getattr(error, 'strerror', None) or error})")
    return [path for _, path in sorted(dated)]


def _students(folder: Path, files: list[tuple[Path, str]], left_out: list[str]) -> list[str]:
    """The student of each file with its lesson."""
    places: dict[tuple[str, str], set[str]] = {}
    for path, lesson in files:
        first, *inner = path.relative_to(folder).parts
        places.setdefault((first, lesson), set()).add(inner[0] if len(inner) > 1 else "")
    deeper = {first: len(inner) for (first, _), inner in places.items() if len(inner) > 1}
    left_out += [
        f"{folder / first} holds a lesson in {count} folders, each counted as a student; if these are the students, "
        f"run: cselab notebooks collect {shlex.quote(str(folder / first))}"
        for first, count in deeper.items()
    ]
    students = []
    for path, lesson in files:
        first, *inner = path.relative_to(folder).parts
        own = COPY.sub("", path.stem)
        student = first if inner else own.replace(lesson, "").strip(" _-.") or own
        students.append(f"{first}/{inner[0]}" if first in deeper and len(inner) > 1 else student)
    return students


def _checks(notebook: "NotebookNode") -> "Iterator[tuple[str, str, NotebookNode]]":
    """The name and the checked piece of each check, and its cell."""
    for at, cell in enumerate(notebook.cells):
        if cell.cell_type == "code" and "check" in tags_of(cell):
            named = CHECKED.search(cell.source)
            yield _name(cell, at), (named[1] or named[2]) if named else "", cell


def _name(cell: "NotebookNode", at: int) -> str:
    """The id of a cell, which Colab puts into the metadata; else its place."""
    return str(cell.get("id", cell.metadata.get("id", at)))


def _pieces(notebook: "NotebookNode") -> dict[str, str]:
    """The name of the check of each exercise: Jupyter gives a copied cell a new id, without the prefix."""
    return {goal: name for name, goal, _ in _checks(notebook) if goal and name.startswith("check-")}


def _answers(
    student: str, lesson: str, notebook: "NotebookNode", pieces: dict[str, str], path: str, left_out: list[str]
) -> Iterator[Answer]:
    """The guesses that were compared, and the pieces; those of the class that are missing here, too."""
    for at, cell in enumerate(notebook.cells):
        name = _name(cell, at)
        for guess in _guesses(cell):
            if not isinstance(guess, dict) or "name" not in guess:
                left_out.append(f"{path}, cell {name}: the compared guess is damaged ({guess!r:.40})")
                continue
            made, found, verdict = (str(guess.get(key, "")) for key in ("guess", "words", "verdict"))
            what = f"{name}: {guess['name']}"
            yield Answer(student, lesson, what, made, found, verdict, "made" if made else "open")
    seen: set[str] = set()
    for name, goal, cell in sorted(_checks(notebook), key=lambda check: not check[0].startswith("check-")):
        piece = pieces.get(goal, name).removeprefix("check-")
        if piece in seen:
            left_out.append(f"{path}, cell {name}: a copy of the check of {piece}; the first one counts")
            continue
        seen.add(piece)
        verdict = _verdict(cell, goal, notebook)
        yield Answer(student, lesson, f"piece: {piece}", "", "", verdict, status_of(verdict))
    for name in dict.fromkeys(pieces.values()):
        if (piece := name.removeprefix("check-")) not in seen:
            yield Answer(student, lesson, f"piece: {piece}", "", "", NO_CELL, status_of(NO_CELL))


def status_of(verdict: str) -> str:
    """The verdict on a piece in a word or two.

    >>> status_of("solved, as numbers."), status_of("not yet (1 of 3): ..."), status_of(NO_OUTPUT)
    ('solved', 'not yet', 'not run')
    """
    starts = {"solved": "solved", "out of date": "stale", NO_OUTPUT: "not run", NO_CELL: "not run"}
    return next((status for start, status in starts.items() if verdict.startswith(start)), "not yet")


def _guesses(cell: "NotebookNode") -> list[Any]:
    """The compared guesses in the outputs of a cell; a damaged output is returned as it is."""
    held = [data[GUESS_TYPE] for data in output_data([cell], GUESS_TYPE)]
    found = [one.get("found", one) if isinstance(one, dict) else one for one in held]
    return [guess for one in found for guess in (one if isinstance(one, list) else [one])]


def _verdict(cell: "NotebookNode", answer: str, notebook: "NotebookNode") -> str:
    """The last line that a check printed, unless the piece was deleted or emptied afterwards."""
    lines = _printed(cell)
    verdict = lines[-1] if lines else NO_OUTPUT
    if not verdict.startswith("solved") or not answer:
        return verdict
    defined = re.compile(rf"^\s*(?:def\s+{answer}\b|(?:\w+\s*,\s*)*{answer}\s*(?:[:,=]))", re.MULTILINE)
    sources = [one.source for one in code_cells(notebook) if defined.search(one.source)]
    if not sources:
        return f"out of date: {verdict} No cell defines {answer}"
    if all(PLACEHOLDER.search(source) for source in sources):
        return f"out of date: {verdict} The cell of {answer} holds the placeholder"
    return verdict


def _printed(cell: "NotebookNode") -> list[str]:
    """The lines of text in a cell's outputs; of an exception its name and message."""
    texts = [
        f"error: {output.get('ename')}: {output.get('evalue')}"
        if output.output_type == "error"
        else output.get("text") or output.get("data", {}).get("text/plain", "")
        for output in cell.get("outputs", [])
    ]
    return [line for text in texts for line in "".join(text).splitlines() if line.strip()]


def to_frame(answers: list[Answer]) -> "DataFrame":
    """A row for each answer."""
    from pandas import DataFrame

    return DataFrame([vars(answer) for answer in answers], columns=list(Answer.__annotations__))


def page(answers: list[Answer], left_out: list[str]) -> str:
    """A page with the guesses of the class and a table of students for each lesson."""
    from pandas import DataFrame

    parts = [
        "<!doctype html><meta charset='utf-8'><title>Answers of a class</title>",
        STYLE,
        "<h1>Answers of a class</h1>",
    ]
    for lesson in sorted({answer.lesson for answer in answers}):
        here = [answer for answer in answers if answer.lesson == lesson]
        columns = list(dict.fromkeys(answer.what for answer in here))
        counts = {
            what: Counter(_short(answer.verdict) for answer in here if answer.what == what).most_common()
            for what in columns
        }
        students: dict[str, dict[str, str]] = {}
        for answer in here:
            said = f"{answer.answer}: " if answer.answer else ""
            shown = answer.verdict if answer.status == "not yet" else _short(answer.verdict)
            students.setdefault(answer.student, {})[answer.what] = f"{said}{shorten(shown, 160, placeholder=' ...')}"
        rows = [
            {what: ", ".join(f"{count} × {verdict}" for verdict, count in counts[what]) for what in columns},
            *students.values(),
            {answer.what: answer.found for answer in here if answer.found},
        ]
        frame = DataFrame(rows, index=["the class", *students, "result"], columns=columns).fillna("")
        parts.append(f"<h2>{escape(lesson)}</h2><div>{table(frame, form='html')}</div>")
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
