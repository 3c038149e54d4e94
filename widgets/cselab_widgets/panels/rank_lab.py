"""The rank bottleneck: how many directions a batch has, and how far losses between dimensions can fall."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import plotly.graph_objects as go
import torch
from torch import Tensor
from torch.nn.functional import normalize

from cselab.losses import barlow_twins, dimension_contrastive
from cselab.metrics import barlow_twins_floor, dimension_contrastive_floor

from ..kit.fields import State, shown
from ..kit.panel import Panel
from ..kit.panel_vectors import given_views
from ..kit.planes import Plane, decades, rounded, written
from ..kit.theme import INK, OURS

ARTIFICIAL = (0, 32, 64, 100, 128, 192, 300, 448, 704)
BROKEN = 4  # sentences
TEMPERATURE = 5.0  # of the dimension-wise loss, in the paper
WEIGHT = 0.012  # lambda_BT of the released code
EXCLUDED = "rgba(128, 128, 128, 0.16)"
SIZES = (2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768)


@dataclass(frozen=True, eq=False)
class RankLabState(State):
    """Two views of some sentences, the part of them that is used, and the artificial rows.

    Attributes:
        pair: two views of n sentences [2, n, d].
        batch_size, dimensions: the paper's N and D: the first rows and channels are taken.
        broken: a batch of `BROKEN` sentences in place of N.
        artificial_rows: the paper's M, rows of standard normal numbers put beneath both views.
        seed: of the artificial rows.
    """

    pair: np.ndarray
    batch_size: int = shown("batch size N", "slider", (), 64, ge=2, le="rows", when="whole")
    broken: bool = shown(f"break it: N = {BROKEN}", "toggle", (), False)
    dimensions: int = shown("dimensions D", "slider", (), 256, ge=2, le="width")
    artificial_rows: int = shown("artificial rows M", "slider", ARTIFICIAL, 0, ge=0)
    seed: int = 0

    @property
    def rows(self) -> int:
        return self.pair.shape[1]

    @property
    def width(self) -> int:
        return self.pair.shape[2]

    @property
    def whole(self) -> bool:
        return not self.broken

    @property
    def size(self) -> int:
        """N, the number of sentences in use."""
        return min(self.batch_size, BROKEN) if self.broken else self.batch_size

    @cached_property
    def views(self) -> tuple[Tensor, Tensor]:
        """The two views [N, D] in float64."""
        first, second = torch.from_numpy(self.pair[:, : self.size, : self.dimensions]).double()
        return first, second

    @cached_property
    def extra_rows(self) -> Tensor | None:
        """The same M rows for both views, as in the released code; None where M is 0."""
        size = self.artificial_rows, self.dimensions
        return torch.from_numpy(np.random.default_rng(self.seed).normal(size=size)) if self.artificial_rows else None

    @property
    def bound(self) -> int:
        """The highest rank with so many sentences and artificial rows."""
        return min(self.size + self.artificial_rows, self.dimensions)

    @property
    def enough(self) -> int:
        """The smallest batch, of at least two, whose correlations can have full rank."""
        return max(self.dimensions - self.artificial_rows, 2)

    @cached_property
    def correlated(self) -> list[Tensor]:
        """The views above the artificial rows."""
        extra = [] if self.extra_rows is None else [self.extra_rows]
        return [torch.cat([view, *extra]) for view in self.views]

    @cached_property
    def singular_values(self) -> np.ndarray:
        """The singular values of the correlations, one per row."""
        one, other = (normalize(view, dim=0) for view in self.correlated)
        if len(one) < self.dimensions:  # small triangular factors have the same singular values
            one, other = (torch.linalg.qr(view.T, mode="r").R.T for view in (one, other))
        return torch.linalg.svdvals(one.T @ other).numpy()

    @property
    def rank(self) -> int:
        """Singular values above rounding error."""
        values = self.singular_values
        return int((values > values.max() * self.dimensions * np.finfo(np.float64).eps).sum())

    @cached_property
    def floors(self) -> dict[str, float]:
        """The lowest that each loss can reach with this batch."""
        return {
            "Barlow Twins": barlow_twins_floor(self.dimensions, self.bound, WEIGHT),
            "dimension-wise": dimension_contrastive_floor(self.dimensions, TEMPERATURE),
        }

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The batch sizes of the lines: to where the batch has all dimensions, and beyond."""
        far = round(max(1.6 * self.dimensions, 1.1 * self.rows))
        return tuple(sorted({*np.geomspace(min(8, self.size // 2), far, 60).astype(int).tolist(), self.enough}))

    @cached_property
    def losses(self) -> dict[str, float]:
        """The losses of the batch, with vectors as long as artificial rows, which the dimension-wise loss omits."""
        scale = torch.stack(self.views).square().mean().sqrt().clamp(min=1e-12)
        one, other = (view / scale for view in self.views)
        return {
            "Barlow Twins": barlow_twins(one, other, WEIGHT, self.extra_rows).total.item(),
            "dimension-wise": dimension_contrastive(one, other, TEMPERATURE).total.item(),
        }


@lru_cache(maxsize=64)
def _barlow_floors(sizes: tuple[int, ...], dimensions: int, artificial_rows: int) -> list[float]:
    """The floor of Barlow Twins by batch size, which the batch itself does not change."""
    ranks = (min(size + artificial_rows, dimensions) for size in sizes)
    return rounded(barlow_twins_floor(dimensions, rank, WEIGHT) for rank in ranks)


def planes(state: RankLabState) -> list[Plane]:
    """How far each loss can fall; the singular values of the correlations."""
    return [_floors(state), _singular_values(state)]


class RankLab(Panel):
    """Why a small batch cannot make all dimensions independent, and the way around it (ImSimCSE, section 4).

    Try: *break it*; then N below and above D, and M artificial rows until N + M = D.

    Args:
        encoder: an encoder or its name; two dropout views of `sentences` are correlated, or the one view of an argument
            of `cselab.encoders.as_encoder`.
        sentences: your own; 256 of the bundled world by default.
        vectors: your own two views [2, n, d] in place of an encoder's; of one [n, d] both views are the same.
        batch_size, dimensions, artificial_rows: N, D (all by default) and M.
        key: see `Panel`.

    Raises:
        ValueError: more rows or dimensions than exist, vectors of a wrong shape.

    See also: `cselab.losses.barlow_twins`; `WhiteningLab`, where the same limit meets whitening.

    >>> views = np.random.default_rng(0).normal(size=(2, 12, 32))
    >>> print(str(RankLab(vectors=views, batch_size=8)).splitlines()[-2])
    8 sentences span only 8 of 32 directions
    """

    state_class = RankLabState
    render = staticmethod(planes)
    questions = {"How low can the loss get?": (0,), "How many directions does a batch have?": (1,)}
    static_grid = ("batch_size", "artificial_rows", "broken")

    def __init__(
        self,
        encoder: Any = "mini",
        sentences: Sequence[str] | None = None,
        *,
        vectors: Any = None,
        dimensions: int | None = None,
        key: str | None = None,
        **shown: Any,
    ) -> None:
        views = given_views(encoder, sentences, vectors, 2)
        views = views[:2] if len(views) > 1 else np.concatenate([views, views])
        dimensions = views.shape[2] if dimensions is None else dimensions
        super().__init__(RankLabState(views, dimensions=dimensions, **shown), key)

    @staticmethod
    def options(state: RankLabState) -> dict[str, list[int]]:
        """As many rows and dimensions as there are."""
        return {
            "batch_size": sorted({n for n in SIZES if n <= state.rows} | {state.batch_size}),
            "dimensions": sorted({d for d in SIZES if d <= state.width} | {state.dimensions}),
        }

    def page_values(self) -> dict[str, Sequence[Any]]:
        state = self.state
        return {
            "batch_size": [n for n in (16, 64, 256) if n <= state.rows],
            "dimensions": [min(64, state.width), state.width],
            "artificial_rows": (0, 64, 192),
        }


def _singular_values(state: RankLabState) -> Plane:
    rank, end = state.rank, state.dimensions
    values = state.singular_values[:rank]
    axis = decades(values)
    low, high = (10**limit for limit in axis["range"])
    line = go.Scatter(
        x=np.arange(1, rank + 1),
        y=values.astype(np.float32),
        uid="singular values",
        mode="lines",
        line={"color": OURS, "width": 3},
        hovertemplate="%{x}: %{y:.3g}<extra></extra>",
    )
    missing = go.Scatter(
        x=[rank, end, end, rank],
        y=[low, low, high, high],
        uid="missing",
        mode="lines",
        fill="toself",
        fillcolor=EXCLUDED,
        line={"width": 0, "color": INK},
        hoverinfo="skip",
        visible=rank < end,
    )
    ticks = [1, end] if end < 1.2 * rank else [1, rank, end]
    words = [f"{end - rank} directions<br>are missing"]
    middle = [(rank + end) / 2], [float(np.sqrt(low * high))]
    told = written(*middle, words, "missing: words", "middle center", visible=rank < 0.7 * end)
    return Plane(
        f"{_rows(state)} span {'all' if rank == end else f'only {rank} of'} {end} directions",
        [missing, line, told],
        {"title": {"text": f"direction (of {end})"}, "range": [0, end], "tickvals": ticks},
        {"title": {"text": "singular value"}, **axis},
        words="As in the loss, correlations include the mean of the sentences: so the first singular value is large. "
        + ("Barlow Twins can reach 0." if rank == end else "Missing directions keep Barlow Twins above 0."),
    )


def _floors(state: RankLabState) -> Plane:
    """How low Barlow Twins can get, by the size of the batch."""
    sizes, lowest = list(state.sizes), state.floors["Barlow Twins"]
    line = go.Scatter(
        x=sizes,
        y=_barlow_floors(state.sizes, state.dimensions, state.artificial_rows),
        uid="Barlow Twins",
        mode="lines",
        fill="tozeroy",
        fillcolor=EXCLUDED,
        line={"color": OURS, "width": 3},
        hovertemplate="N = %{x}: %{y:.3g}<extra></extra>",
    )
    ends = {state.size: lowest, state.enough: 0.0} if lowest else {state.size: 0.0}
    x, y = list(ends), rounded(ends.values())
    traces = [
        line,
        go.Scatter(x=x, y=y, uid="ends", mode="markers", marker={"color": OURS, "size": [13, 9]}),
        written(x, y, [f"\u2002<b>{value:.3g}</b><br>\u00a0" for value in y], "numbers", "top right"),
        written(sizes[1:2], [0.25 * line.y[0]], ["out of reach"], "out of reach", visible=line.y[0] > 0),
    ]
    answer = (
        f"With {_rows(state)}, Barlow Twins cannot fall below {lowest:.3g}; with {state.enough} it can reach 0"
        if lowest
        else f"{_rows(state)} reach all {state.dimensions} dimensions: Barlow Twins can fall to 0"
    )
    told = [f"{state.losses[name]:.3g}, at best {floor:.3g} ({name})" for name, floor in state.floors.items()]
    return Plane(
        answer,
        traces,
        {
            "title": {"text": "batch size N (sentences)"},
            "type": "log",
            "range": np.log10([sizes[0], 1.1 * sizes[-1]]),
            "tickvals": [4, 16, 64, 256, 1024],
        },
        {"title": {"text": "lowest loss of Barlow Twins"}, "rangemode": "tozero"},
        words=f"The loss of this batch: {' and '.join(told)}. The batch size limits only Barlow Twins. "
        "Artificial rows count as sentences.",
    )


def _rows(state: RankLabState) -> str:
    more = f" and {state.artificial_rows} artificial rows" if state.artificial_rows else ""
    return f"{state.size} sentences{more}"
