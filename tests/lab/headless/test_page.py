import re

import plotly.graph_objects as go
import pytest
from cselab_lab.headless.page import link_pages, loaded_from_outside, mathml, write_page
from cselab_lab.lessons.guesses import guess
from cselab_widgets.kit.page import figure_to_html
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from playwright.sync_api import expect
from plotly.offline import get_plotlyjs

FALLBACK = """<div id="panel" style="height:300px"></div><script>
(function draw() {
  if (!window.Plotly) return setTimeout(draw, 20);
  Plotly.newPlot("panel", [{y: [1, 3, 2]}], {title: {text: "the fallback of a panel"}});
})();
</script>"""


def shown(*bundles, source="show()", **metadata):
    outputs = [new_output("display_data", data=bundle) for bundle in bundles]
    return new_code_cell(source, outputs=outputs, execution_count=1, metadata=metadata)


def plotly_bundle(title, **more):
    figure = go.Figure(go.Scatter(x=[1, 2], y=[2, 1]), layout={"title": {"text": title}}, **more)
    return {"application/vnd.plotly.v1+json": figure.to_plotly_json(), "text/plain": "Figure()"}


def panel_bundle(html=FALLBACK):
    return {"application/vnd.jupyter.widget-view+json": {"model_id": "1"}, "text/html": html, "text/plain": "panel"}


@pytest.fixture
def render(tmp_path):
    """Write a page of some cells; gives its text and what it would load."""

    def write(*cells):
        path = tmp_path / "00_tour.html"
        outside = write_page(new_notebook(cells=list(cells)), path, tmp_path)
        return path.read_text(encoding="utf-8"), outside

    return write


def test_plotly_is_inside_once_for_all_figures(render):
    own_copy = {"text/html": f"<script>{get_plotlyjs()}</script><div>saved with its own copy</div>"}
    page, outside = render(shown(plotly_bundle("one"), plotly_bundle("two")), shown(panel_bundle(), own_copy))
    assert page.count(get_plotlyjs()) == 1
    assert page.index(get_plotlyjs()) < page.index("<body>")
    assert outside == []
    assert 'id="figure-1"' in page and 'id="figure-2"' in page and 'id="panel"' in page


def test_a_page_without_a_figure_does_not_carry_plotly(render):
    page, _ = render(shown({"text/plain": "42"}))
    assert get_plotlyjs() not in page
    assert len(page) < 50_000


def test_the_same_notebook_gives_the_same_page(render):
    cells = [new_markdown_cell("# Twice", id="a"), shown(plotly_bundle("one"))]
    assert render(*cells) == render(*cells)


def test_addresses_that_need_the_network_are_found(render):
    connected = '<script src="https://cdn.example/plotly.js"></script>'
    module = '<script type="module">import "https://cdn.example/module.js"</script>'
    text = "![a plot](https://pictures.example/plot.png) and a [link](https://example.org) to follow"
    _, outside = render(new_markdown_cell(text), shown({"text/html": connected}, {"text/html": module}))
    assert outside == [
        "https://pictures.example/plot.png", "https://cdn.example/plotly.js", "https://cdn.example/module.js"
    ]  # fmt: skip


@pytest.mark.parametrize(
    "html",
    [
        '<link rel="stylesheet" href="//cdn.example/a.css">',
        "<style>@import 'http://cdn.example/a.css';</style>",
        '<p style="background: url(https://cdn.example/a.png)">x</p>',
        '<iframe src="https://cdn.example"></iframe>',
        '<script>const tag = document.createElement("script"); tag.src = "https://cdn.example/a.js";</script>',
    ],
)
def test_each_way_of_loading_something_is_known(html):
    assert len(loaded_from_outside(html)) == 1


def test_formulas_are_mathml_which_needs_no_script(render):
    formula = r"\ell = -\log \frac{e^{s/\tau}}{\sum_j e^{s_j/\tau}}"
    text = f"Temperature $\\tau$:\n\n$${formula}$$\n\nIt costs \\$5."
    page, outside = render(new_markdown_cell(text))
    assert page.count("<math") == 2 and "<mfrac>" in page and "$$" not in page
    assert 'display="block"' in page and "MathJax" not in page and outside == []
    assert "It costs $5." in page


@pytest.mark.parametrize("latex", [r"\left( a", r"x^", r"\unheardof{a}"])
def test_a_formula_not_understood_stays_as_written(latex):
    assert mathml(latex, "inline") == f"<code>{latex}</code>"


def test_formulas_have_room_where_no_font_for_them_gives_it():
    assert '<mo lspace="0.17em" rspace="0.17em">log</mo>' in mathml(r"p \log p", "inline")
    assert '<mo lspace="0" rspace="0.17em">log</mo>' in mathml(r"\log p", "inline")
    assert "<mi>log</mi>" in mathml(r"\log(p)", "inline")  # a bracket follows closely
    assert mathml("|z|", "inline").count('lspace="0" rspace="0"') == 2
    primed = mathml("h_i + h_j'", "inline")
    assert primed.count("<msub>") == 2 and "<msubsup>" not in primed and "&#x02032;</mo></mrow><mi>j</mi>" in primed


@pytest.mark.browser
def test_what_touches_a_formula_stays_on_its_line(render, tmp_path, page):
    render(new_markdown_cell("It grows with the number of the rows ($n^2$)."))
    page.goto((tmp_path / "00_tour.html").as_uri())
    together = page.locator("span", has=page.locator("math"))
    assert together.text_content() == "(n2)."
    for width in range(200, 420, 7):  # at some of these the bracket would stand alone on a line
        page.set_viewport_size({"width": width, "height": 400})
        assert together.evaluate("span => span.getClientRects().length") == 1


@pytest.mark.browser
def test_formulas_stand_below_each_other_on_a_narrow_page(render, tmp_path, page):
    render(new_markdown_cell(r"$$a + b + c = d + e + f \qquad u + v + w = x + y + z$$"))
    page.goto((tmp_path / "00_tour.html").as_uri())
    for width, below in ((900, False), (250, True)):
        page.set_viewport_size({"width": width, "height": 400})
        one, other = page.locator("math").evaluate_all("all => all.map(one => one.getBoundingClientRect().toJSON())")
        assert (other["top"] >= one["bottom"]) is below and (other["left"] >= one["right"]) is not below


def test_set_up_is_left_out_and_a_guess_is_folded(render):
    given, other = new_code_cell("steps = 1", metadata={"tags": ["parameters"]}), new_code_cell("steps")
    passed = new_code_cell("steps = 2", metadata={"tags": ["injected-parameters"]})
    page, _ = render(given, passed, other, new_code_cell("mine = lesson.guess(a=...)"))
    assert re.findall(r'<details class="code"( open)?', page) == [" open", ""]
    assert "<summary>the guess</summary>" in page and "steps = " not in page


def test_the_main_picture_and_the_numbers_come_first(render):
    number = {"application/vnd.cselab.record+json": {"name": "World-STS", "value": 52.182}, "text/plain": "52.182"}
    answer = {
        "application/vnd.cselab.guess+json": {
            "made": False,
            "found": [{"name": "near", "words": "0.84", "value": 0.84}],
        }
    }
    words = {"summary": "the hills", "note": "Hills of pairs. Click a dot to see it.", "details": ""}
    panel = plotly_bundle("the hills") | {"text/html": figure_to_html(300, words, {})}
    main = shown(panel, tags=["main-picture"])
    result = shown({"text/html": "<b>52 to 58</b>", "text/plain": "52 to 58"}, tags=["main-result"])
    cells = [
        new_markdown_cell("# 00 · A tour\n\nSome text"),
        main,
        result,
        shown(plotly_bundle("a map"), number, answer),
    ]
    page, _ = render(*cells)
    body = page[page.index("<main>") :]
    order = [
        body.index(part)
        for part in (
            "A tour",
            "<b>52 to 58</b>",
            "the hills",
            "Hills of pairs",
            "World-STS",
            "52.2",
            "Some text",
            "a map",
            "it is 0.84",
        )
    ]
    assert order == sorted(order)
    assert body.count("the hills") == body.count("Hills of pairs.") == 2 and body.count("a map") == 1
    digest = re.search(r'data-cselab-figure="(\w+)"', body)[1]
    assert body.count(f'<div class="cselab-figure" data-cselab-figure="{digest}"') == 2  # one script draws both
    assert body.count("cselabPage(window.Plotly") == 1


def test_a_link_to_the_next_lesson_leads_to_its_page_or_is_text(render, tmp_path):
    text = "[01 · Next](01_anisotropy.ipynb) and [02 · Later](02_simcse.ipynb)"
    render(new_markdown_cell(text))
    (tmp_path / "01_anisotropy.html").touch()
    link_pages([tmp_path / "00_tour.html"])
    page = (tmp_path / "00_tour.html").read_text(encoding="utf-8")
    assert '<a href="01_anisotropy.html">01 · Next</a>' in page
    assert "02 · Later (make lab)" in page and ".ipynb" not in page


def test_a_guess_that_nobody_made_is_a_sentence(render):
    outcome = guess(near=...).compare("The two cooks have a cosine of {near:.2f}.", near=0.8412)
    page, _ = render(shown({**outcome._repr_mimebundle_(), "text/plain": "near: no guess yet"}))
    assert "<p>The two cooks have a cosine of 0.84.</p>" in page and "no guess yet" not in page


def test_an_unsolved_exercise_names_its_notebook(render):
    unsolved = shown({"text/plain": "not solved yet: replace the placeholder"}, tags=["check"])
    page, _ = render(shown({"text/plain": repr(guess(near=...))}), unsolved)
    assert "<code>00_tour.ipynb</code>" in page and "make lab" in page
    assert "not solved" not in page and "nothing yet" not in page


def test_aligned_equations_are_rows_of_a_table():
    assert mathml(r"\begin{aligned} a &= b \\ c &= d \end{aligned}", "block").count("<mtr>") == 2


def test_the_title_is_the_first_heading(render):
    page, _ = render(new_code_cell("# not this\n1"), new_markdown_cell("intro\n\n# A tour & more"))
    assert "<title>A tour &amp; more</title>" in page


def test_code_can_be_folded_and_hidden_solutions_start_folded(render):
    solution = "<details><summary>Solution</summary>\n\nIt is `x.norm()`.\n\n</details>"
    page, _ = render(
        shown(source="visible"), shown(source="hidden", jupyter={"source_hidden": True}), new_markdown_cell(solution)
    )
    assert re.search(r'<details class="code" open="">.*?visible', page, re.DOTALL)
    assert "hidden</span>" not in page and page.count('<details class="code"') == 1
    assert re.search(r"<summary>Solution</summary>\s*<p>It is <code>x.norm\(\)</code>.</p>\s*</details>", page)


def test_a_widget_shows_its_fallback_or_a_note(render):
    slider = {"application/vnd.jupyter.widget-view+json": {"model_id": "1"}, "text/plain": "IntSlider(value=0)"}
    page, _ = render(shown(panel_bundle("<b>what the panel shows</b>")), shown(slider))
    assert "<b>what the panel shows</b>" in page
    assert "open the notebook in JupyterLab" in page and "IntSlider(value=0)" not in page


def test_messages_are_folded_and_records_are_read_as_text(render):
    warning = new_output("stream", name="stderr", text="UserWarning: something to know")
    record = {"application/vnd.cselab.record+json": {"name": "rho", "value": 0.7}, "text/plain": "rho = 0.7"}
    cell = shown(record)
    cell.outputs.append(warning)
    page, _ = render(cell)
    assert re.search(r'<details class="messages">.*UserWarning: something', page)
    assert "rho = 0.7" in page


def test_pictures_are_put_inside(render, tmp_path):
    (tmp_path / "plot.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    drawing = {"image/png": "iVBORw0KGgo=", "text/plain": "<Figure size 640x480>"}
    page, outside = render(new_markdown_cell("![a plot](plot.svg)"), shown(drawing))
    assert 'src="data:image/svg+xml;base64,' in page and 'src="data:image/png;base64,iVBORw0KGgo="' in page
    assert "plot.svg" not in page and "640x480" not in page and outside == []


@pytest.mark.browser
@pytest.mark.daily
@pytest.mark.parametrize("scheme, ink", [("light", "rgb(36, 41, 47)"), ("dark", "rgb(213, 218, 225)")])
def test_a_browser_draws_every_figure_from_the_file_alone(render, tmp_path, page, scheme, ink):
    frames = [go.Frame(data=[go.Scatter(x=[1, 2], y=[3, 4])], name="1")]
    render(shown(plotly_bundle("a plain figure"), plotly_bundle("with frames", frames=frames)), shown(panel_bundle()))
    page.emulate_media(color_scheme=scheme)
    page.goto((tmp_path / "00_tour.html").as_uri())
    for title in ("a plain figure", "with frames", "the fallback of a panel"):
        expect(page.locator(".main-svg .gtitle", has_text=title).first).to_be_visible()
    expect(page.locator(".gtitle", has_text="a plain figure")).to_have_css("fill", ink)


@pytest.mark.browser
def test_a_printed_table_keeps_its_columns_on_a_telephone(render, tmp_path, page):
    rows = "\n".join(f"{'a row with a long name':40}{number:20}" for number in range(3))
    cell = new_code_cell("print(rows)", outputs=[new_output("stream", name="stdout", text=rows)], execution_count=1)
    render(cell)
    page.set_viewport_size({"width": 400, "height": 700})
    page.goto((tmp_path / "00_tour.html").as_uri())
    assert page.evaluate("document.scrollingElement.scrollWidth") == 400
    place = page.locator(".output_area")
    wider, lines = place.evaluate(
        "e => [e.scrollWidth > e.clientWidth || e.querySelector('pre').scrollWidth > e.clientWidth,"
        " e.querySelector('pre').clientHeight / parseFloat(getComputedStyle(e.querySelector('pre')).lineHeight)]"
    )
    assert wider and round(lines) == 3
