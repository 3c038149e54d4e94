"""The labs and the training monitor in a real JupyterLab: a control is moved, plot and Python follow."""

import re

import pytest
from jupyterlab_page import command, of_cells, red
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

TELLING = """\
import ipywidgets
import numpy as np
from IPython.display import display

def show(panel, field):
    said = ipywidgets.Label(f"python: {getattr(panel.state, field)}")
    panel.observe(lambda _: setattr(said, "value", f"python: {getattr(panel.state, field)}"), "state")
    display(panel, said)

draw = np.random.default_rng(0).normal
"""

LABS = [
    """\
from cselab_widgets import WhiteningLab
show(WhiteningLab(vectors=draw(size=(40, 4)), batch_size=30), "stage")""",
    """\
from cselab_widgets import NoiseLab
clean = draw(size=(6, 8))
show(NoiseLab(vectors=clean + draw(size=(12, 6, 8)), clean=clean), "sentence")""",
    """\
from cselab_widgets import RankLab
show(RankLab(vectors=draw(size=(2, 16, 32)), batch_size=8), "batch_size")""",
    """\
from cselab_widgets import LossLab
show(LossLab({0: draw(size=(2, 8, 6)), 5: draw(size=(2, 8, 6))}), "step")""",
    """\
from cselab_widgets import Sphere
sphere = Sphere(anchors=[[1, 0], [0, 1]], positives=[[1, 0], [0, 1]])
show(sphere, "anchors")""",
    """\
from cselab_widgets import PairExplorer
show(PairExplorer("micro").in_page(["A cat sleeps.", "A cat is asleep."]), "sentences")""",
]

MONITOR = [
    """\
from cselab import SentenceEncoder
from cselab.methods import SimCSE
from cselab.training import TrainConfig
from cselab.world import World
from cselab_widgets import TrainingMonitor
sentences = [sentence.text for sentence in World().sentences(64)]
encoder = SentenceEncoder.from_pretrained("micro")
monitor = TrainingMonitor()
show(monitor, "phase")
show(monitor, "kept")
monitor.train(encoder, SimCSE(), sentences, TrainConfig(steps=100_000, batch_size=4, precision="fp32"));""",
    """\
run = monitor.wait()
(kept,) = monitor.kept
vectors = [encoder.encode("A cat sleeps.").shape for encoder in (run.encoder, monitor.kept[kept])]
print("used:", run.stopped, *vectors)""",
]


def test_the_labs_hear_their_controls_and_tell_python(open_notebook, page):
    open_notebook(of_cells([TELLING, *LABS]))
    command(page, "run-all-cells")
    cells = page.locator(".jp-Notebook .jp-Cell")
    expect(page.locator(".jp-OutputArea-output .cselab-figure")).to_have_count(4)
    assert red(page) == []
    whitening, noise, rank, loss = (cells.nth(number) for number in (1, 2, 3, 4))

    whitening.get_by_role("tab", name="How does whitening work?").click()
    expect(whitening).to_contain_text("Two channels, turned back: ZCA")
    whitening.locator(".noUi-handle").last.press("ArrowLeft")
    expect(whitening).to_contain_text("Two channels, scaled: PCA")
    expect(whitening).to_contain_text("python: 3")

    title = noise.locator("text=/Dropout moves this sentence/").first
    before = title.text_content()
    noise.locator("select").first.select_option(index=4)
    expect(title).not_to_have_text(before)
    expect(noise).to_contain_text("python: 4")

    expect(rank).to_contain_text("8 sentences: rank 8 of 32")
    rank.locator(".noUi-handle").first.press("ArrowLeft")
    expect(rank).to_contain_text("4 sentences: rank 4 of 32")
    expect(rank).to_contain_text("python: 4")

    loss.get_by_role("tab", name="What does this batch look like?").click()
    expect(loss).to_contain_text("Cosines at step 5")
    loss.locator(".noUi-handle").first.press("ArrowLeft")
    expect(loss).to_contain_text("Cosines at step 0")
    expect(loss).to_contain_text("python: 0")

    sphere = cells.nth(5)
    anchor = sphere.get_by_role("slider", name="anchor 1", exact=True)
    anchor.press("Shift+ArrowRight")
    expect(sphere).to_contain_text("python: [[0.9659258262890683, 0.25881904510252074], [0.0, 1.0]]")
    expect(anchor).to_be_focused()  # the arrows are JupyterLab's own keys, too

    cosines = cells.nth(6)
    expect(cosines.locator(".cselab-chosen").first).to_have_text("0.78")
    cosines.get_by_label("Sentences, one a line").fill("A cat sleeps.\nA cat sleeps.")
    expect(cosines.locator(".cselab-chosen").first).to_have_text("1.00")
    expect(cosines).to_contain_text("python: ['A cat sleeps.', 'A cat sleeps.']")
    assert red(page) == []


def test_a_run_is_kept_paused_and_stopped_by_its_buttons_and_used_afterwards(open_notebook, page):
    open_notebook(of_cells([TELLING, *MONITOR]))
    for number in (0, 1):
        command(page, "run-cell", number)
    cells = page.locator(".jp-Notebook .jp-Cell")
    monitor = cells.nth(1)
    expect(monitor).to_contain_text("python: running")
    line = monitor.locator(".scatterlayer .trace .js-line").first
    expect(line).to_be_visible()
    drawn = line.get_attribute("d")
    expect(line).not_to_have_attribute("d", drawn)  # it goes on while nothing is pressed

    monitor.get_by_role("button", name="keep this step").first.click()
    expect(monitor).to_contain_text(re.compile(r"python: \(\d+,\)"))
    monitor.get_by_role("button", name="pause").first.click()
    expect(monitor).to_contain_text("python: paused")
    monitor.get_by_role("button", name="resume").first.click()
    expect(monitor).to_contain_text("python: running")
    monitor.get_by_role("button", name="stop").first.click()
    expect(monitor).to_contain_text("python: stopped")

    command(page, "run-cell", 2)
    expect(cells.nth(2)).to_contain_text(re.compile(r"used: stopped by hand at step \d+ \(128,\) \(128,\)"))
    assert red(page) == []
