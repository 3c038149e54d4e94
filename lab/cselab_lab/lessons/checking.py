"""Checks of the pieces that students hand in, each notebook in a process of its own, and points by the rubric."""

import json
import re
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cselab_lab.headless.collecting import collect, handed_in, status_of
from cselab_lab.headless.notebook_folder import bundled_notebooks, code_cells, read_notebook, tags_of

if TYPE_CHECKING:
    from nbformat import NotebookNode

GUESSES, PIECES = 2.0, 4.0  # points of the rubric in docs/teaching.md; four more are for the paragraph
TIME_LIMIT = 120.0  # seconds for a notebook
IMPORTED = re.compile(r"^(?:import|from) (?:math|numpy|scipy|sklearn|torch)\b.*[^(]$", re.MULTILINE)
DEFINED = re.compile(r"^(?:def )?([A-Za-z_]\w*)\s*(?:\(|=)", re.MULTILINE)

Texts = dict[str, str]
"""The source or the verdict of each exercise, by its name."""


@dataclass(frozen=True)
class Checked:
    """The pieces of a student in a lesson, by name, and the points."""

    student: str
    lesson: str
    verdicts: Mapping[str, str]
    points: float  # of GUESSES + PIECES

    def row(self) -> dict[str, str]:
        """The line of a table."""
        solved = sum(status_of(verdict) == "solved" for verdict in self.verdicts.values())
        told = [f"{name}: {verdict}" for name, verdict in self.verdicts.items() if status_of(verdict) != "solved"]
        return {
            "student": self.student,
            "lesson": self.lesson,
            "solved": f"{solved} of {len(self.verdicts)}",
            "points": f"{self.points:.1f} of {GUESSES + PIECES:.0f}",
            "not solved": "; ".join(told),
        }


def check_pieces(folder: Path, time_limit: float = TIME_LIMIT) -> tuple[list[Checked], list[str]]:
    """Run the checks on the core pieces of all notebooks below a folder; what the notebooks print is not believed.

    The cells of the pieces run in a new process and an empty folder, one process for each notebook, ended after
    `time_limit` seconds. That is no protection against code that means harm. Guesses are read from the saved outputs.
    See also: `collect`, which runs nothing.

    Raises:
        FileNotFoundError: no notebooks in the folder.
        ValueError: a time limit that is not above 0.
    """
    if not time_limit > 0:
        raise ValueError(f"the time limit must be above 0 seconds, got {time_limit:g}")
    left_out: list[str] = []
    made: dict[tuple[str, str], list[bool]] = {}
    for answer in collect(folder)[0]:
        if not answer.what.startswith("piece: "):
            made.setdefault((answer.student, answer.lesson), []).append(answer.status == "made")
    checked = []
    for (student, lesson), (path, notebook) in handed_in(folder, left_out).items():
        original = bundled_notebooks() / f"{lesson}.ipynb"
        if not original.exists():
            left_out.append(f"{path} is of no lesson of cselab ({lesson})")
            continue
        whole = read_notebook(original)
        pieces = _pieces(whole)
        verdicts = _run(pieces, _sources(notebook, whole), _imports(whole), time_limit)
        solved = sum(status_of(verdict) == "solved" for verdict in verdicts.values()) / max(len(verdicts), 1)
        asked = sum(_asked(cell.source) for cell in code_cells(whole))
        guessed = min(sum(made.get((student, lesson), [])) / max(asked, 1), 1.0)
        checked.append(Checked(student, lesson, verdicts, GUESSES * guessed + PIECES * solved))
    return sorted(checked, key=lambda one: (one.lesson, one.student)), left_out


def _asked(source: str) -> int:
    """How many guesses a cell asks for."""
    return len(re.findall(r"\w+=\.\.\.", source)) if "lesson.guess(" in source else 0


def _pieces(notebook: "NotebookNode") -> Texts:
    """The source of the check of each core piece, by the id of the cell that the student writes."""
    cells = notebook.cells
    found = [at for at, cell in enumerate(cells) if "exercise" in tags_of(cell) and "further" not in tags_of(cell)]
    return {cells[at].id: cells[at + 1].source for at in found}


def _sources(notebook: "NotebookNode", original: "NotebookNode") -> Texts:
    """What a student wrote for each piece: the cell with its id, else the last one that defines the same name."""
    code = code_cells(notebook)
    by_id = {cell.get("id", ""): cell.source for cell in code}
    written = {}
    for name in _pieces(original):
        (asked,) = [cell.source for cell in original.cells if cell.id == name]
        defines = {*DEFINED.findall(asked)}
        named = [cell.source for cell in code if defines & {*DEFINED.findall(cell.source)}]
        written[name] = by_id.get(name) or (named[-1] if named else "")
    return written


def _imports(notebook: "NotebookNode") -> str:
    """The imports of a lesson whose names a piece may use, as they are there when it runs in its notebook."""
    return "\n".join(line for cell in code_cells(notebook) for line in IMPORTED.findall(cell.source))


def _run(pieces: Texts, sources: Texts, imports: str, time_limit: float) -> Texts:
    """The verdict on each piece, from a process of its own; a new one goes on after a piece that ends the process."""
    verdicts: Texts = {}
    while pending := [name for name in pieces if name not in verdicts]:
        said, why = _process({name: [sources[name], pieces[name]] for name in pending}, imports, time_limit)
        verdicts |= said
        verdicts |= {name: why for name in [name for name in pending if name not in said][:1]}
    return verdicts


def _process(pieces: Mapping[str, list[str]], imports: str, time_limit: float) -> tuple[Texts, str]:
    """The verdicts of the pieces that one process came to, and why it came to no more."""
    token = secrets.token_hex(8)
    why = "error: the process ended"
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "cselab_lab.lessons.checking"]
        given = json.dumps({"token": token, "imports": imports, "pieces": pieces})
        try:
            said = subprocess.run(
                command, input=given, capture_output=True, text=True, timeout=time_limit, cwd=folder
            ).stdout
        except subprocess.TimeoutExpired as late:
            said, why = (late.stdout or b"").decode(), f"error: no result after {time_limit:g} seconds"
    return dict(json.loads(line[len(token) :]) for line in said.splitlines() if line.startswith(token)), why


def _verdict(source: str, check: str, names: dict[str, object]) -> str:
    """The last line of the check of a piece, in this process; `names` has those of the cells before."""
    from . import exercises

    told: list[str] = []
    exercises.staged_check = lambda answer, exercise: told.append(exercises.diagnose(answer, exercise).lines[-1])
    if not source.strip():
        return "cell missing"
    try:
        exec(compile(source, "<piece>", "exec"), names)  # a process of its own: `check_pieces`
        exec(compile(check, "<check>", "exec"), names)
    except (Exception, SystemExit) as error:
        return f"error: {type(error).__name__}: {error}"
    return told[-1]


def main() -> None:
    """Check the pieces that the standard input holds, and print a line for each."""
    given, names = json.load(sys.stdin), dict[str, object]()
    exec(compile(given["imports"], "<imports>", "exec"), names)
    for name, (source, check) in given["pieces"].items():
        print("\n" + given["token"] + json.dumps([name, _verdict(source, check, names)]), flush=True)


if __name__ == "__main__":
    main()
