"""The exercises of lesson 07: Focal-InfoNCE, its gradient, who carries it, a pair's own temperature, the loop, the
temperature that InfoNCE would need; factors that are constants.

Each piece has a right version here, which stands in (`cselab_lab.lessons.exercises.yours`) until the student's passes.
"""

import math
from typing import Any

import torch
from torch import nn

from cselab_lab.lessons.checks.loops import RATE, SCALES, TwoViews, apart, batches, loop_mistakes
from cselab_lab.lessons.checks.loops import by_hand as steps_by_hand
from cselab_lab.lessons.checks.mistakes import (
    choice_mistakes,
    direction_mistakes,
    gradient_mistakes,
    slopes,
    temperature_mistakes,
    terms,
)
from cselab_lab.lessons.exercises import Example, Exercise, Stage, numbers_of

# ---- 1: Focal-InfoNCE: my_focal(cosines, temperature=0.07, m=0.3), the mean over the rows -----------------


def _logits(cosines: Any, m: Any, negative: Any = lambda s, m: s * (s + m), positive: Any = lambda s, m: s * s) -> Any:
    s = cosines.double()
    return negative(s, m).diagonal_scatter(positive(s, m).diagonal())


def _tabled(cosines: Any, m: Any) -> Any:
    """The logits in the precision of the cosines, before the temperature."""
    return (cosines * (cosines + m)).diagonal_scatter(cosines.diagonal().square())


def _focal(**factors: Any) -> Any:
    """Focal-InfoNCE with a mistake in a factor."""
    return lambda cosines, t=0.07, m=0.3: terms(_logits(cosines, m, **factors) / t).mean()


def _loss(row: list[float], own: int, temperature: float, m: float) -> float:
    """The loss of one row, with loops."""
    logits = [s * (s if j == own else s + m) / temperature for j, s in enumerate(row)]
    highest = max(logits)
    return highest + math.log(sum(math.exp(logit - highest) for logit in logits)) - logits[own]


def by_hand(cosines: list[list[float]], temperature: float, m: float) -> float:
    """The mean of the losses."""
    return sum(_loss(row, own, temperature, m) for own, row in enumerate(cosines)) / len(cosines)


def _moves_the_factors(answer: Any) -> bool:
    cosines = torch.tensor(_UNEQUAL, dtype=torch.float64).requires_grad_()
    try:
        loss = answer(cosines, 0.5, 0.2)
    except RuntimeError:  # NumPy refuses what has a gradient
        return True
    if not getattr(loss, "requires_grad", False):
        return True
    (found,) = torch.autograd.grad(loss.sum(), cosines)
    return bool(torch.allclose(len(found) * found, torch.tensor(differences(_UNEQUAL, 0.5, 0.2)).double(), atol=2e-3))


_UNEQUAL = [[0.9, 0.5, 0.2], [0.8, 0.6, 0.9], [0.1, 0.4, 0.7]]
_OPPOSITE = [[0.5, -0.2, 0.4], [-0.1, 0.3, -0.25], [0.2, -0.05, 0.4]]
FOCAL = Exercise(
    Example(
        "positive 0.8, negative 0.5, m 0.3, temperature 1: 0.64 against 0.40, so log(1 + exp(-0.24)) = 0.580",
        (torch.tensor([[0.8, 0.5], [0.5, 0.8]]), 1.0, 0.3),
        math.log1p(math.exp(-0.24)),
    ),
    Example(
        "a negative at 1 - m keeps its logit: positive 1, negative 0.5, m 0.5, temperature 0.25: log(1 + exp(-2))",
        (torch.tensor([[1.0, 0.5], [0.5, 1.0]]), 0.25, 0.5),
        math.log1p(math.exp(-2)),
    ),
    Example(
        "unequal rows at temperature 0.5 and m 0.2, by hand",
        (torch.tensor(_UNEQUAL), 0.5, 0.2),
        by_hand(_UNEQUAL, 0.5, 0.2),
    ),
    Example(
        "negatives below 0, at temperature 0.1 and m 0.3",
        (torch.tensor(_OPPOSITE), 0.1, 0.3),
        by_hand(_OPPOSITE, 0.1, 0.3),
    ),
    Example(
        "a temperature of 0.004 does not overflow",
        (torch.tensor(_UNEQUAL), 0.004, 0.2),
        by_hand(_UNEQUAL, 0.004, 0.2),
        tolerance=1e-2,
    ),
    Stage(
        "where a gradient goes through it, it goes through the factors, too",
        lambda answer: _moves_the_factors(answer),
        "nothing is detached: the factor changes with the cosine",
    ),
    mistakes={
        "m belongs to the negatives alone: a positive has s * s.": _focal(positive=lambda s, m: s * (s + m)),
        "m is on the wrong side: it belongs to the negatives.": _focal(
            negative=lambda s, m: s * s, positive=lambda s, m: s * (s + m)
        ),
        "The positive has a factor, too: s * s.": _focal(positive=lambda s, m: s),
        "The negatives have a factor, too: s (s + m).": _focal(negative=lambda s, m: s),
        "This is InfoNCE: no factor multiplies.": _focal(negative=lambda s, m: s, positive=lambda s, m: s),
        "m is not used: a negative's factor is s + m.": _focal(negative=lambda s, m: s * s),
        "m is added to the factor, not multiplied.": _focal(negative=lambda s, m: s * s * m),
        "m is added inside the factor: s (s + m), not s * s + m.": _focal(negative=lambda s, m: s * s + m),
        "The factor is s + m, not s - m.": _focal(negative=lambda s, m: s * (s - m)),
        "The factor multiplies s itself, it is not squared.": _focal(negative=lambda s, m: (s + m) ** 2),
        "m is 0.3 in your code, whatever is asked for.": _focal(negative=lambda s, m: s * (s + 0.3)),
        "The factor s + m multiplies s: s (s + m).": _focal(negative=lambda s, m: s + m),
        "Keep the sign of a negative: s (s + m).": _focal(negative=lambda s, m: s.abs() * (s + m)),
        "The positive has one factor: s * s.": _focal(positive=lambda s, m: s**3),
    }
    | choice_mistakes(lambda cosines, t=0.07, m=0.3: _logits(cosines, m) / t)
    | direction_mistakes(lambda cosines, t=0.07, m=0.3: _logits(cosines, m) / t)
    | temperature_mistakes(_focal(), usual=0.07),
    right=lambda cosines, t=0.07, m=0.3: terms(_tabled(cosines, m) / t).mean(),
    trained=True,
)

# ---- 2: its gradient: my_focal_gradient(cosines, temperature=0.07, m=0.3), [N, N] -------------------------
# What is expected comes from finite differences of the loss, so that no formula of the gradient is trusted: not ours,
# and not the paper's, whose Eq. 4 is misprinted.


def _gradient(
    negative: Any = lambda s, m: 2 * s + m,
    positive: Any = lambda s, m: 2 * s,
    own: Any = lambda eye: eye,
    outside: Any = lambda t: t,
    inside: Any = lambda t: t,
    logits: Any = lambda s, m: s * (s + m),
    shares: Any = lambda logits: logits.softmax(1),
    end: Any = lambda made, eye: made,
) -> Any:
    """A gradient with one mistake: in an inner derivative, in the softmax, in the temperature."""

    def of(cosines: Any, t: Any = 0.07, m: Any = 0.3) -> Any:
        eye = torch.eye(len(cosines), dtype=torch.float64)
        chosen = shares(_logits(cosines, m, logits) / inside(t)) - own(eye)
        return end(_logits(cosines, m, negative, positive) * chosen / outside(t), eye)

    return of


def differences(cosines: list[list[float]], temperature: float, m: float) -> list[list[float]]:
    """d l_i / d cos_ij by moving each cosine a little to both sides."""
    return slopes(lambda row, own: _loss(row, own, temperature, m), cosines)


def _turns(answer: Any) -> bool:
    """Negatives below the turning point -m / 2 = -0.15, at it, and above."""
    cosines = torch.tensor([[0.9, -0.4, -0.15], [-0.3, 0.8, 0.1], [0.0, -0.2, 0.7]])
    gradient = numbers_of(answer(cosines, 0.1, 0.3))
    return gradient[0, 1] < 0 and gradient[1, 0] <= 0 and abs(gradient[0, 2]) < 1e-3 and gradient[1, 2] > 0


FOCAL_GRADIENT = Exercise(
    Example(
        "unequal rows at temperature 0.5 and m 0.2, by finite differences",
        (torch.tensor(_UNEQUAL), 0.5, 0.2),
        differences(_UNEQUAL, 0.5, 0.2),
    ),
    Example(
        "the same at temperature 0.1 and m 0.5", (torch.tensor(_UNEQUAL), 0.1, 0.5), differences(_UNEQUAL, 0.1, 0.5)
    ),
    Stage(
        "a negative below -m / 2 is pulled back up, one at -m / 2 is left alone",
        _turns,
        "2 s + m is 0 at s = -m / 2 and below 0 beyond",
    ),
    mistakes={
        "That is the paper's Eq. 4, misprinted: s (s + m) has the derivative 2 s + m.": _gradient(
            lambda s, m: 2 * (s + m)
        ),
        "The factor s + m changes with s, too: 2 s + m.": _gradient(lambda s, m: s + m, lambda s, m: s),
        "s + m is the factor of a negative; s (s + m) has the derivative 2 s + m.": _gradient(lambda s, m: s + m),
        "The positive's logit is s * s: its derivative is 2 s.": _gradient(positive=lambda s, m: s),
        "m belongs to the negatives alone: on the diagonal 2 s, without m.": _gradient(positive=lambda s, m: 2 * s + m),
        "The inner derivative is missing: 2 s + m, or 2 s.": _gradient(lambda s, m: s**0, lambda s, m: s**0),
        "m is missing in the derivative: 2 s + m.": _gradient(lambda s, m: 2 * s),
        "m is 0.3 in your code, whatever is asked for.": lambda c, t=0.07, m=0.3: _gradient()(c, t, 0.3),
        "The softmax is that of InfoNCE: the shares come from the logits s (s + m) and s * s.": (
            lambda c, t=0.07, m=0.3: (
                _logits(c, m, lambda s, m: 2 * s + m, lambda s, m: 2 * s) * ((c / t).softmax(1) - torch.eye(len(c))) / t
            )
        ),
        "That is the gradient of InfoNCE.": lambda c, t=0.07, m=0.3: ((c / t).softmax(1) - torch.eye(len(c))) / t,
    }
    | gradient_mistakes(_gradient)
    | temperature_mistakes(_gradient(), usual=0.07),
    right=_gradient(),
)

# ---- 3: the temperature of each pair: my_temperatures(cosines, temperature=0.07, m=0.3), [N, N] -----------


def _temperatures(negative: Any = lambda s, t, m: t / (s + m), positive: Any = lambda s, t, m: t / s) -> Any:
    def of(cosines: Any, t: Any = 0.07, m: Any = 0.3) -> Any:
        s = cosines.double()
        return negative(s, t, m).diagonal_scatter(positive(s, t, m).diagonal())

    return of


def _own(cosines: list[list[float]], t: float, m: float) -> list[list[float]]:
    """From the logit of each pair: its cosine over its temperature."""
    return [[s / (s * s / t if i == j else s * (s + m) / t) for j, s in enumerate(r)] for i, r in enumerate(cosines)]


TEMPERATURES = Exercise(
    Example(
        "two sentences, temperature 0.6 and m 0.2",
        (torch.tensor([[0.5, 0.6], [0.1, 0.8]]), 0.6, 0.2),
        [[1.2, 0.75], [2.0, 0.75]],
    ),
    Example("unequal rows at temperature 0.5 and m 0.1", (torch.tensor(_UNEQUAL), 0.5, 0.1), _own(_UNEQUAL, 0.5, 0.1)),
    mistakes={
        "m belongs to the negatives alone: a positive has t / s.": _temperatures(positive=lambda s, t, m: t / (s + m)),
        "m is missing: a negative has t / (s + m).": _temperatures(lambda s, t, m: t / s),
        "m is on the wrong side: it belongs to the negatives.": _temperatures(
            lambda s, t, m: t / s, lambda s, t, m: t / (s + m)
        ),
        "Divide by s + m: the larger the factor, the lower the temperature.": _temperatures(
            lambda s, t, m: t * (s + m), lambda s, t, m: t * s
        ),
        "This is the factor over the temperature; wanted is what s is divided by.": _temperatures(
            lambda s, t, m: (s + m) / t, lambda s, t, m: s / t
        ),
        "The positive has a factor, too: t / s.": _temperatures(positive=lambda s, t, m: s**0 * t),
        "The factor is s + m, not s - m.": _temperatures(lambda s, t, m: t / (s - m)),
        "m is 0.3 in your code, whatever is asked for.": _temperatures(lambda s, t, m: t / (s + 0.3)),
        "The temperature of a positive is t / s: one factor, not two.": _temperatures(
            positive=lambda s, t, m: t / s**2
        ),
        "These are the logits; wanted is what s is divided by.": _temperatures(
            lambda s, t, m: s * (s + m) / t, lambda s, t, m: s * s / t
        ),
    }
    | temperature_mistakes(_temperatures(), usual=0.07),
    right=_temperatures(),
)

# ---- 4: who carries the push: my_carried(gradient), [N - 1]: the part of the 1, 2, ... hardest ------------


def _carried(
    kept: Any = lambda g: g.clamp(min=0),
    diagonal: bool = False,
    part: Any = lambda p: p / p.sum(1, keepdim=True),
    order: Any = lambda p: p.sort(dim=1, descending=True).values,
    end: Any = lambda p: p.mean(0).cumsum(0),
) -> Any:
    """The curve with one mistake."""

    def of(gradient: Any) -> Any:
        push = kept(gradient.double().clone() if diagonal else gradient.double().clone().fill_diagonal_(0))
        return end(order(part(push))[:, : len(gradient) - 1])

    return of


def _by_rows(gradient: list[list[float]]) -> list[float]:
    """With loops."""
    size = len(gradient)
    curves = []
    for i, row in enumerate(gradient):
        push = sorted((max(g, 0.0) for j, g in enumerate(row) if j != i), reverse=True)
        curves.append([sum(push[: k + 1]) / sum(push) for k in range(size - 1)])
    return [sum(curve[k] for curve in curves) / size for k in range(size - 1)]


_PUSH = [[-9.0, 6.0, 1.0, 2.0], [1.0, -4.0, 2.0, 1.0], [3.0, 0.5, -7.0, 0.5], [0.1, 0.8, 0.1, -1.0]]
_PULLED = [[-2.0, 0.5, -0.4, 1.5], [3.0, -1.0, 1.0, -2.0], [0.2, 0.2, -1.5, 0.6], [-1.0, 2.0, 6.0, -5.0]]
CARRIED = Exercise(
    Example(
        "four sentences: the hardest negative carries 0.67 of the push on average",
        (torch.tensor(_PUSH),),
        _by_rows(_PUSH),
    ),
    Example("a negative that is pulled back pushes nothing", (torch.tensor(_PULLED),), _by_rows(_PULLED)),
    mistakes={
        "The positive is no negative: leave the diagonal out.": _carried(torch.abs, diagonal=True),
        "Divide each row by its own sum first, then take the mean over the rows.": _carried(
            part=lambda p: p / p.sum(1).mean()
        ),
        "These are no parts yet: divide each row by its sum.": _carried(part=lambda p: p),
        "Divide by the sum of the row, not of the column.": _carried(part=lambda p: p / p.sum(0)),
        "The hardest first: descending.": _carried(
            order=lambda p: p.masked_fill(torch.eye(len(p), dtype=torch.bool), torch.inf).sort(dim=1).values
        ),
        "Sort each row first: the hardest of each sentence.": _carried(
            order=lambda p: torch.stack([torch.cat([r[:i], r[i + 1 :]]) for i, r in enumerate(p)])
        ),
        "Add up: what the 1, 2, ... hardest carry together.": _carried(end=lambda p: p.mean(0)),
        "A gradient below 0 pulls; only what is above 0 is push.": _carried(torch.abs),
        "What is below 0 is no push: leave it out (clamp) before you divide.": _carried(lambda g: g),
        "A sentence is a row; you took the columns.": lambda gradient: _carried()(gradient.T),
        "Divide each row by its own sum, not by that of the whole table.": _carried(part=lambda p: p / p.sum()),
        "Divide by the sum of the row, not by its largest.": _carried(part=lambda p: p / p.amax(1, keepdim=True)),
    },
    right=_carried(),
)

# ---- 5: the loop: my_training(encode, loss, weights, batches, lr) -> losses, norms ------------------------


def _training(
    rate: Any = lambda lr, step, steps: lr * (steps - step + 1) / steps,
    clip: float = 1.0,
    forget: bool = True,
    optimizer: Any = lambda weights, lr: torch.optim.Adam(weights, lr=lr),
    after: bool = False,
    moves: bool = True,
    together: bool = True,
    one_optimiser: bool = True,
) -> Any:
    """The loop of `cselab.train`, with torch's optimiser, with one mistake."""

    def of(encode: Any, loss: Any, weights: Any, batches: Any, lr: float) -> tuple[list[float], list[float]]:
        steps, losses, norms = optimizer(weights, lr), [], []
        for step, batch in enumerate(batches, start=1):
            steps = steps if one_optimiser else optimizer(weights, lr)
            steps.param_groups[0]["lr"] = rate(lr, step, len(batches))
            value = loss(*encode(batch, batch))
            if forget:
                steps.zero_grad()
            value.backward()
            parts = [weights] if together else [[weight] for weight in weights]
            norm = torch.stack([nn.utils.clip_grad_norm_(part, clip) for part in parts]).norm()
            norms.append(float(norm.clamp(max=clip) if after else norm))
            if moves:
                steps.step()
            losses.append(value.item())
        return losses, norms

    return of


def _given(*scales: float) -> tuple[Any, ...]:
    encode = TwoViews()
    return encode, apart, encode.used, batches(*scales), RATE


TRAINING = Exercise(
    Example("losses and norms of 3 steps", _given(1, 1, 1), steps_by_hand(1, 1, 1), tolerance=2e-3),
    Example("8 steps with small and large gradients", _given(*SCALES), steps_by_hand(*SCALES), tolerance=2e-3),
    mistakes=loop_mistakes(
        _training,
        {
            "Note the norm before clipping: clip_grad_norm_ returns it.": _training(after=True),
            "Adam, not plain descent.": _training(optimizer=lambda weights, lr: torch.optim.SGD(weights, lr=lr)),
            "The weights do not move: optimizer.step().": _training(moves=False),
            "One norm over all weights together, not one for each.": _training(together=False),
            "Adam remembers: make one optimiser, before the loop.": _training(one_optimiser=False),
            "First the losses, then the norms.": lambda *given: _training()(*given)[::-1],
        },
    ),
    right=_training(),
)

# ---- 6: the temperature that matches: my_match(share, wanted, low, high) ----------------------------------


def _match(falls: bool = True, halvings: int = 60, end: Any = lambda share, low, high: (low + high) / 2) -> Any:
    """Halving the range, with one mistake."""

    def of(share: Any, wanted: float, low: float, high: float) -> float:
        for _ in range(halvings):
            middle = (low + high) / 2
            low, high = (middle, high) if (share(middle) > wanted) == falls else (low, middle)
        return end(share, low, high)

    return of


def _decays(t: float) -> float:
    return math.exp(-t)


def _bends(t: float) -> float:
    return 1 / (1 + t * t)


MATCH = Exercise(
    Example("exp(-t) is 0.6 at 0.511", (_decays, 0.6, 0.1, 3.0), -math.log(0.6)),
    Example("1 / (1 + t^2) is 0.1 at 3", (_bends, 0.1, 1.0, 9.5), 3.0),
    mistakes={
        "The share falls as the temperature rises: where it is above what is wanted, go up.": _match(falls=False),
        "One halving is not enough: go on until the range is small.": _match(halvings=1),
        "The middle of the whole range is where to begin.": _match(halvings=0),
        "This is the share there; wanted is the temperature.": _match(end=lambda share, low, high: share(low)),
    },
    right=_match(),
)

# ---- 7: factors that are constants: my_constant_focal(cosines, temperature=0.07, m=0.3) -------------------


def _value(answer: Any) -> str:
    returned = numbers_of(answer(torch.tensor(_UNEQUAL), 0.25, 0.2))
    expected = by_hand(_UNEQUAL, 0.25, 0.2)
    if returned is None or returned.size != 1:
        return "One number is wanted: the mean over the rows."
    if abs(float(returned.reshape(())) - expected) < 2e-3:
        return ""
    return f"Your function returned {float(returned.reshape(())):.4g}; expected is {expected:.4g}."


def _slopes(answer: Any) -> Any:
    cosines = torch.tensor(_UNEQUAL, dtype=torch.float64).requires_grad_()
    loss = answer(cosines, 0.5, 0.2)
    (gradient,) = torch.autograd.grad(loss.reshape(()), cosines)
    return len(gradient) * gradient


def _constant(answer: Any) -> str:
    gradient = _slopes(answer)
    s = torch.tensor(_UNEQUAL, dtype=torch.float64)
    wanted = _gradient(lambda s, m: s + m, lambda s, m: s)(s, 0.5, 0.2)
    if torch.allclose(gradient, wanted, atol=2e-3):
        return ""
    if torch.allclose(gradient, _gradient()(s, 0.5, 0.2), atol=2e-3):
        return "This is the gradient of Focal-InfoNCE itself: the factors still change with s."
    return "The derivative of a negative's logit should be (s + m) / t, that of a positive's s / t."


CONSTANT = Exercise(
    Stage("the value is that of Focal-InfoNCE", _value, "the factors are the same, only their gradient is left out"),
    Stage(
        "a gradient goes through the cosines",
        lambda answer: bool(_slopes(answer).abs().max() > 0),
        "detach the factors alone, not the cosines that they multiply",
    ),
    Stage("the factors count as constants", _constant, "factors.detach()"),
)
