"""The gallery of the book's cover: the main picture of each lesson, and each panel, as thumbnails that lead there."""

import base64
import re
from collections.abc import Iterator
from html import escape
from importlib.util import find_spec
from pathlib import Path
from textwrap import shorten
from typing import Any, NamedTuple

import nbformat
from browser import MISSING, find_browser
from cselab_lab.headless.page import PLOTLY_FIGURE, main_picture
from plotly.offline import get_plotlyjs

WIDTH, HEIGHT = 320, 180  # about the size on the page, so that its text can be read
FEW = 8  # rows, which the height holds
DRAW = "figure => Plotly.toImage(figure, { ...figure.layout, scale: 2 })"


class Thumbnail(NamedTuple):
    """A title, the page it leads to, and the figure, or None."""

    title: str
    page: str
    figure: dict[str, Any] | None


def thumbnails(executed: Path) -> Iterator[Thumbnail]:
    """A lesson has one, the gallery one for each panel."""
    for file in sorted(executed.glob("*.ipynb")):
        notebook = nbformat.read(file, as_version=4)
        page, titles = f"lessons/{file.stem}.html", [""]
        if file.stem != "gallery":
            title = next(cell.source for cell in notebook.cells if cell.source.startswith("# "))
            yield Thumbnail(title.splitlines()[0][2:], page, main_picture(notebook).get(PLOTLY_FIGURE))
            continue
        for cell in notebook.cells:
            if cell.source.startswith("## "):
                titles = cell.source.splitlines()[0][3:].split(", and ")  # one for each figure
            for output in cell.get("outputs", []):
                if figure := output.get("data", {}).get(PLOTLY_FIGURE):
                    yield Thumbnail(titles.pop(0) if titles[1:] else titles[0], page, figure)


def short(text: str) -> str:
    """At most 25 characters, which fit beside a thumbnail's plane or below it."""
    return shorten(text.replace("<br>", " "), 25, placeholder=" …")


def first_plane(figure: dict[str, Any]) -> dict[str, Any]:
    """The first plane of a figure, filling a thumbnail, with short titles of its axes; CSS cuts a tall plane below."""
    given = figure["layout"]
    layout = {key: value for key, value in given.items() if not re.fullmatch(r"[xy]axis\d+", key)}
    tall = given.get("meta", {}).get("tall", 0)
    layout |= {
        "title": {"text": ""},
        "showlegend": False,
        "margin": {"t": 8, "r": 8, "b": 34, "l": 44},
        "paper_bgcolor": "#fff",
    }
    layout |= {"width": WIDTH, "height": HEIGHT}
    for name in ("xaxis", "yaxis"):
        axis = {"automargin": True, **given.get(name, {}), "domain": [0, 1]}
        title = axis.get("title") or {}
        layout[name] = axis | {"title": {**title, "text": short(title.get("text", "").partition(" (")[0])}}
    if "ticktext" in layout["xaxis"]:
        layout["xaxis"]["tickangle"] = -90
    rows = layout["yaxis"].get("ticktext", [])
    if rows:
        layout["yaxis"]["ticktext"] = [short(text.partition(":")[0]) for text in rows]
    if tall > 2 * HEIGHT and figure["data"][0]["type"] == "heatmap":  # only its colours; dots keep their rows
        layout["yaxis"]["showticklabels"] = False
    elif tall > 2 * HEIGHT and len(rows) > FEW:
        layout["height"] = tall
    for kind in ("annotations", "shapes"):
        layout[kind] = [one for one in given.get(kind, []) if (one.get("xref"), one.get("yref")) == ("x", "y")]
    shown = [one for one in figure["data"] if one.get("xaxis", "x") == "x" and one.get("cliponaxis", True)]
    return {"data": [{**one, "showscale": False, "texttemplate": ""} for one in shown], "layout": layout}


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
            picture = page.evaluate(DRAW, first_plane(figure))
            (folder / f"{number}.png").write_bytes(base64.b64decode(picture.partition(",")[2]))
            pictures.append(f'<img src="_static/{folder.name}/{number}.png" alt="" loading="lazy">')
        browser.close()
    return pictures
