"""Methods in the plane of alignment and uniformity, and their paths while they train."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from cselab.encoders.any_encoder import as_encoder, encode

from ..kit.fields import State, shown
from ..kit.panel import Panel
from ..kit.planes import MARK, Plane, rounded, written
from ..kit.ridges import Bands, by_grade, cosine_limits, misplaced, order_of, ridge_axes, ridges, row_cosines
from ..kit.theme import INK, Style, category_styles

if TYPE_CHECKING:
    import pandas

    from cselab.data import Pairs

NAMED = 6  # methods that have their names at their dots; more have a legend


class Measurement(NamedTuple):
    """The place of a method at one step; `score` is None if it was not scored there."""

    step: int
    alignment: float
    uniformity: float
    score: float | None


Path = tuple[Measurement, ...]


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
        self.by_step[step] = row_cosines(one, two)


@dataclass(frozen=True, eq=False)
class AlignmentUniformityState(State):
    """Paths by method, each in order of its steps, and the step looked at.

    A method without a measurement at this step is drawn at its latest measurement before the step.

    Attributes:
        seeds: by method, a path for each seed.
        kept: by method, for each seed the step whose weights were kept, or None.
        method: the one whose cosines are shown, at the step or the last one before; None if there are no cosines.
        cosines: by method, the cosines of its first seed by step; and the grades of their pairs.
    """

    seeds: Mapping[str, tuple[Path, ...]]
    kept: Mapping[str, tuple[int | None, ...]]
    step: int = shown("step", "steps", "steps")
    method: str | None = shown("cosines of", "list", "watched", None)
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

    @property
    def watched(self) -> list[str]:
        return list(self.cosines)

    def travelled(self, method: str) -> Path:
        """The path of a method up to the current step; its start if that is still to come."""
        return self.until(self.paths[method])

    def until(self, path: Path) -> Path:
        """The part of a path up to the current step."""
        return tuple(at for at in path if at.step <= self.step) or path[:1]


def planes(state: AlignmentUniformityState) -> list[Plane]:
    """Paths in the plane, and one checkpoint's cosines by grade.

    Three traces per method: a small dot for each seed, its mean path, and the part up to the current step. Then names.
    """
    styles = category_styles(state.paths)
    across, up = _ranges(state)
    traces = [_better(state, across[0], up[0])]
    for method in state.paths:
        color = styles[method].color
        seeds = _places([state.until(path)[-1] for path in state.seeds[method]])
        dots = {"size": 5, "color": color, "opacity": 0.6}
        traces.append(go.Scatter(**seeds, uid=f"{method}: seeds", mode="markers", marker=dots, hoverinfo="skip"))
        traces.append(_path_of(state, method, color))
    traces += [_way(state, method, styles[method]) for method in state.paths]
    named = _names(state, styles)
    dots = {"size": 14, "opacity": 0}  # invisible: names stand beside them; figure.js finds their places
    names = written(
        **_places(named.values()), text=[*named], uid="names", mode="markers+text", marker=dots, meta="apart"
    )
    traces.append(names)
    several, averaged = len(state.paths) > 1, any(len(paths) > 1 for paths in state.seeds.values())
    axes = (
        {"title": {"text": "\u2190 better: uniformity (spread more evenly)"}, "range": across},
        {"title": {"text": "\u2190 better: alignment (pairs closer)"}, "range": up},
    )
    words = "Large dots are means, small dots seeds. " if averaged else "A line joins the steps of a run. " * several
    words += "Click a dot for the cosines of its step." * (state.bands is not None)
    of = "Step" if several else f"{escape(next(iter(state.paths)))}, step"
    told = f"{of} {state.step}{', on average' * averaged}: {_standing(state)}"
    drawn = [Plane(told, traces, *axes, words=words.strip())]
    if state.bands is not None:
        drawn.append(_cosines(state, state.bands, styles))
    return drawn


def _standing(state: AlignmentUniformityState) -> str:
    """Compared with the start: the methods whose vectors are spread better, and those whose pairs are closer."""
    ways = {method: (path[0], state.travelled(method)[-1]) for method, path in state.paths.items()}
    if all(here == start for start, here in ways.values()):
        return "the start"
    better = [method for method, (start, here) in ways.items() if here.uniformity < start.uniformity]
    closer = [method for method, (start, here) in ways.items() if here.alignment < start.alignment]
    if len(ways) == 1:
        return f"{'better' if better else 'worse'} spread, pairs {'closer' if closer else 'farther apart'}"
    return f"better spread in {_which(better, ways)}, closer pairs in {_which(closer, ways)}"


def _which(methods: Sequence[str], of: Collection[str]) -> str:
    """Some of the methods, in words."""
    if len(methods) in (0, len(of)):
        return "all methods" if methods else "none"
    return escape(" and ".join(methods)) if len(methods) < 3 else f"{len(methods)} of {len(of)}"


def summary(state: AlignmentUniformityState) -> str:
    """The place of each method at the current step, a line each."""
    width = max(map(len, state.paths))
    lines = [f"Alignment and uniformity at step {state.step} (lower is better)"]
    for method in state.paths:
        here = state.travelled(method)[-1]
        count = len(state.seeds[method])
        lines.append(
            f"  {method:{width}}  step {here.step:>5}  alignment {here.alignment:.3f}"
            f"  uniformity {here.uniformity:7.3f}  {_score(here)}" + (f"  (mean of {count} seeds)" if count > 1 else "")
        )
    return "\n".join(lines)


class AlignmentUniformity(Panel):
    """Methods in the plane of uniformity (x) and alignment (y), step by step; lower left is better.

    It opens at the kept step, the one with the highest dev score after the start. A click on a point goes to its step.

    Args:
        histories: name -> history of a training run, or anything that has one
            as `.history`, or a list of these, one a seed. A history is a list of rows; the rows that have "step",
            "alignment" and "uniformity" (and "score", the dev score, where it was scored) are measurements, the rest
            are passed over.
        step: the step to look at; by default the kept one of the method with the highest score; the last if
            nothing was scored.
        cosines: method -> a `CosinesByGrade` that watched its first run.
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
        shown.setdefault("method", next(iter(watched), None))
        if step is None:  # of equal scores the first; without a score the last step
            scored = [(at.score, -at.step) for *_, at, best in _measured(seeds, kept) if best and at.score is not None]
            step = -max(scored)[1] if scored else max(at.step for *_, at, _ in _measured(seeds, kept))
        state = AlignmentUniformityState(
            seeds,
            kept,
            step,
            **shown,
            cosines={name: watch.by_step for name, watch in watched.items()},
            bands=next((by_grade(one.pairs.scores, one.pairs.subsets) for one in watched.values()), None),
        )
        super().__init__(state, key)

    clicks = "step"

    def clicked(self, row: int) -> None:
        """Go to the step of a point."""
        self.set(step=row)

    def to_frame(self) -> "pandas.DataFrame":
        """A row for each measurement of each seed."""
        import pandas as pd

        measured = _measured(self.state.seeds, self.state.kept)
        rows = [{"method": name, "seed": seed, **at._asdict(), "kept": kept} for name, seed, at, kept in measured]
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


def _measured(
    seeds: Mapping[str, tuple[Path, ...]], kept: Mapping[str, tuple[int | None, ...]]
) -> list[tuple[str, int, Measurement, bool]]:
    """Every measurement with its method, its seed, and whether the run kept it."""
    return [
        (method, seed, at, at.step == step)
        for method, paths in seeds.items()
        for seed, (path, step) in enumerate(zip(paths, kept[method], strict=True))
        for at in path
    ]


def _checked(cosines: Mapping[str, CosinesByGrade], seeds: Mapping[str, Any]) -> dict[str, CosinesByGrade]:
    grades = None
    for name, watch in cosines.items():
        if name not in seeds:
            raise ValueError(f"cosines has {name!r}; the methods are {', '.join(seeds)}.")
        if not watch.by_step.keys() & {at.step for at in seeds[name][0]}:
            raise ValueError(f"cosines[{name!r}] has no steps of its run; pass it to train(..., callbacks=[watcher]).")
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


def _path_of(state: AlignmentUniformityState, method: str, color: str) -> go.Scatter:
    """The whole path of a method."""
    path = state.paths[method]
    return go.Scatter(
        **_places(path),
        text=[_hover(method, at) for at in path],
        hovertemplate="%{text}<extra></extra>",
        customdata=[at.step for at in path],
        uid=f"{method}: path",
        mode="lines" if len(state.paths) > 1 else "lines+markers",
        opacity=0.3 if len(state.paths) > 1 else 1,
        line={"color": color, "width": 1.5},
        marker={"size": 6},
        showlegend=False,
    )


def _way(state: AlignmentUniformityState, method: str, style: Style) -> go.Scatter:
    """The path up to the current step, which has a dot."""
    travelled, several = state.travelled(method), len(state.paths) > 1
    return go.Scatter(
        **_places(travelled),
        uid=f"{method}: travelled",
        name=_label(state, method),
        hoverinfo="skip",
        mode="lines+markers",
        line={"color": f"{style.color}{'99' * several}", "width": 2},
        marker={
            "color": style.color,
            "symbol": style.symbol,
            "size": [6 * (not several)] * (len(travelled) - 1) + [14],
            "opacity": 1,
            "line": {"width": 0},
        },
        showlegend=several,
    )


def _label(state: AlignmentUniformityState, method: str) -> str:
    """A method, with its score where there is one step."""
    score = state.travelled(method)[-1].score
    return method if len(state.steps) > 1 or score is None else f"{method}, {score:.1f}"


def _names(state: AlignmentUniformityState, styles: Mapping[str, Style]) -> dict[str, Measurement]:
    """The names in the plane, the most important first: of the methods, or of one method's steps."""
    if len(state.paths) > 1:
        here = {
            MARK.format(styles[name].color) + escape(_label(state, name)): state.travelled(name)[-1]
            for name in state.paths
        }
        return here if len(here) <= NAMED else {}
    ((method, path),) = state.paths.items()
    best = [at for at in path if state.kept[method] == (at.step,)]
    return {f"step {at.step}" + " (kept)" * (at in best): at for at in (*best, path[0], path[-1])}


def _cosines(state: AlignmentUniformityState, bands: Bands, styles: Mapping[str, Any]) -> Plane:
    """One checkpoint's cosines by grade."""
    assert state.method is not None
    steps = state.cosines[state.method]
    step = max((one for one in steps if one <= state.step), default=min(steps))
    shown = steps[step]
    title = f"{escape(state.method)}, step {step}: {escape(order_of(shown, bands))}"
    at, over = misplaced(shown, bands)
    hills = ridges(shown, bands, "cosines", color=styles[state.method].color, dark=[at][: len(over)])
    limits = cosine_limits(bands, *(cosines for steps in state.cosines.values() for cosines in steps.values()))
    words = f"A hill shows the cosines of one {bands.title}. The line joins medians; it should not turn back."
    return Plane(title, hills, *ridge_axes(bands, limits), words=words)


def _places(path: Iterable[Measurement]) -> dict[str, list[float]]:
    return {"x": rounded(at.uniformity for at in path), "y": rounded(at.alignment for at in path)}


def _hover(method: str, at: Measurement) -> str:
    return (
        f"<b>{escape(method)}</b>, step {at.step}<br>{_score(at)}"
        f"<br>alignment {at.alignment:.3f}<br>uniformity {at.uniformity:.3f}"
    )


def _score(at: Measurement) -> str:
    return "dev score not measured" if at.score is None else f"dev score {at.score:#.4g}"


def _ranges(state: AlignmentUniformityState) -> tuple[list[float], list[float]]:
    """The axes for all steps at once, so that they do not move; below the paths is room."""
    places = np.array([[at.uniformity, at.alignment] for *_, at, _ in _measured(state.seeds, state.kept)])
    (left, low), (right, top) = places.min(axis=0), places.max(axis=0)
    room, above = 0.09 * max(right - left, 0.1), 0.3 * max(top - low, 0.05)
    return rounded([left - 4 * room, right + room]), rounded([max(0.0, low - above), top + above])


def _better(state: AlignmentUniformityState, left: float, low: float) -> go.Scatter:
    """Where both numbers are better than at the start, which has a ring."""
    start = next(iter(state.paths.values()))[0]
    right, top = rounded([start.uniformity, start.alignment])
    return go.Scatter(
        x=[left, right, right, left],
        y=[low, low, top, top],
        text=["\u00a0\u2199 both better than the start<br>\u00a0", "", "start" * (len(state.paths) > 1)],
        textposition=["top right", "top right", "bottom center"],
        uid="better",
        mode="lines+markers+text",
        marker={"size": [0, 0, 13, 0], "symbol": "circle-open", "color": INK, "line": {"width": 2}, "opacity": 1},
        fill="toself",
        fillcolor="rgba(0, 114, 178, 0.13)",
        line={"width": 0},
        hoverinfo="skip",
    )
