"""The recorded numbers of the WhitenedCSE lesson are narrow enough: each of seven defects makes one of them fail.

They show in the first step of training, so the lesson's cells run here with a single step, in one process.
"""

import nbformat
import pandas
import pytest
import torch
from cselab_lab.headless.notebook_folder import bundled_notebooks
from cselab_lab.headless.recorded import compare, read_recorded
from cselab_lab.lessons import lesson
from plotly.basedatatypes import BaseFigure

from cselab.losses import multi_positive_info_nce
from cselab.methods import WhitenedCSE
from cselab.sgw import ShuffledGroupWhitening

pytestmark = pytest.mark.lesson

FOLDER = bundled_notebooks()
NOTEBOOK = nbformat.read(FOLDER / "04_whitenedcse.ipynb", as_version=4)
RECORDED = read_recorded(FOLDER / "recorded" / "04_whitenedcse.smoke.json")["records"]


def run_cells(names, *wanted):
    """Run these cells of the lesson with the names that are there; the numbers that they record."""
    records = []

    def record(name, value, tolerance=1e-6, beside=""):
        records.append({"name": name, "value": float(value), "tolerance": tolerance})

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lesson, "record", record)
        patch.setattr(BaseFigure, "show", lambda figure: None)
        for cell in NOTEBOOK.cells:
            if cell.id in wanted:
                exec(cell.source, names)
    return records


@pytest.fixture(scope="module")
def prepared():
    """The names that the lesson has before it trains; it trains for one step here, and nobody scores it."""
    lab = lesson.setup("04_whitenedcse", "smoke", steps=1)
    vars(lab)["dev"] = None
    names = {"lab": lab, "lesson": lesson, "pd": pandas}
    run_cells(names, "guess-loss", "one-batch")
    return names


def troubles(prepared):
    records = run_cells(dict(prepared), "train-twice", "first-step")
    names = {record["name"] for record in records}
    return [found.trouble for found in compare(records, {"records": [r for r in RECORDED if r["name"] in names]})]


def test_without_a_defect_the_first_step_is_the_recorded_one(prepared):
    assert troubles(prepared) == ["", "", "", ""]


DEFECTS = {
    "no shuffle": (ShuffledGroupWhitening, "draw_permutation", lambda layer: torch.arange(layer.width)),
    "contiguous thirds": (WhitenedCSE, "layout", "contiguous_thirds"),
    "two views": (
        WhitenedCSE,
        "loss",
        lambda method, v: multi_positive_info_nce(v.anchor, [v.positive], method.temperature, method.reduction),
    ),
    "eps of 1e-2": (WhitenedCSE, "eps", 1e-2),
    "the other divisor": (WhitenedCSE, "divisor", "n-1"),
    "gradient through the matrix": (WhitenedCSE, "gradient_through_matrix", True),
    "sum over the positives inside the logarithm": (WhitenedCSE, "reduction", "inside"),
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_the_numbers_of_the_first_step_notice_a_planted_defect(defect, prepared, monkeypatch):
    monkeypatch.setattr(*DEFECTS[defect])
    assert any(troubles(prepared))
