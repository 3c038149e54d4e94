"""The rank bottleneck: how many directions a batch has, and how far losses between dimensions can fall."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import plotly.graph_objects as go
import torch
from torch import Tensor
from torch.nn.functional import normalize

from cselab.losses import barlow_twins, cross_correlation, dimension_contrastive
from cselab.metrics import barlow_twins_floor, dimension_contrastive_floor

from ..kit.fields import State, shown
from ..kit.panel import Panel
from ..kit.panel_vectors import named_views
from ..kit.planes import Plane, decades, heatmap, matrix, named_at_ends, rounded
from ..kit.theme import AFTER, BEFORE, INK, OURS

NORMAL = "normal numbers"
DIMENSIONS = 48  # of the heat map
ARTIFICIAL = (0, 32, 64, 100, 128, 192, 300, 448, 704)
BOUND, EXCLUDED = INK, "rgba(128, 128, 128, 0.16)"
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
    batch_size: int = shown("batch size N", "slider", (), 64, ge=2, le="rows")
    dimensions: int = shown("dimensions D", "slider", (), 256, ge=2, le="width")
    artificial_rows: int = shown("artificial rows M", "slider", ARTIFICIAL, 0, ge=0)
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
        first, second = torch.from_numpy(self.sources[self.source][:2, : self.batch_size, : self.dimensions]).double()
        return first, second

    @cached_property
    def extra_rows(self) -> Tensor | None:
        """The same M rows for both views, as in the released code; None where M is 0."""
        size = self.artificial_rows, self.dimensions
        return torch.from_numpy(np.random.default_rng(self.seed).normal(size=size)) if self.artificial_rows else None

    def bound(self, batch_size: int | None = None) -> int:
        """The highest rank with so many sentences, by default those of the batch."""
        return min((batch_size or self.batch_size) + self.artificial_rows, self.dimensions)

    @cached_property
    def both(self) -> dict[str, list[Tensor]]:
        """The views above the artificial rows, and with the mean of each dimension removed: what is correlated."""
        extra = [] if self.extra_rows is None else [self.extra_rows]
        views = [torch.cat([view, *extra]) for view in self.views]
        return {"uncentred": views, "centred": [view - view.mean(0) for view in views]}

    @cached_property
    def singular_values(self) -> dict[str, np.ndarray]:
        """The singular values of the two matrices, one per row."""
        found = {}
        for name, views in self.both.items():
            one, other = (normalize(view, dim=0) for view in views)
            if len(one) < self.dimensions:  # small triangular factors have the same singular values
                one, other = (torch.linalg.qr(view.T, mode="r").R.T for view in (one, other))
            found[name] = torch.linalg.svdvals(one.T @ other).numpy()
        return found

    def rank(self, name: str) -> int:
        """Singular values above rounding error."""
        values = self.singular_values[name]
        return int((values > values.max() * self.dimensions * np.finfo(np.float64).eps).sum())

    @cached_property
    def floors(self) -> dict[str, float]:
        """The lowest that each loss can reach with this batch."""
        return {
            "Barlow Twins": barlow_twins_floor(self.dimensions, self.bound(), self.weight),
            "dimension-wise": dimension_contrastive_floor(self.dimensions, self.temperature),
        }

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The batch sizes of the lines: to where the batch has all dimensions, and beyond."""
        knee = max(self.dimensions - self.artificial_rows, 2)
        far = round(max(1.6 * self.dimensions, 1.1 * self.rows))
        return tuple(sorted({2, *(n for n in SIZES if n < far), knee, far}))

    @cached_property
    def losses(self) -> dict[str, float]:
        """The losses of the batch, with vectors as long as artificial rows, which the dimension-wise loss omits."""
        scale = torch.stack(self.views).square().mean().sqrt().clamp(min=1e-12)
        one, other = (view / scale for view in self.views)
        return {
            "Barlow Twins": barlow_twins(one, other, self.weight, self.extra_rows).total.item(),
            "dimension-wise": dimension_contrastive(one, other, self.temperature).total.item(),
        }


QUESTIONS = {
    "How low can the loss get?": (0, 1),
    "How many directions do N sentences have?": (2, 3),
    "How many singular values are above 0?": (4,),
}


@lru_cache(maxsize=64)
def _barlow_floors(sizes: tuple[int, ...], dimensions: int, artificial_rows: int, weight: float) -> list[float]:
    """The floor of Barlow Twins by batch size, which the batch itself does not change."""
    ranks = (min(size + artificial_rows, dimensions) for size in sizes)
    return rounded(barlow_twins_floor(dimensions, rank, weight) for rank in ranks)


def planes(state: RankLabState) -> list[Plane]:
    """How far each loss can fall; the rank by the batch size, and the matrix; its singular values."""
    heat = heatmap(
        cross_correlation(*(view[:, :DIMENSIONS] for view in state.both["uncentred"])).numpy().round(3),
        "matrix",
        1.0,
        "dimensions %{y} and %{x}: %{z:.2f}",
        scale=True,
    )
    return [
        *_floors(state),
        _ranks(state),
        matrix(
            f"The first {len(heat.z)} of {state.dimensions} dimensions",
            heat,
            "dimension",
            "The cross-correlation of the views. Barlow Twins pulls the diagonal to 1 and the rest to 0.",
        ),
        _singular_values(state),
    ]


def summary(state: RankLabState) -> str:
    """Ranks, floors and the losses reached."""
    bound = state.bound()
    lines = [
        f"Cross-correlation of {state.source}: N {state.batch_size}, D {state.dimensions}, "
        f"M {state.artificial_rows} artificial rows",
        f"  rank {state.rank('uncentred')} uncentred, {state.rank('centred')} centred; "
        f"{'full rank' if bound == state.dimensions else f'at most {bound} of {state.dimensions}'}",
    ]
    for name, floor in state.floors.items():
        lines.append(f"  {name:14}  now {state.losses[name]:8.3f}  lowest possible {floor:8.3f}")
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
        source: the vectors at first: the encoder's name, "vectors", or "normal numbers" (256 wide).
        key: see `Panel`.

    Raises:
        ValueError: more rows or dimensions than exist, vectors of a wrong shape.

    See also: `cselab.losses.barlow_twins`; `WhiteningLab`, where the same limit meets whitening.

    >>> views = np.random.default_rng(0).normal(size=(2, 12, 32))
    >>> print(str(RankLab(vectors=views, batch_size=8)).splitlines()[1])
      rank 8 uncentred, 7 centred; at most 8 of 32
    """

    state_class = RankLabState
    render = staticmethod(planes)
    alt_text = staticmethod(summary)
    questions = QUESTIONS
    static_grid = ("batch_size", "artificial_rows")

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
        return {name: cross_correlation(*views).numpy() for name, views in self.state.both.items()}


def normal_views() -> np.ndarray:
    """Two views [2, 256, 256] of standard normal vectors, a tenth of their variance noise."""
    clean, *noise = np.random.default_rng(0).normal(size=(3, 256, 256))
    return np.stack([0.9**0.5 * clean + 0.1**0.5 * each for each in noise]).astype(np.float32)


def _by_size(
    state: RankLabState, name: str, bound: Sequence[float], value: float, here: str, fill: str
) -> tuple[list[go.Scatter], dict]:
    """A bound of each batch size as a line, what it excludes as a shadow, this batch's `value` as a point; the axis."""
    traces = [
        go.Scatter(
            x=list(state.sizes),
            y=bound,
            uid=name,
            mode="lines",
            line={"color": BOUND, "width": 3},
            fill=fill,
            fillcolor=EXCLUDED,
            hovertemplate="N = %{x}: %{y}<extra></extra>",
        ),
        go.Scatter(
            x=[state.batch_size],
            y=[value],
            uid=f"{name}: this batch",
            mode="markers+text",
            text=[f"  this batch: {here}"],
            textposition="middle right",
            marker={"color": OURS, "size": 15},
            cliponaxis=False,
            hovertemplate="N = %{x}: %{y}<extra>this batch</extra>",
        ),
    ]
    return traces, {"title": {"text": "batch size N"}, "range": [0, state.sizes[-1]]}


def _ranks(state: RankLabState) -> Plane:
    rank = state.rank("uncentred")
    bound = [state.bound(size) for size in state.sizes]
    lines, x = _by_size(state, "bound", bound, rank, str(rank), "none")
    lines[1].textposition = "bottom right" if rank > 0.1 * state.dimensions else "top right"
    lines.append(
        go.Scatter(
            x=x["range"],
            y=[state.dimensions] * 2,
            uid="dimensions",
            mode="lines",
            hoverinfo="skip",
            line={"color": INK, "dash": "dot", "width": 1.5},
        )
    )
    return Plane(
        f"{_rows(state)}: rank {rank} of {state.dimensions}",
        lines,
        x,
        {"title": {"text": "rank"}, "range": [0, 1.15 * state.dimensions]},
        words=f"Each sentence adds one direction, up to all {state.dimensions} (dotted). With the mean removed the "
        f"rank is {state.rank('centred')}.",
    )


def _singular_values(state: RankLabState) -> Plane:
    lines = []
    for name, color, dash in (("uncentred", BEFORE, "solid"), ("centred", AFTER, "dash")):
        values = state.singular_values[name][: state.rank(name)]
        lines.append(
            go.Scatter(
                x=np.arange(1, len(values) + 1),
                y=values.astype(np.float32),
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
        {"title": {"text": "singular value"}, **decades(np.concatenate([line.y for line in lines]))},
        words="A line ends where the singular values become 0; no loss can change the remaining directions.",
    )


def _floors(state: RankLabState) -> list[Plane]:
    """How low each loss can get: Barlow Twins depends on the batch size, the dimension-wise loss does not."""
    barlow = _barlow_floors(state.sizes, state.dimensions, state.artificial_rows, state.weight)
    flat = rounded([state.floors["dimension-wise"]]) * len(state.sizes)
    enough = state.bound() == state.dimensions
    answers = {
        "Barlow Twins": (
            f"N + M = {state.batch_size + state.artificial_rows} reaches all {state.dimensions} dimensions: "
            "Barlow Twins can fall to 0"
            if enough
            else f"With {_rows(state)}, Barlow Twins cannot fall below {state.floors['Barlow Twins']:.3g}",
            "No vectors reach the shadow. Each sentence and each artificial row lowers the line.",
        ),
        "dimension-wise": (
            f"The dimension-wise loss: {state.floors['dimension-wise']:.3g}, whatever the batch",
            "The line does not depend on N, so rank does not stop this loss.",
        ),
    }
    drawn = []
    for (name, (answer, words)), line in zip(answers.items(), (barlow, flat), strict=True):
        loss = state.losses[name]
        lines, x = _by_size(state, name, line, round(loss, 4), f"{loss:.3g}", "tozeroy")
        highest, lowest = max(loss, *line[2:]), min(line)
        low = 0.0 if name == "Barlow Twins" else lowest - 0.5 * (highest - lowest)
        y = {"title": {"text": "loss"}, "range": [low, highest + 0.12 * (highest - low)]}
        drawn.append(Plane(answer, lines, x, y, words=words))
    return drawn


def _rows(state: RankLabState) -> str:
    more = f" and {state.artificial_rows} artificial rows" if state.artificial_rows else ""
    return f"{state.batch_size} sentences{more}"
