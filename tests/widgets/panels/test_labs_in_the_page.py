"""The labs computed by a real browser, beside Python: each loss with its gradients, and the figures of many states."""

import json
import re

import numpy as np
import pytest
import torch
from cselab_widgets import LossLab, NoiseLab, RankLab, WhiteningLab
from cselab_widgets.kit.computed import COMPUTED, as_text
from cselab_widgets.kit.plot import as_json
from cselab_widgets.kit.scripts import KIT, inlined
from cselab_widgets.panels import loss_lab, noise_lab, rank_lab, whitening_lab
from cselab_widgets.panels.rank_lab import NORMAL
from cselab_widgets.panels.whitening_lab import PLANE

from cselab import losses

pytestmark = pytest.mark.browser

draw = np.random.default_rng(0).normal

BATCH, NOISE = draw(size=(10, 12)) + 0.4, draw(size=(4, 10, 12))
MIXING, VIEWS = draw(size=(24, 24)), draw(size=(40, 24)) + 0.5 + 0.3 * draw(size=(2, 40, 24))
CLEAN, PASSES = draw(size=(9, 16)) + 0.5, draw(size=(23, 9, 16))

# Of each lab: how it is made, what a page carries of it, and states beside the one that it opens with.
LABS = {
    "loss": (
        lambda: LossLab({0: 3 + NOISE, 10: BATCH + 0.3 * NOISE[::-1], 16: NOISE[:2]}),
        loss_lab.for_page,
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
        lambda: NoiseLab(vectors=CLEAN + 0.4 * PASSES, clean=CLEAN),
        noise_lab.for_page,
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
    "rank": (
        lambda: RankLab(vectors=VIEWS, batch_size=8, source="vectors"),
        rank_lab.for_page,
        [
            {"batch_size": 40},
            {"batch_size": 23},
            {"batch_size": 24},
            {"batch_size": 2, "dimensions": 5},
            {"dimensions": 3},
            {"artificial_rows": 7},
            {"artificial_rows": 30},
            {"artificial_rows": 200, "batch_size": 31, "dimensions": 17},
            {"source": NORMAL},
            {"source": NORMAL, "dimensions": 60, "artificial_rows": 5, "batch_size": 33},
        ],
    ),
    "whitening": (
        lambda: WhiteningLab(vectors=np.round(VIEWS @ MIXING * 512) / 512, num_groups=4, batch_size=30),
        whitening_lab.for_page,
        [
            {"stage": 0},
            {"stage": 1, "strategy": "group"},
            {"stage": 2, "batch_size": 18},
            {"stage": 3, "num_groups": 24},
            {"strategy": "ZCA", "batch_size": 10},
            {"strategy": "ZCA", "eps": 0.03, "stage": 2},
            {"strategy": "PCA"},
            {"source": PLANE, "strategy": "ZCA", "stage": 3},
            {"source": PLANE, "num_groups": 2, "stage": 2},
            {"seed": 7, "num_groups": 8, "eps": 1e-3},
        ],
    ),
}  # fmt: skip


@pytest.fixture
def computed(page):
    """`computed(lab, function, carried, *arguments)`: what a function gives beside a lab's module."""

    def call(lab, expression, carried, *arguments):
        page.add_script_tag(content=inlined([*COMPUTED, KIT.parent / "panels" / f"{lab}_lab.js"]))
        plain = "(_, value) => ArrayBuffer.isView(value) ? Array.from(value) : value"
        found = f"JSON.stringify(({expression})(numbers(given), ...rest), {plain})"
        return json.loads(page.evaluate(f"([given, ...rest]) => {found}", [as_text(carried), *arguments]))

    return call


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


def same_words(python, page):
    """The same words, and numbers to the digits that are written: Python rounds a tie to even, JavaScript up."""
    number = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]\d+)?")
    assert number.sub("#", python) == number.sub("#", page)
    alike([float(one) for one in number.findall(python)], [float(one) for one in number.findall(page)], "words/z/")


@pytest.mark.parametrize("lab", LABS)
def test_the_page_draws_what_python_draws(computed, lab):
    make, _, states = LABS[lab]
    panel = make()
    asked = [panel._changed(changes) for changes in [{}, *states]]
    given = [{name: getattr(state, name) for name in panel.controls()} for state in asked]
    drawn = computed(
        lab, "(_, carried, states) => states.map((state) => figureOf(state, carried))", {}, panel.carried(), given
    )
    for state, ours in zip(asked, drawn, strict=True):
        wanted = as_json(panel.draw(state))
        for python, page in zip(wanted["data"], ours["data"], strict=True):
            alike(python, page, f"{lab}/{python['uid']}")
        alike(wanted["layout"], ours["layout"], f"{lab}/layout")
        same_words(panel.describe(state), ours["words"])
        assert ours["note"].startswith(panel.explain(state))
        assert ours.get("details", "") == panel.details(state)


def close(ours, wanted, name):
    """Within 1e-5 of the largest."""
    ours, wanted = (
        torch.tensor(ours, dtype=torch.float64),
        torch.tensor(np.asarray(wanted).tolist(), dtype=torch.float64),
    )
    assert ours.shape == wanted.shape, name
    assert float((ours - wanted).abs().max()) <= 1e-5 * max(float(wanted.abs().max()), 1e-3), name


@pytest.mark.parametrize("temperature", [0.05, 0.5])
def test_each_loss_of_the_loss_lab_has_the_values_and_gradients_of_torch(computed, temperature):
    """The value of a batch, n times its derivative by each cosine, and the curves over one cosine."""
    lab = LABS["loss"][0]()
    lab.set(temperature=temperature, focal_m=0.4, off_dropout_m=0.7, margin=25.0)
    state = lab.state
    fields = {name: getattr(state, name) for name in lab.controls()}
    told = computed(
        "loss",
        """(carried, state) => LOSS_NAMES.map((name) => {
            const rows = seen(carried, state.step, name), second = rowsAt(carried, state.step, "second");
            const values = rows.map((row, i) => lossOfCosines(name, row, second[i], i, state).loss);
            return {
                value: values.reduce((sum, one) => sum + one, 0) / rows.length,
                gradient: lossGradients(carried, state, name),
                curves: ["positive", "negative"].map((pair) => curveOf(name, { ...state, pair }, carried)),
            };
        })""",
        loss_lab.for_page(state),
        fields,
    )
    assert len(told) == len(loss_lab.LOSSES)
    for name, ours in zip(loss_lab.LOSSES, told, strict=True):
        anchor, positive, second, clean = state.batch()
        negatives = (clean, clean) if name == "off-dropout" else (anchor, positive)
        value = loss_lab.LOSSES[name].total((anchor, positive), negatives, second, state.setting)
        close([ours["value"]], [float(value)], name)
        close(ours["gradient"], state.gradient_of(name), name)
        for pair, curve in zip(("positive", "negative"), ours["curves"], strict=True):
            wanted = loss_lab.curve(name, state.setting, pair, len(anchor), *state.typical)
            for part in ("cosines", "losses", "gradients"):
                close(curve[part], getattr(wanted, part), f"{name}, {pair}: {part}")


def test_the_noise_lab_has_the_cosines_and_the_losses_of_torch(computed):
    state = LABS["noise"][0]()._changed({"variance": 0.6, "mean_of": 5})
    told = computed(
        "noise",
        """(carried, state) => {
            const cosines = noiseCosines(state, carried);
            return { cosines, losses: noiseLosses(cosines, carried.clean.shape[0]) };
        }""",
        noise_lab.for_page(state),
        {"variance": 0.6, "mean_of": 5},
    )
    close(told["losses"], list(state.losses.values()), "losses")
    for kind, (positives, negatives) in state.cosines.items():
        found = np.array(told["cosines"][kind]).reshape(9, 9)
        close(np.diagonal(found).tolist(), positives, kind)
        close(found[~np.eye(9, dtype=bool)].tolist(), negatives, kind)


@pytest.mark.parametrize(("rows", "extra"), [(8, 0), (8, 5), (40, 0), (40, 30)])
def test_the_losses_between_dimensions_have_the_values_and_gradients_of_torch(computed, rows, extra):
    state = LABS["rank"][0]()._changed({"batch_size": rows, "artificial_rows": extra})
    told = computed(
        "rank",
        """(carried, state) => {
            const views = rankViews(state, carried);
            const { extra, m, d } = views;
            const products = m ? product(transposed(extra, m, d), d, m, extra, d) : undefined;
            return {
                barlow: barlowTwinsOf(views, 0.012, products),
                contrast: dimensionContrastiveOf(views, 5),
                singular: Object.values(spectra(state, carried)),
            };
        }""",
        rank_lab.for_page(state),
        {"source": "vectors", "batch_size": rows, "dimensions": 24, "artificial_rows": extra, "seed": 0},
    )
    one, other = (view.clone().requires_grad_() for view in state.views)
    for name, loss in (
        ("barlow", losses.barlow_twins(one, other, 0.012, state.extra_rows)),
        ("contrast", losses.dimension_contrastive(one, other, 5.0)),
    ):
        wanted = torch.autograd.grad(loss.total, (one, other))
        close([told[name]["loss"]], [loss.total.item()], name)
        for ours, gradient in zip(told[name]["gradients"], wanted, strict=True):
            close(ours, gradient.flatten(), name)
    for ours, (name, values) in zip(told["singular"], state.singular_values.items(), strict=True):
        close(ours, values[: state.rank(name)], name)


@pytest.mark.parametrize(
    "changes", [{"strategy": "ZCA", "batch_size": 36}, {"batch_size": 12, "eps": 1e-3}, {"num_groups": 24}]
)
def test_the_whitening_of_the_page_is_that_of_torch(computed, changes):
    lab = LABS["whitening"][0]()
    state = lab._changed(changes)
    told = computed(
        "whitening",
        """(carried, state) => {
            const found = whiteningOutcome(state, carried);
            const [batch, others] = ["batch, after", "others, after"].map((part) => Array.from(found[part].values));
            return { batch, others, geometry: geometryOf(found["others, after"]) };
        }""",
        whitening_lab.for_page(lab.state),
        {name: getattr(state, name) for name in lab.controls()},
    )
    found = whitening_lab.outcome(state)
    close(told["batch"], found.batch_after.flatten(), "batch")
    close(told["others"], found.others_after.flatten(), "others")
    geometry = found.geometry["other sentences, after"]
    close([told["geometry"][name] for name in geometry], list(geometry.values()), "geometry")
