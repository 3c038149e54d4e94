"""The method of lesson 04 is compared with cselab's: each of seven defects there makes them disagree.

The lesson's cells run here up to its comparison, four steps of both, in one process.
"""

import nbformat
import pytest
import torch
from cselab_lab.headless.notebook_folder import bundled_notebooks
from cselab_lab.headless.recorded import compare_recorded, read_recorded
from cselab_lab.lessons import lesson

from cselab import train
from cselab.losses import multi_positive_info_nce
from cselab.methods import WhitenedCSE
from cselab.sgw import ShuffledGroupWhitening

pytestmark = [pytest.mark.lesson, pytest.mark.daily]

FOLDER = bundled_notebooks()
NOTEBOOK = nbformat.read(FOLDER / "04_whitenedcse.ipynb", as_version=4)
RECORDED = read_recorded(FOLDER / "recorded" / "04_whitenedcse.smoke.json")["records"]
BUILT = ("given", "one-batch", "guess-loss", "one-batch-losses", "guess-groups", "groups", "method-whitened", "method")
DIGITS = "digits by hand and by cselab.train"


def run_cells(names, *wanted):
    for cell in NOTEBOOK.cells:
        if cell.id in wanted or "exercise" in cell.metadata.get("tags", []):
            exec(cell.source, names)


@pytest.fixture(scope="module")
def prepared():
    """The names that the lesson has before it trains, with cselab's pieces in the place of a student's.

    No defect touches the lesson's own method, so it trains once.
    """
    lab = lesson.setup("04_whitenedcse", "smoke")
    names = {"lab": lab, "lesson": lesson}
    run_cells(names, *BUILT)
    by_hand = names["Whitened"]
    run_by_hand = train(lab.plain.copy(), by_hand(), lab.corpus, lab.config(steps=4))

    def train_library(encoder, method, *given, **options):
        return run_by_hand if isinstance(method, by_hand) else train(encoder, method, *given, **options)

    return names | {"train": train_library}


def trouble(prepared):
    """What is wrong with the digits to which both agree, as a run of the lesson would say it."""
    names = dict(prepared)
    run_cells(names, "same-history")
    found = [{"name": DIGITS, "value": float(names["digits"]), "tolerance": 1}]
    (compared,) = compare_recorded(found, {"records": [record for record in RECORDED if record["name"] == DIGITS]})
    return compared.trouble


def test_without_a_defect_both_agree_to_the_recorded_digits(prepared):
    assert trouble(prepared) == ""


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
def test_a_planted_defect_makes_them_disagree(defect, prepared, monkeypatch):
    monkeypatch.setattr(*DEFECTS[defect])
    assert trouble(prepared)
