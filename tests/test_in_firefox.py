"""Each page that answers without a kernel, opened from a file by Firefox without a network: controls move, it answers.

New panels are found by themselves: those of the book (`LIVE`), and all that small_panels.py makes.
"""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from cselab_lab.headless.page import write_page
from cselab_widgets.kit.page import whole_page

from book import LIVE

pytestmark = pytest.mark.browser

ROOM = """const panel = document.querySelectorAll(".cselab-panel")[%d];
const shown = () => {
    const copy = panel.cloneNode(true);
    for (const one of copy.querySelectorAll("label, input, select, button, output, .cselab-film")) one.remove();
    return copy.innerHTML;
};"""
CONTROLS = {
    "button:not(.modebar-btn)": ("Enter",),
    "input[type=range]": ("Home", "ArrowRight"),
    "select": ("ArrowDown",),
}


def of_test(file, name):
    """What another test file has: its panels, or its lesson."""
    spec = spec_from_file_location(Path(file).stem, Path(__file__).parent / file)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


def moved(firefox, number):
    """Whether a panel has controls; each first one of its kind is moved, and what the panel shows must change."""
    room = ROOM % number
    firefox.wait(
        f"(() => {{ {room} return !panel.querySelector('.cselab-figure') || panel.querySelector('.main-svg') }})()"
    )
    firefox.evaluate(f"(() => {{ {room} window.shown = shown; window.before = shown(); }})()")
    found = False
    for kind, keys in CONTROLS.items():
        focused = f"(() => {{ {room} const one = panel.querySelector({kind!r}); one?.focus(); return Boolean(one) }})()"
        if firefox.evaluate(focused):
            firefox.press(*keys)
            found = True
    if found:
        firefox.wait("shown() !== before")
    return found


def check(firefox, file, least):
    """Open a page of panels; so many of them at least have controls, and all those answer."""
    firefox.open(file)
    panels = firefox.evaluate("document.querySelectorAll('.cselab-panel').length")
    assert sum(moved(firefox, number) for number in range(panels)) >= least
    for width in (1400, 400):
        firefox.size(width, 900)
        assert firefox.evaluate("document.documentElement.scrollWidth") <= width
    assert firefox.faults == []
    assert [address for address in firefox.asked if not address.startswith(("file:", "data:", "blob:"))] == []


@pytest.mark.parametrize("name", LIVE)
def test_a_panel_that_computes_in_the_page_answers(firefox, tmp_path, name):
    check(firefox, LIVE[name]().to_html(tmp_path / f"{name}.html"), least=1)


def test_the_panels_of_a_page_answer_where_they_have_controls(firefox, tmp_path):
    made = [make(None) for make, _ in of_test("small_panels.py", "PANELS").values()]
    (tmp_path / "panels.html").write_text(
        whole_page("\n".join(panel._html(answering=True) for panel in made), "panels"), encoding="utf-8"
    )
    check(firefox, tmp_path / "panels.html", least=1)


def test_a_lesson_takes_a_guess_and_shows_what_lies_below(firefox, tmp_path):
    write_page(of_test("lab/headless/test_read_alone.py", "a_lesson")(), tmp_path / "99_lesson.html", tmp_path)
    firefox.open(tmp_path / "99_lesson.html")
    folded = "document.querySelectorAll('.cselab-folded').length"
    assert firefox.evaluate(folded) > 2
    firefox.evaluate("document.querySelector('.cselab-guess input').focus()")
    firefox.press("85%", "Enter")
    firefox.wait("document.querySelector('[role=status]').textContent.includes('you said 85%, it is 0.84: close')")
    assert firefox.evaluate(folded) > 2
    firefox.evaluate("document.querySelector('.cselab-guess button[type=button]').focus()")
    firefox.press("Enter")
    firefox.wait(f"{folded} === 0")
    assert firefox.faults == []
