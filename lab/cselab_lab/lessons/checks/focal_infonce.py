"""The exercises of lesson 07: Focal-InfoNCE, its gradient, who carries it, a pair's own temperature, the loop, the
temperature that InfoNCE would need; factors that are constants.

Each piece has a right version here, which stands in (`cselab_lab.lessons.exercises.yours`) until the student's passes.
"""

import math
from typing import Any

import torch
from torch import nn

from cselab_lab.lessons.checks.answers import AS_IT_IS, right_gradient
from cselab_lab.lessons.checks.loops import LOOP, RATE, SCALES, TwoViews, apart, batches
from cselab_lab.lessons.checks.loops import by_hand as steps_by_hand
from cselab_lab.lessons.checks.mistakes import (
    GRADIENT,
    choice_mistakes,
    direction_mistakes,
    slopes,
    temperature_mistakes,
    terms,
)
from cselab_lab.lessons.exercises import Example, Exercise, Stage, numbers_of

# ---- 1: Focal-InfoNCE: my_focal(cosines, temperature=0.07, m=0.3), the mean over the rows -----------------


def _table(negative: Any, positive: Any) -> Any:
    return negative.diagonal_scatter(positive.diagonal())


def _logits(cosines: Any, t: Any = 0.07, m: Any = 0.3) -> Any:
    return _table(cosines * (cosines + m), cosines * cosines) / t


def _focal(cosines: Any, t: Any = 0.07, m: Any = 0.3) -> Any:
    s = cosines
    negative, positive = s * (s + m), s * s
    return terms(_table(negative, positive) / t).mean()


def _loss(row: list[float], own: int, temperature: float, m: float) -> float:
    """The loss of one row, with loops."""
    logits = [s * (s if j == own else s + m) / temperature for j, s in enumerate(row)]
    highest = max(logits)
    return highest + math.log(sum(math.exp(logit - highest) for logit in logits)) - logits[own]


def by_hand(cosines: list[list[float]], temperature: float, m: float) -> float:
    """The mean of the losses."""
    return sum(_loss(row, own, temperature, m) for own, row in enumerate(cosines)) / len(cosines)


_UNEQUAL = [[0.9, 0.5, 0.2], [0.8, 0.6, 0.9], [0.1, 0.4, 0.7]]
_OPPOSITE = [[0.5, -0.2, 0.4], [-0.1, 0.3, -0.5], [0.2, -0.05, 0.4]]
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
    right_gradient(_focal, torch.tensor(_UNEQUAL), 0.5, 0.2, hint=f"The factors change with the cosine. {AS_IT_IS}"),
    mistakes={
        "m belongs to the negatives alone: a positive has s * s.": "s * s -> s * (s + m)",
        "m is on the wrong side: it belongs to the negatives.": "s * (s + m), s * s -> s * s, s * (s + m)",
        "The positive has a factor, too: s * s.": "s * s -> s",
        "The negatives have a factor, too: s (s + m).": "s * (s + m) -> s",
        "This is InfoNCE: no factor multiplies.": "s * (s + m), s * s -> s, s",
        "m is not used: a negative's factor is s + m.": "s * (s + m) -> s * s",
        "m is added to the factor, not multiplied.": "s * (s + m) -> s * s * m",
        "m is added inside the factor: s (s + m), not s * s + m.": "s * (s + m) -> s * s + m",
        "The factor is s + m, not s - m.": "s + m -> s - m",
        "The factor multiplies s itself, it is not squared.": "s * (s + m) -> (s + m) ** 2",
        "m is 0.3 in your code, whatever is asked for.": "s + m -> s + 0.3",
        "The factor s + m multiplies s: s (s + m).": "s * (s + m) -> s + m",
        "Keep the sign of a negative: s (s + m).": "s * (s + m) -> s.abs() * (s + m)",
        "The positive has one factor: s * s.": "s * s -> s**3",
    }
    | choice_mistakes(_logits)
    | direction_mistakes(_logits)
    | temperature_mistakes(_focal, usual=0.07),
    right=_focal,
    trained=True,
)

# ---- 2: its gradient: my_focal_gradient(cosines, temperature=0.07, m=0.3), [N, N] -------------------------
# What is expected comes from finite differences of the loss, so that no formula of the gradient is trusted: not ours,
# and not the paper's, whose Eq. 4 is misprinted.


def _gradient(cosines: Any, t: Any = 0.07, m: Any = 0.3) -> Any:
    s, eye = cosines.double(), torch.eye(len(cosines), dtype=torch.float64)
    shares = (_table(s * (s + m), s * s) / t).softmax(1)
    return _table(2 * s + m, 2 * s) * (shares - eye) / t


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
        "2 s + m is 0 at s = -m / 2 and below 0 beyond.",
    ),
    mistakes=GRADIENT
    | {
        "That is the paper's Eq. 4, misprinted: s (s + m) has the derivative 2 s + m.": "2 * s + m -> 2 * (s + m)",
        "The factor s + m changes with s, too: 2 s + m.": "2 * s + m, 2 * s -> s + m, s",
        "s + m is the factor of a negative; s (s + m) has the derivative 2 s + m.": "2 * s + m -> s + m",
        "The positive's logit is s * s: its derivative is 2 s.": ", 2 * s) -> , s)",
        "m belongs to the negatives alone: on the diagonal 2 s, without m.": ", 2 * s) -> , 2 * s + m)",
        "The inner derivative is missing: 2 s + m, or 2 s.": "_table(2 * s + m, 2 * s) * (shares -> (shares",
        "m is missing in the derivative: 2 s + m.": "2 * s + m -> 2 * s",
        "m is 0.3 in your code, whatever is asked for.": "m: Any = 0.3 -> asked: Any = 0.3, m: Any = 0.3",
        "The softmax is that of InfoNCE: the shares come from the logits s (s + m) and s * s.": (
            "_table(s * (s + m), s * s) -> s"
        ),
        "That is the gradient of InfoNCE.": (
            "_table(s * (s + m), s * s) -> s; _table(2 * s + m, 2 * s) * (shares -> (shares"
        ),
    }
    | temperature_mistakes(_gradient, usual=0.07),
    right=_gradient,
)

# ---- 3: the temperature of each pair: my_temperatures(cosines, temperature=0.07, m=0.3), [N, N] -----------


def _temperatures(cosines: Any, t: Any = 0.07, m: Any = 0.3) -> Any:
    s = cosines.double()
    return _table(t / (s + m), t / s)


def _own(cosines: list[list[float]], t: float, m: float) -> list[list[float]]:
    """From the logit of each pair: its cosine over its temperature."""
    return [[s / (s * s / t if i == j else s * (s + m) / t) for j, s in enumerate(r)] for i, r in enumerate(cosines)]


_FAR = [[0.9, 0.5, 0.2], [0.8, 0.6, -0.4], [0.1, 0.4, 0.7]]
TEMPERATURES = Exercise(
    Example(
        "two sentences, temperature 0.6 and m 0.2",
        (torch.tensor([[0.5, 0.6], [0.1, 0.8]]), 0.6, 0.2),
        [[1.2, 0.75], [2.0, 0.75]],
    ),
    Example("a negative below -m: its temperature is below 0", (torch.tensor(_FAR), 0.5, 0.1), _own(_FAR, 0.5, 0.1)),
    mistakes={
        "m belongs to the negatives alone: a positive has t / s.": "t / s) -> t / (s + m))",
        "m is missing: a negative has t / (s + m).": "t / (s + m) -> t / s",
        "m is on the wrong side: it belongs to the negatives.": "t / (s + m), t / s -> t / s, t / (s + m)",
        "Divide by s + m: the larger the factor, the lower the temperature.": "t / -> t *",
        "This is the factor over the temperature; wanted is what s is divided by.": (
            "t / (s + m), t / s -> (s + m) / t, s / t"
        ),
        "The positive has a factor, too: t / s.": "t / s) -> t * s**0)",
        "The factor is s + m, not s - m.": "s + m -> s - m",
        "m is 0.3 in your code, whatever is asked for.": "s + m -> s + 0.3",
        "The temperature of a positive is t / s: one factor, not two.": "t / s) -> t / s**2)",
        "This is t over the slope 2 s + m; wanted is what s is divided by, t / (s + m).": (
            "t / (s + m), t / s -> t / (2 * s + m), t / (2 * s)"
        ),
        "These are the logits; wanted is what s is divided by.": "t / (s + m), t / s -> s * (s + m) / t, s * s / t",
    }
    | temperature_mistakes(_temperatures, usual=0.07),
    right=_temperatures,
)

# ---- 5: the loop: my_training(encode, loss, weights, batches, lr) -> losses, norms ------------------------


def _training(encode: Any, loss: Any, weights: Any, batches: Any, lr: float) -> tuple[list[float], list[float]]:
    """The loop of `cselab.train`, with torch's optimiser."""
    optimizer = torch.optim.Adam(weights, lr=lr)
    losses, norms = [], []
    for step, batch in enumerate(batches, start=1):
        optimizer.param_groups[0]["lr"] = lr * (len(batches) - step + 1) / len(batches)
        value = loss(*encode(batch, batch))
        optimizer.zero_grad()
        value.backward()
        norm = nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.step()
        losses.append(value.item())
        norms.append(float(norm))
    return losses, norms


def _given(*scales: float) -> tuple[Any, ...]:
    encode = TwoViews()
    return encode, apart, encode.used, batches(*scales), RATE


TRAINING = Exercise(
    Example("losses and norms of 3 steps", _given(1, 1, 1), steps_by_hand(1, 1, 1), tolerance=2e-3),
    Example("8 steps with small and large gradients", _given(*SCALES), steps_by_hand(*SCALES), tolerance=2e-3),
    mistakes=LOOP
    | {
        "Note the norm before clipping: clip_grad_norm_ returns it.": "float(norm) -> float(norm.clamp(max=1))",
        "Adam, not plain descent.": "optim.Adam -> optim.SGD",
        "AdamW shrinks the weights besides: take Adam, or weight_decay=0.": "optim.Adam -> optim.AdamW",
        "Both of your views are the first one: first, second = encode(batch, batch).": (
            "*encode(batch, batch) -> *encode(batch, batch)[:1] * 2"
        ),
        "The rate falls by S, the number of steps; it is not yet 0 in the last one.": (
            "step + 1) / len(batches) -> step) / (len(batches) - 1)"
        ),
        "zero_grad after backward throws the gradient away: it comes before.": (
            "value.backward() -> value.backward(), optimizer.zero_grad()"
        ),
        "The weights do not move: optimizer.step().": "optimizer.step() -> pass",
        "One norm over all weights together, not one for each.": (
            "nn.utils.clip_grad_norm_(weights, 1.0) -> "
            "torch.stack([nn.utils.clip_grad_norm_(weight, 1.0) for weight in weights]).norm()"
        ),
        "Adam remembers: make one optimiser, before the loop.": (
            "optimizer.zero_grad() -> optimizer.zero_grad(), optimizer.state.clear()"
        ),
        "First the losses, then the norms.": "return losses, norms -> return norms, losses",
    },
    right=_training,
)

# ---- 7: factors that are constants: my_constant_focal(cosines, temperature=0.07, m=0.3) -------------------


def _constant_focal(cosines: Any, t: Any = 0.07, m: Any = 0.3) -> Any:
    s = cosines
    return terms(s * _table(s + m, s).detach() / t).mean()


def _has_a_gradient(answer: Any) -> bool:
    found = answer(torch.tensor(_UNEQUAL, requires_grad=True), 0.5, 0.2)
    found = found[0] if isinstance(found, list | tuple) else found
    return getattr(found, "requires_grad", False)


CONSTANT = Exercise(
    *FOCAL.examples[:4],
    Stage("a gradient goes through the cosines", _has_a_gradient, "Detach the factors alone, and stay in torch."),
    right_gradient(
        _constant_focal,
        torch.tensor(_UNEQUAL),
        0.5,
        0.2,
        known={"This is the gradient of Focal-InfoNCE: the factors still change with s. Try factors.detach().": _focal},
        hint="The derivative of a negative's logit should be (s + m) / t, a positive's s / t: factors.detach().",
    ),
    mistakes=FOCAL.mistakes,
    right=_constant_focal,
)
