"""Lasso and box in a real browser: what a hand draws, again and again, is what Python hears of. And the camera."""

import pytest
from cselab_widgets.kit.page import FIGURE_JS
from cselab_widgets.kit.plot import CONFIG
from plotly.offline import get_plotlyjs

pytestmark = pytest.mark.browser

FIGURE = {
    "data": [{"x": [1, 2, 3, 4], "y": [1, 2, 1, 2], "mode": "markers", "customdata": [10, 11, 12, 13]}],
    "layout": {
        "height": 400,
        "title": {"text": "Four points"},
        "margin": {"l": 60, "r": 20, "t": 40, "b": 40},
        "dragmode": "lasso",
        "selectionrevision": "all",
        "xaxis": {"range": [0, 5]},
        "yaxis": {"range": [0, 3]},
    },
    "config": CONFIG,
}


SHOW = """(figure) => {
    heard.length = 0;
    document.body.replaceChildren(document.createElement("div"));
    shown = cselabFigure(Plotly, document.body.firstChild, figure, "words", told);
}"""


@pytest.fixture(scope="module")
def opened(browser, tmp_path_factory):
    """A page with plotly.js for all figures; what is told is in `heard`."""
    file = tmp_path_factory.mktemp("page") / "page.html"
    file.write_text(
        f'<!DOCTYPE html><meta charset="utf-8"><head><script>{get_plotlyjs()}</script>'
        f"<script>{FIGURE_JS} const heard = []; let shown;"
        "const told = (event, rows) => heard.push([event, rows]);"
        "const plot = () => document.querySelector('.js-plotly-plot');"
        "</script></head><body></body>"
    )
    page = browser.new_page()
    page.goto(file.as_uri())
    yield page
    page.close()


@pytest.fixture
def page(opened):
    return opened


@pytest.fixture(params=["scatter", "scattergl"])
def plot(request, page):
    """The plane of a figure whose rows 10 to 13 stand from left to right."""
    page.evaluate(SHOW, {**FIGURE, "data": [{**FIGURE["data"][0], "type": request.param}]})
    page.wait_for_selector(".draglayer .xy .nsewdrag")
    if page.evaluate(
        "Boolean(plot().data[0].type === 'scattergl' && !document.createElement('canvas').getContext('webgl'))"
    ):
        pytest.skip("this browser has no WebGL")
    return page.locator(".draglayer .xy .nsewdrag")


def drawn(page, plot, corners) -> list:
    """Drag from corner to corner, in data; what was told of it."""
    box = plot.bounding_box()
    (x, y), *others = [(box["x"] + box["width"] * x / 5, box["y"] + box["height"] * (1 - y / 3)) for x, y in corners]
    page.mouse.move(x, y)
    page.mouse.down()
    for right, down in others:
        page.mouse.move(right, down, steps=4)
    page.mouse.up()
    page.wait_for_function("heard.length > 0")
    return page.evaluate("heard.splice(0)")


def around(right: float) -> list[tuple[float, float]]:
    return [(0.3, 2.7), (right, 2.7), (right, 0.3), (0.3, 0.3), (0.3, 2.6)]


@pytest.mark.daily
def test_a_lasso_begun_on_the_outline_of_the_last_is_a_new_one(page, plot):
    """Plotly would take it for a change of that outline, as it stays where the same points are selected again."""
    for right, rows in [(2.5, [10, 11]), (2.6, [10, 11]), (3.5, [10, 11, 12]), (1.5, [10])]:
        assert drawn(page, plot, around(right)) == [["select", rows]]
        assert page.evaluate("plot().data[0].selectedpoints") == [row - 10 for row in rows]
    assert drawn(page, plot, [(0.7, 2.5), (2.5, 2.5), (2.5, 0.5), (0.7, 0.5)]) == [["select", [10, 11]]]  # inside it


def test_a_box_is_heard_like_a_lasso_and_the_next_begun_inside_it_too(page, plot):
    page.locator('.modebar-btn[data-val="select"]').first.click(force=True)
    assert drawn(page, plot, [(1.5, 2.7), (4.5, 0.3)]) == [["select", [11, 12, 13]]]
    assert drawn(page, plot, [(1.6, 1.5), (3.5, 0.4)]) == [["select", [12]]]
    assert drawn(page, plot, [(4.9, 2.9), (4.6, 0.2)]) == [["select", []]]


def test_a_selection_ends_with_a_double_click(page, plot):
    drawn(page, plot, around(2.5))
    box = plot.bounding_box()
    page.mouse.dblclick(box["x"] + box["width"] - 9, box["y"] + 9)
    page.wait_for_function("heard.length > 0")
    assert page.evaluate("heard") == [["select", []]]


def test_a_redraw_tells_of_no_selection(page, plot):
    drawn(page, plot, around(2.5))
    page.evaluate(
        "(figure) => shown.update(figure)", {**FIGURE, "layout": {**FIGURE["layout"], "title": {"text": "next"}}}
    )
    page.get_by_text("next").first.wait_for()
    page.wait_for_timeout(300)
    assert page.evaluate("heard") == []


def test_the_camera_saves_an_svg(page, plot):
    with page.expect_download() as saved:
        page.locator('.modebar-btn[data-title^="Download plot"]').first.click(force=True)
    assert saved.value.suggested_filename.endswith(".svg")
    picture = saved.value.path().read_text(encoding="utf-8")
    assert picture.startswith("<svg") and "</svg>" in picture and "Four points" in picture
