"""The book: a small one is built from one executed notebook, and opened as a file in a browser without a network."""

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import nbformat
import pytest
from accessible import accessibility_faults
from book import modules_of
from cover import first_plane
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from playwright.sync_api import expect

pytestmark = pytest.mark.slow
FIGURE = {"data": [{"type": "scatter", "x": [1, 2], "y": [3, 4]}], "layout": {}}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    import book

    folder = tmp_path_factory.mktemp("book")
    output = new_output("display_data", {"application/vnd.plotly.v1+json": FIGURE, "text/plain": "a figure"})
    text = "# A lesson\n\nThe cone: $x^2$. [Play](../docs/play/index.html)."
    cells = [new_markdown_cell(text), new_code_cell("draw()", outputs=[output])]
    (folder / "out").mkdir()
    nbformat.write(new_notebook(cells=cells), folder / "out" / "00_lesson.ipynb")
    patch = pytest.MonkeyPatch()
    patch.setattr(book, "REFERENCE", {"Losses": ["losses"]})
    patch.setitem(book.RECIPES, "micro", replace(book.RECIPES["micro"], steps=2, eval_every=2))
    try:
        with ThreadPoolExecutor(1) as thread:  # Playwright runs once a thread, and here perhaps already
            thread.submit(book.main, folder / "out", folder / "book").result()
    finally:
        patch.undo()
    return folder / "book" / "html"


@pytest.mark.filterwarnings("ignore")  # of Sphinx and its extensions, about themselves
def test_it_has_lessons_reference_results_and_the_teachers_page(site):
    lesson = (site / "lessons" / "00_lesson.html").read_text(encoding="utf-8")
    assert "<math" in lesson and "plotly.min.js" in lesson and "plots.js" in lesson
    assert 'href="../training.html"' in lesson
    readme, index = ((site / page).read_text(encoding="utf-8") for page in ("readme.html", "docs/index.html"))
    assert 'href="training.html"' in readme and 'href="../sphere.html"' in index and "learn.png" in readme
    assert (site / "docs" / "play" / "index.html").exists()
    assert "info_nce" in (site / "reference" / "1.html").read_text(encoding="utf-8")
    for page in (
        "index",
        "sphere",
        "training",
        "type",
        "teachers",
        "results/README",
        "results/effects",
        "docs/scale",
        "contributing",
    ):
        assert (site / f"{page}.html").exists()


@pytest.mark.browser
@pytest.mark.filterwarnings("ignore")
def test_a_picture_of_each_lesson_on_the_cover_leads_to_the_lesson(site, browser):
    page = browser.new_page()
    page.goto((site / "index.html").as_uri())
    thumbnail = page.get_by_role("link", name="A lesson").filter(has=page.locator("img"))
    assert thumbnail.locator("img").evaluate("image => image.decode().then(() => image.naturalWidth)") == 640
    thumbnail.click()
    expect(page).to_have_url(re.compile(r"lessons/00_lesson\.html$"))
    page.close()


@pytest.mark.browser
@pytest.mark.filterwarnings("ignore")
def test_it_is_alive_from_a_file_without_a_network(site, browser):
    browser.set_offline(True)
    page, asked = browser.new_page(), []
    try:
        page.on("request", lambda request: asked.append(request.url))
        page.goto((site / "lessons" / "00_lesson.html").as_uri())
        page.wait_for_selector(".js-plotly-plot .scatterlayer")
        page.goto((site / "sphere.html").as_uri())
        page.get_by_label("loss").select_option("whitening")
        page.get_by_role("slider", name="anchor 1", exact=True).press("ArrowRight")
        expect(page).to_have_url(re.compile(r"/sphere\.html$"))  # an arrow key moves the point and turns no page
        assert page.locator("[role=heading]:not([aria-level])").count() == 0
        page.goto((site / "type.html").as_uri())
        page.get_by_label("Sentences, one a line").fill("A cat sleeps.\nA cat sleeps.")
        expect(page.get_by_text("Cosine 1.000, above 100 % of 120 graded pairs", exact=True)).to_have_count(2)
        page.goto((site / "search.html").as_uri() + "?q=info_nce")
        page.wait_for_selector("ul.search li a")
        for name in ("index", "readme", "docs/results", "lessons/00_lesson"):
            page.goto((site / f"{name}.html").as_uri())
            assert accessibility_faults(page) == set()
    finally:
        page.close()
        browser.set_offline(False)
    assert [address for address in asked if not address.startswith(("file:", "data:", "blob:"))] == []


def test_a_thumbnail_has_the_first_plane_of_a_figure():
    rows = {"ticktext": ["groups", "shuffled groups, vector after the<br>head", "grade 5: same meaning"]}
    axes = {"xaxis": {"domain": [0, 0.4], "title": {"text": "step (of 60)"}}, "xaxis2": {}, "yaxis": rows, "yaxis2": {}}
    lines = [{"y": [1, 2]}, {"y": [3], "xaxis": "x2", "yaxis": "y2"}]
    figure = first_plane({"data": lines, "layout": axes | {"annotations": [{"xref": "paper", "yref": "paper"}]}})
    assert [line["y"] for line in figure["data"]] == [[1, 2]]
    layout = figure["layout"]
    assert layout["xaxis"]["domain"] == [0, 1] and layout["xaxis"]["title"]["text"] == "step"
    assert layout["yaxis"]["ticktext"] == ["groups", "shuffled groups, vector …", "grade 5"]
    assert "xaxis2" not in layout and layout["annotations"] == []


def test_a_package_that_exports_names_stands_for_its_modules():
    assert modules_of("cselab.losses") == ["cselab.losses"]
    assert "cselab_lab.headless.record" in modules_of("cselab_lab")
    assert not [name for name in modules_of("cselab_lab") if ".cli" in name or ".checks" in name]
