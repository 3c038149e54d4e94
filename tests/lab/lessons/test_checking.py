"""`cselab notebooks check` and the columns of `collect`: eight broken hand-ins of lesson 00."""

from shutil import copyfile

import nbformat
import pytest
from command_line import run
from cselab_lab.headless.collecting import collect
from cselab_lab.headless.notebook_folder import bundled_notebooks
from cselab_lab.lessons.checking import check_pieces
from cselab_lab.lessons.guesses import guess
from nbformat.v4 import new_output

RIGHT = """import torch


def my_info_nce(cosines, temperature=0.05):
    return torch.nn.functional.cross_entropy(cosines / temperature, torch.arange(len(cosines)))
"""
FOOLED = 'fooled = ("The girl hugs the boy.", "The boy hugs the girl.")'
BROKEN = {
    "ada": (RIGHT, FOOLED),
    "ben": (RIGHT.replace("cosines / temperature", "cosines * temperature"), FOOLED),
    "carl": ("def my_info_nce(cosines, temperature=0.05):\n    while True: pass", FOOLED),
    "dora": ("def my_info_nce(:", "fooled = ..."),
    "eve": ("raise SystemExit", FOOLED),
    "finn": (RIGHT, FOOLED),
    "gina": ("", ""),
    "hugo": ('print("solved.")\nmy_info_nce = ...', FOOLED),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    handed_in = tmp_path_factory.mktemp("handed-in")
    for name, (loss, fooled) in BROKEN.items():
        notebook = nbformat.read(bundled_notebooks() / "00_tour.ipynb", as_version=4)
        cells = {cell.id: cell for cell in notebook.cells}
        cells["my-info-nce"].source, cells["my-fooled"].source = loss, fooled
        cells["parameters"].source = f'profile = "smoke"\nseed = {len(name)}'
        for check in ("check-info-nce", "check-fooled"):  # what the notebook says about itself counts in collect alone
            cells[check].outputs = [new_output("stream", text="solved.\n")]
        if name != "gina":
            outcome = guess(cooks=0.9, parliament=...).compare(cooks=0.84, parliament=0.66)._repr_mimebundle_()
            cells["cone-numbers"].outputs = [new_output("execute_result", data=outcome)]
        nbformat.write(notebook, handed_in / f"00_tour_{name}.ipynb")
    return handed_in


@pytest.mark.slow
def test_pieces_are_run_whatever_the_notebook_says(folder):
    checked, left_out = check_pieces(folder, time_limit=40)
    said = {one.student: one for one in checked}
    assert not left_out and set(said) == set(BROKEN)
    solved = {name: sum(v.startswith("solved") for v in one.verdicts.values()) for name, one in said.items()}
    assert solved == dict(ada=2, ben=1, carl=1, dora=0, eve=1, finn=2, gina=0, hugo=1)
    first = {name: one.verdicts["my-info-nce"] for name, one in said.items()}
    assert "do not multiply" in first["ben"] and "no result after 40 seconds" in first["carl"]
    assert first["dora"].startswith("error: SyntaxError") and first["eve"].startswith("error: SystemExit")
    assert first["gina"] == "cell missing" and first["hugo"].startswith("not solved yet")
    assert said["ada"].points == pytest.approx(4 + 2 * 1 / 8) and said["gina"].points == 0


@pytest.mark.slow
def test_a_piece_may_use_what_is_above_it_in_its_notebook(tmp_path):
    """The imports of the lesson, and the student's pieces before it."""
    notebook = nbformat.read(bundled_notebooks() / "07_focal_infonce.ipynb", as_version=4)
    focal, gradient = [cell for cell in notebook.cells if "exercise" in cell.metadata.get("tags", [])][:2]
    focal.source = (
        "def my_focal(cosines, temperature=0.07, m=0.3):\n    own = np.eye(len(cosines))\n"
        "    logits = cosines * (cosines + m * torch.from_numpy(1 - own).to(cosines)) / temperature\n"
        "    return cross_entropy(logits, torch.arange(len(cosines)))\n"
    )
    gradient.source = (
        "def my_focal_gradient(cosines, temperature=0.07, m=0.3):\n"
        "    return len(cosines) * torch.func.grad(my_focal)(cosines, temperature, m)\n"
    )
    nbformat.write(notebook, tmp_path / "07_focal_infonce_ada.ipynb")
    (one,), _ = check_pieces(tmp_path, time_limit=60)
    assert set(one.verdicts.values()) == {"solved."}


def test_the_class_has_status_settings_and_who_is_missing(folder):
    answers, _ = collect(folder, ["ada", "ina"])
    pieces = {a.student: a for a in answers if a.what == "piece: info-nce"}
    assert (pieces["ada"].status, pieces["hugo"].status) == ("solved", "stale")
    assert (pieces["ada"].profile, pieces["ada"].seed, pieces["carl"].seed) == ("smoke", "3", "4")
    assert [a.status for a in answers if a.student == "ada" and a.what.startswith("cone-numbers")] == ["made", "open"]
    assert [a.verdict for a in answers if a.student == "ina"] == ["nothing was handed in"]


def test_a_student_whose_file_is_cut_did_hand_in(tmp_path):
    """A name in the path of the folder itself is no hand-in."""
    tmp_path = tmp_path / "jon"
    tmp_path.mkdir()
    copyfile(bundled_notebooks() / "00_tour.ipynb", tmp_path / "00_tour_ada.ipynb")
    (tmp_path / "00_tour_jo.ipynb").write_text('{"cells": [')
    answers, _ = collect(tmp_path, ["jo", "jon"])
    said = {a.student: a.verdict for a in answers if a.what == "nothing"}
    assert said == {"jo": "all files were left out", "jon": "nothing was handed in"}


@pytest.mark.slow
def test_the_command_gives_points(folder, tmp_path):
    one = tmp_path / "one"
    one.mkdir()
    copyfile(folder / "00_tour_ada.ipynb", one / "00_tour_ada.ipynb")
    said = run(f"notebooks check {one} --output {tmp_path / 'answers'}")
    assert "ada, 00_tour: 2 of 2 pieces, 4.2 of 6 points" in said
    assert "ada,00_tour,2 of 2" in (tmp_path / "answers" / "points.csv").read_text()
    run(f"notebooks check {one} --timeout 0", ok=False)
