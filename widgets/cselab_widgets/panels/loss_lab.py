"""The losses by hand: a batch's cosines while it trains, and the gradient of each loss at each of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import radians
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go
import torch
from cselab_lab.lessons.cosine_batch import batch_with_cosines
from torch import Tensor
from torch.func import grad_and_value, vmap

from cselab.encoders.any_encoder import as_encoder
from cselab.encoders.encoder import SentenceEncoder
from cselab.losses import arc_con, decoupled_info_nce, focal_info_nce, info_nce, multi_positive_info_nce
from cselab.methods import SimCSE
from cselab.metrics import cosine_gradients
from cselab.training import Run, TrainConfig, train
from cselab.world import World

from ..kit.fields import State, shown
from ..kit.panel import Panel
from ..kit.panel_vectors import SameArray, dropout_views, sentences_or_world, stacked_views
from ..kit.planes import Plane, decades, heatmap, matrix, named_at_ends, rounded, written
from ..kit.theme import ANCHOR, INK, NEGATIVE, POSITIVE

POINTS = 25  # of each curve
TICKS = 21  # cosines of the batch below it, from the lowest to the highest
TAG = 1e-6
LOW, HIGH = 0.5, 0.8  # the cosines that a title compares
FIXED = 0.8, 0.2  # the cosines of a curve that stay: of the positive, and of the other negatives
LOWEST = -0.5  # of a curve: below, no sentences have the fixed cosines
PAIRS = ("positive", "negative")
TEMPERATURE_STEPS = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.2, 0.5, 1.0)


Pair = tuple[Tensor, Tensor]
Loss = Callable[[Pair, Pair, Tensor, float], Tensor]
"""The total of a batch: of the positive pair, the negative pair, the second positive and the temperature."""

REFERENCE = "InfoNCE"  # which the chosen loss is compared with
LOSSES: dict[str, Loss] = {
    REFERENCE: lambda p, n, s, at: info_nce(*p, at).total,
    "Focal-InfoNCE": lambda p, n, s, at: focal_info_nce(*p, at, 0.3).total,
    "ArcCon": lambda p, n, s, at: arc_con(*p, at, radians(10)).total,
    "off-dropout": lambda p, n, s, at: decoupled_info_nce(p, n, at, 0.9).total,
    "Eq. 8, corrected": lambda p, n, s, at: multi_positive_info_nce(p[0], [p[1], s], at, "inside").total,
    "Eq. 8, printed": lambda p, n, s, at: multi_positive_info_nce(p[0], [p[1], s], at, "inside_printed").total,
}
QUESTIONS = {"Which cosines does the loss move?": (0, 1), "How do a batch's cosines change?": (2, 3)}


@dataclass(frozen=True, eq=False)
class LossLabState(State):
    """A batch over the steps of a training run, and the loss whose gradient is drawn.

    Attributes:
        views: step -> [4, n, d]: the anchors, their positives, second positives, and vectors without dropout.
        step: the step looked at.
        loss: one of `LOSSES`, with the parameters of its paper, drawn with InfoNCE.
        temperature: of the losses.
        pair: whose cosine the curves run over: that of the "positive" or of one "negative".
    """

    views: Mapping[int, np.ndarray]
    step: int = shown("step", "steps", "views")
    loss: str = shown("loss", "list", tuple(LOSSES), REFERENCE, asked=(0,))
    temperature: float = shown("temperature", "slider", TEMPERATURE_STEPS, 0.05, gt=0, asked=(0,))
    pair: str = shown("cosine of the", "list", PAIRS, "negative", asked=(0,))

    @property
    def drawn(self) -> list[str]:
        """InfoNCE, and the chosen loss if it differs."""
        return [REFERENCE, self.loss]

    def batch(self) -> Tensor:
        """Anchors, positives, second positives, clean: [4, n, d]."""
        return torch.from_numpy(self.views[self.step]).double()

    def cosines(self, step: int | None = None) -> Tensor:
        """The cosines of first and second views: [n, n], the positives on the diagonal."""
        return _cosine(*torch.from_numpy(self.views[self.step if step is None else step])[:2].double())

    @cached_property
    def gradient(self) -> Tensor:
        """d loss_i / d cos_ij of the chosen loss: [n, n]."""
        return self.gradient_of(self.loss)

    def gradient_of(self, name: str) -> Tensor:
        """n times the derivative of the mean, so that a row is the gradient of its own sentence."""
        return _gradient_of(SameArray(self.views[self.step]), name, self.temperature)


@lru_cache(maxsize=64)
def _gradient_of(views: SameArray, name: str, temperature: float) -> Tensor:
    anchor, positive, second, clean = torch.from_numpy(views.array).double()
    total = LOSSES[name]
    if name != "off-dropout":
        gradient = cosine_gradients(lambda a, b, s: total((a, b), (a, b), s, temperature), anchor, positive, second)
        return len(gradient) * gradient
    diagonal = cosine_gradients(
        lambda a, b, c: total((a, b), (c, c), c, temperature), anchor, positive, clean
    ).diagonal()
    gradient = cosine_gradients(
        lambda a, b, one, two: total((one, two), (a, b), a, temperature), clean, clean, anchor, positive
    )
    return len(gradient) * gradient.diagonal_scatter(diagonal)


def _cosine(one: Tensor, other: Tensor) -> Tensor:
    return torch.nn.functional.normalize(one, dim=1) @ torch.nn.functional.normalize(other, dim=1).T


def _split(values: Tensor) -> Pair:
    """The diagonal [n], and the rest [n, n - 1]."""
    n = len(values)
    return values.diagonal(), values[~torch.eye(n, dtype=torch.bool)].reshape(n, n - 1)


def shares(gradient: Tensor) -> Tensor:
    """The mean share of a sentence's push that its hardest 1, 2, ... negatives carry: [n - 1], up to 1."""
    _, negatives = _split(gradient.abs())
    ordered = negatives.sort(dim=1, descending=True).values
    return (ordered.cumsum(1) / ordered.sum(1, keepdim=True).clamp(min=1e-300)).mean(0)


class Curve(NamedTuple):
    """A loss and its derivative over one cosine, the rest held."""

    cosines: list[float]
    losses: list[float]
    gradients: list[float]


@lru_cache(maxsize=512)
def curve(name: str, temperature: float, pair: str, n: int) -> Curve:
    """The loss of a constructed batch, in which one cosine of each sentence varies and the rest are fixed.

    Positives and negatives have the cosines `FIXED`, except the running one. Of Eq. 8 both positives
    run together; off-dropout's clean vectors have the same cosines as the rest.
    """
    total, column = LOSSES[name], PAIRS.index(pair)
    cosines, rows, columns = _situations(pair, n)

    def loss(a: Tensor, b: Tensor) -> Tensor:
        return total((a, b), (a, b), b, temperature)

    slopes, losses = vmap(grad_and_value(loss))(rows, columns)
    gradients = n * slopes[:, 0, -1] / columns[0, column, -1]
    return Curve(cosines, losses.tolist(), gradients.tolist())


@lru_cache(maxsize=8)
def _situations(pair: str, n: int) -> tuple[list[float], Tensor, Tensor]:
    """The cosines that run, and rows and columns for each, [points, n, w].

    One column has a tiny separate component, which gives the derivative, as in `cosine_gradients`.
    """
    positive, negatives = FIXED
    cosines = sorted({LOW, HIGH, *np.linspace(LOWEST, 0.99, POINTS).tolist()})
    ways = [(one, negatives) if pair == "positive" else (positive, one) for one in cosines]
    both = [batch_with_cosines(n, own, one, negatives) for own, one in ways]
    rows, columns = (torch.nn.functional.pad(torch.stack(views), (0, 1)) for views in zip(*both, strict=True))
    columns[:, PAIRS.index(pair), -1] = TAG
    return cosines, rows, columns


def planes(state: LossLabState) -> list[Plane]:
    """The gradient over one cosine; the negatives that carry it; the batch's cosines, and their means over the run."""
    return [_curves(state), _shares(state), _cosines(state), _run(state)]


class LossLab(Panel):
    """A batch's cosines while the diagonal lights up, and the gradients of InfoNCE and its variants.

    Try: temperature from 0.5 to 0.02 (who carries the gradient?); "Eq. 8, printed" (which way do positives
    go?); Focal-InfoNCE at temperature 0.5 (which negatives does it pull?).

    Args:
        views: step -> views of one batch: [n, d] each of anchors, positives, second positives and vectors without
            dropout, as `BatchWatch` records them; of fewer, the last positives replace the second, the anchors
            for those without dropout. By default 16 steps of SimCSE on the bundled `micro`.
        step: the step to look at; the last by default.
        sentences: your own batch, 4 or more and an even number, for the default run; 64 of the bundled world.
        encoder: the encoder from which the default run starts.
        loss, temperature, pair: see `LossLabState`.
        key: see `Panel`.

    Raises:
        ValueError: no views, views of a wrong shape, an odd number of sentences, an unknown loss.

    See also: `cselab.losses`, whose functions are called; `cselab.metrics.cosine_gradients`.

    >>> views = np.random.default_rng(0).normal(size=(2, 8, 16))
    >>> print(str(LossLab({0: views, 5: [views[0], views[0]]})).splitlines()[-1])
    The gap grows from 0.03 to 1.00
    """

    state_class = LossLabState
    render = staticmethod(planes)
    questions = QUESTIONS
    static_grid = ("loss", "temperature", "pair")

    def __init__(
        self,
        views: Mapping[int, Any] | None = None,
        step: int | None = None,
        *,
        sentences: Sequence[str] | None = None,
        encoder: SentenceEncoder | str = "micro",
        key: str | None = None,
        **shown: Any,
    ) -> None:
        if views is None:
            views = trained_batch(encoder, sentences_or_world(sentences, 64))
        if not views:
            raise ValueError("views is empty; give {step: [anchors, positives]} as BatchWatch records them.")
        views = {int(at): _four(given, f"views[{at}]") for at, given in sorted(views.items())}
        sizes = {array.shape[1] for array in views.values()}
        if len(sizes) > 1 or min(sizes) % 2:
            raise ValueError(
                f"views has batches of {', '.join(map(str, sorted(sizes)))} sentences; every step must have the "
                "same even number."
            )
        super().__init__(LossLabState(views, max(views) if step is None else step, **shown), key)

    def page_values(self) -> dict[str, Sequence[Any]]:
        return {"temperature": (0.02, 0.05, 0.5)}


class BatchWatch:
    """A callback of `cselab.training.train` that keeps a batch's views, for `LossLab(watch.views)`.

    Args:
        sentences: the batch, always the same.
        every: steps between looks; or the steps themselves.

    >>> watch = BatchWatch(["A cat sleeps.", "Rain falls."], every=10)
    """

    def __init__(self, sentences: Sequence[str], every: int | Sequence[int] = 10) -> None:
        self.sentences, self.every = list(sentences), every
        self.views: dict[int, np.ndarray] = {}

    def __call__(self, run: Run, row: Mapping[str, Any]) -> None:
        step = row["step"]
        if (step % self.every == 0) if isinstance(self.every, int) else (step in self.every):
            noisy = dropout_views(run.encoder, self.sentences, 3)
            clean = dropout_views(run.encoder, self.sentences, 1, dropout=False)
            self.views[step] = np.concatenate([noisy, clean])


def trained_batch(encoder: SentenceEncoder | str, sentences: Sequence[str]) -> dict[int, np.ndarray]:
    """The views of a batch over 16 steps of SimCSE on sentences of the world."""
    watch = BatchWatch(sentences, every=(0, 1, 2, 3, 4, 6, 8, 12, 16))
    corpus = [sentence.text for sentence in World().sentences(1024)]
    config = TrainConfig(steps=16, lr=5e-4, seed=0, precision="fp32")
    train(as_encoder(encoder).copy(), SimCSE(head="none"), corpus, config, callbacks=[watch], show_progress_bar=False)
    return watch.views


def _four(given: Any, name: str) -> np.ndarray:
    views = stacked_views(given, name)
    anchor, positive = views[0], views[min(1, len(views) - 1)]
    second = views[2] if len(views) > 2 else positive
    clean = views[3] if len(views) > 3 else anchor
    return np.stack([anchor, positive, second, clean])


def _cosines(state: LossLabState) -> Plane:
    """Negatives in grey, and positives on the diagonal in their colour."""
    values = state.cosines().numpy().round(3)
    positives, places = values.diagonal().tolist(), list(range(len(values)))
    np.fill_diagonal(values, np.nan)
    heat = heatmap(values, "negatives", 1.0, "sentences %{y} and %{x}: %{z:.2f}")
    heat.update(zmin=0, colorscale=((0, "rgba(107, 107, 107, 0.04)"), (1, NEGATIVE)))
    orange = (0, "rgba(194, 82, 0, 0.04)"), (1, POSITIVE)
    diagonal = go.Heatmap(heat, uid="positives", x=places, y=places, z=positives, colorscale=orange)
    words = (
        "Rows are sentences, columns their second views; positives lie on the diagonal. "
        "Full colour: cosine 1; none: 0 or below."
    )
    own, others = (part.mean() for part in _split(state.cosines()))
    title = f"Step {state.step}: positives average {own:.2f}, negatives {others:.2f}"
    return matrix(title, heat, "sentence", words)._replace(traces=[heat, diagonal])


def _shares(state: LossLabState) -> Plane:
    carried = {name: rounded(100 * shares(state.gradient_of(name))) for name in state.drawn}
    count = len(carried[state.loss])
    every = list(range(1, count + 1))
    lines = _lines(state, "shares", {name: (every, y) for name, y in carried.items()}, "%{x} negatives: %{y:.0f} %")
    first = lines[1].y[0]
    return Plane(
        f"{state.loss}: the hardest of {count} negatives carries {first:.0f} % of the push",
        _named(state, lines, "shares", ([1], [first], [f"<b>{first:.0f} %</b>"]), "bottom right", 100.0),
        {"title": {"text": f"k, of the {count} negatives of a sentence"}, **decades([1, count])},
        {"title": {"text": "share of the push by the hardest k, %"}, "range": [0, 112], "dtick": 25},
        words="At a lower temperature, fewer negatives carry the push.",
    )


def _curves(state: LossLabState) -> Plane:
    n = next(iter(state.views.values())).shape[1]
    curves = {name: curve(name, state.temperature, state.pair, n) for name in state.drawn}
    points = {name: (rounded(one.cosines), [float(f"{y:.4g}") for y in one.gradients]) for name, one in curves.items()}
    lines = _lines(state, "gradients", points, "cosine %{x:.2f}: %{y:.3g}")
    parts = _split(state.cosines())
    batch = np.quantile(parts[state.pair == "negative"].numpy(), np.linspace(0, 1, TICKS))
    slopes = [slope for line in lines for slope in line.y]
    ticks = go.Scatter(
        x=rounded(batch),
        y=rounded([min(slopes) - 0.07 * np.ptp(slopes)] * TICKS),  # below the curves
        uid="gradients: batch",
        mode="markers",
        marker={
            "symbol": "line-ns-open",
            "color": POSITIVE if state.pair == "positive" else NEGATIVE,
            "size": 11,
            "line": {"width": 2},
        },
        hovertemplate=f"a {state.pair} of the batch: %{{x:.2f}}<extra></extra>",
    )
    ways = ["below 0 pulls"] * (min(slopes) < -1e-3) + ["above 0 pushes"] * (max(slopes) > 1e-3)
    y = {"title": {"text": f"gradient ({', '.join(ways)})"}, "zeroline": True, "zerolinecolor": INK}
    if state.loss == "ArcCon":  # it has no bound near a cosine of 1
        reach = 1.15 * max(map(abs, lines[0].y))
        y["range"] = [-reach, reach]
    positive, negatives = FIXED
    others = f"the positive stays at {positive}, the other" if state.pair == "negative" else "the"
    ends = [LOW, HIGH], np.interp([LOW, HIGH], lines[1].x, lines[1].y).tolist()
    told = [f"<b>{y:.2g}</b> at {x}<br>\u00a0" for x, y in zip(*ends, strict=True)]
    return Plane(
        _answer(state, lines[1]),
        [*_named(state, lines, "gradients", (*ends, told), "top left"), ticks],
        {"title": {"text": f"cosine of the {state.pair}"}, "range": [LOWEST - 0.05, 1.05]},
        y,
        words=f"One {state.pair} moves; {others} negatives at {negatives}. "
        f"Between two ticks lie {100 // (TICKS - 1)} % of the batch's {state.pair}s.",
    )


def _named(
    state: LossLabState,
    lines: list[go.Scatter],
    of: str,
    dots: tuple[Any, Any, list[str]],
    place: str,
    length: float = 0.0,
) -> list[go.Scatter]:
    """The lines with their names at their ends, where there are two, and dots (x, y, text) on them."""
    named = named_at_ends(lines, f"{of}: names", length)
    for trace in named[len(lines) :]:
        trace.visible = state.loss != REFERENCE
    marker = {"size": 9, "color": ANCHOR}
    return [*named, written(*dots, f"{of}: told", place, mode="markers+text", marker=marker)]


def _answer(state: LossLabState, line: go.Scatter) -> str:
    """The caption of the chosen loss's curve."""
    x, y = np.array(line.x), np.array(line.y)
    low, high = (float(f"{line.y[line.x.index(cosine)]:.2g}") for cosine in (LOW, HIGH))  # as they are written
    if state.pair == "positive":
        if y.max() > 1e-9:
            return f"{state.loss} pushes positives apart"
        return f"{state.loss}: positives at {LOW} are pulled {_times(low / high)} as hard as at {HIGH}"
    turns = np.flatnonzero((y[:-1] < 0) & (y[1:] > 0))
    if len(turns) and -y.min() > 0.01 * y.max():
        at = turns[0]
        zero = x[at] - y[at] * (x[at + 1] - x[at]) / (y[at + 1] - y[at])
        return f"{state.loss} pulls negatives below a cosine of {zero:.2f} together"
    return f"{state.loss}: negatives at {HIGH} are pushed {_times(high / low)} as hard as at {LOW}"


def _times(ratio: float) -> str:
    return f"{float(f'{ratio:.2g}'):,g} times"


STYLES = {
    "InfoNCE": {"color": NEGATIVE, "dash": "dash", "width": 2, "shape": "spline"},
    "chosen": {"color": ANCHOR, "width": 3.5, "shape": "spline"},
}


def _lines(state: LossLabState, of: str, points: Mapping[str, tuple], hover: str) -> list[go.Scatter]:
    """A line of InfoNCE, and one of the chosen loss."""
    return [
        go.Scatter(
            x=points[name][0],
            y=points[name][1],
            uid=f"{of}: {uid}",
            name=name,
            visible=uid == "chosen" or name != state.loss,
            line=line,
            hovertemplate=f"{hover}<extra>{name}</extra>",
        )
        for name, (uid, line) in zip(state.drawn, STYLES.items(), strict=True)
    ]


def _run(state: LossLabState) -> Plane:
    steps = list(state.views)
    means = [[float(part.mean()) for part in _split(state.cosines(step))] for step in steps]
    lines = [
        go.Scatter(
            x=steps,
            y=rounded(row[side] for row in means),
            uid=f"run: {name}",
            name=name,
            mode="lines+markers",
            line={"color": color, "width": 2},
            marker={
                "size": [12 if step == state.step else 6 for step in steps],
                "symbol": ["circle", "square"][side],
                "opacity": 1,
                "line": {"width": 0},
            },
            hovertemplate="step %{x}: %{y:.3f}<extra>" + name + "</extra>",
        )
        for side, (name, color) in enumerate((("positives", POSITIVE), ("negatives", NEGATIVE)))
    ]
    lowest = min(min(row) for row in means)
    y = {"title": {"text": "mean cosine"}, "range": [min(-0.05, round(lowest - 0.05, 2)), 1.04]}
    first, now = means[0], means[steps.index(state.step)]
    before, gap = (own - others for own, others in (first, now))
    title = f"The gap {'grows' if gap > before else 'shrinks'} from {before:.2f} to {gap:.2f}"
    if state.step == steps[0]:
        title = f"Positives and negatives are {gap:.2f} apart"
    return Plane(
        title + ": negatives fall more" * (gap > before and now[0] < first[0]),
        named_at_ends(lines, "run: names"),
        {"title": {"text": "step"}},
        y,
    )
