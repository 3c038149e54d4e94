"""A Plotly figure as a widget.

Plotly's own FigureWidget is not used here, for three faults seen in JupyterLab 4.6 with plotly 7.1: it
opens empty and is filled by later messages, so that inside a box on a busy machine 6 of 24 stayed blank;
it keeps the width of 700 pixels it takes before it is in the page; and each one carries its own plotly.js
of 5 MB. This one opens with its figure in it, follows the width of its cell, and shares one plotly.js.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

import anywidget
import plotly.graph_objects as go
import traitlets
from plotly.io.json import to_json_plotly
from plotly.offline import get_plotlyjs

from .theme import CSS

# plotly.js 4 offers to upload a chart to a server of its makers, unless told not to.
CONFIG = {"displaylogo": False, "responsive": True, "showSendToCloud": False, "plotlyServerURL": ""}


class Plot(anywidget.AnyWidget):
    """Shows `figure`; `show` another and what differs is redrawn, the reader's zoom kept."""

    _esm = Path(__file__).parent / "plot.js"
    _css = CSS
    figure = traitlets.Dict().tag(sync=True)

    def __init__(self, figure: go.Figure):
        plotly_js()
        super().__init__(figure=as_json(figure))
        self.add_class("cselab-figure")

    def show(self, figure: go.Figure) -> None:
        self.figure = as_json(figure)


def as_json(figure: go.Figure) -> dict[str, Any]:
    """A figure as plotly.js takes it: data, layout, frames and the house's config, numbers only."""
    return json.loads(to_json_plotly({**figure.to_plotly_json(), "config": CONFIG}))


@cache
def plotly_js() -> anywidget.AnyWidget:
    """A widget that is never displayed and brings plotly.js to the page: once a kernel, not once a plot.

    It must be opened from here: a page that asked for it would wait until the running cell is done.
    """

    class PlotlyJs(anywidget.AnyWidget):
        _esm = get_plotlyjs() + "\nexport default {};"

    return PlotlyJs()
