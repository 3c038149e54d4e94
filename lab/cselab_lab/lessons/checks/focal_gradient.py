"""Stages for an exercise on Focal-InfoNCE's gradient: my_focal_gradient(cosines, temperature=0.07, m=0.3), [N, N].

What is expected comes from finite differences of the loss, so that no formula of the gradient is trusted: not ours,
and not the paper's, whose Eq. 4 is misprinted.
"""

import math
from typing import Any

import torch

from cselab_lab.lessons.exercises import Example, Stage


def _wrong(
    negative: Any = lambda s, m: 2 * s + m,
    positive: Any = lambda s, m: 2 * s,
    own: float = 1.0,
    outside: Any = lambda t: t,
    inside: Any = lambda t: t,
    logits: Any = lambda s, m: s * (s + m),
    dim: int = 1,
    sign: float = 1.0,
    over: Any = None,
) -> Any:
    """A gradient with one mistake: in an inner derivative, in the softmax, in the temperature."""

    def of(cosines: Any, t: Any = 0.07, m: Any = 0.3) -> Any:
        s = cosines.double()
        eye = torch.eye(len(s), dtype=torch.float64)
        shares = (logits(s, m).diagonal_scatter(s.diagonal().square()) / inside(t)).softmax(dim)
        inner = negative(s, m).diagonal_scatter(positive(s, m).diagonal())
        found = sign * inner * (shares - own * eye) / outside(t)
        return found / len(s) if over else found

    return of


def _one(s: Any, m: Any) -> Any:
    return torch.ones_like(s)


def _of_info_nce(cosines: Any, t: Any = 0.07, m: Any = 0.3) -> Any:
    s = cosines.double()
    return ((s / t).softmax(1) - torch.eye(len(s), dtype=torch.float64)) / t


def _without_diagonal(cosines: Any, t: Any = 0.07, m: Any = 0.3) -> Any:
    return _wrong()(cosines, t, m).fill_diagonal_(0)


MISTAKES = {
    "That is the paper's Eq. 4, and it is misprinted: s (s + m) = s*s + m*s has the derivative 2 s + m.": _wrong(
        negative=lambda s, m: 2 * (s + m)
    ),
    "The factor s + m changes with s, too: the derivative of s (s + m) is 2 s + m.": _wrong(
        negative=lambda s, m: s + m, positive=lambda s, m: s
    ),
    "s + m is the factor of a negative; its logit s (s + m) has the derivative 2 s + m.": _wrong(
        negative=lambda s, m: s + m
    ),
    "The positive's logit is s * s: its derivative is 2 s.": _wrong(positive=lambda s, m: s),
    "m belongs to the negatives alone: on the diagonal 2 s, without m.": _wrong(positive=lambda s, m: 2 * s + m),
    "The inner derivative is missing: 2 s + m off the diagonal, 2 s on it.": _wrong(_one, _one),
    "m is missing in the derivative: 2 s + m.": _wrong(negative=lambda s, m: 2 * s),
    "m is 0.3 in your code, whatever is asked for.": _wrong(
        negative=lambda s, m: 2 * s + 0.3, logits=lambda s, m: s * (s + 0.3)
    ),
    "The softmax is that of InfoNCE: the shares come from the logits s (s + m) and s * s.": (
        lambda c, t=0.07, m=0.3: (
            ((2 * c + m).diagonal_scatter(2 * c.diagonal()) * ((c / t).softmax(1) - torch.eye(len(c)))) / t
        )
    ),
    "That is the gradient of InfoNCE.": _of_info_nce,
    "The positive has a gradient, too: 2 s (p - 1), over the temperature.": _without_diagonal,
    "On the diagonal subtract 1 from the share.": _wrong(own=0),
    "Divide by the temperature outside the softmax, too.": _wrong(outside=lambda t: 1),
    "The temperature divides the logits inside the softmax, too.": _wrong(inside=lambda t: 1),
    "The temperature is not used.": _wrong(inside=lambda t: 1, outside=lambda t: 1),
    "The softmax runs along a row: dim=1.": _wrong(dim=0),
    "The sign is the other way: a hard negative has a gradient above 0, it is pushed away.": _wrong(sign=-1),
    "Wanted is the gradient of each sentence's own loss: do not divide by the number of sentences.": _wrong(over="n"),
}


def differences(cosines: list[list[float]], temperature: float, m: float, step: float = 1e-5) -> list[list[float]]:
    """d l_i / d cos_ij by moving each cosine a little to both sides."""

    def loss(row: list[float], own: int) -> float:
        logits = [s * (s if j == own else s + m) / temperature for j, s in enumerate(row)]
        highest = max(logits)
        return highest + math.log(sum(math.exp(logit - highest) for logit in logits)) - logits[own]

    def slope(i: int, j: int) -> float:
        up, down = ([s + side * step if k == j else s for k, s in enumerate(cosines[i])] for side in (1, -1))
        return (loss(up, i) - loss(down, i)) / (2 * step)

    return [[slope(i, j) for j in range(len(cosines))] for i in range(len(cosines))]


UNEQUAL = [[0.9, 0.5, 0.2], [0.8, 0.6, 0.9], [0.1, 0.4, 0.7]]
BELOW = [[0.9, -0.4, -0.15], [-0.3, 0.8, 0.1], [0.0, -0.2, 0.7]]  # negatives below the turning point -m / 2 = -0.15


def _turns(answer: Any) -> bool:
    found = torch.as_tensor(answer(torch.tensor(BELOW), 1.0, 0.3))
    return bool(found[0, 1] < -1e-4 and found[1, 0] < -1e-4 and abs(found[0, 2]) < 1e-6 and found[1, 2] > 1e-4)


STAGES = [
    Example(
        "unequal rows at temperature 1 and m 0.2, by finite differences",
        (torch.tensor(UNEQUAL), 1.0, 0.2),
        differences(UNEQUAL, 1.0, 0.2),
        MISTAKES,
        tolerance=2e-4,
    ),
    Example(
        "the same at temperature 0.1 and m 0.5",
        (torch.tensor(UNEQUAL), 0.1, 0.5),
        differences(UNEQUAL, 0.1, 0.5),
        MISTAKES,
    ),
    Stage(
        "a negative below -m / 2 is pulled back up, one at -m / 2 is left alone",
        _turns,
        "2 s + m is 0 at s = -m / 2 and below 0 beyond",
    ),
]
