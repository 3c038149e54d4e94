"""Whitening by hand: its effect on a batch, on held-out sentences, and on the views of one sentence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from html import escape
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go
import torch
from torch import Tensor

from cselab.metrics import mean_cosine, uniformity
from cselab.sgw import covariance, group_whitening_matrix

from ..kit.fields import State, shown
from ..kit.number_table import number_table
from ..kit.panel import Panel
from ..kit.panel_vectors import SameArray, named_views
from ..kit.planes import Plane, decades, heatmap, matrix, named_at_ends, rounded
from ..kit.theme import AFTER, BEFORE, INK

STRATEGIES = ("PCA", "ZCA", "group", "shuffled group")  # the rows of WhitenedCSE's table 3
STAGES = ("as it is", "mean removed", "rotated to its axes", "scaled: PCA", "turned back: ZCA")
PLANE = "points in the plane"
CHANNELS = 32  # of the heat maps
SENTENCES = 640  # of the default batch and the others
POINTS_DRAWN = 160  # of the two channels
QUESTIONS = {
    "What does whitening change?": (0, 1),
    "Are held-out sentences white, too?": (2, 3),
    "How does whitening work?": (4,),
}


@dataclass(frozen=True, eq=False)
class WhiteningLabState(State):
    """Vectors, and how they are whitened.

    Attributes:
        sources: name -> views [k, n, d] of n sentences; the first view is whitened.
        source: which of them is looked at.
        strategy: one of `STRATEGIES`; "PCA" and "ZCA" whiten all channels together.
        num_groups: the paper's k; where it does not divide the width, the next smaller number that does.
        eps: added to the variances.
        batch_size: rows the whitening is fitted on; the rest are held out.
        seed: of the rows of the batch and of the permutations.
        stage: which of `STAGES` the two channels are shown at.
    """

    sources: Mapping[str, np.ndarray]
    source: str = shown("vectors of", "list", "sources", asked=(0, 2))
    strategy: str = shown("whitening", "list", STRATEGIES, "ZCA")
    num_groups: int = shown("groups", "slider", "divisors", 128, ge=1, when="grouped")
    eps: float = shown("variance + eps", "slider", tuple(10.0**e for e in range(-10, 1)), 1e-6, asked=(1,))
    batch_size: int = shown("batch size", "slider", "sizes", 512, ge=2, le="most", asked=(0, 1))
    seed: int = 0
    stage: int = shown("stage", "steps", range(len(STAGES)), 4, asked=(2,))

    @property
    def grouped(self) -> bool:
        return "group" in self.strategy

    @property
    def divisors(self) -> list[int]:
        width = max(views.shape[2] for views in self.sources.values())
        return [k for k in range(1, width + 1) if width % k == 0]

    @property
    def sizes(self) -> range:
        """The batches that leave two sentences of every source to compare."""
        return range(2, min(views.shape[1] for views in self.sources.values()) - 1)

    @property
    def most(self) -> int:
        """The largest batch that leaves two of these sentences to compare."""
        return self.views.shape[1] - 2

    @property
    def views(self) -> np.ndarray:
        return self.sources[self.source]

    @property
    def rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Which rows are the batch, and which are held out."""
        return _divided(self.views.shape[1], self.batch_size, self.seed)

    @property
    def groups(self) -> int:
        """The number of groups in use: 1 for PCA and ZCA, else the largest divisor up to `num_groups`."""
        width = self.views.shape[2]
        if self.strategy in ("PCA", "ZCA"):
            return 1
        return max(k for k in range(1, min(self.num_groups, width) + 1) if width % k == 0)


class Fitted:
    """A whitening fitted on a batch: its permutation, its matrix, and its effect on rows.

    Attributes:
        stages: the factor of the shuffled rows at each stage: I, I, U, U L^{-1/2}, U L^{-1/2} U^T.
        scales: L^{1/2}, with eps in L.
    """

    def __init__(self, batch: Tensor, strategy: str, groups: int, eps: float, seed: int) -> None:
        width = batch.shape[1]
        shuffled = strategy == "shuffled group"
        self.permutation = _shuffled(width, seed) if shuffled else torch.arange(width)
        self.mean, self.groups, self.eps = batch.mean(0), groups, eps
        self.covariance = covariance(batch[:, self.permutation])
        pca = group_whitening_matrix(self.covariance, groups, "pca", eps)
        self.scales = 1 / pca.norm(dim=0)
        turned = pca * self.scales
        zca = pca @ turned.T
        same = torch.eye(width, dtype=batch.dtype)
        self.stages = same, same, turned, pca, zca
        self.matrix = pca if strategy == "PCA" else zca

    def __call__(self, rows: Tensor) -> Tensor:
        """The rows whitened, their channels in the original order."""
        return ((rows - self.mean)[:, self.permutation] @ self.matrix)[:, self.permutation.argsort()]

    def at(self, stage: int, rows: Tensor) -> Tensor:
        """The rows in the shuffled order, as they are at a stage of `STAGES`."""
        rows = rows if stage == 0 else rows - self.mean
        return rows[:, self.permutation] @ self.stages[stage]


@dataclass(frozen=True, eq=False)
class WhitenedViews:
    """The batch and the held-out sentences, before and after."""

    fitted: Fitted
    batch: Tensor
    others: Tensor
    batch_after: Tensor
    others_after: Tensor
    before: "Measured"

    @property
    def parts(self) -> dict[str, Tensor]:
        return {
            "batch, before": self.batch,
            "batch, after": self.batch_after,
            "held-out sentences, after": self.others_after,
        }

    @cached_property
    def measured(self) -> "dict[str, Measured]":
        return {name: self.before if rows is self.batch else measured(rows) for name, rows in self.parts.items()}


class Measured(NamedTuple):
    """The variance along each principal axis, the numbers of the table, and the mean size of a correlation."""

    spectrum: np.ndarray
    numbers: dict[str, float]


def measured(rows: Tensor) -> Measured:
    """The geometry of some rows."""
    between = covariance(rows)
    found = torch.linalg.eigvalsh(between).flip(0).clamp(min=0)  # faster than `spectrum`
    shares = found.sqrt() / found.sqrt().sum()
    scale = between.diagonal().clamp(min=1e-12).sqrt()
    sizes = (between / scale / scale[:, None]).abs()
    numbers = {
        "uniformity": uniformity(rows),
        "mean cosine": mean_cosine(rows),
        "effective rank": float(torch.special.entr(shares).sum().exp()),
        "largest variance": float(found[0]),
        "correlation": float((sizes.sum() - sizes.diagonal().sum()) / max(sizes.numel() - len(sizes), 1)),
    }
    return Measured(found.numpy(), numbers)


def outcome(state: WhiteningLabState) -> WhitenedViews:
    """Fit the whitening on the batch once, for all stages, and apply it to all rows."""
    return _outcome(SameArray(state.views), state.batch_size, state.strategy, state.groups, state.eps, state.seed)


def _shuffled(width: int, seed: int) -> Tensor:
    return torch.randperm(width, generator=torch.Generator().manual_seed(seed))


def _divided(count: int, batch_size: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    order = np.random.default_rng(seed).permutation(count)
    return order[:batch_size], order[batch_size:]


@lru_cache(maxsize=16)
def _outcome(views: SameArray, batch_size: int, strategy: str, groups: int, eps: float, seed: int) -> WhitenedViews:
    batch, others, before = _fitted_on(views, batch_size, seed)
    fitted = Fitted(batch, strategy, groups, eps, seed)
    return WhitenedViews(fitted, batch, others, fitted(batch), fitted(others), before)


@lru_cache(maxsize=16)
def _fitted_on(views: SameArray, batch_size: int, seed: int) -> tuple[Tensor, Tensor, Measured]:
    """The batch, the held-out sentences and the unchanged batch; independent of the whitening."""
    first = torch.from_numpy(views.array[0]).double()
    batch, others = (first[rows] for rows in _divided(len(first), batch_size, seed))
    return batch, others, measured(batch)


def planes(state: WhiteningLabState) -> list[Plane]:
    """The covariance before, after, and of held-out sentences; the spectra; two channels stage by stage."""
    whitened = outcome(state)
    off, after, others = (one.numbers["correlation"] for one in whitened.measured.values())
    return [
        _covariance(
            f"Before: correlation {off:.2f} on average",
            "before",
            whitened.batch,
            whitened,
            "Covariance, in units of the mean variance; a channel is a coordinate.",
        ),
        _covariance(
            f"After whitening: {after:.2f}",
            "after",
            whitened.batch_after,
            whitened,
            _too_few(state) or f"The same channels of the same sentences{', a group side by side' * state.grouped}.",
        ),
        _covariance(
            f"Held-out sentences, after whitening: {others:.2f}",
            "others",
            whitened.others_after,
            whitened,
            f"{len(whitened.others)} sentences that the whitening was not fitted on.",
        ),
        _spectra(state, whitened),
        _stage(state, whitened),
    ]


def summary(state: WhiteningLabState) -> str:
    """The whitening, and the geometry before and after."""
    lines = [_setting(state)]
    for name, (_, numbers) in outcome(state).measured.items():
        lines.append(
            f"  {name:22}  uniformity {numbers['uniformity']:7.3f}  mean cosine {numbers['mean cosine']:6.3f}"
            f"  effective rank {numbers['effective rank']:6.1f}  largest variance {numbers['largest variance']:.3g}"
        )
    if _too_few(state):
        lines.append(f"  {_too_few(state)}")
    return "\n".join(lines)


def details(state: WhiteningLabState) -> str:
    """The geometry before and after, as a table."""
    parts = {name: one.numbers for name, one in outcome(state).measured.items()}
    heads = {
        "uniformity": "uniformity (0 to about -4)",
        "mean cosine": "mean cosine (-1 to 1)",
        "effective rank": f"effective rank (1 to {state.views.shape[2]})",
        "largest variance": "largest variance",
    }
    rows = ((part, [f"{numbers[name]:.3g}" for name in heads]) for part, numbers in parts.items())
    table = number_table(["", *heads.values()], rows)
    return f"<details><summary>How do uniformity, cosine and rank change?</summary>{table}</details>"


class WhiteningLab(Panel):
    """PCA, ZCA, group and shuffled group whitening of a batch, with the number of groups under the hand.

    Try: a batch smaller than the width with ZCA (the batch looks perfect, held-out sentences explode); then
    more groups, until both are white.

    Args:
        encoder: an encoder or its name, or an argument of `cselab.encoders.as_encoder`; its vectors of
            `sentences` are whitened.
        sentences: at least 8; sentences of the bundled world by default.
        vectors: your own in place of an encoder's: [n, d], or several views of the same sentences [k, n, d].
        strategy: "PCA", "ZCA", "group" or "shuffled group", the rows of WhitenedCSE's table 3.
        num_groups: the paper's k; half the width by default: two channels a group.
        batch_size: four fifths of the sentences by default.
        eps: see `WhiteningLabState`.
        source: the vectors at first: the encoder's name, "vectors", or "points in the plane".
        key: see `Panel`.

    Raises:
        ValueError: a batch that leaves no held-out sentences, an unknown strategy, vectors of a wrong shape.

    See also: `cselab.sgw`, which does the whitening; `RankLab`, for a second limit of small batches.

    >>> points = np.random.default_rng(0).normal(size=(40, 4)) @ np.diag([3.0, 1.0, 1.0, 0.5])
    >>> lab = WhiteningLab(vectors=points, strategy="ZCA", batch_size=30)
    >>> print(str(lab).splitlines()[0])
    Whitening of vectors: ZCA, eps 1e-06, fitted on 30 of 40 sentences of width 4 (seed 0)
    """

    state_class = WhiteningLabState
    render = staticmethod(planes)
    alt_text = staticmethod(summary)
    details = staticmethod(details)
    questions = QUESTIONS
    static_grid = ("strategy", "batch_size", "num_groups")

    def __init__(
        self,
        encoder: Any = "mini",
        sentences: Sequence[str] | None = None,
        *,
        vectors: Any = None,
        num_groups: int | None = None,
        batch_size: int | None = None,
        source: str | None = None,
        key: str | None = None,
        **shown: Any,
    ) -> None:
        name, views = named_views(encoder, sentences, vectors, 1, SENTENCES)
        super().__init__(
            WhiteningLabState(
                sources={name: views, PLANE: plane_points()},
                source=source or name,
                batch_size=min(len(views[0]) * 4 // 5, len(views[0]) - 2) if batch_size is None else batch_size,
                num_groups=max(views.shape[2] // 2, 1) if num_groups is None else num_groups,
                **shown,
            ),
            key,
        )

    def page_values(self) -> dict[str, Sequence[Any]]:
        state = self.state
        rows = min(views.shape[1] for views in state.sources.values())
        return {
            "num_groups": [k for k in (4, 16, 128) if k <= state.views.shape[2]],
            "batch_size": [n for n in (16, 64, 512) if n <= rows - 2],
            "eps": (1e-10, 1e-6, 1e-2),
        }

    def vectors(self) -> dict[str, np.ndarray]:
        return {name: rows.numpy() for name, rows in outcome(self.state).parts.items()}


def plane_points() -> np.ndarray:
    """A long, tilted cloud away from the origin, [1, SENTENCES, 2]: a small cone."""
    points = np.random.default_rng(0).normal(size=(SENTENCES, 2)) * [1.0, 0.25]
    turn = np.array([[np.cos(0.6), np.sin(0.6)], [-np.sin(0.6), np.cos(0.6)]])
    return (points @ turn + [1.6, 1.2])[None].astype(np.float32)


def _stage(state: WhiteningLabState, whitened: WhitenedViews) -> Plane:
    channels = whitened.fitted.at(state.stage, whitened.batch)[:, :2].numpy()
    points = channels[:POINTS_DRAWN]
    reach = 1.1 * float(np.abs(points).max())
    centre = points.mean(0)
    # Where two axes of the group, twice the standard deviation long, lie at this stage.
    spread = (whitened.fitted.scales.square() - state.eps).clamp(min=0).sqrt()
    axes = [0, 1] if state.groups < state.views.shape[2] else [0]
    ends = torch.zeros(2 * len(axes), len(spread), dtype=torch.float64)
    for place, axis in enumerate(axes):
        ends[2 * place] = -2 * spread[axis] * whitened.fitted.stages[2][:, axis]
        ends[2 * place + 1] = -ends[2 * place]
    ends = (ends @ whitened.fitted.stages[state.stage])[:, :2].numpy() + centre
    size = state.views.shape[2] // state.groups
    lines = "the axes of the group" if size <= 2 else f"two of the {size} axes as far as two channels show them"
    pen = [end for place in range(len(axes)) for end in (*ends[2 * place : 2 * place + 2], (None, None))]
    width = {"range": [-reach, reach], "constrain": "domain", "zeroline": True, "zerolinecolor": INK}
    return Plane(
        f"Two channels, {STAGES[state.stage]}; their correlation is {round(np.corrcoef(channels.T)[0, 1], 2) + 0:.2f}",
        [
            go.Scatter(
                x=rounded(points[:, 0]),
                y=rounded(points[:, 1]),
                uid="points",
                mode="markers",
                marker={"color": AFTER if state.stage > 2 else BEFORE, "size": 6, "opacity": 0.8},
                hovertemplate="%{x:.2f}, %{y:.2f}<extra></extra>",
            ),
            go.Scatter(
                x=[None if x is None else round(float(x), 4) for x, _ in pen],
                y=[None if y is None else round(float(y), 4) for _, y in pen],
                uid="axes",
                mode="lines",
                hoverinfo="skip",
                line={"color": INK, "width": 3},
            ),
        ],
        {"title": {"text": "first channel of the group"}, **width},
        {"title": {"text": "second"}, **width},
        square=True,
        words=f"Points are sentences, lines {lines}, two standard deviations long. Play the stages.",
    )


def _covariance(title: str, uid: str, rows: Tensor, whitened: WhitenedViews, words: str) -> Plane:
    """The first channels in their shuffled order, so that groups are blocks on the diagonal."""
    channels = whitened.fitted.permutation[:CHANNELS]
    values = covariance(rows[:, channels])
    if uid == "before":
        values = values / values.diagonal().mean()
    hover = "channels %{x} and %{y}: %{z:.2f}"
    return matrix(title, heatmap(values.numpy().round(2), uid, 1.0, hover, scale=True), "channel", words)


def _spectra(state: WhiteningLabState, whitened: WhitenedViews) -> Plane:
    names = ("before", "after", "held-out sentences, after")
    lines = []
    for (part, (values, _)), name, color, dash in zip(
        whitened.measured.items(), names, (BEFORE, AFTER, INK), ("dot", "solid", "dash"), strict=True
    ):
        shown = values > 1e-8
        lines.append(
            go.Scatter(
                x=np.arange(1, shown.sum() + 1),
                y=values[shown].astype(np.float32),
                uid=f"spectrum: {part}",
                name=name,
                mode="lines",
                line={"color": color, "dash": dash, "width": 2.5},
                hovertemplate="axis %{x}: %{y:.3g}<extra>" + part + "</extra>",
            )
        )
    lines[2].name = "held out,<br> after"
    _, after, held_out = (one.numbers["largest variance"] for one in whitened.measured.values())
    return Plane(
        f"The largest variance is {after:.3g} in the batch, {held_out:.3g} in held-out sentences",
        named_at_ends(lines, "spectrum names", log=True),
        {"title": {"text": "principal axis, largest first"}},
        {"title": {"text": "variance"}, **decades(np.concatenate([line.y for line in lines]))},
        words=_too_few(state)
        or f"A white spectrum is flat at 1. {len(whitened.others)} held-out sentences span at most "
        f"{len(whitened.others) - 1} axes. Try a batch smaller than the width.",
    )


def _setting(state: WhiteningLabState) -> str:
    width = state.views.shape[2]
    grouped = f" in {state.groups} groups of {width // state.groups}" if "group" in state.strategy else ""
    return (
        f"Whitening of {escape(state.source, quote=False)}: {state.strategy}{grouped}, eps {state.eps:g}, "
        f"fitted on {state.batch_size} of {state.views.shape[1]} sentences of width {width} (seed {state.seed})"
    )


def _too_few(state: WhiteningLabState) -> str:
    """A warning where the batch has fewer rows than a group has channels, else nothing."""
    width = state.views.shape[2] // state.groups
    if state.batch_size > width:
        return ""
    return (
        f"{state.batch_size} rows have no variance in {width - state.batch_size + 1} of the {width} directions of a "
        "group, where whitening divides by sqrt(eps)."
    )
