"""The sphere: its state in Python, its forces beside torch's, and a page that answers a hand without a network."""

import re

import numpy as np
import pytest
import torch
from cselab_widgets import Sphere
from cselab_widgets.kit.scripts import inlined
from cselab_widgets.panels.sphere import SPHERE_LOSSES
from numpy.testing import assert_allclose
from playwright.sync_api import expect

from cselab import losses, metrics
from cselab.sgw import group_whiten

ANCHORS = [[1.0, 0.0], [0.0, 2.0], [-0.6, -0.8]]


def test_points_of_any_length_are_put_on_the_sphere():
    """Points of any length are put on the sphere and told as arrays and as a table."""
    sphere = Sphere(anchors=ANCHORS, positives=ANCHORS, negatives=[[3.0, 4.0]])
    assert_allclose(sphere.vectors()["negatives"], [[0.6, 0.8]])
    frame = sphere.to_frame()
    assert frame["kind"].tolist() == ["anchor"] * 3 + ["positive"] * 3 + ["negative"]
    assert frame.loc[1, ["x", "y"]].tolist() == [0.0, 1.0]


def test_what_a_hand_did_in_the_page_is_its_state():
    """What a hand did in the page is its state and what python sets goes to the page."""
    sphere = Sphere(anchors=ANCHORS, positives=ANCHORS)
    sphere.shown = {**sphere.shown, "loss": "whitening", "anchors": [[0.0, 1.0], [0.0, 1.0], [1.0, 0.0]]}
    assert sphere.state.loss == "whitening" and sphere.vectors()["anchors"][0].tolist() == [0.0, 1.0]
    sphere.set(temperature=0.5)
    assert sphere.shown["temperature"] == 0.5 and sphere.shown["loss"] == "whitening"


# ---------------------------------------------------------------------------------------------- in a browser


@pytest.fixture
def page(page):
    """A page with the scripts of the panel."""
    page.add_script_tag(content=inlined(Sphere.modules))
    return page


EXPECTED = {
    "InfoNCE": lambda a, b, n: losses.info_nce(a, b, 0.2, negatives=n),
    "Focal-InfoNCE": lambda a, b, n: losses.focal_info_nce(a, b, 0.2, 0.3, negatives=n),
    "off-dropout": lambda a, b, n: losses.off_dropout_info_nce(a, b, a, 0.2, 0.9, negatives=n),
    "dimension-wise": lambda a, b, n: losses.dimension_contrastive(a, b, 0.2),
    "Barlow Twins": lambda a, b, n: losses.barlow_twins(a, b, 1.0),
    "whitening": lambda a, b, n: losses.info_nce(group_whiten(a, 1), group_whiten(b, 1), 0.2),
    "multi-positive": lambda a, b, n: losses.multi_positive_info_nce(a, [b, b], 0.2),
}


@pytest.mark.browser
@pytest.mark.parametrize("dimensions", [2, 3])
def test_forces_are_torchs_negative_gradients_along_the_sphere(page, dimensions):
    """Forces are torchs negative gradients along the sphere and counters cselabs metrics."""
    assert tuple(EXPECTED) == SPHERE_LOSSES
    assert page.evaluate("Object.keys(SPHERE_LOSSES)") == list(SPHERE_LOSSES)
    negatives = np.random.default_rng(3).normal(size=(2, dimensions))
    sphere = Sphere(7, dimensions, negatives=negatives)
    for name, loss in EXPECTED.items():
        found = page.evaluate("forces", {**sphere.shown, "loss": name})
        points = [torch.tensor(rows, requires_grad=True) for rows in sphere.vectors().values()]
        total = loss(*points).total
        total.backward()
        assert found["value"] == pytest.approx(total.item(), rel=1e-8)
        for kind, x in zip(sphere.vectors(), points, strict=True):
            gradient = torch.zeros_like(x) if x.grad is None else x.grad
            along = (gradient * x).sum(1, keepdim=True) * x - gradient
            assert_allclose(found[kind], along.detach(), rtol=1e-5, atol=1e-7)
    anchors, positives = list(sphere.vectors().values())[:2]
    told = page.evaluate(
        "(s) => [alignment(s.anchors, s.positives), uniformity(s.anchors), effectiveRank(s.anchors)]", sphere.shown
    )
    expected = [metrics.alignment(anchors, positives), metrics.uniformity(anchors), metrics.effective_rank(anchors)]
    assert told == pytest.approx(expected, rel=1e-6)


FALL = """(state) => {
    const falling = descent(state);
    let steps = 0;
    while (!falling.step() && ++steps < 3000);
    return { steps, state };
}"""


@pytest.mark.browser
def test_let_go_every_loss_comes_to_rest_lower(page):
    """Let go every loss comes to rest lower than before and on the sphere."""
    for name in SPHERE_LOSSES:
        state = {**Sphere(6, 3, noise=0.1, negatives=[[1.0, 0.0, 0.0]]).shown, "loss": name}
        rest = page.evaluate(FALL, state)
        assert rest["steps"] < 3000, name
        before, after = (page.evaluate("(s) => forces(s).value", one) for one in (state, rest["state"]))
        assert after < before, name
        lengths = np.linalg.norm(rest["state"]["anchors"] + rest["state"]["positives"], axis=1)
        assert_allclose(lengths, 1, atol=1e-12)


@pytest.mark.browser
def test_infonce_spreads_a_circle_evenly(page):
    """Infonce spreads a circle evenly and barlow twins lets two groups be."""
    rest = page.evaluate(FALL, Sphere(5).shown)["state"]
    hexagon = np.exp(2j * np.pi * np.arange(5) / 5)
    even = metrics.uniformity(np.stack([hexagon.real, hexagon.imag], axis=1))
    assert metrics.uniformity(np.array(rest["anchors"])) == pytest.approx(even, abs=0.01)
    assert metrics.alignment(np.array(rest["anchors"]), np.array(rest["positives"])) < 1e-4
    groups = [[1, 0.0], [1, 0.0], [0.0, 1], [0.0, 1]]
    found = page.evaluate("forces", {**Sphere(anchors=groups, positives=groups).shown, "loss": "Barlow Twins"})
    assert found["value"] == pytest.approx(0, abs=1e-12)


def point(page, name):
    return page.get_by_role("slider", name=name, exact=True)


@pytest.mark.browser
def test_the_file_answers_pointer_keys_and_controls(offline, tmp_path):
    """The file answers pointer keys and controls without a network."""
    file = Sphere(6, seed=1).to_html(tmp_path / "sphere.html")
    page = offline(file)
    anchor = point(page, "anchor 1")
    where = anchor.get_attribute("aria-valuetext")
    anchor.focus()
    page.keyboard.press("ArrowRight")
    expect(anchor).not_to_have_attribute("aria-valuetext", where)

    box, circle = anchor.bounding_box(), page.locator("circle.cselab-circle").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(circle["x"] + circle["width"] / 2, circle["y"] - 20, steps=4)
    page.mouse.up()
    expect(anchor).to_have_attribute("aria-valuetext", re.compile("^90 degrees, force"))

    page.get_by_label("batch").press("ArrowRight")
    expect(point(page, "positive 7")).to_be_visible()
    page.get_by_label("loss").select_option("whitening")
    page.get_by_label("batch").press("Home")
    expect(page.get_by_text("needs a batch of 3 or more")).to_be_visible()
    page.get_by_label("batch").press("End")
    page.get_by_label("loss").select_option("InfoNCE")
    page.get_by_label("surface").select_option("sphere")
    page.get_by_role("button", name="let go").click()
    page.get_by_role("button", name="hold").click()
    expect(page.locator(".cselab-said")).to_have_text(re.compile(r"16 sentences on a sphere, InfoNCE: loss \d"))
    globe = page.get_by_role("application")
    before = page.locator(".cselab-net").get_attribute("d")
    globe.press("ArrowLeft")
    expect(page.locator(".cselab-net")).not_to_have_attribute("d", before)
