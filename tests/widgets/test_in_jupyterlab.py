"""Panels and a lesson where they are used: a notebook in a real JupyterLab, and a page read without a kernel."""

import json
import re
from contextlib import suppress

import nbformat
import numpy as np
import plotly.graph_objects as go
import pytest
from cselab_lab.headless.notebook_folder import bundled_notebooks
from cselab_widgets import AlignmentUniformity, EmbeddingMap, Picture
from cselab_widgets.kit.planes import Plane
from jupyterlab_page import CELLS as CODE_CELLS
from jupyterlab_page import command, of_cells, red
from playwright.sync_api import Locator, Page, expect
from plotly.offline import get_plotlyjs

pytestmark = pytest.mark.browser

CELLS = [
    """
    import numpy as np
    from cselab_widgets import AlignmentUniformity, EmbeddingMap
    rows = [{"step": s, "alignment": 0.2 + s / 100, "uniformity": -1 - s / 5, "score": 50 + s} for s in range(4)]
    early, late = np.random.default_rng(0).normal(size=(2, 6, 5))
    """,
    'AlignmentUniformity({"SimCSE": rows})',
    'EmbeddingMap(list("abcdef"), {"plain": early, "SimCSE": {0: early, 3: late}}, color=list("xxyyzz"))',
    "from cselab_widgets import Sphere; Sphere()",
]

PICKING = [
    """
    import json, pathlib
    import numpy as np
    from cselab.data import Pairs
    from cselab_widgets import EmbeddingMap, PairExplorer, PaperVsOurs
    import pandas as pd
    def tell(name, value):
        pathlib.Path(f"{name}.json").write_text(json.dumps(value))
    def letters(sentences):
        return np.array([[text.count(letter) + 1.0 for letter in "abcdefgh"] for text in sentences])
    class Letters:
        encode = staticmethod(letters)
    """,
    """
    one, other = np.random.default_rng(0).normal(size=(2, 30, 5))
    map = EmbeddingMap([f"sentence {i}" for i in range(30)], {"plain": one, "SimCSE": other})
    map.observe(lambda change: tell("selected", change.new), "selection")
    map.observe(lambda change: tell("focus", change.new.focus), "state")
    map
    """,
    """
    words = ["abba", "bead", "cage", "fade", "head", "deaf"] * 2
    grades = [float(i % 3) for i in range(12)]
    pairs = Pairs(words, [word[::-1] + "c" for word in words], grades, name="letters")
    pair = PairExplorer({"letters": Letters()}, pairs, "a bad face", "a bad cage")
    def typed(change):
        tell("typed", [pair.state.first, pair.state.removed, pair.state.cosine("letters")])
    pair.observe(typed, "state")
    pair
    """,
    """
    frame = pd.DataFrame({"row": ["low", "high"], "column": ["a", "b"], "published_gain": [1.0, 2.0], "gain": 3.0})
    paper = PaperVsOurs(frame)
    paper.observe(lambda change: tell("column", paper.state.column), "state")
    paper
    """,
]

AGAIN = [
    'from cselab_widgets import AlignmentUniformity\nrows = [{"step": 0, "alignment": 0.2, "uniformity": -1}]',
    'AlignmentUniformity({"SimCSE": rows})',
    """
    import json, pathlib
    from ipywidgets.widgets.widget import _instances
    alive = len(_instances)
    runs = json.loads(pathlib.Path("alive.json").read_text()) if pathlib.Path("alive.json").exists() else []
    pathlib.Path("alive.json").write_text(json.dumps([*runs, alive]));
    """,
]


SHUT = """async () => {
    const { context, sessionContext } = window.jupyterapp.shell.currentWidget;
    await context.save();
    await sessionContext.shutdown();
}"""


@pytest.fixture
def open_and_run(open_notebook, lab):
    """Open a notebook of these cells in JupyterLab, and run them all."""

    def run(cells: list[str]) -> None:
        open_notebook(of_cells(cells))
        command(lab, "run-all-cells")

    return run


@pytest.fixture
def told(lab, tmp_path):
    """What the notebook wrote down under a name, waited for until it is as expected."""

    def wait(name: str, expected) -> None:
        file, found = tmp_path / f"{name}.json", None
        for _ in range(300):
            lab.wait_for_timeout(100)  # lets the page work meanwhile
            with suppress(FileNotFoundError, ValueError):
                found = json.loads(file.read_text())
                if expected(found) if callable(expected) else found == expected:
                    return
        raise AssertionError(f"{name} is {found}, not {expected}")

    return wait


def test_sliders_move_plots_that_a_busy_page_loads(open_and_run, lab):
    """anywidget gives up on a plot that was not loaded within two seconds: here at once."""
    page = lab
    page.evaluate(
        """() => { AbortSignal.timeout = () => {
            const late = new AbortController();
            setTimeout(() => late.abort());
            return late.signal;
        }; }"""
    )
    open_and_run(CELLS)

    plots = page.locator(".jp-OutputArea-output .js-plotly-plot")
    expect(plots).to_have_count(2)  # a plot for each visible plane
    expect(page.locator(".cselab-sphere")).to_be_visible()
    expect(plots.locator(".scatterlayer .point:visible").first).to_be_visible()
    assert red(page) == []

    title = "SimCSE, step {}:"
    for number, trace, last, earlier in [(0, 4, "3", "2"), (1, 5, "3", "0")]:
        panel = page.locator(".jp-OutputArea-output").nth(number)
        expect(panel).to_contain_text(title.format(last))
        point = panel.locator(f".scatterlayer .trace:nth-child({trace}) .point").last
        place = point.get_attribute("transform")
        panel.locator(".noUi-handle").press("ArrowLeft")
        expect(panel.locator(".widget-readout").first).to_have_text(earlier)
        expect(point).not_to_have_attribute("transform", place)
        expect(panel).to_contain_text(title.format(earlier))
        plane, output = panel.locator(".cselab-plane").first.bounding_box(), panel.bounding_box()
        assert plane["x"] + plane["width"] <= output["x"] + output["width"]

    page.evaluate(SHUT)
    page.reload()
    expect(plots).to_have_count(2)  # a still of each panel
    expect(plots.last.locator(".scatterlayer .point:visible").first).to_be_visible()
    expect(page.locator(".cselab-sphere")).to_be_visible()
    expect(page.locator(".jp-Notebook")).not_to_contain_text("Error displaying widget")


READY = """async (plot) => {
    const { session } = window.jupyterapp.shell.currentWidget.sessionContext;
    if (session.kernel.status !== "idle" || plot._fullLayout?.dragmode !== "lasso" || plot._dragging) return false;
    const place = () => JSON.stringify(plot.querySelector(".draglayer .xy .nsewdrag").getBoundingClientRect());
    const before = place();
    for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
    return place() === before;
}"""

SEEN = """() => window.addEventListener("mousemove", (at) => (window.mouse = `${at.clientX} ${at.clientY}`), true)"""


def lassoed(page, plot, corners) -> None:
    """Draw a lasso from corner to corner: no move before the page has seen the last, or some would be lost."""
    page.evaluate(SEEN)

    def move(x: float, y: float) -> None:
        page.mouse.move(x, y)
        page.wait_for_function("at => window.mouse === at", arg=f"{x} {y}")

    (x, y), *others = corners
    move(x, y)
    page.mouse.down()
    for right, down in others:
        for part in range(1, 9):
            move(round(x + (right - x) * part / 8), round(y + (down - y) * part / 8))
        x, y = right, down
    page.mouse.up()


@pytest.mark.daily
def test_what_is_lassoed_clicked_typed(open_and_run, lab, told):
    """What is lassoed clicked typed and chosen comes back to python and into the plot."""
    page = lab
    open_and_run(PICKING)
    plots = page.locator(".jp-OutputArea-output .js-plotly-plot")
    expect(plots).to_have_count(3)
    expect(plots.nth(0).locator(".point")).to_have_count(30)

    # A lasso around the left half of the map, once the kernel and the figure are at rest.
    plot = plots.nth(0).element_handle()
    page.wait_for_function(READY, arg=plot)
    plane = plots.nth(0).locator(".draglayer .xy .nsewdrag").bounding_box()
    left, top = round(plane["x"]) + 2, round(plane["y"]) + 2
    middle, bottom = left + round(plane["width"] / 2), top + round(plane["height"]) - 4
    points = plots.nth(0).locator(".point")
    inside = [
        row
        for row, box in enumerate(points.nth(row).bounding_box() for row in range(30))
        if box["x"] + box["width"] / 2 < middle
    ]
    assert 3 < len(inside) < 27
    lassoed(page, plot, [(left, top), (middle, top), (middle, bottom), (left, bottom), (left, top + 1)])
    told("selected", inside)
    faded = plots.nth(0).locator('.point[style*="opacity: 0.35"]')
    expect(faded).to_have_count(30 - len(inside))

    # A click on a sentence, once the figure is at rest again.
    page.wait_for_function(READY, arg=plot)
    point = plots.nth(0).locator(".point").nth(inside[0])
    point.scroll_into_view_if_needed()
    box = point.bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    told("focus", lambda row: row is not None)
    expect(page.locator(".cselab-title").first).to_contain_text("the 10 nearest to")
    told("selected", inside)  # the redraws since then have not undone it
    expect(faded).to_have_count(30 - 11)

    # A sentence typed into the pair, then the mean removed.
    typed = page.locator(".jp-OutputArea-output .cselab-plane").nth(1)
    before = typed.text_content()
    page.get_by_placeholder("first sentence").fill("a bad cage")
    page.get_by_placeholder("first sentence").press("Enter")
    told("typed", ["a bad cage", 0, pytest.approx(1, abs=1e-5)])
    expect(typed).to_contain_text("your pair has 1.00")
    assert "1.00" not in before
    page.locator(".jp-OutputArea-output").nth(1).locator(".noUi-handle").press("ArrowRight")
    told("typed", lambda now: now[1] == 1)

    # The other column.
    first = plots.nth(2).locator(".ytick").last
    expect(first).to_have_text("low")
    page.locator(".jp-OutputArea-output").nth(2).locator("select").select_option("b")
    told("column", "b")
    expect(first).to_have_text("high")


def test_running_a_cell_four_times_leaves_one_live_panel(open_and_run, lab, told):
    open_and_run(AGAIN)
    for runs in range(1, 4):
        told("alive", lambda alive, runs=runs: len(alive) == runs)
        command(lab, "run-all-cells")
    told("alive", lambda alive: len(alive) == 4 and len(set(alive)) == 1)
    expect(lab.locator(".jp-OutputArea-output .js-plotly-plot")).to_have_count(1)


def test_a_page_whose_plotly_js_comes_last_shows_the_plots(page, tmp_path, histories, monkeypatch):
    """A page whose plotly js comes last shows the plots and moves them."""
    monkeypatch.setenv("CSELAB_HEADLESS", "1")  # as where `cselab notebooks run` makes a page
    figure = AlignmentUniformity(histories)._repr_mimebundle_()["text/html"]
    file = tmp_path / "page.html"
    file.write_text(f'<!DOCTYPE html><meta charset="utf-8"><body>{figure}<script>{get_plotlyjs()}</script></body>')
    page.goto(file.as_uri())

    plot = page.locator(".cselab-panel")
    expect(plot).to_contain_text("Step 20")
    point = plot.locator(".scatterlayer").last.locator(".trace:nth-child(6) .point").last  # the current step
    place = point.get_attribute("transform")
    plot.locator("input[type=range]").fill("0")
    expect(plot).to_contain_text("Step 0")
    expect(point).not_to_have_attribute("transform", place)
    plot.get_by_role("button", name="play").click()
    expect(plot).to_contain_text("Step 20")
    expect(point).to_have_attribute("transform", place)


def test_a_page_without_plotly_js_shows_the_summary(page, tmp_path, histories):
    panel = AlignmentUniformity(histories)
    file = tmp_path / "page.html"
    file.write_text(f"<!DOCTYPE html><body>{panel._repr_mimebundle_()['text/html']}</body>")
    page.goto(file.as_uri())
    expect(page.locator(".cselab-figure")).to_have_text(panel.summary())


@pytest.mark.parametrize(("width", "narrow"), [(1400, False), (400, True)])
def test_a_narrow_page_has_the_legend_on_top(page, tmp_path, width, narrow):
    """A narrow page has the legend on top and the planes under each other."""
    dots = [go.Scatter(x=[0, 1], y=[number, 1], name=name, mode="markers") for number, name in enumerate("xy")]
    panel = Picture([Plane(title, dots, {"title": {"text": "step"}}, {}) for title in ("one", "other")], "two planes")
    page.set_viewport_size({"width": width, "height": 900})
    panel.save(tmp_path / "map.html")
    page.goto((tmp_path / "map.html").as_uri())
    expect(page.locator(".xtitle")).to_have_count(2)
    first, second = (page.locator(".xtitle").nth(number).bounding_box() for number in (0, 1))
    legend, plots = page.locator(".legend").first.bounding_box(), page.locator(".js-plotly-plot")
    assert legend["y"] + legend["height"] < plots.first.locator(".point").first.bounding_box()["y"]
    if narrow:
        assert first["y"] + first["height"] < plots.last.locator(".point").first.bounding_box()["y"]
        assert second["x"] == pytest.approx(first["x"], abs=40)
    else:
        assert second["y"] == pytest.approx(first["y"], abs=1)
        assert first["x"] + first["width"] < second["x"]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.set_viewport_size({"width": 1800 - width, "height": 900})  # the figure follows
    expect(page.locator(".main-svg").first).not_to_have_attribute("width", str(width))


def test_a_flat_cloud_gets_a_flat_plane(page, tmp_path):
    """A flat cloud gets a flat plane and no empty room below it."""
    flat = np.random.default_rng(0).normal(size=(60, 6)) * [1, 0.3, 0.1, 0.1, 0.1, 0.1] + [0, 0, 2, 0, 0, 0]
    panel = EmbeddingMap([str(row) for row in range(60)], {"one": flat}, color=list("xyz") * 20)
    panel.save(tmp_path / "map.html")
    for width in (1400, 400):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto((tmp_path / "map.html").as_uri())
        expect(page.locator(".scatterlayer .trace")).not_to_have_count(0)
        plane = page.locator(".draglayer .nsewdrag").bounding_box()
        assert plane["height"] < 0.7 * plane["width"]
        parts = (".cselab-plane", ".main-svg", ".cselab-reads")
        cell, drawn, text = (page.locator(one).first.bounding_box() for one in parts)
        if width == 400:  # the sentence under the pointer stands below
            assert text["y"] - (drawn["y"] + drawn["height"]) < 40
        else:
            assert cell["height"] == pytest.approx(drawn["height"], abs=40)  # and its title


# ------------------------------------------------------------------------- labs and the training monitor

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


def test_the_labs_hear_their_controls_and_tell_python(open_notebook, lab):
    page = lab
    open_notebook(of_cells([TELLING, *LABS]))
    command(page, "run-all-cells")
    cells = page.locator(".jp-Notebook .jp-Cell")
    expect(page.locator(".jp-OutputArea-output .cselab-figure")).to_have_count(2)
    assert red(page) == []
    whitening, loss, sphere, cosines = (cells.nth(number) for number in (1, 2, 3, 4))

    whitening.get_by_role("tab", name="How does whitening work?").click()
    expect(whitening).to_contain_text("Stage 4, turned back (ZCA)")
    whitening.locator(".noUi-handle").last.press("ArrowLeft")
    expect(whitening).to_contain_text("Stage 3, scaled (PCA)")
    expect(whitening).to_contain_text("python: 3")

    loss.get_by_role("tab", name="How do a batch's cosines change?").click()
    expect(loss).to_contain_text("Step 5: positives")
    loss.locator(".noUi-handle").first.press("ArrowLeft")
    expect(loss).to_contain_text("Step 0: positives")
    expect(loss).to_contain_text("python: 0")

    anchor = sphere.get_by_role("slider", name="anchor 1", exact=True)
    anchor.press("Shift+ArrowRight")
    expect(sphere).to_contain_text("python: [[0.9659258262890683, 0.25881904510252074], [0.0, 1.0]]")
    expect(anchor).to_be_focused()  # the arrows are JupyterLab's own keys, too

    expect(cosines.locator(".cselab-chosen").first).to_have_text("0.78")
    cosines.get_by_label("Sentences, one a line").fill("A cat sleeps.\nA cat sleeps.")
    expect(cosines.locator(".cselab-chosen").first).to_have_text("1.00")
    expect(cosines).to_contain_text("python: ['A cat sleeps.', 'A cat sleeps.']")
    assert red(page) == []


def test_a_run_is_kept_paused_and_stopped_by_its_buttons(open_notebook, lab):
    """A run is kept paused and stopped by its buttons and used afterwards."""
    page = lab
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


# ------------------------------------------------------------------------- a lesson, as a class meets it

SCROLL_TO = """async (id) => {
    const { content } = window.jupyterapp.shell.currentWidget;
    const at = content.widgets.findIndex(cell => cell.model.id === id);
    content.activeCellIndex = at;
    await content.scrollToItem(at, "start");
    content.widgets[at].node.dataset.cell = id;
}"""

# The texts of one figure that lie on each other by more than two pixels.
OVERLAPPING = """(cell) => [...cell.querySelectorAll(".js-plotly-plot")].flatMap(plot => {
    const texts = [...plot.querySelectorAll("svg text")].map(text => [text.textContent, text.getBoundingClientRect()])
        .filter(([words, box]) => words.trim() && box.width && box.height);
    return texts.flatMap(([one, a], at) => texts.slice(at + 1).flatMap(([other, b]) => {
        const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        return across > 2 && down > 2 ? [one + " | " + other] : [];
    }));
})"""


def panel(page: Page, cell_id: str) -> Locator:
    """The cell, scrolled to, once its plot is drawn; the plot is inside the width of the cell."""
    page.evaluate(SCROLL_TO, cell_id)
    cell = page.locator(f'[data-cell="{cell_id}"]')
    expect(cell.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    return cell


# Of lesson 12 what trains, and what uses the run; the whole lesson runs in tests/notebooks.
TRAINING = "parameters setup guess-control control method guess-loss try-it guess-gains train-simcse monitor".split()
USING = ["wait", "board", "hand-in"]


def test_a_lesson_goes_on_with_the_run_that_was_stopped_by_hand(open_notebook, lab):
    page = lab
    notebook = nbformat.read(bundled_notebooks() / "12_your_own_method.ipynb", as_version=4)
    notebook.cells = [cell for cell in notebook.cells if cell.id in (*TRAINING, *USING)]
    assert len(notebook.cells) == len(TRAINING) + len(USING)
    its_run = 'create_method("hard_negatives"), lab.corpus, lab.config('
    for before, after in {'profile = "classroom"': 'profile = "smoke"', its_run: f"{its_run}steps=100_000"}.items():
        (cell,) = [cell for cell in notebook.cells if before in cell.source]
        cell.source = cell.source.replace(before, after)
    open_notebook(notebook)
    command(page, "run-all-above", "monitor")
    command(page, "run-cell", "monitor")

    cell = panel(page, "monitor")
    # The run goes on in a thread, and was scored since it began.
    expect(cell).to_contain_text(re.compile(r"at step [1-9]\d* \(dev score"))
    cell.get_by_role("button", name="stop").click()
    expect(cell).to_contain_text("Stopped: the best weights so far are kept")
    assert cell.evaluate(OVERLAPPING) == []

    command(page, "run-all-below", "wait")
    assert red(page) == []
    assert [cell["id"] for cell in page.evaluate(CODE_CELLS) if cell["count"] is None] == []
