"""The exercises of the gallery know right answers from common mistakes."""

import re

import cselab_widgets
import nbformat
import pytest
from cselab_lab.headless.notebook_folder import bundled_notebooks
from cselab_widgets import Panel, Picture
from cselab_widgets.kit.page_panel import PagePanel

from cselab.encoders.encoder import SentenceEncoder
from cselab.world import World

PANELS = (Panel, PagePanel)
GALLERY = nbformat.read(bundled_notebooks() / "gallery.ipynb", as_version=4)


def source(cell_id):
    return next(cell.source for cell in GALLERY.cells if cell.id == cell_id)


@pytest.fixture(scope="module")
def names():
    """What the cells before the exercises leave, as far as the exercises use it."""
    from cselab_widgets import PairExplorer

    plain, pairs = SentenceEncoder.from_pretrained("mini"), World(0).sts(24, split="dev")
    return {"plain": plain, "dev_pairs": pairs, "pair": PairExplorer({"plain": plain}, pairs)}


def test_each_panel_but_picture_is_opened():
    """The goal of the gallery names the exception."""
    exported = {one for one in vars(cselab_widgets).values() if isinstance(one, type) and issubclass(one, PANELS)}
    opened = "".join(cell.source for cell in GALLERY.cells if cell.cell_type == "code")
    assert {one for one in exported if f"{one.__name__}(" not in opened} == {Panel, Picture}


def told(capsys, names, exercise, answer):
    names = dict(names)
    exec(answer, names)
    exec(source(f"check-{exercise}"), names)
    return capsys.readouterr().out.strip().splitlines()[-1]


@pytest.mark.parametrize("exercise", ["fool", "centred-cosine"])
def test_a_check_accepts_the_solution_not_the_placeholder(capsys, names, exercise):
    solution = re.search(r"```python\n(.+?)```", source(f"solution-{exercise}"), re.DOTALL)[1]
    preamble = "import numpy as np\n"
    assert told(capsys, names, exercise, preamble + solution) == "solved."
    assert told(capsys, names, exercise, source(exercise)).startswith("not solved yet")


CENTRED = "import numpy as np\ndef centred_cosine(x, y, mean):\n    "


@pytest.mark.parametrize(
    "exercise, answer, diagnosis",
    [
        ("fool", 'fooled = ("A cook peels an onion.", "a cook peels an onion. ")', "change what is said"),
        ("fool", 'fooled = ("A cook peels an onion.", "Parliament rejected the tax.")', "exchange who does it"),
        ("centred-cosine", CENTRED + "return x @ y", "divide by both lengths"),
        ("centred-cosine", CENTRED + "return x @ y / (np.linalg.norm(x) * np.linalg.norm(y))", "the mean is not used"),
    ],
)
def test_a_typical_mistake_is_named(capsys, names, exercise, answer, diagnosis):
    line = told(capsys, names, exercise, answer)
    assert line.startswith("not yet") and diagnosis in line
