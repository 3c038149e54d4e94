"""`cselab notebooks collect` on thirty hand-ins: guesses and verdicts as lessons print them, damaged files named."""

import csv
import os

import nbformat
import pytest
from click.testing import CliRunner
from cselab_lab import cli
from cselab_lab.headless.collecting import Answer, collect
from cselab_lab.lessons.exercises import Check, Example, Exercise, diagnose
from cselab_lab.lessons.guesses import guess
from nbformat.v4 import new_code_cell, new_notebook, new_output

SQUARE = Exercise(Example("0 stays 0", (0,), 0), Example("3 becomes 9", (3,), 9), Check("even", lambda f: f(-2) == 4))
ANSWERS = {"right": lambda x: x * x, "half": lambda x: 2 * x, "none": lambda x: ...}


def shown(value):
    bundle = value._repr_mimebundle_() if hasattr(value, "_repr_mimebundle_") else {}
    return [new_output("execute_result", data=bundle | {"text/plain": repr(value), "text/html": "<b>not read</b>"})]


def hand_in(near, best, answer, *, lesson="00_tour", ran=True):
    """A lesson as a student saves it: guesses in one cell, compared in another, and a piece with its check."""
    given = {"near": near, "best": best}
    outcome = guess(**given).compare(near=0.84, best="plain")
    asked = ", ".join(f"{name}={'...' if value is ... else repr(value)}" for name, value in given.items())
    cells = [
        new_code_cell(f'lab = lesson.setup("{lesson}", profile, seed)', id="setup"),
        new_code_cell(f"mine = lesson.guess({asked})\nmine", id="guess-near"),
        new_code_cell("mine.compare(near=near, best=best)", id="compare"),
        new_code_cell("def my_square(x): ...", id="my-square", metadata={"tags": ["exercise"]}),
        new_code_cell("staged_check(my_square, SQUARE)", id="check-square", metadata={"tags": ["check"]}),
    ]
    if ran:
        cells[1].outputs = shown(guess(**given))
        cells[2].outputs = [new_output("stream", text="0.84 is near: not what anybody said\n"), *shown(outcome)]
        cells[4].outputs = shown(diagnose(ANSWERS[answer], SQUARE))
    return new_notebook(cells=cells)


BEST = "plain"


@pytest.fixture
def class_of_thirty(tmp_path):
    folder = tmp_path / "handed-in"
    for at in range(20):  # a folder for each student
        target = folder / f"student {at:02}"
        target.mkdir(parents=True)
        guessed = (0.84 if at % 2 else 0.1, BEST) if at < 18 else (..., "show")
        nbformat.write(hand_in(*guessed, ("right", "half", "none")[at % 3]), target / "tour, my version.ipynb")
    nbformat.write(hand_in(0.9, BEST, "right"), folder / "00_tour_Zoë.ipynb")
    nbformat.write(hand_in(0.9, BEST, "right", lesson="01_anisotropy"), folder / "Zoë-01_anisotropy.ipynb")
    nbformat.write(hand_in("=1+1", "<script>alert(1)</script>", "half"), folder / "00_tour_<b>.ipynb")
    nbformat.write(hand_in(0.9, BEST, "right", ran=False), folder / "00_tour_asleep.ipynb")
    nbformat.write(new_notebook(cells=[new_code_cell("print('shopping')")]), folder / "shopping.ipynb")
    whole = nbformat.writes(hand_in(0.9, BEST, "right"))
    (folder / "cut.ipynb").write_text(whole[: len(whole) // 2])
    (folder / "empty.ipynb").write_text("")
    (folder / "list.ipynb").write_text("[1, 2]")
    (folder / "binary.ipynb").write_bytes(b"\xff\xfe\x00\x01")
    (folder / ".ipynb_checkpoints").mkdir()
    nbformat.write(hand_in(0.0, BEST, "half"), folder / ".ipynb_checkpoints" / "00_tour_Zoë-checkpoint.ipynb")
    return folder


def test_guesses_and_verdicts_of_thirty_students(class_of_thirty):
    answers, left_out = collect(class_of_thirty)
    by_student = {}
    for answer in answers:
        by_student.setdefault((answer.student, answer.lesson), []).append(answer)
    assert len(by_student) == 24 and {len(given) for given in by_student.values()} <= {1, 3}
    near, best, piece = by_student["student 00", "00_tour"]
    assert near == Answer("student 00", "00_tour", "compare: near", "0.1", "0.84", "too low")
    assert (best.answer, best.found, best.verdict) == ("plain", "plain", "right")
    assert (piece.what, piece.verdict) == ("piece: square", "solved.")
    assert by_student["student 01", "00_tour"][2].verdict.startswith("not yet (1 of 3): 3 becomes 9.")
    assert by_student["student 02", "00_tour"][2].verdict.startswith("not solved yet")
    near, best, _ = by_student["student 19", "00_tour"]
    assert (near.answer, near.found) == ("", "0.84") and near.verdict.startswith("no guess yet")
    assert (best.answer, best.found, best.verdict) == ("show", "plain", "shown")
    assert [a.verdict for a in by_student["Zoë", "00_tour"]] == ["close", "right", "solved."]
    assert [a.verdict for a in by_student["Zoë", "01_anisotropy"]] == ["close", "right", "solved."]
    assert [(a.what, a.verdict) for a in by_student["asleep", "00_tour"]] == [("piece: square", "not run")]
    assert by_student["<b>", "00_tour"][0].verdict.startswith("'=1+1' is not one finite number")
    for name in ("shopping", "cut", "empty", "list", "binary"):
        assert sum(f"{name}.ipynb" in line for line in left_out) == 1
    assert len(left_out) == 5


def test_the_newer_of_two_files_counts(class_of_thirty):
    second = class_of_thirty / "student 00" / "second try.ipynb"
    nbformat.write(hand_in(0.5, BEST, "half"), second)
    os.utime(second, (2**31, 2**31))
    answers, left_out = collect(class_of_thirty)
    assert next(a.answer for a in answers if a.student == "student 00") == "0.5"
    assert sum("another file of student 00 for 00_tour" in line for line in left_out) == 1


def test_the_command_writes_a_table_and_a_page_that_runs_nothing_of_a_students(class_of_thirty, tmp_path):
    where = tmp_path / "answers"
    result = CliRunner().invoke(cli.app, ["notebooks", "collect", str(class_of_thirty), "--output", str(where)])
    assert result.exit_code == 0, result.output
    assert "70 answers of 23 students in 2 lessons" in result.output
    assert result.output.count("left out: ") == 5
    rows = list(csv.DictReader((where / "answers.csv").read_text(encoding="utf-8").splitlines()))
    assert len(rows) == 70
    assert not any(value.startswith(("=", "@")) for row in rows for value in row.values())
    page = (where / "answers.html").read_text(encoding="utf-8")
    assert "<script" not in page and "&lt;script&gt;" in page and "<b>" not in page
    assert "1 of 3 checks" in page and "9 × too low" in page


def test_a_folder_without_notebooks_is_refused(tmp_path):
    result = CliRunner().invoke(cli.app, ["notebooks", "collect", str(tmp_path)])
    assert result.exit_code == 1 and "Error: no notebooks in" in result.output
