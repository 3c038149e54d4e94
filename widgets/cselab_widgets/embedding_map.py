"""Sentences as points: embeddings of one encoder or several, in the plane of their main components."""

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from operator import index
from typing import Any

import ipywidgets
import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from .panel import SVG_POINTS, Panel, rounded
from .projection import Projection, project
from .steps import Scrubber, film
from .theme import INK, NUMERIC_SCALE, TEMPLATE, category_styles

HEIGHT = 460


@dataclass(frozen=True, eq=False)
class Coloring:
    """A value for each sentence: names are told apart, numbers are laid along a scale."""

    title: str
    values: tuple[str, ...] | tuple[float, ...]

    @property
    def by_name(self) -> bool:
        return isinstance(self.values[0], str)


@dataclass(frozen=True, eq=False)
class EmbeddingMapState:
    """Projected sentences by encoder, and how they are looked at.

    Attributes:
        step: the training step looked at; None if no encoder has several.
        find: sentences with this text in them stand out and the others fade; "" for all alike.
        lines: whether the pairs are joined.
    """

    sentences: tuple[str, ...]
    planes: Mapping[str, Projection]
    coloring: Coloring | None
    pairs: tuple[tuple[int, int], ...]
    step: int | None
    find: str = ""
    lines: bool = True

    def __post_init__(self):
        if self.step not in (self.steps or [None]):
            raise ValueError(
                f"step is {self.step!r}; the steps are {', '.join(map(str, self.steps)) or 'none'}."
            )

    @property
    def steps(self) -> list[int]:
        """All steps at which some encoder was looked at; none if each was looked at once."""
        return sorted({step for plane in self.planes.values() for step in plane.points if step is not None})

    def groups(self) -> dict[str, list[int]]:
        """The rows drawn alike: those of each name, in order of first appearance; else all, under ""."""
        names = (
            self.coloring.values if self.coloring and self.coloring.by_name else [""] * len(self.sentences)
        )
        rows: dict[str, list[int]] = {}
        for row, name in enumerate(names):
            rows.setdefault(name, []).append(row)
        return rows

    def found(self) -> set[int]:
        """The rows that `find` picks out."""
        return {row for row, sentence in enumerate(self.sentences) if self.find.lower() in sentence.lower()}


def figure(state: EmbeddingMapState) -> go.Figure:
    """A plane for each encoder, all on one scale; in each the lines between pairs, then the points."""
    canvas = make_subplots(
        cols=len(state.planes), horizontal_spacing=0.16 / len(state.planes), subplot_titles=titles(state)
    )
    for column, (encoder, plane) in enumerate(state.planes.items(), start=1):
        points = plane.points[plane.at(state.step)]
        if state.pairs:
            canvas.add_trace(_lines(state, encoder, points), row=1, col=column)
        canvas.add_traces(_points(state, encoder, points), rows=1, cols=column)
        x = "x" if column == 1 else f"x{column}"
        axes = [
            {"title": _axis_title(plane, i), "range": _range(state, i), "constrain": "domain"} for i in (0, 1)
        ]
        canvas.update_xaxes(axes[0], col=column)
        canvas.update_yaxes(axes[1], scaleanchor=x, constraintoward="top", col=column)
    # One entry a name in the legend, which shows and hides it in all planes.
    canvas.for_each_trace(
        lambda trace: trace.update(showlegend=False), selector=lambda trace: trace.xaxis != "x"
    )
    title = {"text": state.coloring.title if state.coloring else ""}
    return canvas.update_layout(
        template=TEMPLATE,
        height=HEIGHT,
        legend={"title": title, "itemsizing": "constant"},
        coloraxis={
            "colorscale": NUMERIC_SCALE,
            "colorbar": {"title": title, "outlinewidth": 0, "thickness": 14},
        },
    )


def titles(state: EmbeddingMapState) -> list[str]:
    """What stands above each plane: the encoder, and the step it is shown at if it has several."""
    steps = {encoder: plane.at(state.step) for encoder, plane in state.planes.items()}
    return [encoder if step is None else f"{encoder}, step {step}" for encoder, step in steps.items()]


def summary(state: EmbeddingMapState) -> str:
    """What is shown of each encoder, a line each, with how far its points spread in the plane."""
    colored = f", coloured by {state.coloring.title}" if state.coloring and state.coloring.title else ""
    lines = [
        f"Map of {len(state.sentences)} sentences{colored} (principal components of vectors of length 1)"
    ]
    width = max(map(len, titles(state)))
    for plane, title in zip(state.planes.values(), titles(state), strict=True):
        points = plane.points[plane.at(state.step)]
        spread = np.sqrt(((points - points.mean(axis=0)) ** 2).sum(axis=1).mean())
        shares = " + ".join(f"{share:.0%}" for share in plane.explained)
        lines.append(
            f"  {title:{width}}  spread {spread:.3f}  axes hold {shares} of the variance{_fitted_on(plane)}"
        )
    return "\n".join(lines)


class EmbeddingMap(Panel):
    """Sentences in the plane of their embeddings' first two principal components; encoders side by side.

    Rows are scaled to length 1 and all planes have one scale, so distances may be compared between them; see
    `project`. Pointing at a dot shows its sentence; the search box picks sentences out in all planes at once.

    Args:
        sentences: n sentences, at least 3.
        embeddings: name -> array [n, d], or name -> {step: array [n, d]} for snapshots of a training run, which get
            a step scrubber. An encoder without a snapshot at the current step shows the latest one before it.
        color: n values. Numbers are laid along a scale; text (and bool) is told apart by colour, and beyond
            eight names by symbol. Turn class numbers into text: `[str(c) for c in classes]`.
        color_title: what `color` is, such as "topic" or "grade".
        pairs: (i, j) index pairs of sentences to join by a line.
        fit_on: the step whose components are the axes at all steps: "first", "last" or its number.
        step: the step to look at; the last by default.
        key: see `Panel`.

    Raises:
        ValueError: numbers of sentences, rows, colours do not agree; an array is not of two dimensions, not of one
            width over the steps, or holds a number that is not finite; see also `project`.

    See also: `AlignmentUniformity`, which puts a number on what is seen here.

    >>> map = EmbeddingMap(["a b", "b c", "c d"], {"toy": [[1, 0], [0, 1], [1, 1]]}, color=["x", "y", "y"])
    >>> map.figure().data[0].text
    ('a b<br>x',)
    """

    draw = staticmethod(figure)
    describe = staticmethod(summary)

    def __init__(
        self,
        sentences: Sequence[str],
        embeddings: Mapping[str, Any],
        color: Iterable[Any] | None = None,
        color_title: str = "",
        pairs: Iterable[tuple[int, int]] = (),
        fit_on: int | str = "last",
        step: int | None = None,
        key: str | None = None,
    ):
        sentences = tuple(sentences)
        if len(sentences) < 3:
            raise ValueError(f"sentences has {len(sentences)} entries; a plane needs at least 3.")
        if not embeddings:
            raise ValueError(
                "embeddings is empty; give at least one, such as {'SimCSE': encoder.encode(sentences)}."
            )
        planes = {
            str(name): _plane(str(name), given, len(sentences), fit_on) for name, given in embeddings.items()
        }
        taken = [taken for plane in planes.values() for taken in plane.points if taken is not None]
        super().__init__(
            EmbeddingMapState(
                sentences=sentences,
                planes=planes,
                coloring=None if color is None else _coloring(color, color_title, len(sentences)),
                pairs=_checked_pairs(pairs, len(sentences)),
                step=max(taken, default=None) if step is None else step,
            ),
            key,
        )

    def controls(self) -> dict[str, ipywidgets.Widget]:
        find = ipywidgets.Text(
            value=self.state.find,
            placeholder="find in sentences",
            continuous_update=False,
            layout={"width": "14em"},
        )
        lines = ipywidgets.Checkbox(value=self.state.lines, description="join pairs", indent=False)
        return {
            **({"step": Scrubber(self.state.steps, self.state.step)} if self.state.steps else {}),
            "find": find,
            **({"lines": lines} if self.state.pairs else {}),
        }

    def page_figure(self) -> go.Figure:
        if not self.state.steps:
            return self.figure()
        return film(lambda step: self.figure(step=step), self.state.steps, self.state.step)


def _points(state: EmbeddingMapState, encoder: str, points: np.ndarray) -> list[go.Scatter | go.Scattergl]:
    """A trace for each group of rows drawn alike."""
    scatter = go.Scatter if len(state.sentences) * len(state.planes) <= SVG_POINTS else go.Scattergl
    size = 9 if len(state.sentences) <= 300 else 6
    texts, found, groups = _hover_texts(state), state.found(), state.groups()
    traces = []
    for (name, rows), style in zip(groups.items(), category_styles(groups).values(), strict=True):
        color = {"color": style.color}
        if state.coloring and not state.coloring.by_name:
            color = {"color": rounded(state.coloring.values), "coloraxis": "coloraxis"}
        traces.append(
            scatter(
                x=rounded(points[rows, 0]),
                y=rounded(points[rows, 1]),
                uid=f"{encoder}: {name}",
                name=name,
                legendgroup=name,
                showlegend=name != "",
                mode="markers",
                marker={**color, "symbol": style.symbol, "size": size, "opacity": 0.9},
                text=[texts[row] for row in rows],
                hovertemplate="%{text}<extra></extra>",
                selectedpoints=[k for k, row in enumerate(rows) if row in found] if state.find else None,
                selected={"marker": {"opacity": 1, "size": size + 3}},
                unselected={"marker": {"opacity": 0.12}},
            )
        )
    return traces


def _lines(state: EmbeddingMapState, encoder: str, points: np.ndarray) -> go.Scatter:
    """All pairs as one trace, in which None lifts the pen."""
    ends = {
        axis: [z for i, j in state.pairs for z in (*rounded(points[[i, j], axis]), None)] for axis in (0, 1)
    }
    return go.Scatter(
        x=ends[0],
        y=ends[1],
        uid=f"{encoder}: pairs",
        mode="lines",
        line={"color": INK, "width": 1},
        opacity=0.6,
        hoverinfo="skip",
        showlegend=False,
        visible=state.lines,
    )


def _hover_texts(state: EmbeddingMapState) -> list[str]:
    texts = [
        "<br>".join(escape(line, quote=False) for line in textwrap.wrap(sentence, 60))
        for sentence in state.sentences
    ]
    if state.coloring is None:
        return texts
    label = f"{escape(state.coloring.title)}: " if state.coloring.title else ""
    values = (escape(v) if state.coloring.by_name else f"{v:.4g}" for v in state.coloring.values)
    return [f"{text}<br>{label}{value}" for text, value in zip(texts, values, strict=True)]


def _axis_title(plane: Projection, axis: int) -> str:
    return f"component {axis + 1}{_fitted_on(plane)} ({plane.explained[axis]:.0%})"


def _fitted_on(plane: Projection) -> str:
    return "" if plane.fitted_on is None else f" of step {plane.fitted_on}"


def _range(state: EmbeddingMapState, axis: int) -> list[float]:
    """One axis for all encoders and all steps, so that the picture stands still while the points move."""
    values = np.concatenate([p[:, axis] for plane in state.planes.values() for p in plane.points.values()])
    margin = 0.06 * (values.max() - values.min())
    return rounded([values.min() - margin, values.max() + margin])


def _plane(name: str, given: Any, rows: int, fit_on: int | str) -> Projection:
    """Check what was given for one encoder, and project it."""
    several = isinstance(given, Mapping)
    if several and not given:
        raise ValueError(f"embeddings[{name!r}] has no snapshot; give {{step: array}}.")
    snapshots = {index(step): array for step, array in given.items()} if several else {None: given}
    arrays = {}
    for step, array in snapshots.items():
        label = f"embeddings[{name!r}]" + ("" if step is None else f"[{step}]")
        arrays[step] = array = np.asarray(array, dtype=np.float64)
        if array.ndim != 2 or array.shape[1] < 2:
            raise ValueError(f"{label} has shape {array.shape}; it must be [sentences, at least 2].")
        if len(array) != rows:
            raise ValueError(f"{label} has {len(array)} rows for {rows} sentences.")
        if not np.isfinite(array).all():
            raise ValueError(
                f"{label} holds NaN or infinity, first in row {int(np.argmin(np.isfinite(array).all(1)))}."
            )
    widths = {step: array.shape[1] for step, array in arrays.items()}
    if len(set(widths.values())) > 1:
        raise ValueError(
            f"embeddings[{name!r}] changes its width over the steps: {widths}; one plane cannot hold both."
        )
    try:
        return project(arrays, fit_on if several else "last")
    except ValueError as error:
        raise ValueError(f"embeddings[{name!r}]: {error}") from error


def _coloring(color: Iterable[Any], title: str, rows: int) -> Coloring:
    values = np.asarray(color if hasattr(color, "__array__") else list(color))
    if values.shape != (rows,):
        raise ValueError(f"color has shape {values.shape} for {rows} sentences; give one value for each.")
    if values.dtype.kind not in "iuf":
        return Coloring(title, tuple(map(str, values.tolist())))
    if not np.isfinite(values).all():
        raise ValueError(f"color holds NaN or infinity, first at {int(np.argmin(np.isfinite(values)))}.")
    return Coloring(title, tuple(values.tolist()))


def _checked_pairs(pairs: Iterable[tuple[int, int]], rows: int) -> tuple[tuple[int, int], ...]:
    pairs = tuple((index(i), index(j)) for i, j in pairs)
    for pair in pairs:
        if not all(0 <= end < rows for end in pair):
            raise ValueError(f"pairs holds {pair}; the sentences are numbered 0 to {rows - 1}.")
    return pairs
