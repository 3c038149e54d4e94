"""Methods in the plane of alignment and uniformity, and their paths while they train."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from itertools import pairwise
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from cselab.encoders.any_encoder import as_encoder, encode

from ..kit.controls import RowOptions, row_options
from ..kit.fields import State, shown
from ..kit.panel import Panel
from ..kit.planes import Plane, rounded, written
from ..kit.ridges import Bands, by_grade, cosine_limits, ridge_axes, ridges
from ..kit.theme import INK, category_styles

if TYPE_CHECKING:
    import pandas

    from cselab.data import Pairs

APART = 0.09  # of the plane: between two steps that are named
HEAD = {"symbol": "arrow", "angleref": "previous", "opacity": 1, "line": {"width": 0}, "size": [0, 16]}
KEPT = "#F0E442"  # the palette's yellow, in a line of the method's colour


class Measurement(NamedTuple):
    """The place of a method at one step; `score` is None if it was not scored there."""

    step: int
    alignment: float
    uniformity: float
    score: float | None


Path = tuple[Measurement, ...]


class Checkpoint(NamedTuple):
    """A measurement of one seed's run: a row of `to_frame()`."""

    method: str
    seed: int
    at: Measurement
    kept: bool


class CosinesByGrade:
    """A callback of `train` that keeps the cosines of some pairs at every scored step, for `AlignmentUniformity`.

        watch = CosinesByGrade(world.sts(600, split="dev"))
        run = train(encoder, "simcse", texts, config, dev, callbacks=[watch])
        AlignmentUniformity({"SimCSE": run}, cosines={"SimCSE": watch})

    Attributes:
        by_step: step -> the cosine of each pair.
    """

    def __init__(self, pairs: "Pairs") -> None:
        self.pairs = pairs
        self.by_step: dict[int, np.ndarray] = {}

    def __call__(self, run: Any, row: Mapping[str, Any]) -> None:
        if "score" in row:
            self.keep(row["step"], run.encoder)

    def keep(self, step: int, encoder: Any) -> None:
        """Measure the pairs with an encoder as it is at `step`."""
        encoder = as_encoder(encoder, self.pairs.sentences)
        one, two = (encode(encoder, side) for side in (self.pairs.sentences1, self.pairs.sentences2))
        lengths = np.linalg.norm(one, axis=1) * np.linalg.norm(two, axis=1)
        self.by_step[step] = (one * two).sum(axis=1) / lengths


@dataclass(frozen=True, eq=False)
class AlignmentUniformityState(State):
    """Paths by method, each in order of its steps, and the step looked at.

    A method without a measurement at this step is drawn at its latest measurement before the step.

    Attributes:
        seeds: by method, a path for each seed.
        kept: by method, for each seed the step whose weights were kept, or None.
        selection: rows of `checkpoints` that were picked; the last is the one whose cosines are shown.
        cosines: by method, the cosines of its first seed by step; and the grades of their pairs.
    """

    seeds: Mapping[str, tuple[Path, ...]]
    kept: Mapping[str, tuple[int | None, ...]]
    step: int = shown("step", "steps", "steps")
    selection: tuple[int, ...] = shown("checkpoint", "rows", (), (), width="26em")
    cosines: Mapping[str, Mapping[int, np.ndarray]] = field(default_factory=dict)
    bands: Bands | None = None

    @cached_property
    def steps(self) -> list[int]:
        """All steps at which some method was measured."""
        return sorted({at.step for paths in self.seeds.values() for path in paths for at in path})

    @cached_property
    def paths(self) -> dict[str, Path]:
        """A path for each method: the mean over its seeds, where all of them were measured."""
        return {method: _mean(paths) for method, paths in self.seeds.items()}

    @cached_property
    def checkpoints(self) -> list[Checkpoint]:
        """Every measurement of every seed."""
        return [
            Checkpoint(method, seed, at, at.step == kept)
            for method, paths in self.seeds.items()
            for seed, (path, kept) in enumerate(zip(paths, self.kept[method], strict=True))
            for at in path
        ]

    def travelled(self, method: str) -> Path:
        """The path of a method up to the current step; its start if that is still to come."""
        path = self.paths[method]
        return tuple(at for at in path if at.step <= self.step) or path[:1]

    @property
    def looked_at(self) -> Checkpoint | None:
        """The checkpoint whose cosines are shown: the one picked last, else the first method's at this step."""
        past = [point for point in self.checkpoints[::-1] if point.at.step <= self.step]
        for point in [
            *(self.checkpoints[row] for row in reversed(self.selection)),
            *(point for method in self.cosines for point in past if point.method == method),
        ]:
            if point.seed == 0 and point.at.step in self.cosines.get(point.method, ()):
                return point
        return None


def planes(state: AlignmentUniformityState) -> list[Plane]:
    """Paths in the plane, and one checkpoint's cosines by grade.

    Five traces per method: all its seeds (if several), its whole path, its path so far, an arrow on that, and its
    current place. Three more: the numbers of the steps of a method alone, the kept step, and what was picked.
    """
    styles = category_styles(state.paths)
    numbers = {(point.method, point.seed, point.at.step): row for row, point in enumerate(state.checkpoints)}
    across, up = _ranges(state)
    traces = [_better(state, across, up)]
    for method in state.paths:
        traces += _in_the_plane(state, method, styles[method], numbers)
    traces += [_step_names(state), _kept(state, styles, numbers), _picked(state)]
    axes = (
        {"title": {"text": "← better: uniformity (spread more evenly)"}, "range": across},
        {"title": {"text": "← better: alignment (pairs closer)"}, "range": up},
    )
    words = "An arrow shows the way of training."
    words += " A star marks the best dev score." * any(point.kept for point in state.checkpoints)
    words += " Thin lines are seeds." * any(len(paths) > 1 for paths in state.seeds.values())
    words += " Click a point for its cosines." * (state.bands is not None)
    drawn = [Plane(f"Step {state.step}{_standing(state)}", traces, *axes, words=words)]
    if state.bands is not None:
        drawn.append(_cosines(state, state.bands, styles))
    return drawn


def _standing(state: AlignmentUniformityState) -> str:
    """The way from the start, if all methods went it; else which of several is ahead."""
    ends = {method: state.travelled(method)[-1] for method in state.paths}
    ways = {_way(state.paths[method][0], here) for method, here in ends.items()}
    if len(ways) == 1:
        return ways.pop()
    even = min(ends, key=lambda method: ends[method].uniformity)
    close = min(ends, key=lambda method: ends[method].alignment)
    spread = f"{escape(even)} is spread {'most' if len(ends) > 2 else 'more'} evenly"
    return f": {spread}, {escape(close)} has the {'closest' if len(ends) > 2 else 'closer'} pairs"


def _way(start: Measurement, here: Measurement) -> str:
    if here == start:
        return ""
    spread = "more evenly spread (better)" if here.uniformity < start.uniformity else "less evenly spread (worse)"
    pairs = "closer (better)" if here.alignment < start.alignment else "farther apart (worse)"
    return f": {spread}, pairs {pairs}"


def summary(state: AlignmentUniformityState) -> str:
    """The place of each method at the current step, a line each."""
    width = max(map(len, state.paths))
    lines = [f"Alignment and uniformity at step {state.step} (lower is better)"]
    for method in state.paths:
        here = state.travelled(method)[-1]
        count = len(state.seeds[method])
        kept = [str(step) for step in state.kept[method] if step is not None]
        lines.append(
            f"  {method:{width}}  step {here.step:>5}  alignment {here.alignment:.3f}"
            f"  uniformity {here.uniformity:7.3f}  {_score(here)}"
            + (f"  kept: step {', '.join(kept)}" if kept else "")
            + (f"  (mean of {count} seeds)" if count > 1 else "")
        )
    return "\n".join(lines)


class AlignmentUniformity(Panel):
    """Methods in the plane of uniformity (x) and alignment (y), step by step; lower left is better.

    It opens at the kept step, the one with the highest dev score after the start. Click a point, or choose it from the
    list: its row is in `panel.selection`.

    Args:
        histories: name -> history of a training run, or anything that has one
            as `.history`, or a list of these, one a seed. A history is a list of rows; the rows that have "step",
            "alignment" and "uniformity" (and "score", the dev score, where it was scored) are measurements, the rest
            are passed over.
        step: the step to look at; by default the kept one of the method with the highest score; the last if
            nothing was scored.
        cosines: method -> a `CosinesByGrade` that watched its first run; a click then shows them.
        key: see `Panel`.

    Raises:
        ValueError: no histories, one without a measurement, one with a number that is not finite, a step at which
            nothing was measured, cosines of a method that is not there or of different pairs.

    See also: `EmbeddingMap`, for the sentences themselves, and `TrainingMonitor`, for the score over the steps.

    >>> row = {"step": 0, "alignment": 0.2, "uniformity": -1.5, "score": 51.4}
    >>> AlignmentUniformity({"SimCSE": [row]})
    Alignment and uniformity at step 0 (lower is better)
      SimCSE  step     0  alignment 0.200  uniformity  -1.500  dev score 51.40
    """

    state_class = AlignmentUniformityState
    render = staticmethod(planes)
    alt_text = staticmethod(summary)

    def __init__(
        self,
        histories: Mapping[str, Any],
        step: int | None = None,
        cosines: Mapping[str, CosinesByGrade] | None = None,
        key: str | None = None,
        **shown: Any,
    ) -> None:
        if not histories:
            raise ValueError("histories is empty; give at least one, such as {'SimCSE': run.history}.")
        runs = {str(name): _runs(str(name), given) for name, given in histories.items()}
        seeds = {name: tuple(_path(label, run) for label, run in labelled.items()) for name, labelled in runs.items()}
        kept = {name: tuple(map(_kept_step, labelled.values(), seeds[name])) for name, labelled in runs.items()}
        watched = _checked(cosines or {}, seeds)
        state = AlignmentUniformityState(
            seeds,
            kept,
            _opening(seeds, kept) if step is None else step,
            **shown,
            cosines={name: watch.by_step for name, watch in watched.items()},
            bands=by_grade(next(iter(watched.values())).pairs.scores) if watched else None,
        )
        super().__init__(state, key)

    @staticmethod
    def options(state: AlignmentUniformityState) -> dict[str, RowOptions]:
        """The checkpoints; while none is picked, the slider chooses whose cosines are shown."""
        names = [
            f"{point.method}{_of_seed(state, point)}, step {point.at.step}" + " (kept)" * point.kept
            for point in state.checkpoints
        ]
        rows: RowOptions = [(name, (row,)) for row, name in enumerate(names)]
        nothing = "the slider's step" if state.cosines else "none picked"
        return {"selection": row_options(rows, state.selection, nothing)}

    def items(self) -> Sequence[Hashable]:
        return [(point.method, point.seed, point.at.step) for point in self.state.checkpoints]

    def to_frame(self) -> "pandas.DataFrame":
        """A row for each measurement of each seed."""
        import pandas as pd

        rows = [
            {"method": point.method, "seed": point.seed, **point.at._asdict(), "kept": point.kept}
            for point in self.state.checkpoints
        ]
        return pd.DataFrame(rows).astype({"score": float})


def _runs(name: str, given: Any) -> dict[str, Any]:
    """The runs of a method, by seed: a label for messages -> a run or a history."""
    if not isinstance(given, Sequence) or not given or isinstance(given[0], Mapping):
        return {f"histories[{name!r}]": given}
    return {f"histories[{name!r}][{seed}]": one for seed, one in enumerate(given)}


def _path(label: str, run: Any) -> Path:
    """The measurements among the rows of a history, in order; of two at one step the later written counts."""
    at = {}
    for row in getattr(run, "history", run):
        if not {"step", "alignment", "uniformity"} <= row.keys():
            continue
        here = Measurement(row["step"], row["alignment"], row["uniformity"], row.get("score"))
        for name, value in zip(here._fields, here, strict=True):
            if value is not None and not isfinite(value):
                raise ValueError(f"{label}: {name} is {value} at step {here.step}; expected a finite value.")
        at[here.step] = here
    if not at:
        raise ValueError(
            f"{label} has no row with 'step', 'alignment' and 'uniformity'; "
            "train with an evaluator, which measures them."
        )
    return tuple(at[step] for step in sorted(at))


def _kept_step(run: Any, path: Path) -> int | None:
    """The step a run kept; of a bare history, the one with the highest score after step 0."""
    best = getattr(run, "best", None)
    if best is not None:
        return best["step"]
    scored = [(at.score, -at.step) for at in path if at.score is not None and at.step > 0]  # of equal ones the first
    return -max(scored)[1] if scored else None


def _opening(seeds: Mapping[str, tuple[Path, ...]], kept: Mapping[str, tuple[int | None, ...]]) -> int:
    """The kept step of the highest score; the last step if nothing was kept."""
    best = [
        (at.score, -number, at.step)
        for number, (method, paths) in enumerate(seeds.items())
        for path, step in zip(paths, kept[method], strict=True)
        for at in path
        if at.step == step and at.score is not None
    ]
    return max(best)[2] if best else max(path[-1].step for paths in seeds.values() for path in paths)


def _checked(cosines: Mapping[str, CosinesByGrade], seeds: Mapping[str, Any]) -> dict[str, CosinesByGrade]:
    grades = None
    for name, watch in cosines.items():
        if name not in seeds:
            raise ValueError(f"cosines has {name!r}; the methods are {', '.join(seeds)}.")
        if not watch.by_step:
            raise ValueError(
                f"cosines[{name!r}] has no steps; pass it to train(..., callbacks=[watcher]) with an evaluator."
            )
        if grades is not None and list(watch.pairs.scores) != grades:
            raise ValueError(f"cosines[{name!r}] has different pairs from the first; use the same pairs for all.")
        grades = list(watch.pairs.scores)
    return dict(cosines)


def _mean(paths: tuple[Path, ...]) -> Path:
    """The mean over seeds, at the steps where each was measured."""
    by_step = [{at.step: at[1:] for at in path} for path in paths]
    common = sorted(set.intersection(*map(set, by_step)))
    if not common:
        raise ValueError("the seeds of a method have no evaluated step in common; give runs with the same eval_every.")
    together = {step: zip(*(measured[step] for measured in by_step), strict=True) for step in common}
    return tuple(
        Measurement._make([step, *(None if None in values else float(np.mean(values)) for values in columns)])
        for step, columns in together.items()
    )


def _in_the_plane(state: AlignmentUniformityState, method: str, style: Any, numbers: dict) -> list[go.Scatter]:
    path, travelled = state.paths[method], state.travelled(method)
    here, seeds = travelled[-1:], state.seeds[method]
    single = len(seeds) == 1
    bundle = [] if single else [_bundle(method, seeds, style.color, numbers)]
    rows = [numbers[method, 0, at.step] for at in path] if single else None
    return [
        *bundle,
        go.Scatter(
            **_places(path),
            **_hover(method, path),
            customdata=rows,
            uid=f"{method}: path",
            mode="lines+markers",
            line={"color": style.color, "width": 1},
            marker={"size": 5},
        ),
        go.Scatter(
            **_places(travelled),
            uid=f"{method}: travelled",
            hoverinfo="skip",
            mode="lines",
            line={"color": style.color, "width": 3},
        ),
        _arrow(state, method, style.color),
        go.Scatter(
            **_places(here),
            **_hover(method, here),
            customdata=rows and rows[len(travelled) - 1 : len(travelled)],
            uid=f"{method}: here",
            name=method if here[0].score is None else f"{method}, dev score {here[0].score:.1f}",
            showlegend=len(state.paths) > 1,
            mode="markers",
            marker={"color": style.color, "symbol": style.symbol, "size": 20, "opacity": 1},
        ),
    ]


def _arrow(state: AlignmentUniformityState, method: str, color: str) -> go.Scatter:
    """The first three fifths of the longest way between two steps, with a head."""
    path = _drawn(state, state.travelled(method))
    longest = int(np.linalg.norm(np.diff(path, axis=0), axis=1).argmax()) if len(path) > 1 else 0
    one, other = path[longest], path[longest : longest + 2][-1]
    x, y = np.transpose([one, 0.4 * one + 0.6 * other]) * np.ptp(_ranges(state), axis=1)[:, None]
    return go.Scatter(
        x=rounded(x),
        y=rounded(y),
        uid=f"{method}: arrow",
        hoverinfo="skip",
        mode="lines+markers",
        marker=HEAD,
        line={"color": color, "backoff": 0},
        visible=len(path) > 1,
    )


def _drawn(state: AlignmentUniformityState, path: Path) -> np.ndarray:
    """A path in parts of the width and the height of the plane."""
    return np.array([[at.uniformity, at.alignment] for at in path]) / np.ptp(_ranges(state), axis=1)


def _apart(state: AlignmentUniformityState, method: str) -> list[int]:
    """The rows of a path that have room for a name: the start, the end, and what is far from them."""
    drawn = _drawn(state, state.paths[method])
    rows = [0]
    for row in [len(drawn) - 1, *range(len(drawn))]:
        if all(np.abs(drawn[row] - drawn[other]).max() > APART for other in rows):
            rows.append(row)
    return rows


def _step_names(state: AlignmentUniformityState) -> go.Scatter:
    """The steps of a method alone, to the right of its path."""
    method, path = next(iter(state.paths.items()))
    named = _apart(state, method)
    ways = [(path[max(row - 1, 0)], path[min(row + 1, len(path) - 1)]) for row in named]
    rising = [(b.alignment - a.alignment) * (b.uniformity - a.uniformity) > 0 for a, b in ways]
    return written(
        **_places([path[row] for row in named]),
        text=[f"step {path[row].step}" for row in named],
        place=["bottom right" if up else "top right" for up in rising],
        uid="steps",
        mode="markers+text",
        marker={"size": 13, "opacity": 0},
        visible=len(state.paths) == 1,
    )


def _bundle(method: str, seeds: tuple[Path, ...], color: str, numbers: dict) -> go.Scatter:
    """All seeds as one trace; None separates the lines."""
    rows, text = [], []
    for seed, path in enumerate(seeds):
        rows += [*(numbers[method, seed, at.step] for at in path), None]
        text += [*_hover(f"{method}, seed {seed}", path)["text"], ""]
    return go.Scatter(
        **{axis: [place for path in seeds for place in (*_places(path)[axis], None)] for axis in "xy"},
        customdata=rows,
        text=text,
        hovertemplate="%{text}<extra></extra>",
        uid=f"{method}: seeds",
        mode="lines+markers",
        opacity=0.6,
        line={"color": color, "width": 1},
        marker={"size": 4},
    )


def _kept(state: AlignmentUniformityState, styles: Mapping[str, Any], numbers: dict) -> go.Scatter:
    kept = [point for point in state.checkpoints if point.kept]
    return go.Scatter(
        **_places([point.at for point in kept]),
        text=[_hover(f"{point.method}{_of_seed(state, point)}: kept", [point.at])["text"][0] for point in kept],
        hovertemplate="%{text}<extra></extra>",
        customdata=[numbers[point.method, point.seed, point.at.step] for point in kept],
        uid="kept",
        mode="markers",
        marker={
            "symbol": "star",
            "size": 10,
            "opacity": 1,
            "color": KEPT,
            "line": {"color": [styles[point.method].color for point in kept], "width": 1.5},
        },
    )


def _picked(state: AlignmentUniformityState) -> go.Scatter:
    """A ring about each checkpoint that was picked."""
    picked = [state.checkpoints[row].at for row in state.selection]
    return go.Scatter(
        **_places(picked),
        uid="picked",
        hoverinfo="skip",
        mode="markers",
        marker={"symbol": "circle-open", "size": 22, "color": INK, "line": {"width": 2}},
    )


def _cosines(state: AlignmentUniformityState, bands: Bands, styles: Mapping[str, Any]) -> Plane:
    """One checkpoint's cosines by grade."""
    at, title = state.looked_at, "No checkpoint yet"
    shown = next(iter(next(iter(state.cosines.values())).values()))
    if at is not None:
        shown, title = state.cosines[at.method][at.at.step], f"{escape(at.method)}, step {at.at.step}: cosines "
    middles = [float(np.median(shown[rows])) for rows in bands.rows]
    if at is not None:
        falls = [name for name, (low, high) in zip(bands.names, pairwise(middles), strict=False) if high < low]
        rises = f"from {middles[0]:.2f} to {middles[-1]:.2f}"
        title += f"rise with the {bands.title}, {'but not after ' + ' and '.join(falls) if falls else rises}"
    hills = ridges(shown, bands, "cosines", color=styles[at.method if at else next(iter(styles))].color)
    line, marker = {"color": INK, "width": 2}, {"color": INK, "size": 9, "symbol": "diamond"}
    hills.append(go.Scatter(x=rounded(middles), y=[*range(len(middles))], uid="medians", line=line, marker=marker))
    for trace in hills:
        trace.visible = at is not None
    limits = cosine_limits(*(cosines for steps in state.cosines.values() for cosines in steps.values()))
    words = f"A hill shows the cosines of one {bands.title}. The line joins medians; it should not turn back."
    return Plane(title, hills, *ridge_axes(bands, limits), words=words)


def _of_seed(state: AlignmentUniformityState, point: Checkpoint) -> str:
    return f", seed {point.seed}" if len(state.seeds[point.method]) > 1 else ""


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


def _ranges(state: AlignmentUniformityState) -> tuple[list[float], list[float]]:
    """The axes for all steps at once, so that they do not move."""
    across = [point.at.uniformity for point in state.checkpoints]
    wide = max(max(across) - min(across), 0.1)
    up = [point.at.alignment for point in state.checkpoints]
    room = 0.35 * max(max(up) - min(up), 0.05)
    return rounded([min(across) - 0.3 * wide, max(across) + 0.3 * wide]), rounded(
        [max(0.0, min(up) - room), max(up) + room]
    )


def _better(state: AlignmentUniformityState, across: list[float], up: list[float]) -> go.Scatter:
    """Where both numbers are better than at the start, in the colour of gains."""
    method, (start, *_) = next(iter(state.paths.items()))
    right, top = rounded([start.uniformity, start.alignment])
    return go.Scatter(
        x=[across[0], right, right, across[0]],
        y=[up[0], up[0], top, top],
        text=["", "", "", f"<br> both better than {escape(method)} at step {start.step}"],
        textposition="bottom right",
        uid="better",
        mode="lines+text",
        fill="toself",
        fillcolor="rgba(0, 114, 178, 0.2)",
        line={"width": 0, "color": INK},
        hoverinfo="skip",
    )
