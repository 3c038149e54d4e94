"""Whitening by hand: its effect on a batch, on held-out sentences, and on the views of one sentence."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import plotly.graph_objects as go
import torch
from torch import Tensor

from cselab.sgw import covariance, group_whitening_matrix

from ..kit.fields import State, shown
from ..kit.panel import Panel
from ..kit.panel_vectors import SameArray, given_views
from ..kit.planes import Plane, decades, heatmap, matrix, named_at_ends, rounded
from ..kit.theme import AFTER, BEFORE, INK

STRATEGIES = ("PCA", "ZCA", "group", "shuffled group")  # the rows of WhitenedCSE's table 3
STAGES = ("as it is", "mean removed", "rotated to its axes", "scaled (PCA)", "turned back (ZCA)")
CHANNELS = 32  # of the heat maps
SENTENCES = 640  # of the default batch and the others
POINTS_DRAWN = 160  # of the two channels
TURN = np.linspace(0, 2.5 * np.pi, 76)
ELLIPSE = 2 * np.array([[-1, 0], *zip(np.cos(TURN), np.sin(TURN), strict=True), [0, -1]])  # and its axes
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
KEY = (
    "<span>\u2264\u00a0\u22122</span><i></i><span>\u2265\u00a02</span><span>0 in the middle. Diagonal: the variance of "
    "a channel. Elsewhere: the covariance of two. The unit is the mean variance.</span>"
)


class Power(float):
    """A number whose text is a power of ten where it is small."""

    def __str__(self) -> str:
        return re.sub(r"^1e-0?(\d+)$", lambda found: "10⁻" + found[1].translate(RAISED), repr(self))


@dataclass(frozen=True, eq=False)
class WhiteningLabState(State):
    """Vectors, and how they are whitened.

    Attributes:
        vectors: of the sentences [n, d].
        strategy: one of `STRATEGIES`; "PCA" and "ZCA" whiten all channels together.
        num_groups: the paper's k; where it does not divide the width, the next smaller number that does.
        eps: added to the variances.
        batch_size: rows the whitening is fitted on; the rest are held out.
        stage: which of `STAGES` the two channels are shown at.
    """

    vectors: np.ndarray
    strategy: str = shown("whitening", "list", STRATEGIES, "ZCA", asked=(0, 1))
    batch_size: int = shown("batch size", "slider", "sizes", 512, ge=2, le="most", asked=(0, 1))
    eps: float = shown("added variance", "slider", tuple(Power(10.0**e) for e in range(-10, 1)), 1e-6, asked=(1,))
    num_groups: int = shown("groups", "slider", "divisors", 128, ge=1, when="grouped", asked=(0, 1))
    stage: int = shown("stage", "steps", range(len(STAGES)), len(STAGES) - 1, asked=(2,))

    @property
    def grouped(self) -> bool:
        return "group" in self.strategy

    @property
    def divisors(self) -> list[int]:
        return [k for k in range(1, self.width + 1) if self.width % k == 0]

    @property
    def width(self) -> int:
        return self.vectors.shape[1]

    @property
    def most(self) -> int:
        """The largest batch that leaves two sentences to compare."""
        return len(self.vectors) - 2

    @property
    def sizes(self) -> range:
        return range(2, self.most + 1)

    @property
    def rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Which rows are the batch, and which are held out."""
        return _divided(len(self.vectors), self.batch_size)

    @property
    def groups(self) -> int:
        """The number of groups in use: 1 for PCA and ZCA, else the largest divisor up to `num_groups`."""
        return max(k for k in self.divisors if k <= self.num_groups) if self.grouped else 1


class Fitted:
    """A whitening fitted on a batch: its permutation, its matrix, and its effect on rows.

    Attributes:
        stages: the factor of the shuffled rows at each stage: I, I, U, U L^{-1/2}, U L^{-1/2} U^T.
        scales: L^{1/2}, with eps in L.
    """

    def __init__(self, batch: Tensor, strategy: str, groups: int, eps: float) -> None:
        width = batch.shape[1]
        shuffled = torch.randperm(width, generator=torch.Generator().manual_seed(0))
        self.permutation = shuffled if strategy == "shuffled group" else torch.arange(width)
        self.mean, self.eps = batch.mean(0), eps
        pca = group_whitening_matrix(covariance(batch[:, self.permutation]), groups, "pca", eps)
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

    @cached_property
    def variances(self) -> dict[str, Tensor]:
        """The variance along each principal axis of the batch, in one order: before whitening the largest first."""
        scales = self.fitted.scales.square()
        before = (scales - self.fitted.eps).clamp(min=0)
        order = before.argsort(descending=True)
        others = self.fitted.at(3, self.others).var(0, correction=0)
        after = before / scales
        return {"batch before": before[order], "batch after": after[order], "held out": others[order]}


def sizes(rows: Tensor) -> tuple[float, float]:
    """The mean variance of a channel, and the mean size of the covariance of two."""
    between = covariance(rows)
    off = between.abs().sum() - between.trace()
    return float(between.diagonal().mean()), float(off / max(between.numel() - len(between), 1))


def outcome(state: WhiteningLabState) -> WhitenedViews:
    """Fit the whitening on the batch once, for all stages, and apply it to all rows."""
    return _outcome(SameArray(state.vectors), state.batch_size, state.strategy, state.groups, state.eps)


def _divided(count: int, batch_size: int) -> tuple[np.ndarray, np.ndarray]:
    order = np.random.default_rng(0).permutation(count)
    return order[:batch_size], order[batch_size:]


@lru_cache(maxsize=16)
def _outcome(views: SameArray, batch_size: int, strategy: str, groups: int, eps: float) -> WhitenedViews:
    rows = torch.from_numpy(views.array).double()
    batch, others = (rows[part] for part in _divided(len(rows), batch_size))
    fitted = Fitted(batch, strategy, groups, eps)
    return WhitenedViews(fitted, batch, others, fitted(batch))


def planes(state: WhiteningLabState) -> list[Plane]:
    """The covariance before and after; the variances, also of held-out sentences; two channels stage by stage."""
    whitened = outcome(state)
    few, width = _too_few(state), state.width // state.groups
    (unit, before), (unit_after, after) = map(sizes, (whitened.batch, whitened.batch_after))
    units = unit or 1.0, unit_after
    found = covariance(whitened.batch_after).diagonal() / units[1]
    equal = "every variance 1" if (found - 1).abs().max() < 0.05 else "variances still differ"
    white = f"{equal}, covariance {'0 within a group, else ' * state.grouped}{round(after / units[1], 2):g}"
    return [
        _covariance(
            f"Before: variances differ, channels covary (mean size {before / units[0]:.2f})",
            "before",
            whitened.batch,
            units[0],
            whitened,
            f"{state.batch_size} sentences; {min(CHANNELS, state.width)} of {state.width} channels are shown.",
        )._replace(key=KEY),
        _covariance(
            f"After: only {state.batch_size - 1} of {width} directions are left" if few else f"After: {white}",
            "after",
            whitened.batch_after,
            units[1],
            whitened,
            few,
        ),
        _spectra(state, whitened),
        _two_channels(state, whitened),
    ]


class WhiteningLab(Panel):
    """PCA, ZCA, group and shuffled group whitening of a batch, with the number of groups under the hand.

    Try: a batch of 64 with ZCA (the batch looks perfect, held-out sentences explode); then
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
        key: see `Panel`.

    Raises:
        ValueError: a batch that leaves no held-out sentences, an unknown strategy, vectors of a wrong shape.

    See also: `cselab.sgw`, which does the whitening; `RankLab`, for a second limit of small batches.

    >>> points = np.random.default_rng(0).normal(size=(40, 4)) @ np.diag([3.0, 1.0, 1.0, 0.5])
    >>> lab = WhiteningLab(vectors=points, strategy="ZCA", batch_size=30)
    >>> print(str(lab).splitlines()[2])
    After: every variance 1, covariance 0
    """

    state_class = WhiteningLabState
    render = staticmethod(planes)
    questions = {
        "What does whitening change?": (0, 1),
        "Are held-out sentences white, too?": (2,),
        "How does whitening work?": (3,),
    }
    static_grid = ("strategy", "batch_size", "num_groups")

    def __init__(
        self,
        encoder: Any = "mini",
        sentences: Sequence[str] | None = None,
        *,
        vectors: Any = None,
        num_groups: int | None = None,
        batch_size: int | None = None,
        key: str | None = None,
        **shown: Any,
    ) -> None:
        views = given_views(encoder, sentences, vectors, 1, SENTENCES)
        super().__init__(
            WhiteningLabState(
                views[0],
                batch_size=min(len(views[0]) * 4 // 5, len(views[0]) - 2) if batch_size is None else batch_size,
                num_groups=max(views.shape[2] // 2, 1) if num_groups is None else num_groups,
                **shown,
            ),
            key,
        )

    def page_values(self) -> dict[str, Sequence[Any]]:
        batches = [n for n in (16, 64, 512) if n <= self.state.most]
        return {"num_groups": (4, 16, 128), "batch_size": batches, "eps": (1e-10, 1e-6, 1e-2)}


def _two_channels(state: WhiteningLabState, whitened: WhitenedViews) -> Plane:
    """The two channels with the largest correlation of those that are shown, whitened alone, at a stage."""
    import pandas as pd

    some = whitened.batch[:, whitened.fitted.permutation[:CHANNELS]]
    some = some / some.var(0).mean().clamp(min=1e-12).sqrt()
    between = torch.corrcoef(some.T).nan_to_num().abs().fill_diagonal_(0)
    rows = some[:, divmod(int(between.argmax()), len(between))]
    alone = Fitted(rows, "ZCA", 1, state.eps)
    stages = [alone.at(stage, rows) for stage in range(len(STAGES))]
    now = stages[state.stage][:POINTS_DRAWN]
    followed = int((stages[3][:POINTS_DRAWN].norm(dim=1) - 2).abs().argmin())  # two standard deviations away
    spread = alone.scales * alone.stages[2]  # its columns are axes, a standard deviation long
    ends = torch.from_numpy(ELLIPSE) @ spread.T @ alone.stages[state.stage] + stages[state.stage].mean(0)
    x, y = map(rounded, ends.T)
    reach = 1.05 * max(float(one[:POINTS_DRAWN].abs().max()) for one in stages)
    width = {"range": [-reach, reach], "constrain": "domain", "nticks": 6, "zeroline": True, "zerolinecolor": INK}
    numbers = []
    for number, of in enumerate(map(covariance, stages)):
        first, both, _, second = (f"{value + 0:.2f}" for value in of.flatten().numpy().round(2))
        head = f"{number} {STAGES[number]}"
        numbers.append((f"<b>{head}</b>" if number == state.stage else head, f"{first} and {second}", both))
    table = pd.DataFrame(numbers, columns=["stage", "variances", "covariance"])
    _, variances, both = numbers[state.stage]
    return Plane(
        f"Stage {state.stage}, {STAGES[state.stage]}: variances {variances}, covariance {both}",
        [
            _dots("points before", stages[0][:POINTS_DRAWN], BEFORE, 6, 0.4),
            _dots("points", now, AFTER, 7, 0.8),
            go.Scatter(x=x, y=y, uid="ellipse", mode="lines", hoverinfo="skip", line={"color": INK, "width": 2}),
            _dots("one sentence before", stages[0][followed : followed + 1], BEFORE, 13, 1),
            _dots("one sentence", now[followed : followed + 1], AFTER, 17, 1),
        ],
        {"title": {"text": "first channel"}, **width},
        {"title": {"text": "second channel"}, **width},
        square=True,
        tall=520,
        layout={"transition": {"duration": 450, "easing": "cubic-in-out", "ordering": "traces first"}},
        reads=f'<p>A <span style="color:{AFTER}">\u25cf</span> is a sentence'
        + f', <span style="color:{BEFORE}">\u25cf</span> where it was' * (state.stage > 0)
        + ". The ellipse is two standard deviations from the mean in each direction. Whitening makes it a circle. "
        "Play the stages and follow the large dot.</p>" + table.to_html(index=False, escape=False, border=0),
    )


def _dots(uid: str, rows: Tensor, color: str, size: int, opacity: float) -> go.Scatter:
    x, y = map(rounded, rows.T)
    marker = {"color": color, "size": size, "opacity": opacity, "line": {"color": INK, "width": 2 * (size > 9)}}
    hover = "%{x:.2f}, %{y:.2f}<extra></extra>"
    return go.Scatter(x=x, y=y, uid=uid, mode="markers", marker=marker, hovertemplate=hover)


def _covariance(title: str, uid: str, rows: Tensor, unit: float, whitened: WhitenedViews, words: str) -> Plane:
    """The first channels in their shuffled order, so that groups are blocks on the diagonal."""
    values = covariance(rows[:, whitened.fitted.permutation[:CHANNELS]]) / unit
    hover = "channels %{x} and %{y}: %{z:.2f}"
    return matrix(title, heatmap(values.numpy().round(2), uid, 2.0, hover), "channel", words)


def _spectra(state: WhiteningLabState, whitened: WhitenedViews) -> Plane:
    lines = []
    looks = (INK, "dot"), (INK, "dash"), (AFTER, "solid")
    for (name, values), (color, dash) in zip(whitened.variances.items(), looks, strict=True):
        shown = values > 1e-6
        lines.append(
            go.Scatter(
                x=np.flatnonzero(shown) + 1,
                y=values[shown].numpy().astype(np.float32),
                uid=f"spectrum: {name}",
                name=name,
                mode="lines",
                line={"color": color, "dash": dash, "width": 3 if dash == "solid" else 2},
                hovertemplate="axis %{x}: %{y:.3g}<extra>" + name + "</extra>",
            )
        )
    held_out = lines[2].y
    least, most = (float(f"{end:.2g}") for end in (held_out.min(), held_out.max()))
    white = "not" if most > 3 else "nearly"
    return Plane(
        f"Held-out sentences are {white} white: their variances run from {least:,g} to {most:,g}",
        named_at_ends(lines, "spectrum names", log=True),
        {"title": {"text": "principal axis of the batch, largest first"}},
        {"title": {"text": "variance along the axis"}, **decades(np.concatenate([line.y for line in lines]))},
        words=_too_few(state)
        or "Whitening enlarges the smallest axes most. There held-out sentences vary more than the batch.",
    )


def _too_few(state: WhiteningLabState) -> str:
    """A warning where the batch has fewer rows than a group has channels, else nothing."""
    width = state.width // state.groups
    if state.batch_size > width:
        return ""
    return (
        f"{state.batch_size} rows have no variance in {width - state.batch_size + 1} of the {width} "
        f"directions{' of a group' * state.grouped}. "
        "Whitening divides them by the root of the added variance: held-out sentences explode."
    )
