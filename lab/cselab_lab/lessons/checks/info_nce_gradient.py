"""Stages for an exercise on what InfoNCE wants of each cosine: my_gradient(cosines, temperature=0.05), [N, N]."""

import math
from typing import Any

import torch

from cselab_lab.lessons.exercises import Example, Stage


def _wrong(
    dim: int = 1,
    softmax: str = "all",
    diagonal: float = 1.0,
    sign: float = 1.0,
    outside: Any = None,
    inside: Any = None,
    over: Any = None,
) -> Any:
    """A gradient with one mistake: `inside` the softmax and `outside` it stand the temperatures."""

    def of(cosines: Any, temperature: Any = 0.05) -> Any:
        logits = cosines.double() / (temperature if inside is None else inside(temperature))
        own = torch.eye(len(logits), dtype=torch.float64)
        if softmax == "negatives":
            logits = logits.masked_fill(own.bool(), -math.inf)
        shares = {"log": logits.log_softmax(dim), "none": logits.exp()}.get(softmax, logits.softmax(dim))
        found = sign * (shares - diagonal * own) / (temperature if outside is None else outside(temperature))
        return found / len(logits) if over else found

    return of


def _all_minus_one(cosines: Any, temperature: Any = 0.05) -> Any:
    return ((cosines / temperature).softmax(1) - 1) / temperature


def _diagonal_left_out(cosines: Any, temperature: Any = 0.05) -> Any:
    return _wrong()(cosines, temperature).fill_diagonal_(0)


def _loss_of_each(cosines: Any, temperature: Any = 0.05) -> Any:
    logits = cosines / temperature
    return logits.logsumexp(1) - logits.diagonal()


NAN = math.nan
OVERFLOW = [[NAN, NAN, 0.0], [0.0, NAN, NAN], [0.0, 0.0, NAN]]  # exp(190) over a sum of such, in float32

MISTAKES = {
    "Divide by the temperature outside the softmax, too: it is the inner derivative of cos / temperature.": _wrong(
        outside=lambda t: 1
    ),
    "Outside the softmax divide by the temperature, do not multiply.": _wrong(outside=lambda t: 1 / t),
    "The temperature divides the cosines inside the softmax, too.": _wrong(inside=lambda t: 1),
    "Inside the softmax divide by the temperature, do not multiply.": _wrong(inside=lambda t: 1 / t),
    "The temperature is not used.": _wrong(inside=lambda t: 1, outside=lambda t: 1),
    "The temperature is 0.05 in your code, whatever is asked for.": _wrong(
        inside=lambda t: 0.05, outside=lambda t: 0.05
    ),
    "The softmax runs along a row: dim=1.": _wrong(dim=0),
    "The sign is the other way: a negative has a gradient above 0, it is pushed away.": _wrong(sign=-1),
    "On the diagonal subtract 1: raising the positive's cosine lowers the loss.": _wrong(diagonal=0),
    "Subtract 1 on the diagonal alone: torch.eye(len(cosines)).": _all_minus_one,
    "The positive has a gradient, too: p_ii - 1, over the temperature.": _diagonal_left_out,
    "The softmax runs over all columns, the positive among them.": _wrong(softmax="negatives"),
    "The softmax, not its log.": _wrong(softmax="log"),
    "Divide the exponentials by the sum of their row: that is the softmax.": _wrong(softmax="none"),
    "Wanted is the gradient of each sentence's own loss: do not divide by the number of sentences.": _wrong(over="n"),
    "This is the loss of each sentence; wanted is its derivative by each cosine, a matrix.": _loss_of_each,
    "An overflow: exp(200) is too large for a float; torch.softmax does not overflow.": OVERFLOW,
}


def differences(cosines: list[list[float]], temperature: float, step: float = 1e-5) -> list[list[float]]:
    """d l_i / d cos_ij by moving each cosine a little to both sides: no formula of the gradient is used."""

    def loss(row: list[float], own: int) -> float:
        highest = max(row)
        total = sum(math.exp((c - highest) / temperature) for c in row)
        return math.log(total) + (highest - row[own]) / temperature

    def slope(i: int, j: int) -> float:
        up, down = ([c + side * step if k == j else c for k, c in enumerate(cosines[i])] for side in (1, -1))
        return (loss(up, i) - loss(down, i)) / (2 * step)

    return [[slope(i, j) for j in range(len(cosines))] for i in range(len(cosines))]


UNEQUAL = [[1.0, 0.5, 0.0], [0.8, 0.1, 0.9], [0.7, 0.3, 0.6]]
SHARP = [[0.9, 0.89, -0.5], [0.2, 0.95, 0.94], [0.3, 0.1, 0.9]]
THIRD = 1 / 3
BLIND = [[-2 * THIRD, THIRD, THIRD], [THIRD, -2 * THIRD, THIRD], [THIRD, THIRD, -2 * THIRD]]


def _rows_cancel(answer: Any) -> bool:
    rows = torch.as_tensor(answer(torch.tensor(SHARP), 0.05)).sum(1)
    return bool(rows.abs().max() < 1e-3)


STAGES = [
    Example(
        "where all cosines are the same, a third for each of 3, and a whole for the positive",
        (torch.zeros(3, 3), 1.0),
        BLIND,
        MISTAKES,
    ),
    Example(
        "unequal cosines at temperature 0.5, as finite differences give it",
        (torch.tensor(UNEQUAL), 0.5),
        differences(UNEQUAL, 0.5),
        MISTAKES,
    ),
    Stage("in each row the pull on the positive is as strong as all pushes together", _rows_cancel, "a row sums to 0"),
    Example(
        "a temperature of 0.005 does not overflow",
        (torch.tensor(SHARP), 0.005),
        differences(SHARP, 0.005, 1e-6),
        MISTAKES,
        1e-2,
    ),
]
