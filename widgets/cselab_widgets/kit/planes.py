"""A figure of several planes side by side: each its title, its traces, its two axes."""

from collections.abc import Mapping, Sequence
from math import ceil, floor
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from .theme import AXIS, DIVERGING, TEMPLATE, TITLE

ROW = 260  # pixels a row of planes, and what its title and the axis title of the row above take
GAP = 92
TOP, BOTTOM = 94, 56
SPACING = 0.24  # of the width, between the columns together


class Plane(NamedTuple):
    """One of the planes: its answer as a title, traces in it, its axes (as Plotly takes them).

    `square`: both axes have one scale. `words`: two lines at most, shown under it. `tall`: pixels that its rows need;
    by default the room decides.
    """

    title: str
    traces: Sequence[go.Scatter | go.Heatmap | go.Bar | go.Box]
    x: Mapping[str, Any]
    y: Mapping[str, Any]
    square: bool = False
    words: str = ""
    tall: int = 0


def side_by_side(
    planes: Sequence[Plane], columns: int = 3, tabs: Mapping[str, Sequence[int]] | None = None, **more: Any
) -> go.Figure:
    """The planes, row by row; figure.js draws each as a plot with its legend, in fewer columns if need be.

    `tabs` are questions and the planes that answer each, by number: figure.js shows those of one question at a time.
    Where Plotly alone draws the figure it has all planes and one legend on top; the first of traces with one name
    represents all. `more` is further layout of the figure.
    """
    rows, row_tall = ceil(len(planes) / columns), max(ROW, *(plane.tall for plane in planes))
    inner = rows * row_tall + (rows - 1) * GAP
    wide, tall = (1 - SPACING / columns * (columns - 1)) / columns, row_tall / inner
    layout: dict[str, Any] = {
        **more,
        "template": TEMPLATE,
        "height": inner + TOP + BOTTOM,
        "margin": {"t": TOP, "b": BOTTOM},
        "legend": {"orientation": "h", "x": 0, "y": 1, "yref": "container", "yanchor": "top"},
        "annotations": [],
        "meta": {
            "columns": columns,
            "words": [plane.words for plane in planes],
            "tall": [plane.tall for plane in planes],
            "tabs": [[question, list(shown)] for question, shown in (tabs or {}).items()],
        },
    }
    traces, named = [], set()
    for number, plane in enumerate(planes):
        row, column = divmod(number, columns)
        own = str(number + 1) if number else ""
        left, top = column * (wide + SPACING / columns), 1 - row * (row_tall + GAP) / inner
        one_scale = {"scaleanchor": f"x{own}", "constraintoward": "top"} if plane.square else {}
        layout[f"xaxis{own}"] = _axis(plane.x, 8, anchor=f"y{own}", domain=[left, left + wide])
        layout[f"yaxis{own}"] = _axis(plane.y, 4, anchor=f"x{own}", domain=[max(top - tall, 0), top], **one_scale)
        place = {"x": left + wide / 2, "y": top, "xref": "paper", "yref": "paper"}
        place |= {"xanchor": "center", "yanchor": "bottom"}
        layout["annotations"].append({"text": plane.title, "showarrow": False, "font": {"size": TITLE}, **place})
        for trace in plane.traces:
            trace.xaxis, trace.yaxis = f"x{own}", f"y{own}"
            if trace.name and trace.showlegend is not False:
                trace.legendgroup, trace.showlegend = trace.name, trace.name not in named
                named.add(trace.name)
            else:
                trace.showlegend = False
            traces.append(trace)
    # Adding part by part takes plotly.py ten times as long, checking the traces again four times: the tests do that.
    return go.Figure(traces, layout, _validate=False)


def decades(values: Sequence[float] | np.ndarray) -> dict[str, Any]:
    """A logarithmic axis that holds the values: its numbers are powers of ten, with 1, 2 and 5 if the powers are few.

    >>> decades([3.0, 40.0])["ticktext"]
    ['5', '10', '20']
    """
    positive = np.asarray(values, dtype=float)
    drawn = np.log10(positive[positive > 0] if (positive > 0).any() else [1.0])
    low, high = float(drawn.min()), float(drawn.max())
    room = 0.06 * max(high - low, 0.3)
    steps = (1,) if high - low > 2 else (1, 2, 5)
    apart = max(1, ceil((high - low) / 6))
    powers = range(floor(low), ceil(high) + 1)
    ticks = [step * 10.0**power for power in powers if power % apart == 0 for step in steps]
    ticks = [tick for tick in ticks if low - room <= np.log10(tick) <= high + room]
    text = [f"{tick:g}" if 1e-3 < tick < 1e5 else f"10<sup>{round(np.log10(tick))}</sup>" for tick in ticks]
    span = [low - room, high + room]
    return {"type": "log", "range": span, "tickvals": ticks, "ticktext": text, "minor": {"ticks": ""}}


def named_at_ends(lines: Sequence[go.Scatter], uid: str, log: bool = False) -> list[go.Scatter]:
    """The lines without a legend, with their names at their ends; the names do not overlap.

    `log`: the axis of the values is logarithmic.
    """
    ends = []
    for line in lines:
        line.showlegend = False
        if line.visible is not False and line.y is not None and len(line.y) and (not log or line.y[-1] > 0):
            ends.append((np.log10(line.y[-1]) if log else line.y[-1], line.x[-1], line.name))
    drawn = np.concatenate([np.asarray(line.y, dtype=float) for line in lines if line.y is not None])
    drawn = np.log10(drawn[drawn > 0]) if log else drawn
    apart = 0.075 * float(np.ptp(drawn)) if len(drawn) else 0.0
    ends.sort(key=lambda end: end[0])
    places: list[float] = []
    for value, *_ in ends:
        places.append(max(value, places[-1] + apart) if places else value)
    text = go.Scatter(
        x=[x for _, x, _ in ends],
        y=[float(f"{10**place if log else place:.4g}") for place in places],
        text=[f"  {name}" for *_, name in ends],
        uid=uid,
        mode="text",
        textposition="middle right",
        cliponaxis=False,
        hoverinfo="skip",
    )
    return [*lines, text]


def _axis(given: Mapping[str, Any], standoff: int, **place: Any) -> dict[str, Any]:
    axis = {**given, **place}
    if "title" in axis:
        axis["title"] = {"standoff": standoff, "font": {"size": AXIS}, **axis["title"]}
    return axis


def heatmap(values: Any, uid: str, limit: float, hover: str, scale: bool = False) -> go.Heatmap:
    """A matrix with row 0 on top, coloured from -limit to limit; `hover` is a Plotly template of x, y, z.

    `scale`: the colours' values are to its right.
    """
    return go.Heatmap(
        z=values,
        uid=uid,
        zmin=-limit,
        zmax=limit,
        colorscale=DIVERGING,
        showscale=scale,
        colorbar={"thickness": 10, "xpad": 6, "tickvals": [-limit, 0, limit], "outlinewidth": 0},
        hovertemplate=hover + "<extra></extra>",
    )


def matrix(title: str, heat: go.Heatmap, named: str = "", words: str = "") -> Plane:
    """A plane for a matrix whose rows and columns are `named`: one scale on both axes, row 0 on top, no lines."""
    apart = next((n for n in (1, 2, 5, 10, 20, 50, 100) if 6 * n >= len(heat.z)), 200)
    ticks = {"tick0": 0, "dtick": apart, "ticks": ""}
    plain = {**ticks, "constrain": "domain", "showgrid": False, "showline": False}
    if named:
        plain["title"] = {"text": named}
    return Plane(title, [heat], plain, {**plain, "autorange": "reversed"}, square=True, words=words)
