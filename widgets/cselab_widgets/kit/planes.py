"""A figure of several planes side by side: each its title, its traces, its two axes."""

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any, NamedTuple

import plotly.graph_objects as go

from .theme import TEMPLATE

ROW = 260  # pixels a row of planes, and what its title and the axis title of the row above take
GAP = 92
TOP, BOTTOM = 94, 56
SPACING = 0.24  # of the width, between the columns together

# Blue above zero, vermilion below, and near zero what the page shows: the same on light and dark.
DIVERGING = ((0, "#D55E00"), (0.5, "rgba(128, 128, 128, 0.06)"), (1, "#0072B2"))


class Plane(NamedTuple):
    """One of the planes: a title above it, traces in it, what its axes are (as Plotly takes them).

    `square`: both axes have one scale.
    """

    title: str
    traces: Sequence[go.Scatter | go.Heatmap | go.Bar | go.Box]
    x: Mapping[str, Any]
    y: Mapping[str, Any]
    square: bool = False


def side_by_side(planes: Sequence[Plane], columns: int = 3) -> go.Figure:
    """The planes, row by row; figure.js draws each as a plot with a legend of its own, in fewer columns if need be.

    Where Plotly alone draws the figure it has one legend on top; the first of traces with one name stands for all.
    """
    rows = ceil(len(planes) / columns)
    inner = rows * ROW + (rows - 1) * GAP
    wide, tall = (1 - SPACING / columns * (columns - 1)) / columns, ROW / inner
    layout: dict[str, Any] = {
        "template": TEMPLATE,
        "height": inner + TOP + BOTTOM,
        "margin": {"t": TOP, "b": BOTTOM},
        "legend": {"orientation": "h", "x": 0, "y": 1, "yref": "container", "yanchor": "top"},
        "annotations": [],
        "meta": {"columns": columns},
    }
    traces, named = [], set()
    for number, plane in enumerate(planes):
        row, column = divmod(number, columns)
        own = str(number + 1) if number else ""
        left, top = column * (wide + SPACING / columns), 1 - row * (ROW + GAP) / inner
        one_scale = {"scaleanchor": f"x{own}", "constraintoward": "top"} if plane.square else {}
        layout[f"xaxis{own}"] = _axis(plane.x, 8, anchor=f"y{own}", domain=[left, left + wide])
        layout[f"yaxis{own}"] = _axis(plane.y, 4, anchor=f"x{own}", domain=[max(top - tall, 0), top], **one_scale)
        place = {"x": left + wide / 2, "y": top, "xref": "paper", "yref": "paper"}
        place |= {"xanchor": "center", "yanchor": "bottom"}
        layout["annotations"].append({"text": plane.title, "showarrow": False, "font": {"size": 14}, **place})
        for trace in plane.traces:
            trace.xaxis, trace.yaxis = f"x{own}", f"y{own}"
            if trace.name and trace.showlegend is not False:
                trace.legendgroup, trace.showlegend = trace.name, trace.name not in named
                named.add(trace.name)
            traces.append(trace)
    # Put together at once: adding traces and axes one by one takes plotly.py ten times as long.
    return go.Figure(traces, layout)


def above(text: str, x: float = 0.0, xanchor: str = "left", of: str = "paper") -> dict[str, Any]:
    """A line of text on top of the paper, or of the plane whose axes are `of` ("2": x2 and y2), as an annotation."""
    xref, yref = ("paper", "paper") if of == "paper" else (f"x{of} domain", f"y{of} domain")
    place = {"x": x, "y": 1.0, "xref": xref, "yref": yref, "xanchor": xanchor, "yanchor": "bottom"}
    return {"text": text, "showarrow": False, **place}


def _axis(given: Mapping[str, Any], standoff: int, **place: Any) -> dict[str, Any]:
    axis = {**given, **place}
    if "title" in axis:
        axis["title"] = {"standoff": standoff, "font": {"size": 13}, **axis["title"]}
    return axis


def heatmap(values: Any, uid: str, limit: float, hover: str) -> go.Heatmap:
    """A matrix with row 0 on top, coloured from -limit to limit; `hover` is a Plotly template of x, y, z."""
    return go.Heatmap(
        z=values,
        uid=uid,
        zmin=-limit,
        zmax=limit,
        colorscale=DIVERGING,
        showscale=False,
        hovertemplate=hover + "<extra></extra>",
    )


def matrix(title: str, heat: go.Heatmap) -> Plane:
    """A plane for a matrix: one scale on both axes, row 0 on top, no lines."""
    apart = next((n for n in (1, 2, 5, 10, 20, 50, 100) if 6 * n >= len(heat.z)), 200)
    ticks = {"tick0": 0, "dtick": apart, "ticks": ""}
    plain = {**ticks, "constrain": "domain", "showgrid": False, "showline": False}
    return Plane(title, [heat], plain, {**plain, "autorange": "reversed"}, square=True)
