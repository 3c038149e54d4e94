"""The gallery of the book's cover: the main picture of each lesson, and each panel, as thumbnails that lead there."""

import base64
from collections.abc import Iterator
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
from browser import MISSING, find_browser
from cselab_lab.headless.page import PLOTLY_FIGURE, main_figure
from plotly.offline import get_plotlyjs

DRAW = """async ({ data, layout }) => {
    const size = { width: 640, height: layout.height || 450 };
    return Plotly.toImage({ data, layout: { ...layout, ...size, paper_bgcolor: "#fff", plot_bgcolor: "#fff" } }, size);
}"""


class Thumbnail(NamedTuple):
    """A title, the page it leads to, and the figure, or None."""

    title: str
    page: str
    figure: dict[str, Any] | None


def thumbnails(executed: Path) -> Iterator[Thumbnail]:
    """A lesson has one, the gallery one for each panel."""
    for file in sorted(executed.glob("*.ipynb")):
        notebook = nbformat.read(file, as_version=4)
        page, heading = f"lessons/{file.stem}.html", ""
        if file.stem != "gallery":
            title = next(cell.source for cell in notebook.cells if cell.source.startswith("# "))
            yield Thumbnail(title.splitlines()[0][2:], page, main_figure(notebook))
            continue
        for cell in notebook.cells:
            if cell.source.startswith("## "):
                heading = cell.source.splitlines()[0][3:]
            for output in cell.get("outputs", []):
                if figure := output.get("data", {}).get(PLOTLY_FIGURE):
                    yield Thumbnail(heading, page, figure)


def write_gallery(executed: Path, folder: Path) -> str:
    """The gallery as HTML, with its thumbnails in `folder`; without Chromium or Playwright it has only titles."""
    shown = list(thumbnails(executed))
    folder.mkdir(parents=True)
    pictures = draw([thumbnail.figure for thumbnail in shown], folder)
    links = [
        f'<a href="{thumbnail.page}">{picture}<span>{escape(thumbnail.title)}</span></a>'
        for thumbnail, picture in zip(shown, pictures, strict=True)
    ]
    return '<div class="cselab-gallery">\n' + "\n".join(links) + "\n</div>\n"


def draw(figures: list[dict[str, Any] | None], folder: Path) -> list[str]:
    """An element for each figure; empty where there is no figure, no Chromium or no Playwright."""
    if find_spec("playwright") is None or not find_browser():
        print(f"the cover has no thumbnails: {MISSING}")
        return [""] * len(figures)
    from playwright.sync_api import sync_playwright

    pictures = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        page.add_script_tag(content=get_plotlyjs())
        for number, figure in enumerate(figures):
            if figure is None:
                pictures.append("")
                continue
            picture = page.evaluate(DRAW, {"data": figure["data"], "layout": figure["layout"]})
            (folder / f"{number}.png").write_bytes(base64.b64decode(picture.partition(",")[2]))
            pictures.append(f'<img src="_static/{folder.name}/{number}.png" alt="" loading="lazy">')
        browser.close()
    return pictures
