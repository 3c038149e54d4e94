"""The recorded first step of lesson 05 is narrow enough: a defect planted in off-dropout makes it another number."""

from unittest.mock import patch

import nbformat
import pytest
from cselab_lab.headless.notebook_folder import bundled_notebooks
from cselab_lab.headless.recorded import compare, read_recorded
from cselab_lab.lessons import lesson

from cselab import train
from cselab.methods import create_method
from cselab.methods.contrastive import Contrastive
from cselab.methods.imsimcse import ImSimCSE, off_dropout_info_nce

pytestmark = pytest.mark.lesson

CELLS = nbformat.read(bundled_notebooks() / "05_dropout_noise.ipynb", as_version=4).cells
(RECORDING,) = [cell.source for cell in CELLS if "first_step = " in cell.source]


def with_dropout_left_on(method, encode, batch):
    views = Contrastive.views(method, encode, batch)
    views.clean = encode(method.column(batch, "sentence"))
    return views


def with_the_sign_of_log_m_turned(anchor, positive, clean, temperature, m, *more):
    return off_dropout_info_nce(anchor, positive, clean, temperature, 1 / m, *more)


DEFECTS = {
    "none": (ImSimCSE, "name", "imsimcse"),
    "dropout left on": (ImSimCSE, "views", with_dropout_left_on),
    "the sign of log m": ("cselab.methods.imsimcse", "off_dropout_info_nce", with_the_sign_of_log_m_turned),
}


@pytest.mark.parametrize("profile", ["smoke", "classroom"])
@pytest.mark.parametrize("defect", DEFECTS)
def test_the_lesson_notices_a_defect_of_off_dropout(defect, profile):
    where, name, planted = DEFECTS[defect]
    lab = lesson.setup("05_dropout_noise", profile)
    names = {"lab": lab, "train": train, "create_method": create_method}
    with patch(f"{where}.{name}", planted) if isinstance(where, str) else patch.object(where, name, planted):
        exec(RECORDING.partition("\n\n")[0], names)
    recorded = read_recorded(bundled_notebooks() / "recorded" / f"05_dropout_noise.{profile}.json")["records"]
    (agreed,) = [entry for entry in recorded if "off-dropout" in entry["name"]]
    (found,) = compare([agreed | {"value": names["first_step"]}], {"records": [agreed]})
    assert bool(found.trouble) is (defect != "none")
