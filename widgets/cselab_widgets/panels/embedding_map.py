"""Sentences as points: embeddings of one encoder or several, in one map that moves between them."""

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float, Int

from ..kit.fields import State, shown
from ..kit.inputs import snapshots, texts, unit_rows
from ..kit.panel import SVG_POINTS, Panel
from ..kit.planes import Plane, rounded
from ..kit.projection import PCA, PROJECTIONS, Projection, project
from ..kit.remembered import remembered
from ..kit.theme import INK, PALETTE, SYMBOLS, Style, category_styles

if TYPE_CHECKING:
    import pandas

NEIGHBOURS = 10
LISTED = 10  # selected sentences named beside the map
OFFERED = 200  # sentences to choose from by keyboard; a search brings up the others
COLORS = len(PALETTE) * len(SYMBOLS)
READ = '<p class="cselab-read">Point at a dot to read its sentence; click it for its nearest.</p>'
MORPH = 700  # milliseconds from one encoder or step to the next
BARE = {"showticklabels": False, "ticks": "", "showgrid": False, "showline": False, "constrain": "domain"}


@dataclass(frozen=True, eq=False)
class MapData:
    """The contents of a map: its costly parts are computed once, when they are first needed.

    Attributes:
        vectors: by encoder and step; the step is None for an encoder that was looked at only once.
        names: of each sentence, empty where it has none; `kind` says of what, such as "topic".
    """

    sentences: tuple[str, ...]
    vectors: Mapping[str, Mapping[int | None, Float[np.ndarray, "n d"]]]
    names: tuple[str, ...]
    kind: str
    _known: dict[tuple, Any] = field(default_factory=dict, repr=False)

    @cached_property
    def steps(self) -> list[int]:
        """All steps at which some encoder was looked at; none if each was looked at once."""
        return sorted({step for taken in self.vectors.values() for step in taken if step is not None})

    @remembered
    def plane(self, encoder: str, method: str) -> Projection:
        """The encoder's vectors of all steps in the plane."""
        try:
            return project(self.vectors[encoder], method)
        except ValueError as error:
            raise ValueError(f"embeddings[{encoder!r}]: {error}") from error

    def knows(self, method: str, step: int | None) -> bool:
        """Whether the planes of all encoders were computed before, for this step."""
        planes = [self._known.get(("plane", encoder, method)) for encoder in self.vectors]
        return all(plane is not None and plane.is_known(plane.at(step)) for plane in planes)

    @remembered
    def bounds(self, method: str) -> Float[np.ndarray, "2 2"]:
        """The lowest and the highest place on each axis, of every encoder and every step: only the dots move."""
        every = np.concatenate(
            [
                points * self.facing(encoder, method)
                for encoder in self.vectors
                for points in self.plane(encoder, method).points.values()
            ]
        )
        return np.stack([every.min(axis=0), every.max(axis=0)])

    @remembered
    def facing(self, encoder: str, method: str) -> Float[np.ndarray, "2"]:
        """1 or -1 for each axis: an axis is free to point either way, and here points as the first encoder's does."""
        first = next(iter(self.vectors))
        if encoder == first or not self.plane(encoder, method).linear:
            return np.ones(2)
        one, other = (self.plane(name, method).points for name in (first, encoder))
        apart = [points[next(iter(points))] for points in (one, other)]
        alike = np.prod([points - points.mean(0) for points in apart], axis=0).sum(0)
        return np.where(alike < 0, -1.0, 1.0)

    @remembered
    def directions(self, encoder: str, step: int | None) -> Float[np.ndarray, "n d"]:
        """The vectors scaled to length 1."""
        return unit_rows(self.vectors[encoder][step]).astype(np.float32)

    def neighbours(self, encoder: str, step: int | None, row: int) -> list["Neighbour"]:
        """The nearest sentences by cosine in full width, the nearest first."""
        directions = self.directions(encoder, step)
        cosines = np.einsum("nd,d->n", directions, directions[row])  # BLAS may warn of finite float32 here
        cosines[row] = -np.inf
        nearest = np.argsort(-cosines, kind="stable")[: self.count]
        return [Neighbour(int(at), float(cosines[at])) for at in nearest]

    @remembered
    def shares(self, encoder: str, step: int | None) -> Float[np.ndarray, " n"]:
        """Of each sentence, the share of its nearest with the same name."""
        directions, names = self.directions(encoder, step), np.array(self.names)
        apart = -np.einsum("nd,md->nm", directions, directions)
        np.fill_diagonal(apart, np.inf)
        nearest = np.argpartition(apart, self.count - 1, axis=1)[:, : self.count]
        return (names[nearest] == names[:, None]).mean(1)

    @property
    def count(self) -> int:
        """The number of nearest sentences looked at."""
        return min(NEIGHBOURS, len(self.sentences) - 1)

    @cached_property
    def groups(self) -> dict[str, Int[np.ndarray, " k"]]:
        """The rows drawn alike: those of each name, in order of first appearance; else all, under ""."""
        rows: dict[str, list[int]] = {}
        for row, name in enumerate(self.names):
            rows.setdefault(name, []).append(row)
        return {name: np.array(numbers) for name, numbers in rows.items()}

    @cached_property
    def hover(self) -> np.ndarray:
        """Row number of each sentence, and what is read beside the map, as points carry them."""
        carried = np.empty((len(self.sentences), 2), dtype=object)
        for row, sentence in enumerate(self.sentences):
            name = f"{self.kind}: {self.names[row]}" if self.kind else self.names[row]
            text = "<br>".join(escape(part, quote=False) for part in (sentence, name) if part)
            carried[row] = row, text
        return carried

    @cached_property
    def searched(self) -> list[str]:
        """The texts of a search: each sentence and its label, in lower case."""
        return [f"{text}\n{name}".lower() for text, name in zip(self.sentences, self.names, strict=True)]


class Neighbour(NamedTuple):
    """A near sentence and how near it is."""

    row: int
    cosine: float


@dataclass(frozen=True, eq=False)
class EmbeddingMapState(State):
    """Projected sentences by encoder, and how they are looked at.

    Attributes:
        encoder: the encoder whose map is shown.
        step: the training step looked at; None if no encoder has several.
        projection: one of `PROJECTIONS`.
        find: text that was searched for; "" if nothing was.
        selection: the rows found or lassoed last, from which one may then be chosen.
        focus: the row whose nearest sentences are shown; where it is None, the selection is.
    """

    data: MapData
    step: int | None = shown("step", "steps", "steps")
    encoder: str = shown("encoder", "buttons", "encoders", "", width="auto")
    find: str = shown("find", "text", (), "", placeholder="in sentences and labels", layout={"width": "18em"})
    focus: int | None = shown(
        "nearest to", "rows", (), None, width="26em", tooltip="a sentence that was found or lassoed, or any"
    )
    projection: str = shown("projection", "list", PROJECTIONS, PCA)
    selection: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        for plane in self.planes.values():
            _ = plane.points[plane.at(self.step)]  # so that what cannot be projected is not taken on

    @property
    def encoders(self) -> list[str]:
        return list(self.data.vectors)

    @property
    def points(self) -> Float[np.ndarray, "n 2"]:
        """The sentences in the plane of the encoder, its axes turned the way of the first encoder's."""
        plane, step = self.planes[self.encoder], self.shown_steps[self.encoder]
        return (plane.points[step] * self.data.facing(self.encoder, self.projection)).astype(np.float32)

    @property
    def steps(self) -> list[int]:
        return self.data.steps

    @property
    def planes(self) -> dict[str, Projection]:
        """The planes of the projection looked at, by encoder."""
        return {encoder: self.data.plane(encoder, self.projection) for encoder in self.data.vectors}

    @property
    def shown_steps(self) -> dict[str, int | None]:
        """The snapshot that each encoder is shown at."""
        return {encoder: plane.at(self.step) for encoder, plane in self.planes.items()}

    @cached_property
    def styles(self) -> dict[str, Style]:
        return category_styles(self.data.groups)

    @property
    def picked(self) -> tuple[int, ...] | None:
        """The highlighted rows; None if all look alike, or if a sentence is in focus."""
        return self.selection if self.focus is None and (self.selection or self.find) else None

    @property
    def current(self) -> tuple[str, int | None]:
        """The encoder shown and its step."""
        return self.encoder, self.shown_steps[self.encoder]

    @cached_property
    def nearest(self) -> list["Neighbour"]:
        """The nearest sentences of the one in focus, in the encoder shown."""
        return [] if self.focus is None else self.data.neighbours(*self.current, self.focus)

    def alike(self, row: int) -> bool:
        """Whether a row has the name of the sentence in focus."""
        names = self.data.names
        return self.focus is not None and bool(names[row]) and names[row] == names[self.focus]

    def matching(self, text: str) -> tuple[int, ...]:
        """The rows with this text in the sentence or its label."""
        return tuple(row for row, here in enumerate(self.data.searched) if text.lower() in here)

    @property
    def ends(self) -> list[tuple[str, int | None]]:
        """The first and the last encoder with their steps; of one encoder, its first step and the one looked at."""
        first, last = next(iter(self.shown_steps.items())), [*self.shown_steps.items()][-1]
        return [(first[0], self.steps[0]) if first == last and self.steps else first, last]


def planes(state: EmbeddingMapState) -> list[Plane]:
    """The encoder's map: lines from the sentence in focus to its nearest, and the points."""
    points = state.points
    layout = {
        "dragmode": "lasso",
        "selectionrevision": f"{state.focus} {state.picked}",
        "transition": {"duration": MORPH, "easing": "cubic-in-out", "ordering": "traces first"},
    }
    traces = [*_lines(state, points), *_points(state, points)]
    across, up = ({**BARE, "range": limits} for limits in _limits(state))
    title, reads = escape(_answer(state), quote=False), _beside(state) + READ
    return [Plane(title, traces, across, up, square=True, tall=560, layout=layout, reads=reads)]


def _titled(encoder: str, step: int | None) -> str:
    return encoder if step is None else f"{encoder}, step {step}"


def _answer(state: EmbeddingMapState) -> str:
    """How many of the nearest share a name: of the sentence in focus, else of all, beside the encoder compared with."""
    data, title = state.data, _titled(*state.current)
    named, kind = len(data.groups) > 1, data.kind or "colour"
    if state.focus is not None:
        sentence = textwrap.shorten(data.sentences[state.focus], 80, placeholder=" \u2026")
        nearest = f"{data.count} nearest to \u201c{sentence}\u201d"
        if not named:
            return f"{title}: the {nearest}"
        count = sum(state.alike(near.row) for near in state.nearest)
        return f"{title}: {count} of the {nearest} share its {kind} ({data.names[state.focus]})"
    if not named or len(data.sentences) > SVG_POINTS:
        return title
    other = [end for end in state.ends if end != state.current][:1]
    beside = [f"under {_titled(*end)}: {100 * data.shares(*end).mean():.0f} %" for end in other]
    sizes = np.array([len(rows) for rows in data.groups.values()])
    chance = 100 * (sizes * (sizes - 1)).sum() / (sizes.sum() * (sizes.sum() - 1))
    share = f"of the {data.count} nearest to each sentence, {100 * data.shares(*state.current).mean():.0f} %"
    return f"{title}: {share} share its {kind} ({', '.join([*beside, f'by chance: {chance:.0f} %'])})"


def summary(state: EmbeddingMapState) -> str:
    """The answer of the map in words."""
    colored = f", coloured by {state.data.kind}" if state.data.kind else ""
    lines = [f"Map of {len(state.data.sentences)} sentences{colored} ({state.projection})", _answer(state)]
    lines += [_picked_in_words(state)] if state.selection or state.find else []
    return "\n  ".join(lines)


def explain(state: EmbeddingMapState) -> str:
    """The limits of the map."""
    plane, several = state.planes[state.encoder], len(state.planes) > 1 or bool(state.steps)
    if plane.explained is not None:
        text = f"Two components show {100 * sum(plane.explained):.0f} % of the variance."
        text += " All maps have one scale." if several else ""
    else:
        text = "Near dots are alike; larger distances mean nothing."
        text += " Each encoder and each step has its own map." if several else ""
    return text + " The nearest sentences are those in all dimensions."


class EmbeddingMap(Panel):
    """Sentences as points in a plane of their embeddings; the map moves from one encoder to the next.

    Rows are scaled to length 1. With principal components all encoders have one scale, so distances may be compared
    between them; with t-SNE only who is near whom means something; see `project`.

    Lasso: the rows are in `panel.selection`, and `panel.picked()` is their table. Click a dot: lines lead to its ten
    nearest sentences in full width, which stand beside the map; thick ones to those with its own label. At first these
    are of the sentence that gained the most neighbours with its label. The search box looks into sentences and labels.

    By keyboard: type into the search box, Enter, Tab to the list of results, and choose there with the arrow keys.

    Args:
        sentences: n sentences, at least 3; 126 of the bundled world on six topics by default.
        embeddings: name -> array [n, d], or name -> {step: array [n, d]} for snapshots of a training run, which get
            a step scrubber, or name -> whatever `cselab.encoders.as_encoder` takes, such as an encoder's name. An
            encoder without a snapshot at the current step shows the latest one before it. The bundled encoders by
            default.
        color: n names or classes, told apart by colour, and beyond eight by symbol.
        color_title: the name of `color`, such as "topic".
        step: the step to look at; the last by default.
        encoder: the encoder to look at; the last by default.
        projection: "PCA" or "t-SNE".
        key: see `Panel`.

    Raises:
        ValueError: numbers of sentences, rows, colours do not agree; more than 48 colours; an array is not of two
            dimensions, not of one width over the steps, or holds a number that is not finite; see also `project`.

    See also: `AlignmentUniformity`, which measures the spread seen here.

    >>> map = EmbeddingMap(["a b", "b c", "c d"], {"toy": [[1, 0], [0, 1], [1, 1]]}, color=["x", "y", "y"])
    >>> map.to_frame()["sentence"].tolist()
    ['a b', 'b c', 'c d']
    """

    state_class = EmbeddingMapState
    render = staticmethod(planes)
    alt_text = staticmethod(summary)
    explain = staticmethod(explain)

    def __init__(
        self,
        sentences: Sequence[str] | None = None,
        embeddings: Mapping[str, Any] | None = None,
        color: Iterable[Any] | None = None,
        color_title: str = "",
        step: int | None = None,
        key: str | None = None,
        **shown: Any,
    ) -> None:
        if sentences is None:
            sentences, topics = _six_topics()
            color, color_title = (topics, "topic") if color is None else (color, color_title)
        sentences = texts(sentences, "sentences", at_least=3)
        embeddings = {"micro": "micro", "mini": "mini"} if embeddings is None else embeddings
        if not embeddings:
            raise ValueError("embeddings is empty; give at least one, such as {'SimCSE': encoder.encode(sentences)}.")
        names = ("",) * len(sentences) if color is None else tuple(map(str, color))
        if len(names) != len(sentences):
            raise ValueError(f"color has {len(names)} values for {len(sentences)} sentences; give one for each.")
        if len(set(names)) > COLORS:
            raise ValueError(f"color has {len(set(names))} different values; give at most {COLORS}.")
        data = MapData(
            sentences,
            {str(name): snapshots(given, f"embeddings[{name!r}]", sentences) for name, given in embeddings.items()},
            names,
            color_title,
        )
        last = max(data.steps, default=None)
        shown.setdefault("encoder", [*data.vectors][-1])
        state = EmbeddingMapState(data, step=last if step is None else step, **shown)
        super().__init__(state if "focus" in shown else replace(state, focus=_example(state)), key)

    @staticmethod
    def options(state: EmbeddingMapState) -> dict[str, list[tuple[str, int | None]]]:
        """The sentences that may be chosen, numbered; of many the first."""
        rows = list(state.selection if state.selection or state.find else range(len(state.data.sentences)))[:OFFERED]
        rows += [row for row in [state.focus] if row is not None and row not in rows]
        numbered = [(f"{row}: {textwrap.shorten(state.data.sentences[row], 24, placeholder='…')}", row) for row in rows]
        return {"focus": [("no sentence", None), *numbered]}

    def _changed(self, changes: Mapping[str, Any]) -> EmbeddingMapState:
        """Searching and selecting each end the earlier selection, and no sentence is in focus."""
        state = super()._changed(changes)
        if "find" in changes:
            rows: tuple[int, ...] = state.matching(state.find) if state.find else ()
            return replace(state, selection=rows, focus=rows[0] if len(rows) == 1 else None)
        if state.selection != self.state.selection:
            return replace(state, find="", focus=None)
        return state

    def busy_message(self, changes: Mapping[str, Any]) -> str:
        """A map of neighbours that was not made yet is waited for."""
        data, step = self.state.data, changes.get("step", self.state.step)
        method = changes.get("projection", self.state.projection)
        return "" if method == PCA or data.knows(method, step) else f"fitting {method} \u2026"

    clicks = "focus"

    def clicked(self, row: int) -> None:
        """Show the neighbours of the sentence, or hide them at the second click."""
        self.set(focus=None if row == self.state.focus else row)

    def items(self) -> Sequence[str]:
        return self.state.data.sentences

    def to_frame(self) -> "pandas.DataFrame":
        """A row for each sentence: its colour, its place in each plane, and whether it is selected."""
        import pandas as pd

        state = self.state
        columns: dict[str, Any] = {"sentence": state.data.sentences}
        if any(state.data.names):
            columns[state.data.kind or "color"] = state.data.names
        for encoder, plane in state.planes.items():
            step = state.shown_steps[encoder]
            title, points = _titled(encoder, step), plane.points[step]
            columns |= {f"{title}: x": points[:, 0], f"{title}: y": points[:, 1]}
        picked = set(state.selection)
        columns["selected"] = [row in picked for row in range(len(state.data.sentences))]
        return pd.DataFrame(columns)


def _lines(state: EmbeddingMapState, points: np.ndarray) -> list[go.Scatter]:
    """Lines from the sentence in focus to its nearest in full width, thick in its colour to those with its name."""
    focus, traces = state.focus or 0, []  # without a focus there is no line
    color = state.styles[state.data.names[focus]].color
    for uid, alike, line in (("nearest", False, (INK, 1)), ("alike", True, (color, 3))):
        ends = [points[[focus, near.row]] for near in state.nearest if state.alike(near.row) == alike]
        x, y = ([place for pair in ends for place in (*rounded(pair[:, axis]), None)] for axis in (0, 1))
        drawn = dict(zip(("color", "width"), line, strict=True))
        traces.append(go.Scatter(x=x, y=y, uid=uid, mode="lines", line=drawn, hoverinfo="skip"))
    (x, y), ring = points[focus], {"symbol": "circle-open", "size": 28, "color": INK, "line": {"width": 3}}
    chosen = {"x": rounded([x]), "y": rounded([y])} if state.focus is not None else {"x": [], "y": []}
    return [*traces, go.Scatter(**chosen, uid="chosen", mode="markers", marker=ring, hoverinfo="skip")]


def _points(state: EmbeddingMapState, points: np.ndarray) -> list[go.Scatter | go.Scattergl]:
    """A trace for each group of rows drawn alike; what is not highlighted fades."""
    data, bright = state.data, state.picked
    scatter = go.Scatter if len(data.sentences) <= SVG_POINTS else go.Scattergl
    size = 10 if len(data.sentences) <= 300 else 6
    sizes = np.full(len(data.sentences), size)
    if state.focus is not None:
        bright = (*(near.row for near in state.nearest), state.focus)
        sizes[[*bright]], sizes[state.focus] = size + 2, size + 8
    traces = []
    for name, rows in data.groups.items():
        traces.append(
            scatter(
                x=points[rows, 0],
                y=points[rows, 1],
                uid=f"sentences: {name}",
                name=name,
                showlegend=name != "",
                mode="markers",
                marker={
                    **state.styles[name]._asdict(),
                    "size": sizes[rows].tolist(),
                    "opacity": 0.85,
                    "line": {"width": 0},
                },
                customdata=data.hover[rows],
                hovertemplate=f"{escape(name)}<extra></extra>" if name else None,
                hoverinfo="none",  # the sentence stands beside the map
                selectedpoints=None if bright is None else np.flatnonzero(np.isin(rows, bright)).tolist(),
                selected={"marker": {"opacity": 1}},
                unselected={"marker": {"opacity": 0.35}},
            )
        )
    return traces


def _limits(state: EmbeddingMapState) -> list[list[float]]:
    """Two axes about the points: those of components hold every encoder and step, others have one length."""
    if state.planes[state.encoder].linear:
        low, high = state.data.bounds(state.projection)
        half = 0.54 * (high - low)
    else:
        points = state.points
        low, high = points.min(axis=0), points.max(axis=0)
        half = 0.54 * (high - low).max()
    return [rounded(ends) for ends in np.transpose([(low + high) / 2 - half, (low + high) / 2 + half])]


def _picked_in_words(state: EmbeddingMapState) -> str:
    total, picked = len(state.data.sentences), len(state.selection)
    if not state.find:
        return f"{picked} of {total} sentences selected"
    return f'"{state.find}": found in {picked} of {total} sentences or labels'


def _beside(state: EmbeddingMapState) -> str:
    """A table: the nearest of the sentence in focus, else what was found or lassoed."""
    if state.focus is not None:
        lines = "".join(_line(state, near.row, f"{near.cosine:.2f}") for near in state.nearest)
        head = f"<th>{escape(state.data.kind)}</th>" if any(state.data.names) else ""
        head += f'<th>nearest under {escape(_titled(*state.current))}</th><th class="number">cosine</th>'
        return f"<table><tr>{head}</tr>{lines}</table>"
    if state.picked is not None:
        lines = "".join(_line(state, row) for row in state.picked[:LISTED])
        more = f"<p>and {len(state.picked) - LISTED} more</p>" if len(state.picked) > LISTED else ""
        return f"<p>{escape(_picked_in_words(state))}</p><table>{lines}</table>{more}"
    return ""


def _line(state: EmbeddingMapState, row: int, cosine: str = "") -> str:
    """A line of a table: the name of the sentence in words, in bold if it is that of the sentence in focus."""
    name, text = state.data.names[row], escape(state.data.names[row])
    dot = f'<span style="color:{state.styles[name].color}">\u25cf</span>\u00a0'
    label = f"<td>{dot}{f'<b>{text}</b>' if state.alike(row) else text}</td>" if name else ""
    number = f'<td class="number">{cosine}</td>' if cosine else ""
    return f"<tr>{label}<td>{escape(state.data.sentences[row])}</td>{number}</tr>"


def _example(state: EmbeddingMapState) -> int | None:
    """The sentence that gained the most neighbours with its own name; None where that cannot be said."""
    if len({*state.ends}) < 2 or len(state.data.groups) < 2 or len(state.data.sentences) > SVG_POINTS:
        return None
    before, after = (state.data.shares(*end) for end in state.ends)
    return int((after - before).round(6).argmax())  # of equal gains the first


def _six_topics() -> tuple[list[str], list[str]]:
    from cselab.world import World

    topics = ("cooking", "sport", "music", "weather", "crime", "traffic")
    labelled = World().clustering(441, split="test")
    rows = [row for row, label in enumerate(labelled.labels) if labelled.classes[label] in topics]
    return [labelled.sentences[row] for row in rows], [labelled.classes[labelled.labels[row]] for row in rows]
