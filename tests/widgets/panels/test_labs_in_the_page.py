"""The labs computed by a real browser, beside Python: each loss with its gradients, and the figures of many states."""

import json
import re

import numpy as np
import pytest
import torch
from cselab_widgets import LossLab, NoiseLab
from cselab_widgets.kit.numbers import as_text
from cselab_widgets.kit.plot import as_json
from cselab_widgets.kit.scripts import KIT, inlined
from cselab_widgets.panels import loss_lab, noise_lab

pytestmark = pytest.mark.browser

PANELS = KIT.parent / "panels"
KITS = [KIT / f"{name}.js" for name in ("linear", "changed_figure", "numbers")]
draw = np.random.default_rng(0).normal

BATCH = draw(size=(10, 12)) + 0.4
CLEAN = draw(size=(9, 16)) + 0.5

# Of each lab: how it is made, what a page carries of it, and states beside the one that it opens with.
LABS = {
    "loss": (
        lambda: LossLab({0: 3 + draw(size=(4, 10, 12)), 10: BATCH + 0.3 * draw(size=(4, 10, 12)), 16: draw(size=(2, 10, 12))}),
        loss_lab.carried,
        [
            {"step": 0},
            {"step": 10, "loss": "Focal-InfoNCE"},
            {"loss": "ArcCon", "margin": 30.0},
            {"loss": "off-dropout", "off_dropout_m": 0.5},
            {"loss": "Eq. 8, mended", "step": 10},
            {"loss": "Eq. 8, printed", "temperature": 0.2},
            {"temperature": 0.013, "pair": "negative"},
            {"temperature": 0.9, "focal_m": 0.85, "loss": "Focal-InfoNCE", "pair": "negative"},
            {"margin": 0.0, "off_dropout_m": 1.7},
        ],
    ),
    "noise": (
        lambda: NoiseLab(vectors=CLEAN + 0.4 * draw(size=(23, 9, 16)), clean=CLEAN),
        noise_lab.carried,
        [
            {"sentence": 3},
            {"sentence": 8, "mean_of": 1},
            {"mean_of": 11},
            {"mean_of": 4, "variance": 0.37},
            {"variance": 0.0},
            {"variance": 2.0, "sentence": 5},
            {"variance": 0.013},
            {"sentence": 1, "mean_of": 7},
            {"sentence": 2, "mean_of": 3, "variance": 0.8},
        ],
    ),
}  # fmt: skip


@pytest.fixture
def computed(page):
    """`computed(lab, call, carried, *arguments)`: what a call of a lab's module gives, with `carried` for it to read."""

    def call(lab, expression, carried, *arguments):
        page.add_script_tag(content=inlined([*KITS, PANELS / f"{lab}_lab.js"]))
        return page.evaluate(
            f"([given, ...rest]) => {{ const carried = numbers(given); return ({expression})(carried, ...rest); }}",
            [as_text(carried), *arguments],
        )

    return call


def listed(value):
    """The figure as JSON has it, arrays of JavaScript included."""
    return json.loads(json.dumps(value))


def alike(python, page, where=""):
    """Numbers to the digits that Python's figure has, all else equal."""
    if isinstance(python, dict):
        assert python.keys() == page.keys(), where
        for key in python:
            alike(python[key], page[key], f"{where}/{key}")
    elif isinstance(python, list):
        assert len(python) == len(page), where
        for at, (one, other) in enumerate(zip(python, page, strict=True)):
            alike(one, other, f"{where}/{at}")
    elif isinstance(python, int | float) and not isinstance(python, bool):
        rough = 6e-3 if "/z/" in where else 2e-4
        assert page == pytest.approx(python, rel=1e-3, abs=rough), where
    else:
        assert python == page, where


ROWS = "rows => rows.map(one => one && ArrayBuffer.isView(one) ? Array.from(one) : one)"


@pytest.mark.parametrize("lab", LABS)
def test_the_page_draws_what_python_draws(computed, lab):
    make, carried, states = LABS[lab]
    panel = make()
    fields = [name for name in panel.controls()]
    opened = as_json(panel.figure())
    asked = [panel._changed(changes) for changes in [{}, *states]]
    given = [{name: getattr(state, name) for name in fields} for state in asked]
    drawn = computed(
        lab,
        f"""(carried, states) => states.map((state) => JSON.parse(JSON.stringify({lab}LabFigure(state, carried),
            (_, value) => ArrayBuffer.isView(value) ? Array.from(value) : value)))""",
        {**carried(panel.state), "figure": opened},
        given,
    )
    for state, ours in zip(asked, drawn, strict=True):
        wanted = as_json(panel.draw(state))
        for python, page in zip(wanted["data"], ours["data"], strict=True):
            alike(python, page, f"{lab}/{python['uid']}")
        alike(wanted["layout"], ours["layout"], f"{lab}/layout")
