"""The losses by hand: a batch's cosines while it trains, and the gradient of each loss at each of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import pi
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
from ..kit.theme import INK, NEGATIVE, PALETTE, POSITIVE

POINTS = 25  # of each curve
DOTS = 21  # cosines of the batch on it, from the lowest to the highest
TAG = 1e-6
LOW, HIGH = 0.5, 0.7  # the cosines that a title compares
MOST_ALIKE = 0.2  # the cosine of the other negatives of a curve
PAIRS = ("positive", "negative")
TEMPERATURE_STEPS = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.2, 0.5, 1.0)


class Setting(NamedTuple):
    """The parameters of the losses: one temperature for all, and each variant's own."""

    temperature: float = 0.05
    focal_m: float = 0.3
    off_dropout_m: float = 0.9
    margin: float = 10 * pi / 180


Pair = tuple[Tensor, Tensor]


class Family(NamedTuple):
    """A loss of a batch: `total(positive_pair, negative_pair, second_positive, setting)`, and its own parameter."""

    total: Callable[[Pair, Pair, Tensor, Setting], Tensor]
    own: str = ""  # the parameter that only this loss has


REFERENCE = "InfoNCE"  # which the chosen loss is compared with
LOSSES = {
    REFERENCE: Family(lambda p, n, s, at: info_nce(*p, at.temperature).total),
    "Focal-InfoNCE": Family(lambda p, n, s, at: focal_info_nce(*p, at.temperature, at.focal_m).total, "focal_m"),
    "ArcCon": Family(lambda p, n, s, at: arc_con(*p, at.temperature, at.margin).total, "margin"),
    "off-dropout": Family(
        lambda p, n, s, at: decoupled_info_nce(p, n, at.temperature, at.off_dropout_m).total, "off_dropout_m"
    ),
    "Eq. 8, corrected": Family(
        lambda p, n, s, at: multi_positive_info_nce(p[0], [p[1], s], at.temperature, "inside").total
    ),
    "Eq. 8, printed": Family(
        lambda p, n, s, at: multi_positive_info_nce(p[0], [p[1], s], at.temperature, "inside_printed").total
    ),
}
QUESTIONS = {"Which cosines does the loss move?": (0, 1), "What does this batch look like?": (2, 3, 4)}


@dataclass(frozen=True, eq=False)
class LossLabState(State):
    """A batch over the steps of a training run, and the loss whose gradient is drawn.

    Attributes:
        views: step -> [4, n, d]: the anchors, their positives, second positives, and vectors without dropout.
        step: the step looked at.
        loss: one of `LOSSES`, drawn with InfoNCE.
        temperature, focal_m, off_dropout_m: see the losses; 0.05, 0.3 and 0.9.
        margin: of ArcCon, in degrees.
        pair: whose cosine the curves run over: that of the "positive" or of one "negative".
    """

    views: Mapping[int, np.ndarray]
    step: int = shown("step", "steps", "views")
    loss: str = shown("loss", "list", tuple(LOSSES), REFERENCE)
    temperature: float = shown("temperature", "slider", TEMPERATURE_STEPS, 0.05, gt=0)
    pair: str = shown("cosine of the", "list", PAIRS, "negative", asked=(0,))
    focal_m: float = shown("m", "slider", (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0), 0.3, when="is_focal")
    off_dropout_m: float = shown(
        "m of off-dropout", "slider", (0.5, 0.8, 0.9, 1.0, 1.1, 1.2, 2.0), 0.9, gt=0, when="is_off_dropout"
    )
    margin: float = shown("margin in °", "slider", (0.0, 5.0, 10.0, 20.0, 30.0), 10.0, ge=0, lt=180, when="is_arc_con")
    is_focal = property(lambda self: self.loss == "Focal-InfoNCE")
    is_off_dropout = property(lambda self: self.loss == "off-dropout")
    is_arc_con = property(lambda self: self.loss == "ArcCon")

    @property
    def drawn(self) -> list[str]:
        """InfoNCE, and the chosen loss if it differs."""
        return [REFERENCE, self.loss]

    @property
    def setting(self) -> Setting:
        return Setting(self.temperature, self.focal_m, self.off_dropout_m, self.margin * pi / 180)

    def batch(self) -> Tensor:
        """Anchors, positives, second positives, clean: [4, n, d]."""
        return torch.from_numpy(self.views[self.step]).double()

    def cosines(self, step: int | None = None) -> Tensor:
        """The cosines that the loss sees: [n, n], its positives on the diagonal."""
        return _cosines_of(SameArray(self.views[self.step if step is None else step]), self.loss == "off-dropout")

    @cached_property
    def gradient(self) -> Tensor:
        """d loss_i / d cos_ij of the chosen loss: [n, n]."""
        return self.gradient_of(self.loss)

    def gradient_of(self, name: str) -> Tensor:
        """n times the derivative of the mean, so that a row is the gradient of its own sentence."""
        return _gradient_of(SameArray(self.views[self.step]), name, _own_setting(name, self.setting))

    @property
    def wrong(self) -> tuple[int, int]:
        """Positives that are pushed apart and negatives that are pulled together, beyond rounding."""
        positives = self.gradient.diagonal()
        negatives = self.gradient[~torch.eye(len(self.gradient), dtype=torch.bool)]
        return int((positives > 1e-9).sum()), int((negatives < -1e-9).sum())

    @cached_property
    def typical(self) -> tuple[float, float]:
        """The constants of the curves: mean cosines of positives and negatives over the run, to one decimal.

        The negatives' is at most `MOST_ALIKE`: among sentences more alike than that none has a cosine of -0.5, and the
        curves would end before the zero of Focal-InfoNCE's gradient at -m / 2.
        """
        parts = [_split(_cosine(*torch.from_numpy(views[:2]).double())) for views in self.views.values()]
        positives, negatives = (float(torch.cat(part).mean()) for part in zip(*parts, strict=True))
        return round(positives, 1) + 0.0, min(max(0.0, round(negatives, 1)), MOST_ALIKE)


def _own_setting(name: str, setting: Setting) -> Setting:
    """The state without the parameters of unchosen losses, so that only changes are computed again."""
    own = LOSSES[name].own
    return Setting(setting.temperature, **({own: getattr(setting, own)} if own else {}))


@lru_cache(maxsize=64)
def _gradient_of(views: SameArray, name: str, setting: Setting) -> Tensor:
    anchor, positive, second, clean = torch.from_numpy(views.array).double()
    total = LOSSES[name].total
    if name != "off-dropout":
        gradient = cosine_gradients(lambda a, b, s: total((a, b), (a, b), s, setting), anchor, positive, second)
        return len(gradient) * gradient
    diagonal = cosine_gradients(lambda a, b, c: total((a, b), (c, c), c, setting), anchor, positive, clean).diagonal()
    gradient = cosine_gradients(
        lambda a, b, one, two: total((one, two), (a, b), a, setting), clean, clean, anchor, positive
    )
    return len(gradient) * gradient.diagonal_scatter(diagonal)


def _cosine(one: Tensor, other: Tensor) -> Tensor:
    return torch.nn.functional.normalize(one, dim=1) @ torch.nn.functional.normalize(other, dim=1).T


@lru_cache(maxsize=64)
def _cosines_of(views: SameArray, of_clean: bool) -> Tensor:
    anchor, positive, _, clean = torch.from_numpy(views.array).double()
    cosines = _cosine(anchor, positive)
    return _cosine(clean, clean).diagonal_scatter(cosines.diagonal()) if of_clean else cosines


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
def curve(name: str, setting: Setting, pair: str, n: int, positive: float, negatives: float) -> Curve:
    """The loss of a constructed batch, in which one cosine of each sentence varies and the rest are fixed.

    The positives have the cosine `positive`, the negatives `negatives`, except the running one. Of Eq. 8 both positives
    run together; off-dropout's clean vectors have the same cosines as the rest.
    """
    total, column = LOSSES[name].total, PAIRS.index(pair)
    cosines, rows, columns = _situations(pair, n, positive, negatives)

    def loss(a: Tensor, b: Tensor) -> Tensor:
        return total((a, b), (a, b), b, setting)

    slopes, losses = vmap(grad_and_value(loss))(rows, columns)
    gradients = n * slopes[:, 0, -1] / columns[0, column, -1]
    return Curve(cosines, losses.tolist(), gradients.tolist())


@lru_cache(maxsize=8)
def _situations(pair: str, n: int, positive: float, negatives: float) -> tuple[list[float], Tensor, Tensor]:
    """The cosines that run, and rows and columns for each, [points, n, w].

    One column has a tiny separate component, which gives the derivative, as in `cosine_gradients`.
    """
    low = max(-0.5, 2 * negatives - 0.99)  # below, no such sentences exist
    cosines = sorted({LOW, HIGH, *np.linspace(low, 0.99, POINTS).tolist()})
    ways = [(one, negatives) if pair == "positive" else (max(positive, low), one) for one in cosines]
    both = [batch_with_cosines(n, own, one, negatives) for own, one in ways]
    rows, columns = (torch.nn.functional.pad(torch.stack(views), (0, 1)) for views in zip(*both, strict=True))
    columns[:, PAIRS.index(pair), -1] = TAG
    return cosines, rows, columns


def planes(state: LossLabState) -> list[Plane]:
    """The gradient over one cosine; who carries it; the batch's cosines, the loss's gradients at them, the run."""
    return [_curves(state), _shares(state), _cosines(state), _gradient(state), _run(state)]


def summary(state: LossLabState) -> str:
    """The batch at this step, the loss's gradient, and the pairs that carry it."""
    positives, negatives = _split(state.cosines())
    carried = shares(state.gradient)
    half = int((carried < 0.5).sum()) + 1
    apart, together = state.wrong
    first = int((positives[:, None] > negatives).all(1).sum())
    n, of = len(positives), LOSSES[state.loss].own
    own = f", {of} {getattr(state, of):g}" if of else ""
    return "\n".join(
        [
            f"{state.loss} at step {state.step}, temperature {state.temperature:g}{own}, batch of {n}",
            f"  cosines: positives {positives.mean():.3f}, negatives {negatives.mean():.3f}; "
            f"{first} of {n} positives are their sentence's nearest",
            f"  half of the push comes from {half} of {n - 1} negatives; the hardest carries {carried[0]:.0%}",
            f"  the wrong way: {apart} of {n} positives pushed apart, "
            f"{together} of {n * (n - 1)} negatives pulled together",
        ]
    )


class LossLab(Panel):
    """A batch's cosines while the diagonal lights up, and the gradients of InfoNCE and its variants.

    Try: temperature from 0.5 to 0.02 (who carries the gradient?); "Eq. 8, printed" (which way do positives
    go?); Focal-InfoNCE on a negative cosine below -m / 2.

    Args:
        views: step -> views of one batch: [n, d] each of anchors, positives, second positives and vectors without
            dropout, as `BatchWatch` records them; of fewer, the last positives replace the second, the anchors
            for those without dropout. By default 16 steps of SimCSE on the bundled `micro`.
        step: the step to look at; the last by default.
        sentences: your own batch, 4 or more and an even number, for the default run; 64 of the bundled world.
        encoder: the encoder from which the default run starts.
        loss, temperature, focal_m, off_dropout_m, margin, pair: see `LossLabState`.
        key: see `Panel`.

    Raises:
        ValueError: no views, views of a wrong shape, an odd number of sentences, an unknown loss.

    See also: `cselab.losses`, whose functions are called; `cselab.metrics.cosine_gradients`.

    >>> views = np.random.default_rng(0).normal(size=(2, 8, 16))
    >>> print(str(LossLab({0: views, 5: [views[0], views[0]]})).splitlines()[-1])
      the wrong way: 0 of 8 positives pushed apart, 0 of 56 negatives pulled together
    """

    state_class = LossLabState
    render = staticmethod(planes)
    alt_text = staticmethod(summary)
    questions = QUESTIONS
    static_grid = ("loss", "temperature", "focal_m", "off_dropout_m", "margin")

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
        return {
            "temperature": (0.02, 0.05, 0.5),
            "focal_m": (0.0, 0.3, 1.0),
            "off_dropout_m": (0.5, 0.9, 2.0),
            "margin": (0.0, 10.0, 30.0),
        }

    def vectors(self) -> dict[str, np.ndarray]:
        return {f"step {step}": views for step, views in self.state.views.items()}


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
    values = state.cosines().numpy().round(3)
    heat = heatmap(values, "cosines", 1.0, "sentences %{y} and %{x}: %{z:.2f}", scale=True)
    words = "Rows are sentences, columns their second views; positives lie on the diagonal."
    own, others = (part.mean() for part in _split(state.cosines()))
    return matrix(f"Step {state.step}: positives average {own:.2f}, negatives {others:.2f}", heat, "sentence", words)


def _gradient(state: LossLabState) -> Plane:
    values = state.gradient
    _, negatives = _split(values)
    limit = max(float(negatives.abs().max()), 1e-12)  # the strongest negative; the diagonal is the sum of its row
    shown = (values / limit).numpy().round(2)
    heat = heatmap(shown, "gradient", 1.0, f"sentences %{{y}} and %{{x}}: %{{z:.2f}} of {limit:.2g}", scale=True)
    words = f"In units of the strongest negative's gradient ({limit:.2g}): blue is pushed apart, orange together."
    apart, together = state.wrong
    wrong = f"{apart} positives and {together} negatives" if apart + together else "no pair"
    return matrix(f"{state.loss} moves {wrong} the wrong way", heat, "sentence", words)


def _shares(state: LossLabState) -> Plane:
    carried = {name: rounded(100 * shares(state.gradient_of(name))) for name in state.drawn}
    count = len(carried[state.loss])
    every = list(range(1, count + 1))
    lines = _lines(state, "shares", {name: (every, y) for name, y in carried.items()}, "%{x} negatives: %{y:.0f} %")
    return Plane(
        f"The hardest of {count} negatives carries {lines[1].y[0]:.0f} % of the push",
        named_at_ends(lines, "shares: names", 100.0),
        {"title": {"text": "negatives of a sentence, the hardest first"}, **decades([1, count])},
        {"title": {"text": "share of the push, %"}, "range": [0, 112], "dtick": 25},
        words=f"At step {state.step}, of all negatives. At a lower temperature, fewer negatives carry the push.",
    )


def _curves(state: LossLabState) -> Plane:
    n = next(iter(state.views.values())).shape[1]
    curves = {
        name: curve(name, _own_setting(name, state.setting), state.pair, n, *state.typical) for name in state.drawn
    }
    points = {name: (rounded(one.cosines), [float(f"{y:.4g}") for y in one.gradients]) for name, one in curves.items()}
    lines = _lines(state, "gradients", points, "cosine %{x:.2f}: %{y:.3g}")
    parts = _split(state.cosines())
    batch = np.quantile(parts[state.pair == "negative"].numpy(), np.linspace(0, 1, DOTS))
    dots = go.Scatter(
        x=rounded(batch),
        y=rounded(np.interp(batch, lines[1].x, lines[1].y)),
        uid="gradients: batch",
        mode="markers",
        marker={"color": POSITIVE if state.pair == "positive" else NEGATIVE, "size": 9},
        hovertemplate=f"a {state.pair} of the batch: %{{x:.2f}}<extra></extra>",
    )
    positive, negatives = state.typical
    y = {"title": {"text": "gradient (below 0 pulls, above 0 pushes)"}, "zeroline": True, "zerolinecolor": INK}
    if state.loss == "ArcCon":  # it has no bound near a cosine of 1
        reach = 1.15 * max(map(abs, lines[0].y))
        y["range"] = [-reach, reach]
    others = f"the positive at {positive:g}, the other" if state.pair == "negative" else "the"
    ends = [LOW, HIGH], np.interp([LOW, HIGH], lines[1].x, lines[1].y).tolist()
    told = [f"{y:.2g} at {x}" for x, y in zip(*ends, strict=True)]
    told = written(
        *ends, told, "gradients: told", "top left", mode="markers+text", marker={"size": 9, "color": PALETTE[0]}
    )
    return Plane(
        _answer(state, lines[1]),
        [*named_at_ends(lines, "gradients: names"), dots, told],
        {"title": {"text": f"cosine of the {state.pair}"}},
        y,
        words=f"The gradient while one {state.pair} moves. Fixed: {others} negatives at {negatives:g}. "
        f"Dots: the batch's {state.pair}s at step {state.step}.",
    )


def _answer(state: LossLabState, line: go.Scatter) -> str:
    """The caption of the chosen loss's curve."""
    x, y = np.array(line.x), np.array(line.y)
    low, high = (line.y[line.x.index(cosine)] for cosine in (LOW, HIGH))
    if state.pair == "positive":
        if y.max() > 1e-9:
            return f"{state.loss} pushes positives apart"
        return f"{state.loss}: positives at {LOW} are pulled {_times(low / high)} as hard as at {HIGH}"
    turns = np.flatnonzero((y[:-1] < -1e-12) & (y[1:] > 0))
    if len(turns) and -y.min() > 0.01 * y.max():  # else the pull is too weak to be seen
        at = turns[0]
        zero = x[at] - y[at] * (x[at + 1] - x[at]) / (y[at + 1] - y[at])
        return f"{state.loss} pulls negatives below a cosine of {zero:.2f} together"
    return f"{state.loss}: negatives at {HIGH} are pushed {_times(high / low)} as hard as at {LOW}"


def _times(ratio: float) -> str:
    return f"{float(f'{ratio:.2g}'):,g} times"


STYLES = {
    "InfoNCE": {"color": PALETTE[7], "dash": "dash", "width": 2, "shape": "spline"},
    "chosen": {"color": PALETTE[0], "width": 3.5, "shape": "spline"},
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
            },
            hovertemplate="step %{x}: %{y:.3f}<extra>" + name + "</extra>",
        )
        for side, (name, color) in enumerate((("positives", POSITIVE), ("negatives", NEGATIVE)))
    ]
    lowest = min(min(row) for row in means)
    y = {"title": {"text": "mean cosine"}, "range": [min(-0.05, round(lowest - 0.05, 2)), 1.04]}
    apart = means[steps.index(state.step)]
    return Plane(
        f"Positives and negatives are {apart[0] - apart[1]:.2f} apart",
        named_at_ends(lines, "run: names"),
        {"title": {"text": "step"}},
        y,
        words=f"Mean cosines of the batch; larger marks are step {state.step}.",
    )
