"""Panels in a file without a kernel or a network: controls show what Python draws."""

import json
import re

import pytest
from cselab_widgets.kit.fields import hidden_controls
from cselab_widgets.kit.page import bare_page
from cselab_widgets.kit.plot import as_json
from cselab_widgets.kit.static_export import controls_of
from playwright.sync_api import expect
from plotly.offline import get_plotlyjs
from small_panels import PANELS

pytestmark = pytest.mark.browser

# Of each plot what it was given last: plotly.js writes into it later.
HEARD = """
const react = Plotly.react;
Plotly.react = (el, figure) => {
  el.closest("section").drawn = JSON.stringify(figure.data);
  return react(el, figure);
};"""


@pytest.fixture(scope="module")
def panels():
    return {name: make(None) for name, (make, _) in PANELS.items()}


@pytest.fixture(scope="module")
def opened(panels, browser, tmp_path_factory):
    """One file with all panels, opened without a network."""
    pieces = "".join(f"<section id='{name}'>{panel._html(answering=True)}</section>" for name, panel in panels.items())
    file = tmp_path_factory.mktemp("page") / "panels.html"
    file.write_text(bare_page(f"<script>{get_plotlyjs()}{HEARD}</script>{pieces}", "panels"), encoding="utf-8")
    browser.set_offline(True)
    page, faults = browser.new_page(), []
    page.set_default_timeout(60_000)  # patience with a busy machine
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(file.as_uri())
    yield page
    page.close()
    browser.set_offline(False)
    assert faults == []


def shows(section, panel, **changes):
    """The page shows what Python draws and says after these changes."""
    state = panel._changed(changes) if changes else panel.state
    expect(section.get_by_role("figure").first).to_have_attribute("aria-label", panel.alt_text(state))
    section.page.wait_for_function("(section) => section.drawn", arg=section.element_handle())
    drawn = json.loads(section.evaluate("(section) => section.drawn"))
    if len(planes := panel.render(state)) == 1:  # of several, only those that changed are drawn
        given = json.dumps(as_json(planes)[0]["data"], ensure_ascii=False)
        assert drawn == json.loads(re.sub(r'"-(?=\d)', '"\u2212', given))  # texts have the sign of the axes
    assert section.locator(".cselab-panel > .cselab-note").inner_text() == panel.explain(state)
    said = "(section, html) => Object.assign(document.createElement('div'), { innerHTML: html }).textContent"
    assert section.locator(".cselab-details").evaluate("(el) => el.textContent") == section.evaluate(
        said, panel.details(state)
    )


def turn(section, control, number, label):
    """Set a control to one of its values as a hand would: by its visible name."""
    if control.kind == "list":
        section.get_by_label(control.label, exact=True).select_option(label=label)
    elif control.kind == "check":
        section.get_by_label(control.label, exact=True).set_checked(number == 1)
    else:
        section.get_by_role("slider", name=control.label).fill(str(number))


@pytest.mark.parametrize("name", PANELS)
def test_each_value_of_each_control_shows_what_python_draws(name, opened, panels):
    panel, section = panels[name], opened.locator(f"#{name}")
    shows(section, panel)
    for control in controls_of(panel):
        if control.kind == "text" or control.name in hidden_controls(panel.state):
            continue
        if control.classes:  # it stands beside some questions alone
            section.get_by_role("tab").nth(int(control.classes[0][-1])).click()
        base = getattr(panel.state, control.name)
        others = [
            (n, *one)
            for n, one in enumerate(control.options)
            if one[1] != base and not panel.busy_message({control.name: one[1]})
        ]
        for number, label, value in others[:3]:
            turn(section, control, number, label)
            shows(section, panel, **{control.name: value})
        back = [n for n, one in enumerate(control.options) if one[1] == base]
        if not others:  # the page has no control
            expect(section.get_by_label(control.label, exact=True)).to_have_count(0)
        elif back:
            turn(section, control, back[0], control.options[back[0]][0])
            shows(section, panel)
        else:
            opened.reload()
            shows(section, panel)


def test_controls_work_together_where_the_page_holds(opened, panels):
    """Controls work together where the page holds that and say so where not."""
    section, panel = opened.locator("#LossLab"), panels["LossLab"]
    section.get_by_role("slider", name="step").fill("0")
    section.get_by_label("loss", exact=True).select_option("ArcCon")
    expect(section.locator("[role=status]")).to_contain_text("step is back at 5")
    shows(section, panel, loss="ArcCon")


def test_a_question_shows_its_planes_and_controls(opened, panels):
    opened.reload()
    section, panel = opened.locator("#LossLab"), panels["LossLab"]
    section.get_by_role("tab").first.click()
    expect(section.locator(".cselab-plane:visible")).to_have_count(2)
    expect(section.locator(".cselab-title:visible").first).to_have_text(panel.planes()[0].title)
    section.get_by_role("tab").first.press("ArrowLeft")  # round to the last
    expect(section.locator(".cselab-title:visible").first).to_have_text(
        panel.planes()[2].title.replace("-0", "\u22120")
    )
    expect(section.get_by_label("cosine of the", exact=True)).to_be_hidden()
    section = opened.locator("#WhiteningLab")
    section.get_by_role("tab").first.click()
    expect(section.locator(".cselab-key")).to_be_visible()


def test_a_click_tells_what_the_point_says(opened, panels):
    """A click tells what the point says or chooses it and a lasso tells several."""
    opened.reload()
    section, panel = opened.locator("#EmbeddingMap"), panels["EmbeddingMap"]
    shows(section, panel)
    section.locator(".scatterlayer .point").nth(3).click(force=True)  # after the ring
    expect(section.locator(".cselab-title")).to_contain_text("nearest to \u201cc\u201d")
    told = "(section, rows) => section.querySelector('.js-plotly-plot').emit('plotly_click', { points: rows })"
    section.evaluate(told, [{"customdata": ["x", "a &lt;b&gt;<br><i>c</i>"]}])
    expect(section.locator(".cselab-picked")).to_have_text("a <b> \u00b7 c")
    section.evaluate(told.replace("click", "hover"), [{"customdata": [0, "read <i>here</i>"]}])
    expect(section.locator(".cselab-read")).to_have_text("read here")
    expect(section.locator(".cselab-reads tr")).to_have_count(1 + 5)


@pytest.mark.daily
def test_by_keyboard_a_list_and_a_player_move_the_picture(opened, panels):
    opened.reload()
    section, panel = opened.locator("#AlignmentUniformity"), panels["AlignmentUniformity"]
    shows(section, panel)
    slider = section.get_by_role("slider", name="step")
    slider.focus()
    slider.press("Home")
    shows(section, panel, step=0)
    section.get_by_role("button", name="play step").press("Enter")
    expect(slider).to_have_attribute("aria-valuetext", "10")
    shows(section, panel)


@pytest.mark.parametrize("width", [1400, 900, 400])
def test_nothing_is_wider_than_the_page(opened, width):
    opened.set_viewport_size({"width": width, "height": 900})
    opened.wait_for_function("width => document.documentElement.scrollWidth <= width", arg=width)


@pytest.mark.parametrize("width, names, entries", [(1400, 1, 0), (400, 0, 2)])
def test_a_phone_has_a_legend_in_place_of_names_at_dots(opened, width, names, entries):
    opened.set_viewport_size({"width": width, "height": 900})
    section = opened.locator("#AlignmentUniformity")
    expect(section.locator(".legend .traces")).to_have_count(entries)
    expect(section.locator(".textpoint", has_text="SimCSE")).to_have_count(names)


def test_a_phone_has_the_names_of_gains_above_their_cells(opened):
    section = opened.locator("#PaperVsOurs-gains")
    opened.set_viewport_size({"width": 1400, "height": 900})
    expect(section.locator(".ytick").first).to_be_visible()
    opened.set_viewport_size({"width": 400, "height": 900})
    expect(section.locator(".annotation").nth(1)).to_contain_text("a +")
    expect(section.locator(".ytick")).to_have_count(0)
    expect(section.locator(".xtick")).to_have_text(["b"])  # the first gain stands beside the name


def test_a_phone_has_the_names_of_rows_and_of_values_above_them(opened):
    opened.set_viewport_size({"width": 400, "height": 900})
    rows = opened.locator("#PaperVsOurs")
    expect(rows.locator(".annotation").first).to_be_visible()
    expect(rows.locator(".ytick")).to_have_count(0)
    plane = opened.locator("#AlignmentUniformity")
    expect(plane.locator(".annotation").first).to_have_text("\u2193 better: alignment (pairs closer)")
    turned = opened.locator("#RankLab .g-ytitle text:visible")
    expect(turned).to_have_count(0)
    opened.set_viewport_size({"width": 1400, "height": 900})
    expect(turned).to_have_text("lowest loss of Barlow Twins")
