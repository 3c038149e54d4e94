"""What training made of it: the gains a paper prints beside those measured here, row by row."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go
from cselab_lab.experiments import read_results
from cselab_lab.experiments.claims import tested
from cselab_lab.experiments.published import published_table

from .panel import rounded
from .planes import Plane
from .theme import INK, OKABE_ITO

BASELINE, MEASURE = "SimCSE", "Avg."  # of the seven STS sets, as the papers print it


class Beside(NamedTuple):
    """A row of a plane: what it is called there, in the published table, and among the recorded runs."""

    row: str
    published: str | None
    recorded: str | None


@dataclass(frozen=True)
class Gain:
    """Points over the baseline: as published, and as measured here (mean of `seeds` runs, 95 % interval)."""

    row: str
    published: float | None
    ours: float | None = None
    low: float | None = None
    high: float | None = None
    seeds: int = 0


@dataclass(frozen=True)
class Trained:
    """The gains, the table they stand in, and which runs ours are: "mini after 200 steps, seeds 0 to 4"."""

    gains: tuple[Gain, ...] = ()
    ours: str = ""
    table: int = 0


def trained(results: Any, paper: str, table: int, rows: Sequence[Beside]) -> Trained:
    """The rows of an experiment; without results the recorded runs (`cselab_lab.experiments.effects`).

    Args:
        results: None; what `cselab_lab.experiments.read_results` gives; or its frame `beside()`, of which the rows of
            the first column are shown.
        paper, table: the published table.
        rows: which recorded run stands beside which published row.

    Raises:
        ValueError: a frame without the columns that `beside()` has.
    """
    if results is None:
        return _recorded(paper, table, rows)
    frame = results.beside() if hasattr(results, "beside") else results
    wanted = ["row", "column", "published_gain", "gain", "gain_low", "gain_high", "n"]
    missing = [name for name in wanted if name not in frame]
    if missing:
        raise ValueError(f"results has no column {missing[0]!r}; give what cselab_lab.experiments.beside(...) returns.")
    first = frame[frame["column"] == frame["column"].iloc[0]]
    read = [
        Gain(row, _number(published), _number(ours), _number(low), _number(high), int(seeds))
        for row, published, ours, low, high, seeds in zip(
            *(first[name] for name in wanted if name != "column"), strict=True
        )
    ]
    known = tuple(gain for gain in read if gain.published or gain.ours is not None)
    return Trained(known, "the runs given as results", table)


def _recorded(paper: str, table: int, rows: Sequence[Beside]) -> Trained:
    cells = published_table(paper, table).cells
    averages = {cell.row: cell.value for cell in cells if cell.column == "Avg." and cell.value is not None}
    base = next(iter(averages.values()))  # SimCSE stands first
    effects = read_results("effects")
    gains: list[Gain] = []
    lines: list[Mapping[str, Any]] = []
    for name, published, recorded in rows:
        over = {} if recorded is None else effects.over(recorded, BASELINE, MEASURE)
        lines += [] if recorded is None else effects.lines[recorded].values()
        ours = np.array(list(over.values()))
        low, high = tested(ours)[:2] if len(ours) > 2 and np.ptp(ours) else (None, None)  # of two it is 13 spreads wide
        mean = float(ours.mean()) if len(ours) else None
        gains.append(Gain(name, None if published is None else averages[published] - base, mean, low, high, len(ours)))
    runs = [line["settings"] for line in lines]
    encoders = sorted({f"{run['encoder']} after {run['recipe']['steps']} steps" for run in runs})
    seeds = sorted({line["seed"] for line in lines})
    return Trained(tuple(gains), f"{', '.join(encoders)}, seeds {_range(seeds)}", table)


def _range(seeds: Sequence[int]) -> str:
    together = len(seeds) > 2 and seeds[-1] - seeds[0] == len(seeds) - 1
    return f"{seeds[0]} to {seeds[-1]}" if together else ", ".join(map(str, seeds))


def _number(value: Any) -> float | None:
    return None if value is None or isnan(value) else float(value)


def gains_plane(shown: Trained) -> Plane:
    """Published gains as diamonds, ours as dots with their interval; right of the line is better than SimCSE."""
    rows = shown.gains
    ours = [(gain, gain.ours) for gain in rows if gain.ours is not None]
    spread = {
        "array": [0.0 if gain.high is None else abs(gain.high - at) for gain, at in ours],
        "arrayminus": [0.0 if gain.low is None else abs(gain.low - at) for gain, at in ours],
    }
    printed = [(gain, gain.published) for gain in rows if gain.published is not None]
    traces = [
        go.Scatter(
            x=rounded(at for _, at in printed),
            y=[gain.row for gain, _ in printed],
            uid="published",
            name="published",
            mode="markers",
            marker={"color": OKABE_ITO[4], "symbol": "diamond", "size": 11},
            hovertemplate="%{y}: %{x:+.2f} published<extra></extra>",
        ),
        go.Scatter(
            x=rounded(at for _, at in ours),
            y=[gain.row for gain, _ in ours],
            uid="ours",
            name="ours",
            showlegend=bool(ours),
            mode="markers",
            marker={"color": OKABE_ITO[0], "size": 10},
            error_x={"type": "data", "symmetric": False, "thickness": 1.5, **spread},
            text=[f"{gain.seeds} seed{'s' * (gain.seeds != 1)}" for gain, _ in ours],
            hovertemplate="%{y}: %{x:+.2f} here, %{text}<br>" + shown.ours + "<extra></extra>",
        ),
    ]
    x: dict[str, Any] = {
        "title": {"text": "points over SimCSE"},
        "zeroline": True,
        "zerolinecolor": INK,
        "zerolinewidth": 1,
    }
    ends = [0.0, *(end for gain in rows for end in (gain.published, gain.low, gain.ours, gain.high) if end)]
    span = max(max(ends) - min(ends), 1.0)
    x["range"] = rounded([min(ends) - 0.35 * span, max(ends) + 0.12 * span])
    order = [gain.row for gain in rows]
    # The names stand inside, above their rows and clear of the dots; beside the axis they would lie over the next
    # plane.
    y: dict[str, Any] = {
        "categoryorder": "array",
        "categoryarray": order[::-1],
        "ticklabelposition": "inside top",
        "ticklabelshift": -7,
        "tickfont": {"size": 12},
        "ticks": "",
    }
    y["range"] = [-0.5, len(rows) - 0.3]
    return Plane(f"Trained: table {shown.table}", traces, x, y)


def in_words(shown: Trained) -> list[str]:
    """A heading, and the gains, a line each; nothing where there are none."""
    if not shown.gains:
        return []
    width = max(len(gain.row) for gain in shown.gains)
    lines = [f"Points over SimCSE after training (ImSimCSE, table {shown.table}; ours: {shown.ours})"]
    for gain in shown.gains:
        parts = [] if gain.published is None else [f"published {gain.published:+6.2f}"]
        if gain.ours is not None:
            interval = "" if gain.low is None else f" [{gain.low:+.2f}, {gain.high:+.2f}]"
            parts.append(f"ours {gain.ours:+6.2f}{interval} ({gain.seeds} seed{'s' * (gain.seeds != 1)})")
        lines.append(f"  {gain.row:{width}}  {'  '.join(parts)}")
    return lines


def explained(shown: Trained) -> str:
    """What diamonds and dots are, for the line under the plot."""
    return f"what training made of it, the average of seven tasks: diamonds as published, dots ours ({shown.ours})."
