"""`cselab notebooks collect` on thirty hand-ins: guesses and verdicts as lessons print them, damaged files named."""

import csv
import os
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import nbformat
import pytest
from cells import table
from command_line import run
from cselab_lab.headless.collecting import collect, page
from cselab_lab.lessons.exercises import Check, Example, Exercise, diagnose
from cselab_lab.lessons.guesses import guess
from nbformat.v4 import new_code_cell, new_notebook, new_output

SQUARE = Exercise(Example("0 stays 0", (0,), 0), Example("3 becomes 9", (3,), 9), Check("even", lambda f: f(-2) == 4))
BEST = "plain"
ANSWERS = {"right": lambda x: x * x, "half": lambda x: 2 * x, "none": lambda x: ...}


def shown(value):
    bundle = value._repr_mimebundle_() if hasattr(value, "_repr_mimebundle_") else {}
    return [new_output("execute_result", data=bundle | {"text/plain": repr(value), "text/html": "<b>not read</b>"})]


def hand_in(answer="right", near=0.9, best=BEST, *, lesson="00_tour", ran=True):
    """A lesson as a student saves it: guesses in one cell, compared in another, and a piece with its check."""
    given = {"near": near, "best": best}
    outcome = guess(**given).compare(near=0.84, best="plain")
    asked = ", ".join(f"{name}={'...' if value is ... else repr(value)}" for name, value in given.items())
    cells = [
        new_code_cell(f'lab = lesson.setup("{lesson}", profile, seed)', id="setup"),
        new_code_cell(f"mine = lesson.guess({asked})\nmine", id="guess-near"),
        new_code_cell("mine.compare(near=near, best=best)", id="compare"),
        new_code_cell("def my_square(x):\n    return x * x", id="my-square", metadata={"tags": ["exercise"]}),
        new_code_cell("staged_check(my_square, SQUARE)", id="check-square", metadata={"tags": ["check"]}),
    ]
    if ran:
        cells[1].outputs = shown(guess(**given))
        cells[2].outputs = [new_output("stream", text="0.84 is near: not what anybody said\n"), *shown(outcome)]
        cells[4].outputs = shown(diagnose(ANSWERS[answer], SQUARE))
    return new_notebook(cells=cells)


def put(folder, name, notebook):
    place = folder / name
    place.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, place)
    return place


@pytest.fixture
def class_of_thirty(tmp_path):
    folder = tmp_path / "handed-in"
    for at in range(20):  # a folder for each student
        guessed = (0.84 if at % 2 else 0.1, BEST) if at < 18 else (..., "show")
        handed_in = hand_in(("right", "half", "none")[at % 3], *guessed)
        put(folder, f"student {at:02}/tour, my version.ipynb", handed_in)
    put(folder, "00_tour_Zoë.ipynb", hand_in())
    put(folder, "Zoë-01_anisotropy.ipynb", hand_in(lesson="01_anisotropy"))
    put(folder, "00_tour_<b>.ipynb", hand_in("half", "=1+1", "<script>alert(1)</script>"))
    put(folder, "00_tour_asleep.ipynb", hand_in(ran=False))
    put(folder, "shopping.ipynb", new_notebook(cells=[new_code_cell("print('shopping')")]))
    put(folder, ".ipynb_checkpoints/00_tour_Zoë-checkpoint.ipynb", hand_in("half", 0.0))
    whole = nbformat.writes(hand_in())
    (folder / "cut.ipynb").write_text(whole[: len(whole) // 2])
    (folder / "empty.ipynb").write_text("")
    (folder / "list.ipynb").write_text("[1, 2]")
    (folder / "binary.ipynb").write_bytes(b"\xff\xfe\x00\x01")
    return folder


# By student and lesson what was asked, what was answered and found, and how the verdict begins.
GIVEN = """
student 00 | 00_tour | compare: near | 0.1 | 0.84 | too low
student 00 | 00_tour | compare: best | plain | plain | right
student 00 | 00_tour | piece: square |  |  | solved.
student 01 | 00_tour | piece: square |  |  | not yet (1 of 3): 3 becomes 9.
student 02 | 00_tour | piece: square |  |  | not solved yet
student 19 | 00_tour | compare: near |  | 0.84 | no guess yet
student 19 | 00_tour | compare: best | show | plain | shown
Zoë | 00_tour | compare: near | 0.9 | 0.84 | close
Zoë | 00_tour | compare: best | plain | plain | right
Zoë | 00_tour | piece: square |  |  | solved.
Zoë | 01_anisotropy | compare: near | 0.9 | 0.84 | close
Zoë | 01_anisotropy | compare: best | plain | plain | right
Zoë | 01_anisotropy | piece: square |  |  | solved.
asleep | 00_tour | piece: square |  |  | not run
<b> | 00_tour | compare: near | =1+1 | 0.84 | '=1+1' is not one finite number
"""


def test_guesses_and_verdicts_of_thirty_students(class_of_thirty):
    answers, left_out = collect(class_of_thirty)
    by_student = Counter((answer.student, answer.lesson) for answer in answers)
    assert len(by_student) == 24 and by_student["asleep", "00_tour"] == 1 and set(by_student.values()) == {1, 3}
    found = {(a.student, a.lesson, a.what): a for a in answers}
    for *key, answer, value, verdict in table(GIVEN):
        one = found[tuple(key)]
        assert (one.answer, one.found) == (answer, value) and one.verdict.startswith(verdict), one
    assert found["student 00", "00_tour", "compare: near"].status == "made"
    assert sorted(Path(line.split(".ipynb")[0]).name for line in left_out) == "binary cut empty list shopping".split()


def test_the_newer_of_two_files_counts(class_of_thirty):
    second = class_of_thirty / "student 00" / "second try.ipynb"
    nbformat.write(hand_in("half", 0.5), second)
    os.utime(second, (2**31, 2**31))
    answers, left_out = collect(class_of_thirty)
    assert next(a.answer for a in answers if a.student == "student 00") == "0.5"
    assert sum("another file of student 00 for 00_tour" in line for line in left_out) == 1


def test_the_page_runs_nothing_of_a_students(class_of_thirty, tmp_path):
    where = tmp_path / "answers"
    said = run(f"notebooks collect '{class_of_thirty}' --output {where}")
    assert "70 answers of 23 students in 2 lessons" in said and said.count("left out: ") == 5
    rows = list(csv.DictReader((where / "answers.csv").read_text(encoding="utf-8").splitlines()))
    assert len(rows) == 70
    assert not any(value.startswith(("=", "@")) for row in rows for value in row.values())
    page = (where / "answers.html").read_text(encoding="utf-8")
    assert "<script" not in page and "&lt;script&gt;" in page and "<b>" not in page
    assert "1 of 3 checks" in page and "9 × too low" in page


def test_a_folder_without_notebooks_is_refused(tmp_path):
    assert "Error: no notebooks in" in run(f"notebooks collect {tmp_path}", ok=False)


# ------------------------------------------------------------------------------------ nothing and nobody is lost


@pytest.fixture
def folder(tmp_path):
    """Ada's right answer, and beside it what a test adds."""
    put(tmp_path / "class", "ada/tour.ipynb", hand_in())
    return tmp_path / "class"


def verdicts(folder, student):
    answers, left_out = collect(folder)
    assert [a.verdict for a in answers if a.student == "ada"] == ["close", "right", "solved."]
    return {a.what: a.verdict for a in answers if a.student == student}, left_out


@pytest.mark.parametrize(
    "held",
    [[1], "text", None, {"found": "abc"}, {"found": ["x"]}, {"found": None}, {"found": 3}, {"found": [[]]}, 1.5, {}],
)
def test_a_damaged_guess_is_named_and_the_rest_counts(held, folder):
    damaged = hand_in("half")
    damaged.cells[2].outputs[1].data["application/vnd.cselab.guess+json"] = held
    file = put(folder, "ben/tour.ipynb", damaged)
    found, left_out = verdicts(folder, "ben")
    assert found["piece: square"].startswith("not yet (1 of 3)")
    assert len(found) == len(left_out) == 1 and left_out[0].startswith(f"{file}, cell compare: the compared guess is")


CHANGES = {
    "deleted": (lambda cells: cells.pop(), "cell missing"),
    "all deleted": (lambda cells: cells.__delitem__(slice(1, None)), "cell missing"),
    "emptied": (lambda cells: cells[3].update(source=""), "out of date: solved."),
    "reset": (
        lambda cells: cells[3].update(source="def my_square(x):\n    return ...  # a number"),
        "out of date: solved.",
    ),
    "commented": (lambda cells: cells[3].update(source="# def my_square(x): return x * x"), "out of date: solved."),
    "raised": (
        lambda cells: cells[4].update(outputs=[new_output("error", ename="NameError", evalue="no x")]),
        "error: NameError: no x",
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_deleted_emptied_and_failed_pieces_are_told(name, folder):
    notebook, (change, said) = hand_in(), CHANGES[name]
    change(notebook.cells)
    put(folder, f"{name}/tour.ipynb", notebook)
    assert verdicts(folder, name)[0]["piece: square"].startswith(said)


def test_a_copied_check_stays_with_its_piece(folder):
    copied = hand_in("half")
    copied.cells.insert(1, new_code_cell(**(copied.cells[4] | {"id": "1234abcd"})))
    file = put(folder, "ben/tour.ipynb", copied)
    moved = hand_in("half")
    moved.cells[4]["id"] = "5678abcd"
    put(folder, "eve/tour.ipynb", moved)
    found, left_out = verdicts(folder, "ben")
    assert list(found) == ["compare: near", "compare: best", "piece: square"]
    assert left_out == [f"{file}, cell 1234abcd: a copy of the check of square; the first one counts"]
    assert verdicts(folder, "eve")[0]["piece: square"].startswith("not yet")


def test_every_other_file_is_left_out_with_its_reason(folder):
    (folder / "ben").mkdir()
    (folder / "ben" / "tour.ipynb").symlink_to("nowhere")
    (folder / "loop.ipynb").symlink_to("loop.ipynb")
    (folder / "circle").symlink_to(folder)
    (folder / "deep.ipynb").write_text("[" * 100_000)
    for name in ("answers.pdf", "tour.ipynb.txt", "tour.py", "tour.ipynb.zip", "notes"):
        (folder / name).touch()
    (folder / "folder.ipynb").mkdir()
    put(folder, "no answer.ipynb", new_notebook(cells=[new_code_cell('lesson.setup("01_anisotropy", profile)')]))
    _, left_out = verdicts(folder, "ada")
    for name in ("ben/tour.ipynb", "loop.ipynb", "circle", "deep.ipynb", "answers.pdf", "tour.ipynb.txt", "tour.py",
                 "tour.ipynb.zip", "notes", "no answer.ipynb"):  # fmt: skip
        assert sum(line.startswith(f"{folder / name} ") for line in left_out) == 1, name
    assert len(left_out) == 10


def test_files_behind_a_link_and_in_capitals_are_read(folder, tmp_path):
    put(tmp_path / "elsewhere", "ben/TOUR.IPYNB", hand_in("half"))
    (folder / "ben").symlink_to(tmp_path / "elsewhere" / "ben")
    found, left_out = verdicts(folder, "ben")
    assert found["piece: square"].startswith("not yet") and not left_out


@pytest.mark.parametrize("copy", [" (1)", "(2)", "-Copy1", " - Copy", " copy 2"])
def test_a_second_download_is_the_same_student(copy, tmp_path):
    for name in (f"00_tour_ben{copy}", "00_tour_ben"):
        put(tmp_path, f"{name}.ipynb", hand_in("half"))
    answers, left_out = collect(tmp_path)
    assert {answer.student for answer in answers} == {"ben"} and len(answers) == 3 and len(left_out) == 1


def test_one_level_of_folders_too_many_loses_no_student(tmp_path):
    names = [f"s{number}" for number in range(30)]
    for name in names:
        put(tmp_path, f"submitted/{name}/ps7/tour.ipynb", hand_in())
    put(tmp_path, "release/ps7/tour.ipynb", hand_in("none"))
    answers, left_out = collect(tmp_path)
    assert {answer.student for answer in answers} == {"release", *(f"submitted/{name}" for name in names)}
    assert len(left_out) == 1 and left_out[0].endswith(f"cselab notebooks collect {tmp_path / 'submitted'}")
    answers, left_out = collect(tmp_path / "submitted")
    assert {answer.student for answer in answers} == set(names) and not left_out


def test_students_of_any_name_have_a_row_of_their_own(tmp_path):
    names = ["result", "the class", "None", "nan", "0", "=cmd", "a & b", "<i>"]
    for name in names:
        put(tmp_path, f"{name}/tour.ipynb", hand_in())
    shown = page(*collect(tmp_path))
    rows = ElementTree.fromstring(shown[shown.index("<tbody>") : shown.index("</tbody>") + len("</tbody>")])
    first, last = ([row[at].text or "" for row in rows] for at in (0, -1))
    assert sorted(first) == sorted([*names, "the class", "result"])
    assert last == ["8 × solved", *["solved"] * 8, ""]


@pytest.mark.parametrize("hidden", [".ipynb_checkpoints", ".trash", ".git", ".~lock", ".Trash-1000", "ada/.old"])
def test_hidden_folders_and_files_are_not_handed_in(hidden, folder):
    put(folder, f"{hidden}/tour.ipynb", hand_in("none", 0.1, lesson="01_anisotropy"))
    put(folder, ".hidden.ipynb", hand_in("none", 0.1, lesson="01_anisotropy"))
    answers, left_out = collect(folder)
    assert {(a.student, a.lesson) for a in answers} == {("ada", "00_tour")} and not left_out
