"""Methods in the plane of alignment and uniformity, and their paths while they train."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from math import isfinite
from typing import Any, NamedTuple

import ipywidgets
import plotly.graph_objects as go

from .panel import Panel, rounded
from .steps import Scrubber, film
from .theme import INK, TEMPLATE, category_styles

HEIGHT = 480


class Measurement(NamedTuple):
    """Where a method stood at one step; `score` is None if it was not scored there."""

    step: int
    alignment: float
    uniformity: float
    score: float | None


@dataclass(frozen=True, eq=False)
class AlignmentUniformityState:
    """Paths by method, each in order of its steps, and the step looked at.

    A method that was not measured at that very step stands where it was last measured before it.
    """

    paths: Mapping[str, tuple[Measurement, ...]]
    step: int

    def __post_init__(self):
        if self.step not in self.steps:
            raise ValueError(
                f"step is {self.step!r}; the measured steps are {', '.join(map(str, self.steps))}."
            )

    @property
    def steps(self) -> list[int]:
        """All steps at which some method was measured."""
        return sorted({at.step for path in self.paths.values() for at in path})

    def travelled(self, method: str) -> tuple[Measurement, ...]:
        """The path of a method up to the current step; its start if that is still to come."""
        path = self.paths[method]
        return tuple(at for at in path if at.step <= self.step) or path[:1]


def figure(state: AlignmentUniformityState) -> go.Figure:
    """Three traces a method: its whole path (faint, from a ring), what it has travelled, where it stands."""
    styles = category_styles(state.paths)
    traces = []
    for method, path in state.paths.items():
        color, symbol = styles[method]
        travelled = state.travelled(method)
        here = travelled[-1:]
        traces += [
            go.Scatter(
                **_places(path),
                **_hover(method, path),
                uid=f"{method}: path",
                legendgroup=method,
                showlegend=False,
                mode="lines+markers",
                opacity=0.5,
                line={"color": color, "width": 1},
                marker={
                    "symbol": ["circle-open"] + ["circle"] * (len(path) - 1),
                    "size": [10] + [5] * (len(path) - 1),
                    "line": {"width": [1.5] + [0] * (len(path) - 1)},
                },
            ),
            go.Scatter(
                **_places(travelled),
                uid=f"{method}: travelled",
                legendgroup=method,
                showlegend=False,
                hoverinfo="skip",
                mode="lines",
                line={"color": color, "width": 3},
            ),
            go.Scatter(
                **_places(here),
                **_hover(method, here),
                uid=f"{method}: here",
                legendgroup=method,
                name=method if here[0].score is None else f"{method}  {here[0].score:#.4g}",
                mode="markers",
                marker={"color": color, "symbol": symbol, "size": 15, "line": {"color": INK, "width": 1}},
            ),
        ]
    everywhere = [at for path in state.paths.values() for at in path]
    scored = any(at.score is not None for at in everywhere)
    return go.Figure(
        traces,
        {
            "template": TEMPLATE,
            "height": HEIGHT,
            "title": {"text": f"Step {state.step}"},
            "xaxis": {
                "title": {"text": "uniformity (lower: spread more evenly)"},
                "range": _range([at.uniformity for at in everywhere]),
            },
            "yaxis": {
                "title": {"text": "alignment (lower: positive pairs closer)"},
                "range": _range([at.alignment for at in everywhere]),
            },
            "legend": {"title": {"text": "method, dev score" if scored else "method"}},
            "annotations": [_BETTER],
        },
    )


def summary(state: AlignmentUniformityState) -> str:
    """Where each method stands at the current step, a line each."""
    width = max(map(len, state.paths))
    lines = [f"Alignment and uniformity at step {state.step} (lower is better for both)"]
    for method in state.paths:
        here = state.travelled(method)[-1]
        lines.append(
            f"  {method:{width}}  step {here.step:>5}  alignment {here.alignment:.3f}"
            f"  uniformity {here.uniformity:7.3f}  {_score(here)}"
        )
    return "\n".join(lines)


class AlignmentUniformity(Panel):
    """Methods in the plane of uniformity (x) and alignment (y), step by step; lower left is better.

    Args:
        histories: what each method went through: name -> history of a training run, or anything that has one
            as `.history`. A history is a list of rows; the rows that have "step", "alignment" and
            "uniformity" (and "score", the dev score, where it was scored) are measurements, others are passed over.
        step: the step to look at; the last by default.
        key: see `Panel`.

    Raises:
        ValueError: no histories, one without a measurement, one with a number that is not finite,
            or a step at which nothing was measured.

    See also: `EmbeddingMap`, for the sentences themselves.

    >>> row = {"step": 0, "alignment": 0.2, "uniformity": -1.5, "score": 51.4}
    >>> AlignmentUniformity({"SimCSE": [row]})
    Alignment and uniformity at step 0 (lower is better for both)
      SimCSE  step     0  alignment 0.200  uniformity  -1.500  dev score 51.40
    """

    draw = staticmethod(figure)
    describe = staticmethod(summary)

    def __init__(self, histories: Mapping[str, Any], step: int | None = None, key: str | None = None):
        if not histories:
            raise ValueError("histories is empty; give at least one, such as {'SimCSE': run.history}.")
        paths = {
            str(name): _path(str(name), getattr(rows, "history", rows)) for name, rows in histories.items()
        }
        last = max(path[-1].step for path in paths.values())
        super().__init__(AlignmentUniformityState(paths, last if step is None else step), key)

    def controls(self) -> dict[str, ipywidgets.Widget]:
        return {"step": Scrubber(self.state.steps, self.state.step)}

    def page_figure(self) -> go.Figure:
        return film(lambda step: self.figure(step=step), self.state.steps, self.state.step)


_BETTER = {
    "text": "better",
    "xref": "paper",
    "yref": "paper",
    "x": 0.012,
    "y": 0.02,
    "ax": 46,
    "ay": -34,
    "showarrow": True,
    "arrowhead": 2,
    "arrowwidth": 1.5,
    "arrowcolor": INK,
}


def _path(method: str, rows: Iterable[Mapping[str, Any]]) -> tuple[Measurement, ...]:
    """The measurements among the rows of a history, in order; of two at one step the later written counts."""
    at = {}
    for row in rows:
        if not {"step", "alignment", "uniformity"} <= row.keys():
            continue
        here = Measurement(row["step"], row["alignment"], row["uniformity"], row.get("score"))
        for name, value in zip(here._fields, here, strict=True):
            if value is not None and not isfinite(value):
                raise ValueError(
                    f"histories[{method!r}]: {name} is {value} at step {here.step}; it must be finite."
                )
        at[here.step] = here
    if not at:
        raise ValueError(
            f"histories[{method!r}] has no row with 'step', 'alignment' and 'uniformity'; "
            "train with an evaluator, which measures them."
        )
    return tuple(at[step] for step in sorted(at))


def _places(path: Iterable[Measurement]) -> dict[str, list[float]]:
    return {"x": rounded(at.uniformity for at in path), "y": rounded(at.alignment for at in path)}


def _hover(method: str, path: Iterable[Measurement]) -> dict[str, Any]:
    texts = [
        f"<b>{escape(method)}</b>, step {at.step}<br>{_score(at)}"
        f"<br>alignment {at.alignment:.3f}<br>uniformity {at.uniformity:.3f}"
        for at in path
    ]
    return {"text": texts, "hovertemplate": "%{text}<extra></extra>"}


def _score(at: Measurement) -> str:
    return "dev score not measured" if at.score is None else f"dev score {at.score:#.4g}"


def _range(values: list[float]) -> list[float]:
    """The axis for all steps at once, so that it stands still; wider below, where "better" is written."""
    low, high = min(values), max(values)
    span = max(high - low, 0.01)
    return rounded([low - 0.2 * span, high + 0.1 * span])
