"""How effects grow with the size of training: a plane for each, ours by size and the paper's at its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plotly.graph_objects as go

from ..kit.planes import Plane
from ..kit.theme import PALETTE

if TYPE_CHECKING:
    from pandas import DataFrame

SHOWN = [60, 200, 600, 2000, 15_600]


def effect_planes(sizes: DataFrame) -> list[Plane]:
    """A plane for each effect: points over SimCSE by the steps of training, with the 95 % interval over the seeds.

    Args:
        sizes: lines of `cselab_lab.experiments.growth.by_size`; those of several profiles may be together.
    """
    return [_plane(name, lines) for name, lines in sizes.groupby("effect", sort=False)]


def _plane(name: str, lines: DataFrame) -> Plane:
    ours, epoch, paper = (lines[lines.whose == whose] for whose in ("here", "one epoch", "paper"))
    bars = {"array": ours.gain_high - ours.gain, "arrayminus": ours.gain - ours.gain_low, "thickness": 1, "width": 3}
    here = go.Scatter(x=ours.steps, y=ours.gain.round(2), error_y=bars, mode="lines+markers", name="here", uid="here")
    here.update(line_color=PALETTE[0], marker_size=8)
    points = [
        go.Scatter(x=of.steps, y=of.gain.round(2), mode="markers", name=told, uid=told, marker=marker)
        for of, told, marker in (
            (epoch, "one epoch", {"symbol": "square", "size": 9, "color": PALETTE[2]}),
            (paper, "the paper", {"symbol": "diamond-open", "size": 11, "color": PALETTE[1], "line_width": 2}),
        )
        if len(of)
    ]
    ticks = {"type": "log", "tickvals": SHOWN, "ticktext": [f"{step:,}" for step in SHOWN], "range": [1.6, 4.4]}
    title = f"{name}, over {'plain' if name == 'SimCSE' else 'SimCSE'}"
    gained = {"title": {"text": "points"}, "rangemode": "tozero"}
    return Plane(title, [here, *points], {"title": {"text": "steps"}, **ticks}, gained)
