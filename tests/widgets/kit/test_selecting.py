"""The lasso in a real browser: what a hand draws, again and again, is what Python hears of. And "save picture"."""

from xml.etree import ElementTree

import pytest
from cselab_widgets.kit.page import FIGURE_JS
from cselab_widgets.kit.plot import CONFIG
from plotly.offline import get_plotlyjs

pytestmark = pytest.mark.browser


def picture(title="Four points", kind="scatter") -> dict:
    points = {"x": [1, 2, 3, 4], "y": [1, 2, 1, 2], "mode": "markers", "customdata": [10, 11, 12, 13], "type": kind}
    layout = {
        "title": {"text": title},
        "dragmode": "lasso",
        "selectionrevision": "all",
        "xaxis": {"range": [0, 5]},
        "yaxis": {"range": [0, 3]},
        "meta": {"words": "", "tall": 0},
    }
    return {"planes": [{"data": [points], "layout": layout}], "columns": 1, "questions": [], "config": CONFIG}


SHOW = """(picture) => {
    heard.length = 0;
    document.body.replaceChildren(document.createElement("div"));
    shown = cselabFigure(Plotly, document.body.firstChild, picture, "words", told);
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
    """A plane whose rows 10 to 13 stand from left to right."""
    page.evaluate(SHOW, picture(kind=request.param))
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


def test_a_selection_ends_with_a_double_click(page, plot):
    drawn(page, plot, around(2.5))
    box = plot.bounding_box()
    page.mouse.dblclick(box["x"] + box["width"] - 9, box["y"] + 9)
    page.wait_for_function("heard.length > 0")
    assert page.evaluate("heard") == [["select", []]]


def test_a_redraw_tells_of_no_selection(page, plot):
    drawn(page, plot, around(2.5))
    page.evaluate("(picture) => shown.update(picture)", picture("next"))
    page.get_by_text("next").first.wait_for()
    page.wait_for_timeout(300)
    assert page.evaluate("heard") == []


def test_save_writes_an_svg_of_all_planes_with_their_titles(page):
    several = picture("Four <b>points</b>")
    page.evaluate(SHOW, {**several, "planes": [*several["planes"], *picture("The same & again")["planes"]]})
    page.wait_for_selector(".draglayer .xy .nsewdrag")
    assert page.locator(".modebar-btn").count() == 0
    with page.expect_download() as saved:
        page.get_by_role("button", name="save picture").click()
    assert saved.value.suggested_filename == "cselab.svg"
    drawn = ElementTree.parse(saved.value.path()).getroot()
    assert drawn.tag.endswith("svg") and len([one for one in drawn if one.tag.endswith("svg")]) == 2
    text = " ".join(" ".join(drawn.itertext()).split())
    assert "Four points" in text and "The same & again" in text
