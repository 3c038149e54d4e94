"""Recorded first steps are narrow enough: a defect planted in cselab makes them other numbers.

The lines of the lesson that take the step run here, in one process.
"""

import re
import sys
from functools import cache
from unittest.mock import patch

import nbformat
import pytest
from cselab_lab.headless.notebook_folder import bundled_notebooks
from cselab_lab.headless.recorded import compare_recorded, read_recorded
from cselab_lab.lessons import lesson

from cselab import train
from cselab.methods import SimCSE, Views, create_method
from cselab.methods.contrastive import Contrastive
from cselab.methods.imsimcse import ImSimCSE, off_dropout_info_nce

pytestmark = [pytest.mark.lesson, pytest.mark.daily]

# By lesson: the cell that takes the step, the name of its loss, the sizes at which it is taken here.
STEPS = {
    "00_tour": ("train", "SimCSE: first loss", ["smoke"]),
    "05_dropout_noise": ("record", "loss of the first step, off-dropout, m = 0.5", ["smoke", "classroom"]),
}
SIMCSE_VIEWS = SimCSE.views


def with_the_next_positive(method, encode, batch):
    seen = SIMCSE_VIEWS(method, encode, batch)
    return Views(seen.anchor, seen.positive.roll(1, 0))


def with_dropout_left_on(method, encode, batch):
    views = Contrastive.views(method, encode, batch)
    views.clean = encode(method.column(batch, "sentence"))
    return views


def with_the_sign_of_log_m_turned(anchor, positive, clean, temperature, m, *more):
    return off_dropout_info_nce(anchor, positive, clean, temperature, 1 / m, *more)


DEFECTS = {
    "00_tour": {
        "none": (SimCSE, "name", "simcse"),
        "the temperature is ten times too high": (SimCSE, "temperature", 0.5),
        "the vectors are not normalised": (
            sys.modules["cselab.losses.contrast"],
            "l2_normalize",
            lambda rows, dim=-1: rows,
        ),
        "the positives are those of the next sentence": (SimCSE, "views", with_the_next_positive),
    },
    "05_dropout_noise": {
        "none": (ImSimCSE, "name", "imsimcse"),
        "dropout left on": (ImSimCSE, "views", with_dropout_left_on),
        "the sign of log m": (
            sys.modules["cselab.methods.imsimcse"],
            "off_dropout_info_nce",
            with_the_sign_of_log_m_turned,
        ),
    },
}
CASES = [(name, size, defect) for name, step in STEPS.items() for size in step[2] for defect in DEFECTS[name]]
prepared = cache(lambda name, profile: lesson.setup(name, profile, steps=1))


def first_loss(name, profile):
    cells = nbformat.read(bundled_notebooks() / f"{name}.ipynb", as_version=4).cells
    (source,) = [cell.source for cell in cells if cell.id == STEPS[name][0]]
    names = {"lab": prepared(name, profile), "train": train, "create_method": create_method}
    names["keep_vectors"] = lambda run, row: None
    exec("\n".join(re.findall(r"^\w+ = (?:train|create_method)\(.*", source, re.MULTILINE)), names)
    return names["first_step"] if "first_step" in names else names["simcse"].history[1]["loss"]


@pytest.mark.parametrize("name, profile, defect", CASES)
def test_the_lesson_notices_a_planted_defect(name, profile, defect):
    with patch.object(*DEFECTS[name][defect]):
        found = first_loss(name, profile)
    recorded = read_recorded(bundled_notebooks() / "recorded" / f"{name}.{profile}.json")["records"]
    (agreed,) = [entry for entry in recorded if entry["name"] == STEPS[name][1]]
    (compared,) = compare_recorded([agreed | {"value": found}], {"records": [agreed]})
    assert bool(compared.trouble) is (defect != "none")
