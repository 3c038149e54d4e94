"""Drawings before a formula: `sketches.cone()` shows the file `cone.svg` of this folder.

`dir(sketches)` lists them. Lines and letters take the colour of the text around them, on a light and on a dark page.
Panes are side by side where there is room, else one below the next. `str(sketches.cone())` describes the drawing.
"""

from collections.abc import Callable
from html import escape
from pathlib import Path
from xml.etree import ElementTree

ElementTree.register_namespace("", "http://www.w3.org/2000/svg")


class Sketch:
    """A drawing: in a notebook its panes of SVG, as text their content."""

    def __init__(self, file: Path) -> None:
        _, _, *self.panes = root = ElementTree.parse(file).getroot()
        self.words = str(root[0].text)

    def __repr__(self) -> str:
        return self.words

    def _repr_html_(self) -> str:
        drawn = "".join(ElementTree.tostring(pane, encoding="unicode") for pane in self.panes)
        flow = "display: flex; flex-wrap: wrap; gap: 1em; margin: 0.5em 0"
        return f'<div role="img" aria-label="{escape(self.words)}" style="{flow}">{drawn}</div>'


def __dir__() -> list[str]:
    return sorted(file.stem for file in Path(__file__).parent.glob("*.svg"))


def __getattr__(name: str) -> Callable[[], Sketch]:
    if name not in __dir__():
        raise AttributeError(f"unknown sketch {name!r}; choose one of {', '.join(__dir__())}")
    return lambda: Sketch(Path(__file__).parent / f"{name}.svg")
