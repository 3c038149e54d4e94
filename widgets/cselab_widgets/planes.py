"""A figure of several planes side by side: each its title, its traces, its two axes."""

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any, NamedTuple

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from .theme import TEMPLATE

ROW = 260  # pixels a row of planes, and what its title and the axis title of the row above take
GAP = 92
TOP, BOTTOM = 94, 56

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
    """The planes, row by row, under one legend on top; on a narrow page they stand under one another.

    Of traces with one name the legend shows the first, which shows and hides them all.
    """
    rows = ceil(len(planes) / columns)
    inner = rows * ROW + (rows - 1) * GAP
    canvas = make_subplots(
        rows=rows,
        cols=columns,
        subplot_titles=[plane.title for plane in planes],
        horizontal_spacing=0.24 / columns,
        vertical_spacing=GAP / inner,
    )
    named = set()
    for number, plane in enumerate(planes):
        place = {"row": number // columns + 1, "col": number % columns + 1}
        for trace in plane.traces:
            if trace.name and trace.showlegend is not False:
                trace.update(legendgroup=trace.name, showlegend=trace.name not in named)
                named.add(trace.name)
            canvas.add_trace(trace, **place)
        own = canvas.get_subplot(**place).xaxis.plotly_name.replace("axis", "")
        canvas.update_xaxes(plane.x, **place)
        canvas.update_yaxes(
            plane.y, **({"scaleanchor": own, "constraintoward": "top"} if plane.square else {}), **place
        )
    canvas.update_annotations(font_size=14)
    canvas.for_each_xaxis(lambda axis: axis.title.update(standoff=8, font_size=13))
    canvas.for_each_yaxis(lambda axis: axis.title.update(standoff=4, font_size=13))
    return canvas.update_layout(
        template=TEMPLATE,
        height=inner + TOP + BOTTOM,
        margin={"t": TOP, "b": BOTTOM},
        legend={"orientation": "h", "x": 0, "y": 1, "yref": "container", "yanchor": "top"},
    )


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
    ticks = {"tick0": 0, "dtick": max(1, round(len(heat.z) / 5)), "ticks": ""}
    plain = {**ticks, "constrain": "domain", "showgrid": False, "showline": False}
    return Plane(title, [heat], plain, {**plain, "autorange": "reversed"}, square=True)
