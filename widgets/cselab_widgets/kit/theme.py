"""The design of all panels: roles of colours, sizes of text, the style sheet; `docs/design.md` gives reasons.

The paper is transparent, and marks have a contrast of at least 3 to white and to JupyterLab's dark background, so
that one picture serves both. `CSS` gives all text of a panel the colour of the text around it; a picture saved to a
file keeps the grey `INK`.
"""

from collections.abc import Iterable
from typing import NamedTuple

import plotly.graph_objects as go

from .scripts import KIT, lean

INK = "#797979"
FAINT = "rgba(128, 128, 128, 0.22)"

# The meaning of each colour in every panel, sketch and page.
ANCHOR, POSITIVE, NEGATIVE = "#0072B2", "#C25200", "#6B6B6B"
OURS, PUBLISHED = "#00875F", "#9F7600"
BEFORE, AFTER = "#B85C8E", "#7765C8"
ROLES = {"anchor": ANCHOR, "positive": POSITIVE, "negative": NEGATIVE, "ours": OURS, "published": PUBLISHED}
ROLES |= {"before": BEFORE, "after": AFTER}

# For categories without a role, such as methods or topics: the same hues in the order of Okabe & Ito's palette.
SIMCSE = "SimCSE"  # it is AFTER where categories are methods
PALETTE = (ANCHOR, POSITIVE, OURS, BEFORE, PUBLISHED, AFTER, "#3A8FBF", "#808080")
SYMBOLS = ("circle", "diamond", "square", "triangle-up", "cross", "star")

# Grades, steps and other orders: one hue, from light and grey to dark and full.
NUMERIC_SCALE = ("#7f96af", "#6c8db0", "#5984b0", "#447ab0", "#2c70af", "#0465af")

# For matrices: blue above zero, vermilion below, and the page's background near zero.
DIVERGING = ((0, POSITIVE), (0.4999, "rgba(194, 82, 0, 0.05)"), (0.5001, "rgba(0, 114, 178, 0.05)"), (1, ANCHOR))

TITLE, TEXT, AXIS, TICK = 17, 15, 16, 15  # pixels; figure.js makes them smaller in a narrow plane

_AXIS = {
    "gridcolor": FAINT,
    "linecolor": INK,
    "zeroline": False,
    "showline": True,
    "ticks": "outside",
    "tickfont": {"size": TICK},
    "title": {"font": {"size": AXIS}},
}
TEMPLATE = go.layout.Template(
    layout={
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"color": INK, "size": AXIS, "family": "system-ui, sans-serif"},
        "colorway": PALETTE,
        "xaxis": {**_AXIS, "title": {"standoff": 10, "font": {"size": AXIS}}},
        "yaxis": _AXIS,
        "hoverlabel": {"align": "left", "bgcolor": "#ffffff", "font": {"color": "#222222", "size": AXIS}},
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": INK, "activecolor": ANCHOR},
        "margin": {"l": 64, "r": 24, "t": 48, "b": 56},
        "title": {"x": 0, "xref": "paper", "yref": "container", "y": 0.96, "font": {"size": TITLE}},
        "annotationdefaults": {"font": {"size": TEXT}},
    }
)


def style_sheet(*names: str) -> str:
    """Style sheets of this folder as one, the roles' colours in it: a picture taken out of a page keeps them."""
    text = "".join(lean((KIT / f"{name}.css").read_text(encoding="utf-8")) for name in names)
    for role, color in ROLES.items():
        text = text.replace(f"var(--cselab-{role})", color.lower())
    return text


CSS = style_sheet("panel")


class Style(NamedTuple):
    """The colour and symbol of a category."""

    color: str
    symbol: str


def encoder_colors(names: Iterable[str]) -> dict[str, str]:
    """A colour for each encoder: the first is "before", SimCSE, or else the last, "after"; one alone is "before".

    >>> encoder_colors(["plain", "SimCSE"])["SimCSE"] == AFTER
    True
    """
    names = list(names)
    after = SIMCSE if SIMCSE in names else names[-1]
    between = ("#3A8FBF", "#808080", OURS, PUBLISHED)
    return {name: between[i % len(between)] for i, name in enumerate(names)} | {after: AFTER, names[0]: BEFORE}


def category_styles(names: Iterable[str]) -> dict[str, Style]:
    """A style for each name, in order: the palette's colours, then the same colours with the next symbol.

    >>> category_styles(["a", "b"])["b"]
    Style(color='#C25200', symbol='circle')
    """
    styles = [Style(color, symbol) for symbol in SYMBOLS for color in PALETTE]
    found = {name: styles[i % len(styles)] for i, name in enumerate(names)}
    return found | {SIMCSE: Style(AFTER, SYMBOLS[0])} if SIMCSE in found else found
