"""The planes of a panel: each has its title, its traces, its two axes, and is a Plotly figure."""

from collections.abc import Iterable, Mapping, Sequence
from math import ceil, floor
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from .theme import AXIS, DIVERGING, INK, TEMPLATE

MARK = '<span style="color:{}">\u2501</span>\u00a0'  # before a name


class Plane(NamedTuple):
    """One of a panel's planes: its answer as a title, traces in it, its axes (as Plotly takes them).

    `square`: both axes have one scale. `words`: two lines at most, shown under it. `tall`: pixels that its rows need;
    by default the room decides. `layout`: more of Plotly's layout. `reads`: HTML beside the plane; it, or its
    element `.cselab-read`, gives way to the text of the point under the pointer. `key`: HTML above all planes; in
    it `<i>` is the scale of colours of a heat map.
    """

    title: str
    traces: Sequence[go.Scatter | go.Scattergl | go.Heatmap | go.Bar | go.Box]
    x: Mapping[str, Any]
    y: Mapping[str, Any]
    square: bool = False
    words: str = ""
    tall: int = 0
    layout: Mapping[str, Any] = MappingProxyType({})
    reads: str = ""
    key: str = ""

    def figure(self) -> go.Figure:
        """The plane as a Plotly figure; figure.js fits it to its place. The legend names each name once."""
        named = set()
        for trace in self.traces:
            trace.showlegend = bool(
                trace.name and trace.showlegend is not False and trace.visible is not False and trace.name not in named
            )
            named.add(trace.name)
        one_scale = {"scaleanchor": "x", "constraintoward": "top"} if self.square else {}
        layout = {
            "template": TEMPLATE,
            "title": {"text": self.title},
            "xaxis": _axis(self.x, 8),
            "yaxis": {**_axis(self.y, 4), **one_scale},
            "meta": {"words": self.words, "tall": self.tall, "reads": self.reads, "key": self.key},
            **self.layout,
        }
        # Checked traces take plotly.py ten times as long; the tests check them.
        return go.Figure(list(self.traces), layout, _validate=False)


def rounded(values: Iterable[float]) -> list[float]:
    """Coordinates to four decimals, finer than a screen: small pages, the same on every machine."""
    return [round(float(value), 4) for value in values]


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
    far = len(steps) == 1 and not 1e-3 <= min(ticks) <= max(ticks) < 1e5  # all in one form
    text = [f"10<sup>{round(np.log10(tick))}</sup>" if far else f"{tick:,g}" for tick in ticks]
    span = [low - room, high + room]
    return {"type": "log", "range": span, "tickvals": ticks, "ticktext": text, "minor": {"ticks": ""}}


def named_at_ends(lines: Sequence[go.Scatter], uid: str, length: float = 0.0, log: bool = False) -> list[go.Scatter]:
    """The lines without a legend, with their names at their ends; thin lines lead to names that had to move apart.

    `length`: of the axis of the values, if the lines do not fill it. `log`: it is logarithmic.
    """
    ends = []
    for line in lines:
        line.showlegend = False
        if line.visible is not False and line.y is not None and len(line.y) and (not log or line.y[-1] > 0):
            mark = "\u00a0" if line.line.dash else MARK.format(line.line.color or INK)
            ends.append((np.log10(line.y[-1]) if log else line.y[-1], line.x[-1], f"{mark}{line.name}"))
    drawn = np.concatenate([np.asarray(line.y, dtype=float) for line in lines if line.y is not None])
    drawn = np.log10(drawn[drawn > 0]) if log else drawn
    apart = 0.06 * max(length, float(np.ptp(drawn))) if len(drawn) else 0.0
    ends.sort(key=lambda end: end[0])
    groups: list[list[float]] = []  # of names that touch: each group stands about the mean of its ends
    for value, *_ in ends:
        group = [value]
        while groups and np.mean(group) - np.mean(groups[-1]) < apart * (len(group) + len(groups[-1])) / 2:
            group = groups.pop() + group
        groups.append(group)
    places = [np.mean(group) + apart * (n - (len(group) - 1) / 2) for group in groups for n in range(len(group))]
    heights = [float(f"{10**place if log else place:.4g}") for place in places]
    away = 0.025 * max((x for _, x, _ in ends), default=0)
    leaders = go.Scatter(
        x=[at for _, x, _ in ends for at in (x, x + away, None)],
        y=[
            at
            for (start, *_), end in zip(ends, heights, strict=True)
            for at in (10**start if log else start, end, None)
        ],
        uid=f"{uid}: leaders",
        mode="lines",
        line={"color": INK, "width": 1},
        cliponaxis=False,
        hoverinfo="skip",
    )
    texts = [f"\u00a0{name}" for *_, name in ends]
    return [*lines, leaders, written([x + away for _, x, _ in ends], heights, texts, uid)]


def written(x: Any, y: Any, text: Sequence[str], uid: str, place: Any = "middle right", **more: Any) -> go.Scatter:
    """Texts at points, which may stand out of the axes."""
    fixed = {"mode": "text", "cliponaxis": False, "hoverinfo": "skip"}
    return go.Scatter({"x": x, "y": y, "text": text, "uid": uid, "textposition": place, **fixed, **more})


def _axis(given: Mapping[str, Any], standoff: int) -> dict[str, Any]:
    axis = {**given}
    if "title" in axis:
        axis["title"] = {"standoff": standoff, "font": {"size": AXIS}, **axis["title"]}
    return axis


def heatmap(values: Any, uid: str, limit: float, hover: str, scale: bool = False) -> go.Heatmap:
    """A matrix with row 0 on top, coloured from -limit to limit; `hover` is a Plotly template of x, y, z.

    `scale`: the colours' values are to its right.
    """
    beyond = bool(np.abs(values).max() > limit)
    ends = [f"{'≤ ' * beyond}−{limit:g}", "0", f"{'≥ ' * beyond}{limit:g}"]
    return go.Heatmap(
        z=values,
        uid=uid,
        zmin=-limit,
        zmax=limit,
        colorscale=DIVERGING,
        showscale=scale,
        colorbar={"thickness": 10, "xpad": 6, "tickvals": [-limit, 0, limit], "ticktext": ends, "outlinewidth": 0},
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
