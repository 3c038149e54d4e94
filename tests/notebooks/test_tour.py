"""00_tour: runs headless, shows its plots, and its exercises know right answers from typical mistakes."""

import re

import nbformat
import pytest
import torch

from cselab.lab.notebook_folder import bundled_notebooks
from cselab.lab.notebooks import run_notebooks
from cselab.lab.page import loaded_from_outside

TOUR = nbformat.read(bundled_notebooks() / "00_tour.ipynb", as_version=4)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    (result,) = run_notebooks(["00_tour"], "smoke", output=tmp_path_factory.mktemp("tour"))
    return result


def test_it_runs_to_its_end_and_agrees_with_its_baseline(run):
    assert run.problems == []
    assert run.notes == []  # in particular not: no baseline yet


def test_it_records_scores_and_geometry_of_the_plain_encoder_and_both_methods(run):
    names = {entry["name"] for entry in run.records}
    for encoder in ("plain", "SimCSE", "WhitenedCSE"):
        for number in ("World-STS", "Classroom-STS", "dev", "alignment", "uniformity", "mean cosine"):
            assert f"{encoder} {number}" in names
    assert {"random World-STS", "word overlap World-STS"} <= names


def test_the_page_holds_both_plots_and_loads_nothing(run):
    page = run.page.read_text(encoding="utf-8")
    assert len(re.findall(r'class="cselab-figure" data-cselab-figure="(\w+)"', page)) == 2
    assert page.count("plotly.js v") == 1
    assert loaded_from_outside(page) == []


def test_the_executed_notebook_keeps_no_widget_state(run):
    assert "widgets" not in nbformat.read(run.executed, as_version=4).metadata


def source(cell_id):
    return next(cell.source for cell in TOUR.cells if cell.id == cell_id)


def solution(number):
    """The code in the folded solution of an exercise."""
    return re.search(r"```python\n(.+?)```", source(f"solution-{number}"), re.DOTALL)[1]


EXERCISES = {1: "my-uniformity", 2: "my-info-nce"}


@pytest.fixture
def check(capsys):
    """Runs an answer and the check of its exercise, straight after a kernel restart; gives what is shown."""

    def told(answer, number):
        names = {"torch": torch}
        exec(answer, names)
        exec(source(EXERCISES[number].replace("my-", "check-")), names)
        return capsys.readouterr().out.strip().splitlines()

    return told


@pytest.mark.parametrize("number", [1, 2])
def test_a_check_accepts_the_folded_solution(check, number):
    assert check(solution(number), number)[-1] == "solved."


@pytest.mark.parametrize(("number", "exercise"), [(1, "my-uniformity"), (2, "my-info-nce")])
def test_an_unsolved_exercise_is_told_its_first_goal(check, number, exercise):
    (line,) = check(source(exercise), number)
    assert line.startswith("not solved yet")


def test_a_wrong_answer_is_told_what_it_returned_and_what_was_expected(check):
    wrong = "def my_info_nce(cosines, temperature=0.05):\n    return cosines.logsumexp(1).mean()"
    told = check(wrong, 2)
    assert told[0].startswith("passed: ") and "Your function returned 1.313; expected is 0.1269" in told[-1]
