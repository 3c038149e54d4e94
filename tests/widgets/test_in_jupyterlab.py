"""The panels where they are used: a notebook in a real JupyterLab, and a page read without a kernel."""

import nbformat
import pytest
from cselab_widgets import AlignmentUniformity, EmbeddingMap
from playwright.sync_api import expect
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
]

RUN_ALL = """async () => {
    const { shell, commands } = window.jupyterapp;
    await shell.currentWidget.sessionContext.ready;
    await commands.execute("notebook:run-all-cells");
}"""


def test_a_notebook_of_panels_runs_in_jupyterlab_and_their_sliders_move_the_plots(jupyterlab, page, tmp_path):
    notebook = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_code_cell("\n".join(map(str.strip, cell.strip().splitlines()))) for cell in CELLS
        ],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
    )
    nbformat.write(notebook, tmp_path / "panels.ipynb")
    page.goto(jupyterlab(tmp_path / "panels.ipynb"))
    page.wait_for_function("() => window.jupyterapp?.shell.currentWidget?.sessionContext")
    page.evaluate(RUN_ALL)

    plots = page.locator(".jp-OutputArea-output .js-plotly-plot")
    expect(plots).to_have_count(2)
    expect(plots.locator(".scatterlayer .point").first).to_be_visible()
    red = (
        '[data-mime-type="application/vnd.jupyter.stderr"], [data-mime-type="application/vnd.jupyter.error"]'
    )
    expect(page.locator(red)).to_have_count(0)

    for number, title, last, earlier in [(0, "Step {}", "3", "2"), (1, "SimCSE, step {}", "3", "0")]:
        panel = page.locator(".jp-OutputArea-output").nth(number)
        expect(panel).to_contain_text(title.format(last))
        point = panel.locator(".scatterlayer .trace").last.locator(".point").last
        place = point.get_attribute("transform")
        panel.locator(".noUi-handle").press("ArrowLeft")
        expect(panel.locator(".widget-readout").first).to_have_text(earlier)
        expect(point).not_to_have_attribute("transform", place)
        expect(panel).to_contain_text(title.format(earlier))
        width = panel.locator(".main-svg").first.bounding_box()["width"]
        assert width == pytest.approx(panel.bounding_box()["width"], abs=20)


@pytest.mark.parametrize("plotly_js_stands", ["before the figures", "after the figures"])
def test_a_page_without_a_kernel_shows_the_plots_and_moves_them(
    page, tmp_path, histories, sentences, embeddings, plotly_js_stands
):
    panels = [
        AlignmentUniformity(histories),
        EmbeddingMap(sentences, {"SimCSE": {0: embeddings, 20: -embeddings}}, color=range(5)),
    ]
    figures = "".join(panel._repr_mimebundle_()["text/html"] for panel in panels)
    plotly_js = f"<script>{get_plotlyjs()}</script>"
    body = plotly_js + figures if plotly_js_stands == "before the figures" else figures + plotly_js
    file = tmp_path / "page.html"
    file.write_text(f'<!DOCTYPE html><meta charset="utf-8"><body>{body}</body>')
    page.goto(file.as_uri())

    plots = page.locator(".cselab-figure")
    expect(plots).to_have_count(2)
    for number, text in [(0, "Step 20"), (1, "SimCSE, step 20")]:
        plot = plots.nth(number)
        expect(plot).to_contain_text(text)
        point = plot.locator(".scatterlayer .trace").last.locator(".point").last
        place = point.get_attribute("transform")
        plot.locator(".slider-rail-touch-rect").click(position={"x": 5, "y": 5})
        expect(plot).to_contain_text(text.replace("20", "0"))
        expect(point).not_to_have_attribute("transform", place)
        plot.locator(".updatemenu-button").first.click()
        expect(plot).to_contain_text(text)
        expect(point).to_have_attribute("transform", place)


def test_a_page_without_plotly_js_shows_the_summary(page, tmp_path, histories):
    panel = AlignmentUniformity(histories)
    file = tmp_path / "page.html"
    file.write_text(f"<!DOCTYPE html><body>{panel._repr_mimebundle_()['text/html']}</body>")
    page.goto(file.as_uri())
    expect(page.locator(".cselab-figure")).to_have_text(panel.summary())


@pytest.mark.parametrize(("width", "narrow"), [(1400, False), (900, False), (400, True)])
def test_a_narrow_page_has_the_legend_on_top_and_the_planes_under_each_other(
    page, tmp_path, sentences, embeddings, width, narrow
):
    panel = EmbeddingMap(sentences, {"one": embeddings, "other": -embeddings}, color=list("xxyyz"))
    page.set_viewport_size({"width": width, "height": 900})
    panel.save(tmp_path / "map.html")
    page.goto((tmp_path / "map.html").as_uri())
    page.wait_for_selector(".x2title")
    first, second, legend = (
        page.locator(f".{name}").bounding_box() for name in ("xtitle", "x2title", "legend")
    )
    if narrow:
        assert legend["y"] + legend["height"] < page.locator(".xy .point").first.bounding_box()["y"]
        assert first["y"] + first["height"] < page.locator(".x2y2 .point").first.bounding_box()["y"]
        assert second["x"] == pytest.approx(first["x"], abs=40)
    else:
        assert second["y"] == pytest.approx(first["y"], abs=1)
        assert first["x"] + first["width"] < second["x"] < second["x"] + second["width"] <= legend["x"]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.set_viewport_size({"width": 1800 - width, "height": 900})  # the figure follows
    expect(page.locator(".main-svg").first).not_to_have_attribute("width", str(width))
