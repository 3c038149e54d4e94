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
from ..kit.panel_vectors import described, dropout_views, sentences_or_world, stacked_views
from ..kit.planes import Plane, rounded, written
from ..kit.theme import ANCHOR, FAINT, INK, NEGATIVE, POSITIVE

if TYPE_CHECKING:
    import pandas

KINDS = ("SimCSE", "+noise", "-noise", "off-dropout")
LARGEST_K = 20  # the largest K
VARIANCES = (0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
SIDES = (("positives", POSITIVE), ("negatives", NEGATIVE))
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
SQUARE = 540  # pixels of height
DRAWN = (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30)  # masks, one by one at first


@dataclass(frozen=True, eq=False)
class NoiseLabState(State):
    """Many dropout passes of some sentences, and how they are looked at.

    Attributes:
        sentences: n of them.
        passes: vectors [p, n, d] with dropout, each pass with its own masks.
        clean: vectors [n, d] with dropout off.
        source: the name of the vectors.
        sentence: the row whose cloud is shown.
        drawn: how many of its passes are shown, each with a dropout mask of its own; 0 means all.
        variance: of the Gaussian that +noise adds to each coordinate, as `cselab.methods.Noise` does in training.
        mean_of: the K of -noise: each view is the mean of K passes.
    """

    sentences: tuple[str, ...]
    passes: np.ndarray
    clean: np.ndarray
    source: str
    sentence: int = shown("cloud of", "list", "named", 0, asked=(0,))
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
    """

    def __init__(self, passes: np.ndarray, clean: np.ndarray) -> None:
        self.passes, self.clean = _directions(passes), _directions(clean)
        self.radius = np.sqrt(np.square(self.passes - self.clean).sum(2).mean(0))
        apart = np.linalg.norm(self.clean[:, None] - self.clean[None], axis=2)
        np.fill_diagonal(apart, np.inf)
        self.nearest, self.distance = apart.argmin(1), apart.min(1)

    def plane(self, row: int) -> np.ndarray:
        """Two axes [2, d]: towards the nearest neighbour, and where the cloud is widest across that."""
        towards = self.clean[self.nearest[row]] - self.clean[row]
        towards = towards / max(np.linalg.norm(towards), 1e-12)
        rest = self.passes[:, row] - self.clean[row]
        rest = rest - np.outer(rest @ towards, towards)
        across = np.linalg.svd(rest, full_matrices=False)[2][0]
        return np.stack([towards, across * np.sign((rest @ across).sum() or 1)])


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
    vectors: dropout moves this sentence 0.89; the nearest sentence is 1.28 away
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
        source = "vectors"
        if vectors is None:
            model, sentences = as_encoder(encoder), sentences_or_world(sentences, 24)
            if len(sentences) < 4:
                raise ValueError(f"sentences has {len(sentences)} entries; neighbours need at least 4.")
            drawn, still = (dropout_views(model, sentences, passes), dropout_views(model, sentences, 1, dropout=False))
            # A model without dropout would give the same vector every time.
            if not np.ptp(drawn, axis=0).any():
                raise ValueError("encoder has no dropout, so all its passes are identical; set encoder.dropout = 0.1.")
            drawn, still = _after_head(model, drawn), _after_head(model, still)[0]
            source = described(model)
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
            source=source,
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
    clouds, row, drawn = state.clouds, state.sentence, state.drawn
    axes, centre, other = clouds.plane(row), clouds.clean[row], clouds.nearest[row]
    # Each pass at its distance from the centre in all dimensions, and at its angle in the plane of the axes.
    moved = clouds.passes[:, row] - centre
    flat, lengths = moved @ axes.T, np.linalg.norm(moved, axis=1, keepdims=True)
    dots = flat * lengths / np.linalg.norm(flat, axis=1, keepdims=True).clip(min=1e-12)
    distance = float(clouds.distance[row])
    radius = float(np.sqrt(np.square(lengths[:drawn]).mean()))
    turn = np.linspace(0, 2 * np.pi, 73)
    circle = np.stack([np.sin(turn), np.cos(turn)], axis=1)
    farthest = max(float(lengths.max()), distance)
    step = next((step for step in (0.05, 0.1, 0.2) if farthest < 5 * step), 0.5)
    grid = step * np.arange(1, 1 + int(np.ceil(farthest / step)))
    clear = {"hoverinfo": "skip", "mode": "lines"}
    traces = [
        _dots(np.concatenate([[*(r * circle), [np.nan] * 2] for r in grid]), "grid", **clear, line={"color": FAINT}),
        _dots(radius * circle, "ring", **clear, fill="toself", fillcolor="rgba(0, 114, 178, 0.10)",
              line={"color": ANCHOR, "dash": "dot", "width": 2}),
        _dots(dots[:drawn], "dropout", hoverinfo="skip", mode="markers", marker={"color": ANCHOR, "size": 8}),
        _dots(np.zeros((1, 2)), "off-dropout", hoverinfo="skip", mode="markers",
              marker={"color": ANCHOR, "symbol": "diamond", "size": 16}),
        _dots(np.array([[distance, 0]]), "neighbour", hoverinfo="skip", mode="markers",
              marker={"color": NEGATIVE, "symbol": "diamond", "size": 16}),
        written(rounded(-grid), [0] * len(grid), [f"{r:g}" for r in grid], "distances", "middle center"),
        written(rounded([0, distance]), [0, 0], ["<br>no dropout", "<br>nearest<br>sentence"], "names",
                ["bottom center", "bottom left"]),
    ]  # fmt: skip
    this, nearest = (textwrap.shorten(state.sentences[one], 70, placeholder=" \u2026") for one in (row, other))
    ends = rounded([-1.08 * grid[-1], 1.08 * grid[-1]])
    bare = {"range": ends, "showticklabels": False, "ticks": "", "showgrid": False, "showline": False}
    beyond = int((clouds.radius > clouds.distance).sum())
    return Plane(
        f"{state.source}: dropout moves this sentence {radius:.2f}; the nearest sentence is {distance:.2f} away",
        traces,
        {"title": {"text": "distance from the vector without dropout (all have length 1)"}, **bare},
        bare,
        square=True,
        reads=f"<p>This sentence: \u201c{escape(this)}\u201d</p><p>Nearest: \u201c{escape(nearest)}\u201d</p>"
        "<p>A dot is one mask, at its true distance. Right points to the nearest sentence; up is the direction across "
        "it in which dropout moves most. "
        f"Dropout moves {beyond or 'none'} of {len(clouds.radius)} sentences farther than to the nearest sentence.</p>",
        tall=SQUARE,
        key=f"<span><b style='color:{ANCHOR}'>\u2505\u2505\u2505</b> "
        f"{radius:.2f}: the dots' root mean square distance</span>",
    )


def _dots(points: np.ndarray, uid: str, **look: Any) -> go.Scatter:
    return go.Scatter(x=rounded(points[:, 0]), y=rounded(points[:, 1]), uid=uid, **look)


def _cosines(state: NoiseLabState) -> Plane:
    traces, places = [], list(range(len(KINDS)))[::-1]  # the first on top
    for side, (name, color) in enumerate(SIDES):
        quantiles = [np.quantile(state.cosines[kind][side], QUANTILES) for kind in KINDS]
        low, first, middle, third, high = (rounded(column) for column in np.transpose(quantiles))
        traces.append(
            go.Box(
                y=places,
                orientation="h",
                lowerfence=low,
                q1=first,
                median=middle,
                q3=third,
                upperfence=high,
                uid=name,
                name=name,
                showlegend=False,
                line={"color": color},
            )
        )
    how = ("one mask", f"\u03c3\u00b2 = {state.variance:g}", f"K = {state.mean_of}", "no mask")
    means = [[float(side.mean()) for side in sides] for sides in state.cosines.values()]
    apart = [one - other for one, other in means]
    for place, ends in zip(places, means, strict=True):
        line, marker = {"color": INK, "width": 3}, {"symbol": "line-ns-open", "size": 12, "color": INK}
        traces.append(
            go.Scatter(x=rounded(ends), y=[place] * 2, uid=f"gap {place}", line=line, marker=marker, hoverinfo="x")
        )
    gaps = [f"\u00a0\u00a0gap {gap:.2f}" for gap in apart]
    traces.append(written([1.03] * len(gaps), places, gaps, "means apart"))
    does = "shrinks" if apart[1] < apart[0] else "widens"
    return Plane(
        f"Added noise {does} the gap of positives and negatives from {apart[0]:.2f} to {apart[1]:.2f}",
        traces,
        {"title": {"text": "cosine"}, "range": [min(low) - 0.03, 1.03]},
        {
            "tickvals": places,
            "ticktext": [f"{kind}<br>{words}" for kind, words in zip(KINDS, how, strict=True)],
            "ticks": "",
            "range": [-0.6, 3.5],
        },
        tall=290,
        words="Boxes hold half of the pairs, whiskers 90 %. The line between is the gap of the means. A larger gap is "
        "not better: with no mask, a positive is the vector itself and teaches nothing.",
        layout={"boxmode": "group"},
        key="".join(f"<span><b style='color:{color}'>\u25a0</b> {name}</span>" for name, color in SIDES),
    )
