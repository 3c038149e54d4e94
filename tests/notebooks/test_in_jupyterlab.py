"""A lesson where a class meets it: run in a real JupyterLab, its run stopped there by hand."""

import nbformat
import pytest
from cselab_lab.headless.notebook_folder import bundled_notebooks
from jupyterlab_page import CELLS, command, red
from playwright.sync_api import Locator, Page, expect

pytestmark = pytest.mark.browser

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


@pytest.fixture
def open_lesson(open_notebook):
    """Open a lesson under smoke in JupyterLab; `changes` are made to its source."""

    def run(name: str, changes: dict[str, str] | None = None) -> None:
        notebook = nbformat.read(bundled_notebooks() / f"{name}.ipynb", as_version=4)
        left = {'profile = "classroom"': 'profile = "smoke"', **(changes or {})}
        for cell in notebook.cells:
            for before in [before for before in left if before in cell.source]:
                cell.source = cell.source.replace(before, left.pop(before))
        assert left == {}
        open_notebook(notebook)

    return run


def panel(page: Page, cell_id: str) -> Locator:
    """The cell, scrolled to, once its plot is drawn; the plot is inside the width of the cell."""
    page.evaluate(SCROLL_TO, cell_id)
    cell = page.locator(f'[data-cell="{cell_id}"]')
    expect(cell.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    return cell


def test_a_lesson_goes_on_with_the_run_that_was_stopped_by_hand(open_lesson, page):
    its_run = 'create_method("hard_negatives"), lab.corpus, lab.config('
    open_lesson("12_your_own_method", {its_run + ")": its_run + "steps=100_000)"})
    command(page, "run-all-above", "monitor")
    command(page, "run-cell", "monitor")

    cell = panel(page, "monitor")
    scores = cell.locator(".js-plotly-plot").nth(1).locator(".trace").last.locator(".point")
    expect(scores.nth(1)).to_be_visible()  # the run goes on in a thread, and was scored since it began
    cell.get_by_role("button", name="stop").click()
    expect(cell).to_contain_text("Stopped: the panel's run has the encoder")
    assert cell.evaluate(OVERLAPPING) == []

    command(page, "run-all-below", "wait")
    assert red(page) == []
    assert [cell["id"] for cell in page.evaluate(CELLS) if cell["count"] is None] == []
