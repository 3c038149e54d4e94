"""Sentences as points: embeddings of one encoder or several, in one map that moves between them."""

import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float, Int

from ..kit.fields import State, shown
from ..kit.inputs import index_pairs, snapshots, texts, values
from ..kit.panel import SVG_POINTS, Panel
from ..kit.planes import Plane, rounded, written
from ..kit.projection import PCA, PROJECTIONS, TSNE, UMAP, Projection, project, unit_rows
from ..kit.theme import INK, NUMERIC_SCALE, Style, category_styles

if TYPE_CHECKING:
    import pandas

NEIGHBOURS = 10
LISTED = 10  # selected sentences named below the plot
OFFERED = 200  # sentences to choose from by keyboard; a search brings up the others
COSINES = 2**22  # at a time, of all pairs: 20,000 sentences need 50 MB
NAMED = 12  # clusters with their names in the map
READ = '<p class="cselab-read">Point at a dot to read its sentence.<br>Click it for its ten nearest.</p>'
MORE = '<label class="cselab-more"><input type="checkbox"> show all</label>'  # after five, on a narrow page
MORPH = 700  # milliseconds from one encoder or step to the next


@dataclass(frozen=True, eq=False)
class Coloring:
    """A value for each sentence: each name has its colour, numbers follow a scale."""

    title: str
    values: tuple[str, ...] | tuple[float, ...]

    @property
    def by_name(self) -> bool:
        return isinstance(self.values[0], str)

    def text(self, row: int) -> str:
        """The value of a row as text."""
        value = self.values[row]
        return value if isinstance(value, str) else f"{value:.4g}"


@dataclass(frozen=True, eq=False)
class MapData:
    """The contents of a map: its costly parts are computed once, when they are first needed.

    Attributes:
        vectors: by encoder and step; the step is None for an encoder that was looked at only once.
        fit_on: the step that projections are fitted on.
    """

    sentences: tuple[str, ...]
    vectors: Mapping[str, Mapping[int | None, Float[np.ndarray, "n d"]]]
    coloring: Coloring | None
    pairs: tuple[tuple[int, int], ...]
    fit_on: int | str = "last"
    _known: dict[tuple, Any] = field(default_factory=dict, repr=False)

    @cached_property
    def steps(self) -> list[int]:
        """All steps at which some encoder was looked at; none if each was looked at once."""
        return sorted({step for taken in self.vectors.values() for step in taken if step is not None})

    def plane(self, encoder: str, method: str) -> Projection:
        """The encoder's vectors of all steps in the plane."""
        taken = self.vectors[encoder]
        try:
            return self._once(
                (encoder, method), lambda: project(taken, "last" if None in taken else self.fit_on, method)
            )
        except ValueError as error:
            raise ValueError(f"embeddings[{encoder!r}]: {error}") from error

    def knows(self, method: str, step: int | None) -> bool:
        """Whether the planes of all encoders were computed before, for this step."""
        planes = [self._known.get((encoder, method)) for encoder in self.vectors]
        return all(plane is not None and plane.is_known(plane.at(step)) for plane in planes)

    def bounds(self, method: str) -> Float[np.ndarray, "2 2"]:
        """The lowest and the highest place on each axis, of every encoder and every step: only the dots move."""

        def compute() -> np.ndarray:
            every = np.concatenate(
                [
                    _with_regions(self, points * self.facing(encoder, method))
                    for encoder in self.vectors
                    for points in self.plane(encoder, method).points.values()
                ]
            )
            return np.stack([every.min(axis=0), every.max(axis=0)])

        return self._once(("bounds", method), compute)

    def facing(self, encoder: str, method: str) -> Float[np.ndarray, "2"]:
        """1 or -1 for each axis: an axis is free to point either way, and here points as the first encoder's does."""
        first = next(iter(self.vectors))
        if encoder == first or not self.plane(encoder, method).linear:
            return np.ones(2)

        def compute() -> np.ndarray:
            one, other = (self.plane(name, method).points for name in (first, encoder))
            apart = [points[next(iter(points))] for points in (one, other)]
            alike = np.prod([points - points.mean(0) for points in apart], axis=0).sum(0)
            return np.where(alike < 0, -1.0, 1.0)

        return self._once(("facing", encoder, method), compute)

    def directions(self, encoder: str, step: int | None) -> Float[np.ndarray, "n d"]:
        """The vectors scaled to length 1."""
        return self._once(
            ("directions", encoder, step), lambda: unit_rows(self.vectors[encoder][step]).astype(np.float32)
        )

    def cosines(self, encoder: str, step: int | None, row: int) -> Float[np.ndarray, " n"]:
        """The cosines of all sentences with one, in full width; its own is the lowest."""
        directions = self.directions(encoder, step)
        cosines = np.einsum("nd,d->n", directions, directions[row])  # BLAS may warn of finite float32 here
        cosines[row] = -np.inf
        return cosines

    def neighbours(self, encoder: str, step: int | None, row: int) -> list["Neighbour"]:
        """The nearest sentences by cosine, the nearest first."""
        cosines = self.cosines(encoder, step, row)
        nearest = np.argsort(-cosines, kind="stable")[: min(NEIGHBOURS, len(cosines) - 1)]
        return [Neighbour(int(at), float(cosines[at])) for at in nearest]

    def nearest(self, encoder: str, step: int | None) -> Int[np.ndarray, "n k"]:
        """The nearest sentences of every sentence, in no order."""

        def compute() -> np.ndarray:
            directions = self.directions(encoder, step)
            count = min(NEIGHBOURS, len(directions) - 1)
            rows = np.empty((len(directions), count), dtype=np.int64)
            some = max(1, COSINES // len(directions))
            for start in range(0, len(directions), some):
                block = -directions[start : start + some] @ directions.T
                block[np.arange(len(block)), np.arange(start, start + len(block))] = np.inf
                rows[start : start + some] = np.argpartition(block, count - 1, axis=1)[:, :count]
            return rows

        return self._once(("nearest", encoder, step), compute)

    def _once(self, key: tuple, compute: Callable[[], Any]) -> Any:
        if key not in self._known:
            self._known[key] = compute()
        return self._known[key]

    @property
    def names(self) -> list[str]:
        """The name that each sentence is coloured by; empty where it has none."""
        if self.coloring and self.coloring.by_name:
            return list(map(str, self.coloring.values))
        return [""] * len(self.sentences)

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
            text = escape(sentence, quote=False)
            if self.coloring:
                label = f"{escape(self.coloring.title)}: " if self.coloring.title else ""
                text += f"<br>{label}{escape(self.coloring.text(row))}"
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
        projection: one of `METHODS`.
        find: text that was searched for; "" if nothing was.
        lines: whether the pairs are joined.
        listed: the rows found or lassoed last, of which one may then be chosen; none: all are offered.
        selection: the rows that are highlighted while the rest fade; none, and no search: all alike.
        focus: the row whose nearest sentences are shown, or None.
    """

    data: MapData
    step: int | None = shown("step", "steps", "steps")
    encoder: str = shown("encoder", "buttons", "encoders", "", width="auto")
    find: str = shown("find", "text", (), "", placeholder="in sentences and labels", layout={"width": "18em"})
    focus: int | None = shown(
        "nearest to", "rows", (), None, width="26em", tooltip="a sentence that was found or lassoed, or any"
    )
    projection: str = shown("projection", "list", PROJECTIONS, PCA)
    lines: bool = shown("join pairs", "check", (), True, where="paired")
    listed: tuple[int, ...] = ()
    selection: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        for encoder in self.data.vectors:
            self.data.plane(encoder, self.projection)  # so that what cannot be projected is not taken on

    @property
    def encoders(self) -> list[str]:
        return list(self.data.vectors)

    def points(self, encoder: str) -> Float[np.ndarray, "n 2"]:
        """The encoder's sentences in the plane, its axes turned the way of the first encoder's."""
        plane, step = self.planes[encoder], self.shown_steps[encoder]
        return (plane.points[step] * self.data.facing(encoder, self.projection)).astype(np.float32)

    @property
    def paired(self) -> bool:
        return bool(self.data.pairs)

    @property
    def sentences(self) -> tuple[str, ...]:
        return self.data.sentences

    @property
    def coloring(self) -> Coloring | None:
        return self.data.coloring

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
        """The highlighted rows; None if all look alike."""
        return self.selection if self.selection or self.find else None

    @property
    def current(self) -> tuple[str, int | None]:
        """The encoder shown and its step."""
        return self.encoder, self.shown_steps[self.encoder]

    @property
    def nearest(self) -> list["Neighbour"]:
        """The nearest sentences of the one in focus, in the encoder shown."""
        return [] if self.focus is None else self.data.neighbours(*self.current, self.focus)

    def matching(self, text: str) -> tuple[int, ...]:
        """The rows with this text in the sentence or its label."""
        return tuple(row for row, here in enumerate(self.data.searched) if text.lower() in here)

    @property
    def ends(self) -> list[tuple[str, int | None]]:
        """The first and the last encoder with their steps; of one encoder, its first step and the one looked at."""
        first, last = next(iter(self.shown_steps.items())), [*self.shown_steps.items()][-1]
        return [(first[0], self.steps[0]) if first == last and self.steps else first, last]


def planes(state: EmbeddingMapState) -> list[Plane]:
    """The encoder's map: regions, lines between pairs, points, names of clusters, the neighbours of the focus."""
    plane, data = state.planes[state.encoder], state.data
    points = state.points(state.encoder)
    scale = {"text": state.coloring.title if state.coloring else ""}
    layout = {
        "dragmode": "lasso",
        "selectionrevision": str(state.picked),
        "coloraxis": {"colorscale": NUMERIC_SCALE, "colorbar": {"title": scale, "outlinewidth": 0, "thickness": 14}},
        "transition": {"duration": MORPH, "easing": "cubic-in-out", "ordering": "traces first"},
    }
    active = "" if state.focus is None else data.names[state.focus]
    traces = [_region(name, points[rows], state.styles[name], name == active) for name, rows in _clusters(data)]
    traces += [_lines(state, points)] if data.pairs else []
    traces += _points(state, points)
    traces += [_nearest(state, points), _names(state, points)]
    across, up = _limits(state)
    axes = _axis(plane, 0, across), _axis(plane, 1, up)
    return [Plane(_answer(state), traces, *axes, square=True, tall=560, layout=layout, reads=READ + _beside(state))]


def titles(state: EmbeddingMapState) -> list[str]:
    """The title of each plane: the encoder, and the step it is shown at if it has several."""
    return [_titled(encoder, step) for encoder, step in state.shown_steps.items()]


def _titled(encoder: str, step: int | None) -> str:
    return encoder if step is None else f"{encoder}, step {step}"


def _shares(state: EmbeddingMapState, encoder: str, step: int | None) -> Float[np.ndarray, " n"]:
    """Of each sentence, the share of nearest sentences, at the full width, with the same name."""
    names = np.array(state.data.names)
    return (names[state.data.nearest(encoder, step)] == names[:, None]).mean(1)


def _answer(state: EmbeddingMapState) -> str:
    """The share of neighbours with the same name, beside that of the first encoder; without names only the encoder."""
    title = _titled(*state.current)
    if not state.coloring or len(state.data.groups) < 2 or len(state.sentences) > SVG_POINTS:
        return escape(title)
    count, kind = min(NEIGHBOURS, len(state.sentences) - 1), escape(state.coloring.title) or "colour"
    share = 100 * _shares(state, *state.current).mean()
    answer = f"{escape(title)}: of the {count} sentences nearest to each, {share:.0f} % share its {kind}"
    others = [one for one in state.shown_steps.items() if one != state.current][:1]
    sizes = np.unique(state.data.names, return_counts=True)[1]
    chance = 100 * (sizes * (sizes - 1)).sum() / (sizes.sum() * (sizes.sum() - 1))
    beside = [f"{escape(one[0])}: {100 * _shares(state, *one).mean():.0f} %" for one in others]
    return f"{answer} ({', '.join([*beside, f'by chance: {chance:.0f} %'])})"


def summary(state: EmbeddingMapState) -> str:
    """The map of each encoder, a line each, with the spread of its points in the plane."""
    colored = f", coloured by {state.coloring.title}" if state.coloring and state.coloring.title else ""
    lines = [f"Map of {len(state.sentences)} sentences{colored} ({state.projection} of vectors of length 1)"]
    width = max(map(len, titles(state)))
    for plane, title in zip(state.planes.values(), titles(state), strict=True):
        points = plane.points[plane.at(state.step)]
        spread = np.sqrt(((points - points.mean(axis=0)) ** 2).sum(axis=1).mean())
        if plane.explained is not None:
            shares = " + ".join(f"{100 * share:.0f} %" for share in plane.explained)
            told = f"spread {spread:.3f}  axes hold {shares} of the variance{_fitted_on(plane)}"
        else:
            told = f"fitted{_fitted_on(plane)}" if plane.fitted_on is not None else "a separate map"
        lines.append(f"  {title:{width}}  {told}")
    if state.picked is not None:
        lines.append(f"  {_picked_in_words(state)}")
    return "\n".join(lines)


def explain(state: EmbeddingMapState) -> str:
    """The meaning of the map, and its limits."""
    linear = next(iter(state.planes.values())).linear
    several = len(state.planes) > 1 or bool(state.steps)
    text = "Sentences close together have a high cosine" + (
        ", as far as two components can show." if linear else "; larger distances mean nothing."
    )
    fitted = " and ".join(map(str, sorted({p.fitted_on for p in state.planes.values() if p.fitted_on is not None})))
    if linear and several:
        of = f"; their axes are the components of step {fitted}" if fitted else ""
        text += f" All maps have one scale{of}."
    elif state.projection == TSNE and several:
        text += " t-SNE cannot place new vectors: each encoder and each step is a separate map."
    elif state.projection == UMAP and state.steps:
        text += f" All remaining steps are placed into the map of step {fitted}."
    return text + " An ellipse spans one standard deviation of its group each way. Lasso dots to select them."


class EmbeddingMap(Panel):
    """Sentences as points in a plane of their embeddings; the map moves from one encoder to the next.

    Rows are scaled to length 1. With principal components all encoders have one scale, so distances may be compared
    between them; with UMAP and t-SNE only who is near whom means something; see `project`.

    Lasso: the rows are in `panel.selection`, and `panel.picked()` is their table. Click a dot: beside the map stand its
    ten nearest sentences in full width, each with its rank in the encoder compared with. At first these are of the
    sentence that gained the most neighbours with its own label. The search box looks into sentences and labels.

    By keyboard: type into the search box, Enter, Tab to the list of results, and choose there with the arrow
    keys: the sentence chosen is the selection, and its nearest are shown.

    Args:
        sentences: n sentences, at least 3; 126 of the bundled world on six topics by default.
        embeddings: name -> array [n, d], or name -> {step: array [n, d]} for snapshots of a training run, which get
            a step scrubber, or name -> whatever `cselab.encoders.as_encoder` takes, such as an encoder's name. An
            encoder without a snapshot at the current step shows the latest one before it. The bundled encoders by
            default.
        color: n values. Numbers are laid along a scale; text (and bool) is told apart by colour, and beyond
            eight names by symbol. Turn class numbers into text: `[str(c) for c in classes]`.
        color_title: the name of `color`, such as "topic" or "grade".
        pairs: (i, j) index pairs of sentences to join by a line.
        fit_on: the step whose map is the plane at all steps: "first", "last" or its number.
        step: the step to look at; the last by default.
        encoder: the encoder to look at; the last by default.
        projection: "PCA", "PCA without component 1", "UMAP" (compiles itself at first use: about a minute) or "t-SNE".
        key: see `Panel`.

    Raises:
        ValueError: numbers of sentences, rows, colours do not agree; an array is not of two dimensions, not of one
            width over the steps, or holds a number that is not finite; see also `project`.

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
        pairs: Iterable[tuple[int, int]] = (),
        fit_on: int | str = "last",
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
        rows = len(sentences)
        data = MapData(
            sentences,
            {str(name): snapshots(given, f"embeddings[{name!r}]", sentences) for name, given in embeddings.items()},
            None if color is None else Coloring(color_title, values(color, "color", rows)),
            index_pairs(pairs, "pairs", rows),
            fit_on,
        )
        last = max(data.steps, default=None)
        shown.setdefault("encoder", [*data.vectors][-1])
        state = EmbeddingMapState(data, step=last if step is None else step, **shown)
        super().__init__(state if "focus" in shown else replace(state, focus=_example(state)), key)

    @staticmethod
    def options(state: EmbeddingMapState) -> dict[str, list[tuple[str, int | None]]]:
        """The sentences that may be chosen, numbered; of many the first."""
        rows = list(state.listed if state.listed or state.find else range(len(state.sentences)))[:OFFERED]
        rows += [row for row in [state.focus] if row is not None and row not in rows]
        numbered = [(f"{row}: {textwrap.shorten(state.sentences[row], 60)}", row) for row in rows]
        return {"focus": [("no sentence", None), *numbered]}

    def _changed(self, changes: Mapping[str, Any]) -> EmbeddingMapState:
        """Searching and selecting each end the earlier selection.

        A sentence that is chosen becomes the selection; the list stays on offer.
        """
        state = super()._changed(changes)
        if "find" in changes:
            rows: tuple[int, ...] = state.matching(state.find) if state.find else ()
            return replace(state, selection=rows, listed=rows, focus=rows[0] if len(rows) == 1 else None)
        if state.selection != self.state.selection:
            return replace(state, listed=state.selection, find="")
        if "focus" in changes and "selection" not in changes:
            return replace(state, selection=state.listed if state.focus is None else (state.focus,))
        return state

    def busy_message(self, changes: Mapping[str, Any]) -> str:
        """A map of neighbours that was not made yet is waited for."""
        data, step = self.state.data, changes.get("step", self.state.step)
        method = changes.get("projection", self.state.projection)
        if method not in (UMAP, TSNE) or data.knows(method, step):
            return ""
        return f"fitting {method} \u2026" + ", about half a minute the first time" * (method == UMAP)

    clicks = "focus"

    def clicked(self, row: int) -> None:
        """Show the neighbours of the sentence, or hide them at the second click. The selection stays."""
        self.set(focus=None if row == self.state.focus else row, selection=self.selection)

    def items(self) -> Sequence[str]:
        return self.state.sentences

    def to_frame(self) -> "pandas.DataFrame":
        """A row for each sentence: its colour, its place in each plane, and whether it is selected."""
        import pandas as pd

        state = self.state
        columns: dict[str, Any] = {"sentence": state.sentences}
        if state.coloring:
            columns[state.coloring.title or "color"] = state.coloring.values
        for title, plane in zip(titles(state), state.planes.values(), strict=True):
            points = plane.points[plane.at(state.step)]
            columns |= {f"{title}: x": points[:, 0], f"{title}: y": points[:, 1]}
        picked = set(state.selection)
        columns["selected"] = [row in picked for row in range(len(state.sentences))]
        return pd.DataFrame(columns)

    def vectors(self) -> dict[str, np.ndarray]:
        """The vectors as they were given, of the steps shown now."""
        vectors, shown = self.state.data.vectors, self.state.shown_steps.items()
        return {_titled(encoder, step): vectors[encoder][step] for encoder, step in shown}


def _clusters(data: MapData) -> list[tuple[str, np.ndarray]]:
    """The groups with a name, unless there are too many to name them in the map."""
    groups = data.groups
    return [] if "" in groups or len(groups) > NAMED else list(groups.items())


def _with_regions(data: MapData, points: np.ndarray) -> np.ndarray:
    """The points, and those of the ellipses about their groups: all that a map has to hold."""
    return np.concatenate([points, *(_ellipse(points[rows]) for _, rows in _clusters(data))])


def _ellipse(points: np.ndarray) -> np.ndarray:
    """An ellipse about a group: its mean, and one standard deviation along each of its two axes."""
    spread = np.cov(points.T) if len(points) > 2 else np.zeros((2, 2))
    lengths, axes = np.linalg.eigh(spread)
    turn = np.linspace(0, 2 * np.pi, 41)
    circle = np.sqrt(lengths.clip(min=0)) * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    return points.mean(0) + circle @ axes.T


def _region(name: str, points: np.ndarray, style: Style, active: bool) -> go.Scatter:
    """The ellipse about a group, in its colour; that of the sentence in focus is filled, the others are faint."""
    ellipse = _ellipse(points)
    return go.Scatter(
        x=rounded(ellipse[:, 0]),
        y=rounded(ellipse[:, 1]),
        uid=f"region: {name}",
        mode="lines",
        fill="toself" if active else "none",
        fillcolor=f"{style.color}26",
        line={"color": f"{style.color}{'99' if active else '4D'}", "width": 1.5},
        hoverinfo="skip",
    )


def _names(state: EmbeddingMapState, points: np.ndarray) -> go.Scatter:
    """The name of each group in its colour, where its ellipse is farthest from the others; the names do not overlap."""
    groups, size = _clusters(state.data), np.ptp(points, axis=0)
    placed: list[np.ndarray] = []
    ellipses = [_ellipse(points[rows]) for _, rows in groups]
    for ellipse in ellipses:
        places = 1.15 * ellipse - 0.15 * ellipse.mean(0)
        places[:, 0] = places[:, 0].clip(*np.quantile(points[:, 0], [0.1, 0.9]))
        others = np.concatenate([points.mean(0)[None], *(one for one in ellipses if one is not ellipse)])
        room = np.linalg.norm((places[:, None] - others) / size, axis=2).min(1)
        for at in placed:
            room[(np.abs(places - at) < [0.3, 0.09] * size).all(1)] -= 9
        placed.append(places[room.argmax()])
    x, y = (rounded(at[side] for at in placed) for side in (0, 1))
    names = [f'<span style="color:{state.styles[name].color}"><b>{escape(name)}</b></span>' for name, _ in groups]
    return written(x, y, names, "names", "middle center", textfont={"size": 15})


def _points(state: EmbeddingMapState, points: np.ndarray) -> list[go.Scatter | go.Scattergl]:
    """A trace for each group of rows drawn alike."""
    data, named = state.data, bool(_clusters(state.data))
    scatter = go.Scatter if len(data.sentences) <= SVG_POINTS else go.Scattergl
    size = 10 if len(data.sentences) <= 300 else 6
    opacity = np.full(len(data.sentences), 0.85 if state.focus is None else 0.4)  # faded: not among the nearest
    opacity[[near.row for near in state.nearest] + [state.focus] * (state.focus is not None)] = 1
    traces = []
    for name, rows in data.groups.items():
        style = state.styles[name]
        color: dict[str, Any] = {"color": style.color}
        if data.coloring and not data.coloring.by_name:
            color = {"color": rounded(map(float, data.coloring.values)), "coloraxis": "coloraxis"}
        traces.append(
            scatter(
                x=points[rows, 0],
                y=points[rows, 1],
                uid=f"sentences: {name}",
                name=name,
                showlegend=not named and name != "",
                mode="markers",
                marker={**color, "symbol": style.symbol, "size": size, "opacity": rounded(opacity[rows])},
                customdata=data.hover[rows],
                hovertemplate=f"{escape(name)}<extra></extra>" if name else None,
                hoverinfo="none",  # the sentence stands beside the map
                selectedpoints=None if state.picked is None else np.flatnonzero(np.isin(rows, state.picked)).tolist(),
                selected={"marker": {"opacity": 1, "size": size + 3}},
                unselected={"marker": {"opacity": 0.25}},
            )
        )
    return traces


def _lines(state: EmbeddingMapState, points: np.ndarray) -> go.Scatter:
    """All pairs as one trace; None separates the lines."""
    ends = {axis: [z for i, j in state.data.pairs for z in (*rounded(points[[i, j], axis]), None)] for axis in (0, 1)}
    return go.Scatter(
        x=ends[0],
        y=ends[1],
        uid="pairs",
        mode="lines",
        line={"color": INK, "width": 1},
        opacity=0.6,
        hoverinfo="skip",
        visible=state.lines,
    )


def _nearest(state: EmbeddingMapState, points: np.ndarray) -> go.Scatter:
    """A star from the sentence in focus to its nearest in full width."""
    x, y = [], []
    for at, _ in state.nearest:
        assert state.focus is not None  # its neighbours
        x += [*rounded(points[[state.focus, at], 0]), None]
        y += [*rounded(points[[state.focus, at], 1]), None]
    return go.Scatter(
        x=x,
        y=y,
        uid="nearest",
        mode="lines+markers",
        line={"color": INK, "width": 1.5},
        marker={"symbol": "circle-open", "size": [20, 14, 14] * (len(x) // 3), "color": INK},
        hoverinfo="skip",
    )


def _axis(plane: Projection, axis: int, limits: list[float]) -> dict[str, Any]:
    """An axis that is not drawn: its numbers mean nothing. Of a linear projection the share of the variance does."""
    title = plane.method if axis == 0 else ""
    if plane.explained is not None:
        number = axis + 1 + PROJECTIONS.index(plane.method)  # PCA without component 1 begins at the second
        title = f"component {number}: {100 * plane.explained[axis]:.0f} % of the variance"
    bare = {"showticklabels": False, "ticks": "", "showgrid": False, "showline": False}
    return {"title": {"text": title}, "range": limits, "constrain": "domain", **bare}


def _fitted_on(plane: Projection) -> str:
    return "" if plane.fitted_on is None else f" of step {plane.fitted_on}"


def _limits(state: EmbeddingMapState) -> list[list[float]]:
    """Two axes about the points: those of components hold every encoder and step, others have one length."""
    if state.planes[state.encoder].linear:
        low, high = state.data.bounds(state.projection)
        half = 0.54 * (high - low)
    else:
        points = _with_regions(state.data, state.points(state.encoder))
        low, high = points.min(axis=0), points.max(axis=0)
        half = 0.54 * (high - low).max()
    return [rounded(ends) for ends in np.transpose([(low + high) / 2 - half, (low + high) / 2 + half])]


def _picked_in_words(state: EmbeddingMapState) -> str:
    total, picked, listed = len(state.sentences), len(state.selection), len(state.listed)
    if not state.find:
        return f"{picked} of {total} sentences selected"
    chosen = f"; {picked} of them chosen" if picked < listed else ""
    return f'"{state.find}": found in {listed} of {total} sentences or labels{chosen}'


def _sentence(state: EmbeddingMapState, row: int) -> str:
    """A cell of a table: the sentence after a dot in the colour of its group."""
    return f"<td>{_dot(state, state.data.names[row])}{escape(state.sentences[row])}</td>"


def _dot(state: EmbeddingMapState, name: str) -> str:
    return f'<span style="color:{state.styles[name].color}">\u25cf</span> ' if name else ""


def _beside(state: EmbeddingMapState) -> str:
    """A table: the nearest of the sentence in focus, else what was found or lassoed, else the shares of each name."""
    if state.focus is not None:
        return _nearest_list(state, state.focus)
    if state.picked is not None:
        lines = "".join(f"<tr>{_sentence(state, row)}</tr>" for row in state.picked[:LISTED])
        more = f"<p>and {len(state.picked) - LISTED} more</p>" if len(state.picked) > LISTED else ""
        return f"<p>{escape(_picked_in_words(state))}</p><table>{lines}</table>{more}"
    if len(state.sentences) > SVG_POINTS or not state.coloring or not (groups := _clusters(state.data))[1:]:
        return ""
    shares = [_shares(state, *one) for one in state.shown_steps.items()]
    heads = "".join(f'<th class="number">{escape(title)}</th>' for title in titles(state))
    table = f"<tr><th>neighbours of the same {escape(state.coloring.title) or 'colour'}</th>{heads}</tr>"
    for name, rows in groups:
        cells = "".join(f'<td class="number">{100 * share[rows].mean():.0f} %</td>' for share in shares)
        table += f"<tr><td>{_dot(state, name)}{escape(name)}</td>{cells}</tr>"
    return f"<table>{table}</table>"


def _nearest_list(state: EmbeddingMapState, focus: int) -> str:
    """The nearest, each with its rank in the encoder compared with."""
    data, names, nearest, share = state.data, state.data.names, state.nearest, ""
    heads, places = f'<th class="number">cosine</th><th>{escape(_titled(*state.current))}</th>', [""] * len(nearest)
    if mine := names[focus]:
        share = f": {sum(names[near.row] == mine for near in nearest)} of {len(nearest)} are {escape(mine)}"
    for other in [end for end in state.ends if end != state.current][:1]:
        title, cosines = escape(_titled(*other)), data.cosines(*other, focus)
        places = [f'<td class="number">{(cosines > cosines[near.row]).sum() + 1}</td>' for near in nearest]
        heads += f'<th class="number">rank in {title}</th>'
        if mine:
            alike = sum(names[near.row] == mine for near in data.neighbours(*other, focus))
            share += f"; under {title}, {alike}"
    rows = "".join(
        f'<tr><td class="number">{near.cosine:.2f}</td>{_sentence(state, near.row)}{place}</tr>'
        for near, place in zip(nearest, places, strict=True)
    )
    words = f"Nearest to &ldquo;<b>{escape(state.sentences[focus])}</b>&rdquo;{share}. Cosines are over all dimensions."
    return f"<p>{words}</p><table><tr>{heads}</tr>{rows}</table>{MORE}"


def _example(state: EmbeddingMapState) -> int | None:
    """The sentence that gained the most neighbours with its own name; None where that cannot be said."""
    if len({*state.ends}) < 2 or len(state.data.groups) < 2 or len(state.sentences) > SVG_POINTS:
        return None
    before, after = (_shares(state, *end) for end in state.ends)
    return int((after - before).round(6).argmax())  # of equal gains the first


def _six_topics() -> tuple[list[str], list[str]]:
    from cselab.world import World

    topics = ("cooking", "sport", "music", "weather", "crime", "traffic")
    labelled = World().clustering(441, split="test")
    rows = [row for row, label in enumerate(labelled.labels) if labelled.classes[label] in topics]
    return [labelled.sentences[row] for row in rows], [labelled.classes[labelled.labels[row]] for row in rows]
