"""Colours and a Plotly template that read on the light and on the dark JupyterLab theme.

The paper is transparent, and text and axes are a mid grey of equal contrast (4.3 : 1) to white and to
JupyterLab's dark background, so that one picture serves both. On top of that `CSS`, and nothing else, gives
all text of a panel the colour of the text around it; a picture saved to a file keeps the grey.
"""

from collections.abc import Iterable
from typing import NamedTuple

import plotly.graph_objects as go

INK = "#797979"
FAINT = "rgba(128, 128, 128, 0.22)"

# Hover labels are left alone: they bring their own background. Below 700 pixels (NARROW of figure.js) each
# control has a row of its own.
CSS = """\
.cselab-panel { container-type: inline-size; }
.cselab-panel, .cselab-figure { --cselab-ink: var(--jp-content-font-color1, currentColor); }
.cselab-panel, .cselab-panel .jupyter-widgets { max-width: 100%; }
.cselab-figure svg text:not(.hovertext text) { fill: var(--cselab-ink) !important; }
.cselab-planes { display: grid; align-items: end; }
.cselab-planes > div { min-width: 0; }
.cselab-controls { flex-flow: row wrap; gap: 2px 14px; padding-left: 4px; overflow: visible; }
.cselab-controls > * { max-width: 100%; }
.cselab-note, .cselab-details { color: var(--cselab-ink); font: 14px/1.45 system-ui, sans-serif; max-width: 100%; }
.cselab-note { opacity: 0.85; margin: 0 4px 6px; }
.cselab-note .widget-html-content, .cselab-details .widget-html-content { line-height: inherit; font-size: inherit; }
.cselab-details .widget-html-content { min-width: 0; }
.cselab-details table { display: block; overflow-x: auto; max-width: 100%; }
.cselab-details table { border-collapse: collapse; margin: 4px 0 10px; font-variant-numeric: tabular-nums; }
.cselab-details :is(th, td) { padding: 2px 10px; border-bottom: 1px solid rgba(128, 128, 128, 0.3); text-align: left; }
.cselab-details .number { text-align: right; }
.cselab-details td.number { white-space: nowrap; }
.cselab-error { color: #d33f2f; }
.cselab-error.cselab-waiting { color: var(--cselab-ink); font-style: italic; }
.cselab-error:empty, .cselab-note:empty, .cselab-empty { display: none; }
@container (max-width: 699px) {
  .cselab-details { font-size: 13px; }
  .cselab-details :is(th, td) { padding: 2px 5px; }
  .cselab-details td:not(.number) { min-width: 6em; }
  .cselab-controls > * { flex: 1 1 100% !important; max-width: 100% !important; width: auto !important; }
  .cselab-controls > * { overflow: hidden; }
  .cselab-controls .widget-label { flex-shrink: 1; min-width: min-content; height: auto; }
  .cselab-controls .widget-label { white-space: normal; line-height: 1.2; }
}
"""

# Okabe & Ito's palette for colour-blind readers; its black, which a dark page swallows, is a grey here.
OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#999999", "#F0E442")
SYMBOLS = ("circle", "diamond", "square", "triangle-up", "cross", "star")

# Viridis without its ends: the lightest part is lost on a white page, the darkest on a dark one, so that the first
# colour is lightened until it stands out 3 : 1 from both.
NUMERIC_SCALE = ("#5559a5", "#31688e", "#21918c", "#35b779", "#8fd744", "#d2e21b")

TEMPLATE = go.layout.Template(
    layout={
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"color": INK, "size": 13, "family": "system-ui, sans-serif"},
        "colorway": OKABE_ITO,
        "xaxis": {
            "gridcolor": FAINT,
            "linecolor": INK,
            "zeroline": False,
            "showline": True,
            "ticks": "outside",
            "title": {"standoff": 10},
        },
        "yaxis": {"gridcolor": FAINT, "linecolor": INK, "zeroline": False, "showline": True, "ticks": "outside"},
        "hoverlabel": {"align": "left", "bgcolor": "#ffffff", "font": {"color": "#222222", "size": 13}},
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": INK, "activecolor": OKABE_ITO[0]},
        "margin": {"l": 64, "r": 24, "t": 48, "b": 56},
        "title": {"x": 0, "xref": "paper", "yref": "container", "y": 0.96, "font": {"size": 15}},
        "annotationdefaults": {"font": {"size": 14}},
    }
)


class Style(NamedTuple):
    """How one category is drawn."""

    color: str
    symbol: str


def category_styles(names: Iterable[str]) -> dict[str, Style]:
    """A style for each name, in order: the palette's colours, then the same colours with the next symbol.

    >>> category_styles(["a", "b"])["b"]
    Style(color='#D55E00', symbol='circle')
    """
    styles = [Style(color, symbol) for symbol in SYMBOLS for color in OKABE_ITO]
    return {name: styles[i % len(styles)] for i, name in enumerate(names)}
