"""The rank bottleneck: how many directions a batch has, and how losses between dimensions use them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import plotly.graph_objects as go
import torch
from torch import Tensor

from cselab.losses import barlow_twins, cross_correlation, dimension_contrastive
from cselab.metrics import barlow_twins_floor, dimension_contrastive_floor

from ..kit.fields import State, shown
from ..kit.panel import Panel, rounded
from ..kit.planes import Plane, decades, heatmap, matrix, named_at_ends, side_by_side
from ..kit.sources import SameArray, named_views
from ..kit.theme import INK, PALETTE, POSITIVE

NORMAL = "normal numbers"
DIMENSIONS = 48  # of the heat map
STEPS = 16  # of the free descent
RATE = 0.2
ARTIFICIAL = (0, 32, 64, 100, 128, 192, 300, 448, 704)
SIZES = (2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768)


@dataclass(frozen=True, eq=False)
class RankLabState(State):
    """Two views of some sentences, the part of them that is used, and the artificial rows.

    Attributes:
        sources: name -> two views [2, n, d].
        source: which of them.
        batch_size, dimensions: the paper's N and D: the first rows and channels are taken.
        artificial_rows: the paper's M, rows of standard normal numbers put beneath both views.
        weight: of the entries off the diagonal, lambda_BT.
        temperature: of the dimension-wise loss (released scale).
        seed: of the artificial rows.
    """

    sources: Mapping[str, np.ndarray]
    source: str = shown("vectors of", "list", "sources")
    batch_size: int = shown("batch size N", "slider", (), 64, at_least=2, at_most="rows")
    dimensions: int = shown("dimensions D", "slider", (), 256, at_least=2, at_most="width")
    artificial_rows: int = shown("artificial rows M", "slider", ARTIFICIAL, 0, at_least=0)
    weight: float = 0.012
    temperature: float = 5.0
    seed: int = 0

    @property
    def rows(self) -> int:
        return self.sources[self.source].shape[1]

    @property
    def width(self) -> int:
        return self.sources[self.source].shape[2]

    @cached_property
    def views(self) -> tuple[Tensor, Tensor]:
        """The two views [N, D] in float64."""
        return _views(SameArray(self.sources[self.source]), self.batch_size, self.dimensions)

    @cached_property
    def extra_rows(self) -> Tensor | None:
        """The same M rows for both views, as in the released code; None where M is 0."""
        return _extra_rows(self.artificial_rows, self.dimensions, self.seed)

    def bound(self, batch_size: int | None = None, centred: bool = False) -> int:
        """The highest rank of `rows` rows."""
        rows = (self.batch_size if batch_size is None else batch_size) + self.artificial_rows
        return min(rows - centred, self.dimensions)

    @cached_property
    def matrices(self) -> dict[str, Tensor]:
        """The cross-correlation as the paper has it, and with the mean of each dimension removed first."""
        one, other = self.views
        if self.extra_rows is not None:
            one, other = torch.cat([one, self.extra_rows]), torch.cat([other, self.extra_rows])
        return {
            "uncentred": cross_correlation(one, other),
            "centred": cross_correlation(one - one.mean(0), other - other.mean(0)),
        }

    @cached_property
    def singular_values(self) -> dict[str, np.ndarray]:
        return {name: torch.linalg.svdvals(values).numpy() for name, values in self.matrices.items()}

    def rank(self, name: str) -> int:
        """Singular values above rounding error."""
        values = self.singular_values[name]
        return int((values > values.max() * len(values) * np.finfo(np.float64).eps).sum())

    @property
    def floors(self) -> dict[str, float]:
        """The lowest each loss can reach."""
        return {
            "Barlow Twins": barlow_twins_floor(self.dimensions, self.bound(), self.weight),
            "dimension-wise": dimension_contrastive_floor(self.dimensions, self.temperature),
        }

    @cached_property
    def descents(self) -> dict[str, list[float]]:
        """Each loss while the rows of the batch, no encoder in the way, follow its gradient."""
        views = SameArray(self.sources[self.source]), self.batch_size, self.dimensions
        return {
            "Barlow Twins": _barlow_twins(*views, self.artificial_rows, self.seed, self.weight),
            "dimension-wise": _dimension_wise(*views, self.temperature),  # which has no artificial rows
        }


def _views(source: SameArray, batch_size: int, dimensions: int) -> tuple[Tensor, Tensor]:
    first, second = torch.from_numpy(source.array[:2, :batch_size, :dimensions]).double()
    return first, second


def _extra_rows(count: int, dimensions: int, seed: int) -> Tensor | None:
    return torch.from_numpy(np.random.default_rng(seed).normal(size=(count, dimensions))) if count else None


@lru_cache(maxsize=64)
def _barlow_twins(source: SameArray, n: int, d: int, artificial: int, seed: int, weight: float) -> list[float]:
    extra = _extra_rows(artificial, d, seed)
    single = None if extra is None else extra.float()
    return descent(_views(source, n, d), lambda a, b: barlow_twins(a, b, weight, single).total)


@lru_cache(maxsize=64)
def _dimension_wise(source: SameArray, n: int, d: int, temperature: float) -> list[float]:
    return descent(_views(source, n, d), lambda a, b: dimension_contrastive(a, b, temperature).total)


def descent(views: Sequence[Tensor], loss: Any) -> list[float]:
    """The loss before each of `STEPS` steps of Adam on the rows themselves, and after the last."""
    scale = torch.stack(tuple(views)).square().mean().sqrt().clamp(min=1e-12)  # a step means the same for all
    rows = [(view / scale).float().requires_grad_() for view in views]
    optimizer = torch.optim.Adam(rows, lr=RATE)
    values = []
    for _ in range(STEPS):
        value = loss(*rows)
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
        values.append(value.item())
    return [*values, loss(*rows).item()]


QUESTIONS = {
    "How many directions do N sentences have?": (0,),
    "Where does the matrix end?": (1, 2),
    "Which loss does that stop?": (3, 4),
}


def figure(state: RankLabState) -> go.Figure:
    """The rank by the batch size; the matrix and its singular values; both losses on their way down."""
    heat = heatmap(
        state.matrices["uncentred"][:DIMENSIONS, :DIMENSIONS].numpy().round(3),
        "matrix",
        1.0,
        "dimensions %{y} and %{x}: %{z:.2f}",
        scale=True,
    )
    planes = [
        _ranks(state),
        _singular_values(state),
        matrix(
            f"The first {len(heat.z)} of {state.dimensions} dimensions",
            heat,
            "dimension",
            "The cross-correlation of the two views. Barlow Twins wants 1 on the diagonal and 0 elsewhere.",
        ),
        _descent(state, "Barlow Twins"),
        _descent(state, "dimension-wise"),
    ]
    return side_by_side(planes, tabs=QUESTIONS)


def summary(state: RankLabState) -> str:
    """Ranks, floors and the losses reached."""
    bound = state.bound()
    lines = [
        f"Cross-correlation of {state.source}: N {state.batch_size}, D {state.dimensions}, "
        f"M {state.artificial_rows} artificial rows",
        f"  rank {state.rank('uncentred')} uncentred, {state.rank('centred')} centred; "
        f"{'full rank' if bound == state.dimensions else f'at most {bound} of {state.dimensions}'}",
    ]
    for name, values in state.descents.items():
        lines.append(
            f"  {name:14}  as it is {values[0]:8.3f}  reached {values[-1]:8.3f}"
            f"  cannot go below {state.floors[name]:8.3f}"
        )
    return "\n".join(lines)


class RankLab(Panel):
    """Why a batch of 64 cannot make 768 dimensions independent, and the way around it (ImSimCSE, section 4).

    Try: N below and above D; then M artificial rows until N + M = D.

    Args:
        encoder: an encoder or its name; two dropout views of `sentences` are correlated, or the one view of an argument
            of `cselab.encoders.as_encoder`.
        sentences: your own; 256 of the bundled world by default.
        vectors: your own two views [2, n, d] in place of an encoder's; of one [n, d] both views are the same.
        batch_size, dimensions, artificial_rows: N, D (all by default) and M.
        weight: lambda_BT; 0.012 in the released code.
        temperature: of the dimension-wise loss; 5 in the paper.
        source: the vectors at first: the encoder's name, "vectors", or "normal numbers" (768 wide).
        key: see `Panel`.

    Raises:
        ValueError: more rows or dimensions than there are, vectors of a wrong shape.

    See also: `cselab.losses.barlow_twins`; `WhiteningLab`, where the same limit meets whitening.

    >>> views = np.random.default_rng(0).normal(size=(2, 12, 32))
    >>> print(str(RankLab(vectors=views, batch_size=8)).splitlines()[1])
      rank 8 uncentred, 7 centred; at most 8 of 32
    """

    holds = RankLabState
    page_together = ("batch_size", "artificial_rows")

    def __init__(
        self,
        encoder: Any = "mini",
        sentences: Sequence[str] | None = None,
        *,
        vectors: Any = None,
        dimensions: int | None = None,
        weight: float = 0.012,
        temperature: float = 5.0,
        source: str | None = None,
        key: str | None = None,
        **shown: Any,
    ) -> None:
        name, views = named_views(encoder, sentences, vectors, 2)
        views = views[:2] if len(views) > 1 else np.concatenate([views, views])
        sources = {name: views, NORMAL: normal_views()}
        source = source or name
        width = sources[source].shape[2] if source in sources else 0
        super().__init__(
            RankLabState(
                sources=sources,
                source=source,
                dimensions=width if dimensions is None else dimensions,
                weight=weight,
                temperature=temperature,
                **shown,
            ),
            key,
        )

    @staticmethod
    def options(state: RankLabState) -> dict[str, list[int]]:
        """As many rows and dimensions as the source has."""
        return {
            "batch_size": sorted({n for n in SIZES if n <= state.rows} | {state.batch_size}),
            "dimensions": sorted({d for d in SIZES if d <= state.width} | {state.dimensions}),
        }

    def _changed(self, changes: Mapping[str, Any]) -> RankLabState:
        """A new source may have fewer rows and dimensions: then all are used."""
        if "source" in changes and changes["source"] in self.state.sources:
            _, rows, width = self.state.sources[changes["source"]].shape
            fits = {"batch_size": min(self.state.batch_size, rows), "dimensions": min(self.state.dimensions, width)}
            changes = {**fits, **changes}
        return super()._changed(changes)

    def page_values(self) -> dict[str, Sequence[Any]]:
        state = self.state
        return {
            "batch_size": [n for n in (16, 64, 256) if n <= state.rows],
            "dimensions": [min(64, state.width), state.width],
            "artificial_rows": (0, 64, 192),
        }

    def vectors(self) -> dict[str, np.ndarray]:
        return {name: values.numpy() for name, values in self.state.matrices.items()}


def normal_views(rows: int = 512, width: int = 768) -> np.ndarray:
    """Two views [2, rows, width] of standard normal vectors, a tenth of their variance noise."""
    clean, *noise = np.random.default_rng(0).normal(size=(3, rows, width))
    return np.stack([0.9**0.5 * clean + 0.1**0.5 * each for each in noise]).astype(np.float32)


def _ranks(state: RankLabState) -> Plane:
    knee, rank = max(state.dimensions - state.artificial_rows, 0), state.rank("uncentred")
    top = 1.15 * state.dimensions
    far = max(1.6 * state.dimensions, 1.1 * state.batch_size)
    sizes = sorted({0, *(n for n in SIZES if n < far), state.batch_size, knee, round(far)})
    lines = [
        go.Scatter(
            x=sizes,
            y=[state.bound(n) for n in sizes],
            uid="bound",
            name="highest rank",
            mode="lines",
            line={"color": PALETTE[0], "width": 3},
            hovertemplate="N = %{x}: at most %{y}<extra></extra>",
            showlegend=False,
        ),
        go.Scatter(
            x=[0, round(far)],
            y=[state.dimensions] * 2,
            uid="dimensions",
            mode="lines",
            hoverinfo="skip",
            showlegend=False,
            line={"color": INK, "dash": "dot", "width": 1.5},
        ),
        go.Scatter(
            x=[state.batch_size],
            y=[rank],
            uid="measured",
            mode="markers+text",
            text=[f"  this batch: {rank}"],
            textposition="bottom right" if rank > 0.1 * state.dimensions else "top right",
            marker={"color": POSITIVE, "size": 13},
            hovertemplate="N = %{x}: rank %{y}<extra>this batch</extra>",
            showlegend=False,
        ),
    ]
    more = f" and {state.artificial_rows} artificial rows" if state.artificial_rows else ""
    return Plane(
        f"{state.batch_size} sentences{more}: rank {rank} of {state.dimensions}",
        lines,
        {"title": {"text": "batch size N"}, "range": [0, round(far)]},
        {"title": {"text": "rank"}, "range": [0, top]},
        words=f"The matrix has {state.dimensions} dimensions (dotted). Each sentence adds one direction, until all are "
        f"there. With the mean removed the rank is {state.rank('centred')}.",
    )


def _singular_values(state: RankLabState) -> Plane:
    lines = []
    for name, color, dash in (("uncentred", PALETTE[0], "solid"), ("centred", PALETTE[1], "dash")):
        values = state.singular_values[name][: state.rank(name)]
        lines.append(
            go.Scatter(
                x=list(range(1, len(values) + 1)),
                y=[float(f"{value:.4g}") for value in values],
                uid=f"singular values: {name}",
                name=name,
                mode="lines",
                line={"color": color, "dash": dash, "width": 2.5},
                hovertemplate="%{x}: %{y:.3g}<extra>" + name + "</extra>",
            )
        )
    x = {"title": {"text": f"number, of D = {state.dimensions}"}, "range": [0, state.dimensions * 1.03]}
    return Plane(
        f"After {state.rank('uncentred')} singular values the rest are 0",
        named_at_ends(lines, "names", log=True),
        x,
        {"title": {"text": "singular value"}, **decades(value for line in lines for value in line.y)},
        words="Where a line ends, the directions end: no loss can move the others.",
    )


def _descent(state: RankLabState, name: str) -> Plane:
    values, floor = state.descents[name], state.floors[name]
    steps = list(range(len(values)))
    lines = [
        go.Scatter(
            x=steps,
            y=rounded(values),
            uid=name,
            name="the loss",
            mode="lines",
            line={"color": PALETTE[0], "width": 3},
            hovertemplate="step %{x}: %{y:.3f}<extra></extra>",
        ),
        go.Scatter(
            x=[steps[0], steps[-1]],
            y=rounded([floor, floor]),
            uid=f"{name}: floor",
            name="its floor",
            mode="lines",
            line={"color": INK, "dash": "dot", "width": 2},
            hovertemplate="lowest %{y:.3f}<extra></extra>",
        ),
    ]
    y = {"title": {"text": "loss"}, "automargin": True}
    log = name == "Barlow Twins"
    if log:
        y |= decades([value for value in [*values, floor] if value > 0] or [1.0])
    else:
        room = 0.08 * (max(values) - floor)
        y |= {"range": [min(floor, *values) - room, max(values) + room]}
    stopped = "the rank stops it there" if log and floor > 0 else "the rank does not stop it"
    return Plane(
        f"{name}: down to {values[-1]:.4g}, floor {floor:.4g}",
        named_at_ends(lines, f"{name}: names", log=log),
        {"title": {"text": "step of the rows themselves"}},
        y,
        words=f"The rows follow the gradient, with no encoder in the way; {stopped}.",
    )
