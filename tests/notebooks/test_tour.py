"""00_tour: runs headless, shows its plots, and its exercises know right answers from typical mistakes."""

import re

import nbformat
import pytest
import torch

from cselab.encoder import SentenceEncoder
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


@pytest.fixture
def check(capsys):
    """Runs an answer and the checks up to that of its exercise, as in the notebook; gives what is printed."""
    vectors = torch.randn(420, 16, generator=torch.Generator().manual_seed(0)).numpy()

    def told(answer, number):
        names = {"torch": torch, "snapshots": {0: vectors}, "plain": SentenceEncoder}
        answers = {"uniformity": source("my-uniformity"), "info-nce": source("my-info-nce")}
        answers[tuple(answers)[number - 1]] = answer
        for exercise, code in list(answers.items())[:number]:
            capsys.readouterr()
            exec(code, names)
            exec(source(f"check-{exercise}"), names)
        return capsys.readouterr().out.strip().splitlines()

    return told


@pytest.mark.parametrize("number", [1, 2])
def test_a_check_accepts_the_folded_solution(check, number):
    assert check(solution(number), number)[-1] == "solved."


@pytest.mark.parametrize(("number", "exercise"), [(1, "my-uniformity"), (2, "my-info-nce")])
def test_an_unsolved_exercise_is_told_its_first_goal(check, number, exercise):
    (line,) = check(source(exercise), number)
    assert line.startswith("not solved yet")


UNIFORMITY = "def my_uniformity(vectors, t=2):\n    "
INFO_NCE = "def my_info_nce(cosines, temperature=0.05):\n    "
MISTAKES = [
    (1, UNIFORMITY + "return torch.pdist(vectors).square().mul(-t).exp().mean().log()", "length 1"),
    (
        1,
        UNIFORMITY + "u = torch.nn.functional.normalize(vectors)\n"
        "    return torch.cdist(u, u).square().mul(-t).exp().mean().log()",
        "paired with itself",
    ),
    (
        1,
        UNIFORMITY + "u = torch.nn.functional.normalize(vectors)\n"
        "    return torch.pdist(u).square().mul(-t).mean()",
        "the log last",
    ),
    (
        1,
        UNIFORMITY + "u = torch.nn.functional.normalize(vectors)\n"
        "    return torch.pdist(u).square().mul(-2).exp().mean().log()",
        "where t should be",
    ),
    (
        2,
        INFO_NCE + "logits = cosines * temperature\n"
        "    return (logits.logsumexp(dim=1) - logits.diagonal()).mean()",
        "divide by the temperature",
    ),
    (
        2,
        INFO_NCE + "logits = cosines / temperature\n"
        "    return (logits.logsumexp(dim=0) - logits.diagonal()).mean()",
        "along a row",
    ),
    (
        2,
        INFO_NCE + "e = (cosines / temperature).exp()\n    return -(e.diagonal() / e.sum(dim=1)).log().sum()",
        "the mean, not the sum",
    ),
    (
        2,
        INFO_NCE + "e = (cosines / temperature).exp()\n"
        "    return -(e.diagonal() / (e.sum(dim=1) - e.diagonal())).log().mean()",
        "holds the positive",
    ),
    (
        2,
        INFO_NCE + "e = (cosines / temperature).exp()\n"
        "    return -(e.diagonal() / e.sum(dim=1)).log().mean()",
        "logsumexp",
    ),
]


@pytest.mark.parametrize(("number", "answer", "diagnosis"), MISTAKES)
def test_a_typical_mistake_is_named(check, number, answer, diagnosis):
    told = check(answer, number)[-1]
    assert told.startswith("not yet:") and diagnosis in told
