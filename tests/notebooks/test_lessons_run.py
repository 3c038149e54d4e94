"""Lessons and gallery run headless under smoke and agree with their recorded numbers; checks know their solutions."""

import re

import lessons
import nbformat
import pytest
from accessible import accessibility_faults
from cselab_lab.headless.notebook_folder import bundled_notebooks, find_notebooks
from cselab_lab.headless.notebooks import run_notebooks
from cselab_lab.headless.page import loaded_from_outside
from cselab_lab.headless.record import GUESS_TYPE
from plotly.offline import get_plotlyjs
from tiny import write_checkpoint

pytestmark = pytest.mark.lesson

NOTEBOOKS = find_notebooks(bundled_notebooks())
LESSONS = [path for path in NOTEBOOKS if path.stem[:2].isdecimal()]
LARGEST = 600_000  # bytes of a page besides plotly.js; the gallery carries what all panels answer without a kernel


ALL_DRAWN = """[...document.querySelectorAll('.figure, .cselab-figure')].every(
    one => !one.offsetWidth || one.querySelector('.main-svg'))"""
FIRST_PICTURE = """() => {
    const all = [...document.querySelectorAll("main .figure, main svg, main img")]
    const seen = all.map(one => one.getBoundingClientRect())
    const tops = seen.filter(({width, height}) => width > 100 && height > 60).map(({top}) => top + scrollY)
    return Math.min(...tops) / document.documentElement.scrollHeight
}"""

DAILY = ("01_anisotropy", "02_simcse")
EACH = [pytest.param(path, marks=[pytest.mark.daily] * (path.stem in DAILY), id=path.stem) for path in NOTEBOOKS]


@pytest.fixture(scope="module", params=EACH)
def run(request, tmp_path_factory):
    """A lesson as users run it, in a kernel of its own."""
    (result,) = run_notebooks([request.param.stem], "smoke", output=tmp_path_factory.mktemp(request.param.stem))
    return result


def test_it_runs_to_its_end_and_agrees_with_its_recorded_numbers(run):
    assert run.problems == []
    assert run.notes == []  # in particular not: nothing recorded yet


def shown_before(cells, at):
    """The title, the headings, and text and outputs of the section, as far as a reader has seen them before a cell."""
    headings = re.findall(r"^#+ .*", "\n".join(c.source for c in cells[:at] if c.cell_type == "markdown"), re.MULTILINE)
    section = max(number for number in range(at) if cells[number].source.startswith(("# ", "## ")))
    outputs = [
        str(out.get("text") or out.get("data", {}).get("text/plain", ""))
        for c in cells[section:at]
        for out in c.get("outputs", [])
    ]
    return [cells[0].source, *headings], [c.source for c in cells[section:at]], outputs


def gives_away(value, headings, sources, outputs):
    """Whether a number is in the section, or a word in a heading or an output; whole numbers (2.001) are anywhere."""
    if isinstance(value, list):
        return gives_away(value[0], headings, [], []) if value else False
    if isinstance(value, str):
        return re.search(rf"\b{re.escape(value)}\b", "\n".join(headings + outputs)) is not None
    if isinstance(value, bool) or abs(value) < 0.1 or float(value).is_integer():
        return False
    forms = {form for form in (f"{value:.3g}", f"{value:.3f}", f"{value:.2f}") if "." in form}
    return any(
        re.search(rf"(?<![\d.]){re.escape(form)}(?!\d)", "\n".join(headings + sources + outputs)) for form in forms
    )


def test_nothing_on_the_way_to_a_guess_shows_its_answer(run):
    cells = nbformat.read(run.executed, as_version=4).cells
    if lessons.over(lessons.measured(nbformat.read(bundled_notebooks() / f"{run.name}.ipynb", as_version=4))):
        pytest.skip("not shortened as yet, or no lesson")
    answered = [
        (at, answer)
        for at, cell in enumerate(cells)
        for out in cell.get("outputs", [])
        for answer in out.get("data", {}).get(GUESS_TYPE, {}).get("found", [])
    ]
    assert answered
    assert [a["name"] for at, a in answered if gives_away(a["value"], *shown_before(cells, at))] == []


def test_gives_away_finds_headings_tables_and_words():
    assert gives_away(0.6491, [], [], ["plain 0.65"]) and gives_away("rises", ["## Alignment rises"], [], [])
    assert not gives_away(0.6491, [], ["0.651, 10.65"], []) and not gives_away("rises", [], ['"falls" or "rises"?'], [])


def test_its_page_shows_a_figure_and_loads_nothing(run):
    page = run.page.read_text(encoding="utf-8")
    figures = len(re.findall(r'class="cselab-figure" data-cselab-figure="(\w+)"', page))
    assert figures == 13 if run.name == "gallery" else figures
    assert run.name != "gallery" or page.count('class="cselab-page" data-cselab-page') == 2
    assert page.count("plotly.js v") == 1
    assert loaded_from_outside(page) == []


@pytest.mark.browser
def test_the_first_picture_is_in_the_first_tenth_of_the_page(run, page):
    """As it opens: what a guess unfolds makes it longer. Half a hundredth is for other fonts."""
    if run.name == "gallery":
        pytest.skip("the gallery is no lesson")
    for width in (1400, 400):
        page.set_viewport_size({"width": width, "height": 900})
        if page.url == "about:blank":
            page.goto(run.page.as_uri())
        page.wait_for_function(ALL_DRAWN)
        assert page.evaluate(FIRST_PICTURE) < 0.105, width


@pytest.mark.browser
def test_its_page_is_accessible(run, page):
    page.goto(run.page.as_uri())
    page.wait_for_function(ALL_DRAWN)
    assert accessibility_faults(page) == set()


def test_the_page_is_small_without_state_of_widgets(run):
    own = run.page.stat().st_size - len(get_plotlyjs().encode())
    assert own < (2_000_000 if run.name == "gallery" else LARGEST)
    assert run.executed.stat().st_size < (4_000_000 if run.name == "gallery" else 2_000_000)
    assert "widgets" not in nbformat.read(run.executed, as_version=4).metadata


def test_lesson_02_trains_an_encoder_from_a_folder(tmp_path):
    encoder = write_checkpoint(tmp_path / "bert")
    (run,) = run_notebooks(["02_simcse"], "smoke", {"encoder": str(encoder), "steps": 3}, output=tmp_path / "out")
    assert run.problems == []
    cells = {cell.id: cell for cell in nbformat.read(run.executed, as_version=4).cells}
    said = "".join(output.get("text", "") for output in cells["keep"].outputs)
    assert "with its mean subtracted\n  World-STS: " in said and "SimCSE-BERT_base: 76.25" in said


def exercises():
    for path in LESSONS:
        cells = nbformat.read(path, as_version=4).cells
        for at, cell in enumerate(cells):
            if "exercise" in cell.metadata.get("tags", []):
                yield pytest.param(*(c.source for c in cells[at : at + 3]), id=f"{path.stem}:{cell.id}")


@pytest.mark.parametrize("exercise, check, solution", list(exercises()))
def test_a_check_works_after_a_restart_of_the_kernel(exercise, check, solution, capsys):
    def told(*cells):
        names = {}
        for cell in cells:
            exec(cell, names)
        return capsys.readouterr().out.strip().splitlines()[-1]

    assert told(exercise, check).startswith("not solved yet")
    assert told(exercise, re.search(r"```python\n(.+?)```", solution, re.DOTALL)[1], check) == "solved."
