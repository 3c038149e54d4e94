"""Dropout noise: how wide the cloud of one sentence is, and the effect of noise on positives and negatives."""

import copy
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go
import torch
from sklearn.metrics.pairwise import cosine_similarity

from cselab.encoders.any_encoder import as_encoder
from cselab.encoders.encoder import SentenceEncoder
from cselab.encoders.heads import MLPHead

from ..kit.fields import State, shown
from ..kit.panel import Panel
from ..kit.panel_vectors import dropout_views, sentences_or_world, stacked_views
from ..kit.planes import Plane, rounded, written
from ..kit.theme import ANCHOR, INK, NEGATIVE, POSITIVE

if TYPE_CHECKING:
    import pandas

KINDS = ("SimCSE", "+noise", "-noise", "off-dropout")
LARGEST_K = 20  # the largest K
VARIANCES = (0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
SIDES = (("positives", POSITIVE, "rgba(194, 82, 0, 0.5)"), ("negatives", NEGATIVE, "rgba(107, 107, 107, 0.5)"))
COLUMNS = 48  # of dots, over the whole axis
HEAP = 12  # pixels a dot
DRAWN = (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30)  # masks, one by one at first


@dataclass(frozen=True, eq=False)
class NoiseLabState(State):
    """Many dropout passes of some sentences, and how they are looked at.

    Attributes:
        sentences: n of them.
        passes: vectors [p, n, d] with dropout, each pass with its own masks.
        clean: vectors [n, d] with dropout off.
        sentence: the row whose cloud is shown.
        drawn: how many of its passes are shown, each with a dropout mask of its own; 0 means all.
        variance: of the Gaussian that +noise adds to each coordinate, as `cselab.methods.Noise` does in training.
        mean_of: the K of -noise: each view is the mean of K passes.
    """

    sentences: tuple[str, ...]
    passes: np.ndarray
    clean: np.ndarray
    sentence: int = shown("sentence", "list", "named", 0, asked=(0,))
    drawn: int = shown("masks", "steps", "counts", 0, asked=(0,))
    variance: float = shown("variance of +noise", "slider", VARIANCES, 0.1, ge=0, asked=(1,))
    mean_of: int = shown("mean of K passes", "slider", "sizes", 10, ge=1, le="most", asked=(1,))

    def __post_init__(self) -> None:
        if not self.drawn:
            object.__setattr__(self, "drawn", len(self.passes))
        super().__post_init__()

    @property
    def counts(self) -> list[int]:
        """The numbers of masks that a player goes through."""
        return [*(n for n in DRAWN if n < len(self.passes)), len(self.passes)]

    @property
    def named(self) -> list[tuple[str, int]]:
        """The sentences as a list offers them."""
        return [(textwrap.shorten(text, 32, placeholder="\u2026"), row) for row, text in enumerate(self.sentences)]

    @property
    def sizes(self) -> range:
        return range(1, self.most + 1)

    @property
    def most(self) -> int:
        """The largest K for which two disjoint sets of passes exist."""
        return min(LARGEST_K, len(self.passes) // 2)

    @cached_property
    def views(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """The two views [n, d] of each of `KINDS`."""
        first, second = self.passes[0], self.passes[1]
        one, other = self.variance**0.5 * self.unit_noise
        return {
            "SimCSE": (first, second),
            "+noise": (first + one, second + other),
            "-noise": self.means_of(self.mean_of),
            "off-dropout": (self.clean, self.clean),
        }

    @cached_property
    def unit_noise(self) -> np.ndarray:
        """The Gaussian noise of both views at variance 1, [2, n, d]."""
        return np.random.default_rng(0).normal(size=(2, *self.clean.shape))

    def means_of(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Two means of k passes each, no pass in both."""
        return self.passes[0::2][:k].mean(0), self.passes[1::2][:k].mean(0)

    @cached_property
    def cosines(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """The cosines of positives [n] and of negatives [n (n - 1)], for each kind."""
        by_kind = {}
        for kind, (one, other) in self.views.items():
            cosines = cosine_similarity(one, other)
            by_kind[kind] = np.diagonal(cosines), cosines[~np.eye(len(cosines), dtype=bool)]
        return by_kind

    @cached_property
    def clouds(self) -> "Clouds":
        return Clouds(self.passes, self.clean)


class Clouds:
    """The cloud of each sentence on the unit sphere, and the nearest neighbour.

    Attributes:
        radius: root mean square distance of a sentence's passes to its off-dropout vector, [n].
        nearest: the row of the nearest neighbour, [n].
        distance: how far away its off-dropout vector is, [n].
        moved: the distance of each pass to the off-dropout vector, [p, n].
        apart: the distances between off-dropout vectors, [n, n].
    """

    def __init__(self, passes: np.ndarray, clean: np.ndarray) -> None:
        passes, clean = _directions(passes), _directions(clean)
        self.moved = np.linalg.norm(passes - clean, axis=2)
        self.radius = np.sqrt(np.square(self.moved).mean(0))
        self.apart = np.linalg.norm(clean[:, None] - clean[None], axis=2)
        np.fill_diagonal(self.apart, np.inf)
        self.nearest, self.distance = self.apart.argmin(1), self.apart.min(1)


def _directions(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def planes(state: NoiseLabState) -> list[Plane]:
    """A sentence's cloud; the cosines under each noise."""
    return [_cloud(state), _cosines(state)]


class NoiseLab(Panel):
    """Dropout noise in positives and in negatives (ImSimCSE, section 3).

    Try: press play, which draws one dropout mask after another; +noise until the boxes overlap.

    Args:
        encoder: an encoder or its name; its dropout makes the passes. They are looked at as the loss sees them, after
            the training head: the encoder's, or SimCSE's Linear + tanh as it is before the first step.
        sentences: at least 4; 24 of the bundled world by default.
        passes: how many dropout passes; two disjoint sets of K are taken of them.
        vectors: your own passes [p, n, d] in place of an encoder's, with their `clean` [n, d].
        variance, mean_of: of +noise and -noise; see `NoiseLabState`. K is 10 by default, as in the paper.
        key: see `Panel`.

    Raises:
        ValueError: fewer than 4 sentences or passes, vectors without `clean` or of wrong shapes, K too large.

    See also: `cselab.methods.Noise`, which trains these rows; `cselab.losses.off_dropout_info_nce`.

    >>> generator = np.random.default_rng(0)
    >>> clean = generator.normal(size=(4, 8))
    >>> lab = NoiseLab(vectors=clean + generator.normal(size=(40, 4, 8)), clean=clean)
    >>> print(str(lab).splitlines()[0])
    Dropout moves this sentence 0.89; the nearest sentence is 1.28 away
    """

    state_class = NoiseLabState
    render = staticmethod(planes)
    questions = {"How far does dropout move a sentence?": (0,), "What does noise do to cosines?": (1,)}
    static_grid = ("variance", "mean_of")

    def __init__(
        self,
        encoder: SentenceEncoder | str = "mini",
        sentences: Sequence[str] | None = None,
        *,
        passes: int = 2 * LARGEST_K,
        vectors: Any = None,
        clean: Any = None,
        mean_of: int | None = None,
        key: str | None = None,
        **shown: Any,
    ) -> None:
        if vectors is None:
            model, sentences = as_encoder(encoder), sentences_or_world(sentences, 24)
            if len(sentences) < 4:
                raise ValueError(f"sentences has {len(sentences)} entries; neighbours need at least 4.")
            drawn, still = (dropout_views(model, sentences, passes), dropout_views(model, sentences, 1, dropout=False))
            # A model without dropout would give the same vector every time.
            if not np.ptp(drawn, axis=0).any():
                raise ValueError("encoder has no dropout, so all its passes are identical; set encoder.dropout = 0.1.")
            drawn, still = _after_head(model, drawn), _after_head(model, still)[0]
        else:
            if clean is None:
                raise ValueError("clean is missing: with vectors, pass also the vectors [n, d] without dropout.")
            drawn, still = stacked_views(vectors, "vectors"), stacked_views(clean, "clean")[0]
            if drawn.shape[1:] != still.shape:
                raise ValueError(f"vectors has shape {drawn.shape}, clean {still.shape}: rows and width must agree.")
            sentences = [f"sentence {row}" for row in range(len(still))] if sentences is None else list(sentences)
            if len(sentences) != len(still):
                raise ValueError(f"sentences has {len(sentences)} entries for {len(still)} rows of vectors.")
        if len(drawn) < 4:
            raise ValueError(f"{len(drawn)} passes were given; at least 4 are needed, two for each view.")
        clouds = Clouds(drawn, still)  # it opens on the sentence in the middle
        shown.setdefault("sentence", int(np.argsort(clouds.radius - clouds.distance)[len(still) // 2]))
        state = NoiseLabState(
            sentences=tuple(sentences),
            passes=drawn,
            clean=still,
            mean_of=min(10, len(drawn) // 2) if mean_of is None else mean_of,
            **shown,
        )
        super().__init__(state, key)

    def to_frame(self) -> "pandas.DataFrame":
        """A row for each sentence: the radius of its cloud, the nearest neighbour and its distance."""
        import pandas as pd

        clouds = self.state.clouds
        return pd.DataFrame(
            {
                "sentence": self.state.sentences,
                "radius": clouds.radius,
                "nearest": [self.state.sentences[row] for row in clouds.nearest],
                "distance": clouds.distance,
            }
        )

    def page_values(self) -> dict[str, Sequence[Any]]:
        return {"variance": (0.0, 0.01, 0.1, 0.5), "mean_of": (1, 2, 5, self.state.most)}


def _after_head(encoder: SentenceEncoder, rows: np.ndarray) -> np.ndarray:
    """The views of the loss from such vectors [p, n, d]."""
    head = encoder.head or MLPHead(encoder.hidden_size, torch.Generator().manual_seed(0))
    with torch.no_grad():
        seen = copy.deepcopy(head).cpu().eval()(torch.from_numpy(rows).flatten(0, 1))
    return seen.unflatten(0, rows.shape[:2]).numpy()


def _cloud(state: NoiseLabState) -> Plane:
    """How far each mask moves a sentence, above the distances of the other sentences: a dot each, in heaps."""
    clouds, row = state.clouds, state.sentence
    moved, distance, nearest = clouds.moved[:, row], float(clouds.distance[row]), int(clouds.nearest[row])
    others = np.delete(np.arange(len(clouds.radius)), row)
    apart = clouds.apart[row, others]
    radius = float(np.sqrt(np.square(moved[: state.drawn]).mean()))
    end = 1.06 * max(moved.max(), apart.max())
    (columns, masks), (places, sentences) = _heaped(moved, end), _heaped(apart, end)
    base, dots = sentences.max() + 2, sentences.max() + masks.max() + 4
    dot = 2 / dots  # of the plane, which has two rows
    names = [escape(textwrap.shorten(text, 70, placeholder=" \u2026")) for text in state.sentences]
    traces = [
        _line(distance, [0, 2], "nearest", NEGATIVE),
        _line(radius, [base * dot, 2], "mean", ANCHOR),
        go.Scatter(
            **_places(columns[: state.drawn], dot * (base + masks)[: state.drawn]), mode="markers", uid="masks",
            hoverinfo="skip", marker={"color": ANCHOR, "size": 7},
        ),
        go.Scatter(
            **_places(places, dot * sentences), mode="markers", uid="sentences", hovertemplate="%{text}<extra></extra>",
            text=[f"{d:.2f}: {names[other]}" for d, other in zip(apart, others, strict=True)],
            marker={"color": NEGATIVE, "size": 7},
        ),
        written(rounded([radius, distance]), [2 - 0.7 * dot, (base - 0.3) * dot],
                [f"dropout {radius:.2f}\u2002", f"\u2002nearest {distance:.2f}"],
                "numbers", ["middle left", "middle right"]),
    ]  # fmt: skip
    beyond = int((clouds.radius > clouds.distance).sum())
    rows = [f"{len(others)} other<br>sentences", f"this sentence<br>under {state.drawn} masks"]
    return Plane(
        f"Dropout moves this sentence {radius:.2f}; the nearest sentence is {distance:.2f} away",
        traces,
        {"title": {"text": "distance from this sentence without dropout (vectors of length 1)"}, "range": [0, end]},
        {"range": [0, 2], "tickvals": [dot, (base + 1) * dot], "ticktext": rows, "ticks": "", "zeroline": False},
        tall=min(HEAP * dots, 400),
        words=f"\u201c{names[row]}\u201d Nearest: \u201c{names[nearest]}\u201d "
        f"Dropout moves {beyond or 'none'} of {len(clouds.radius)} sentences farther than to the nearest. "
        f"{radius:.2f} is the root mean square.",
    )


def _heaped(values: np.ndarray, end: float) -> tuple[np.ndarray, np.ndarray]:
    """For each value the column, on an axis up to `end`, and the place in the column's heap."""
    columns = np.round(COLUMNS * values / end) * end / COLUMNS
    return columns, np.array([1 + (columns[:at] == column).sum() for at, column in enumerate(columns)])


def _places(x: Any, y: Any) -> dict[str, list[float]]:
    return {"x": rounded(x), "y": rounded(y)}


def _line(at: float, y: list[float], uid: str, color: str) -> go.Scatter:
    look = {"mode": "lines", "hoverinfo": "skip", "line": {"color": color, "dash": "dot", "width": 2}}
    return go.Scatter(**_places([at, at], y), uid=uid, **look)


def _cosines(state: NoiseLabState) -> Plane:
    """For each kind of noise, bars of the positives' and the negatives' cosines, and the gap of their means."""
    traces, places = [], list(range(len(KINDS)))[::-1]  # the first on top
    means = [[float(side.mean()) for side in sides] for sides in state.cosines.values()]
    line = {"color": INK, "width": 2, "dash": "dot"}
    for place, ends in zip(places, means, strict=True):
        traces.append(go.Scatter(**_places(ends, [place] * 2), uid=f"gap {place}", mode="lines", line=line))
    lowest = 1.0
    for side, (name, color, pale) in enumerate(SIDES):
        middles = [mean[side] for mean in means]
        low, high = np.transpose([np.quantile(state.cosines[kind][side], (0.05, 0.95)) for kind in KINDS])
        bars = {"array": rounded(high - middles), "arrayminus": rounded(middles - low), "thickness": 12, "width": 0}
        lowest = min(lowest, *low)
        traces.append(
            go.Scatter(
                **_places(middles, places),
                uid=name,
                mode="markers",
                error_x={"type": "data", "color": pale, **bars},
                marker={"color": color, "size": 14, "symbol": ["circle", "square"][side]},
                cliponaxis=False,
                hoverinfo="x",
            )
        )
    how = ("one mask", f"variance {state.variance:g}", f"mean of {state.mean_of}", "no mask")
    apart = [one - other for one, other in means]
    gaps = [f"\u00a0\u00a0gap {gap:.2f}" for gap in apart]
    traces.append(written([1.03] * len(gaps), places, gaps, "means apart"))
    names = [name for name, *_ in SIDES]
    traces.append(written(means[0], [places[0] + 0.2] * 2, names, "sides", ["top center", "top left"]))
    does = "shrinks" if apart[1] < apart[0] else "widens"
    return Plane(
        f"Added noise {does} the gap of positives and negatives from {apart[0]:.2f} to {apart[1]:.2f}",
        traces,
        {"title": {"text": "cosine"}, "range": [lowest - 0.03, 1.03]},
        {
            "tickvals": places,
            "ticktext": [f"{kind}<br>{words}" for kind, words in zip(KINDS, how, strict=True)],
            "ticks": "",
            "range": [-0.6, 3.8],
        },
        tall=290,
        words="Bars hold 90 % of the pairs, and dots are means. A larger gap is not better: with no mask, "
        "a positive is the vector itself and teaches nothing.",
    )
