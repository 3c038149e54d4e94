"""The exercises of lesson 07: Focal-InfoNCE, its gradient, and the temperature that InfoNCE would need."""

import math
from functools import cache
from typing import Any

import torch

from cselab_lab.lessons.checks.answers import is_number
from cselab_lab.lessons.checks.encoders import mini_views, sentences
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


_UNEQUAL = [[0.9, 0.5, 0.2], [0.8, 0.6, 0.9], [0.1, 0.4, 0.7]]
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
        "a temperature of 0.004 does not overflow",
        (torch.tensor(_UNEQUAL), 0.004, 0.2),
        by_hand(_UNEQUAL, 0.004, 0.2),
        tolerance=1e-2,
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
    }
    | choice_mistakes(lambda cosines, t=0.07, m=0.3: _logits(cosines, m) / t)
    | direction_mistakes(lambda cosines, t=0.07, m=0.3: _logits(cosines, m) / t)
    | temperature_mistakes(_focal(), usual=0.07),
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
    end: Any = lambda found, eye: found,
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
    found = numbers_of(answer(cosines, 0.1, 0.3))
    return found[0, 1] < 0 and found[1, 0] <= 0 and abs(found[0, 2]) < 1e-3 and found[1, 2] > 0


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
)

# ---- 3: at which temperature does InfoNCE concentrate its push as Focal-InfoNCE does? ---------------------

TAU, M, HARDEST, NEAR = 0.07, 0.3, 3, 0.02


@cache
def _cosines() -> Any:
    first, second = mini_views(sentences(64, "dev"), 2)
    return (first @ second.T).double()


def concentration(temperature: float, m: float | None = None) -> float:
    """The part of a sentence's push that its three hardest negatives carry; with `m`, of Focal-InfoNCE."""
    s = _cosines()
    logits, inner = (s, 1) if m is None else (s * (s + m), 2 * s + m)
    push = inner * (logits / temperature).softmax(1)  # the positive's share cancels below
    push = push.fill_diagonal_(0)
    return float((push.topk(HARDEST).values.sum(1) / push.sum(1)).mean())


def _as_concentrated(answer: Any) -> str:
    wanted, now = concentration(TAU, M), concentration(float(answer))
    if abs(now - wanted) <= NEAR:
        return ""
    way = "lower" if now < wanted else "raise"
    return f"It is {now:.0%} with yours and {wanted:.0%} with Focal-InfoNCE: {way} the temperature."


MATCHING_TEMPERATURE = Exercise(
    Stage("it is a number", is_number, "write a number such as 0.05"),
    Stage("it is above 0", lambda t: t > 0, "a temperature of 0 divides by 0"),
    Stage(f"the {HARDEST} hardest negatives carry the same part of the push", _as_concentrated),
)
