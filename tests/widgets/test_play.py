"""The pages to play with: built from the panels, small, and alive from a file without a network."""

import re

import play
import pytest
from cselab_lab.headless.page import loaded_from_outside
from playwright.sync_api import expect


@pytest.mark.parametrize("name", play.PANELS)
def test_a_page_is_what_the_script_writes_and_light(name):
    """After a change of a panel: python scripts/play.py."""
    built = play.page(name)
    assert (play.FOLDER / f"{name}.html").read_text(encoding="utf-8") == built
    assert len(built.encode()) < 150_000 and loaded_from_outside(built) == []


@pytest.mark.browser
@pytest.mark.filterwarnings("ignore")
def test_a_visitor_needs_only_the_keyboard(offline):
    """Type, train, pause, save the picture, read a dot, grade a pair; then move a point of the sphere."""
    page = offline(play.FOLDER / "index.html")

    def tab(times, reached):
        for _ in range(times):
            page.keyboard.press("Tab")
        expect(reached).to_be_focused()

    tab(1, page.get_by_role("link", name="The sphere"))
    tab(4, page.get_by_label("sentence 4"))
    page.keyboard.press("Control+a")
    page.keyboard.type("A singer sang an opera.")
    tab(1, page.get_by_role("button", name="Train"))
    page.keyboard.press("Enter")
    expect(page.locator(".cselab-seen")).to_have_text(re.compile("^Step [1-9]"))
    page.keyboard.press("Enter")
    tab(2, page.get_by_role("button", name="Save picture"))
    with page.expect_download() as saved:
        page.keyboard.press("Enter")
    assert saved.value.path().read_bytes().startswith(b"\x89PNG")
    expect(page.get_by_label("sentence 4")).to_have_value("A singer sang an opera.")
    expect(page.locator(".cselab-result")).to_have_text(re.compile(r"^\w+ and \w+ .* to "))
    tab(1, page.locator("canvas"))
    page.keyboard.press("ArrowRight")
    expect(page.locator(".cselab-tip")).to_have_text(re.compile(r"\. \w+$"))
    for pair, grade in (("1 and 2", "5"), ("1 and 3", "0")):
        tab(1, page.get_by_label(f"your grade of {pair}"))
        page.keyboard.press(grade)
    expect(page.locator(".cselab-verdict")).to_have_text(re.compile("^You and the toy agree on"))
    page.get_by_role("link", name="The sphere").press("Enter")
    point = page.get_by_role("slider", name="anchor 1", exact=True)
    where = point.get_attribute("aria-valuetext")
    point.press("ArrowRight")
    expect(point).not_to_have_attribute("aria-valuetext", where)
    expect(page).to_have_url(re.compile("sphere.html$"))
