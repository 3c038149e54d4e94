"""Mistakes of every loss that chooses the diagonal among the logits of a row: InfoNCE and what is made of it."""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F


def terms(logits: Any, dim: int = 1) -> Any:
    """The loss of each row, -log softmax at the diagonal; with `dim` 0 of each column."""
    return logits.logsumexp(dim) - logits.diagonal()


def choice_mistakes(logits: Callable) -> dict[str, Callable]:
    """Mistakes in what is made of logits; `logits` takes the arguments of the exercise and gives [N, N]."""

    def wrong(end: Callable) -> Callable:
        return lambda *given: end(logits(*given).double())

    def without_positive(s: Any) -> Any:
        own = torch.eye(len(s), dtype=torch.bool)
        return (s.masked_fill(own, -torch.inf).logsumexp(1) - s.diagonal()).mean()

    return {
        "The positive belongs into the sum below, too.": wrong(without_positive),
        "cross_entropy takes the softmax by itself: give it the logits.": wrong(
            lambda s: F.cross_entropy(s.softmax(1), torch.arange(len(s)))
        ),
        "The log comes first, then the mean.": wrong(lambda s: -s.softmax(1).diagonal().mean().log()),
        "The log is missing.": wrong(lambda s: s.softmax(1).diagonal().mean()),
        "The right answer for row i is column i, not column 0.": wrong(lambda s: (s.logsumexp(1) - s[:, 0]).mean()),
    }


def direction_mistakes(logits: Callable) -> dict[str, Callable]:
    """Mistakes in who chooses among whom."""
    return {
        "The sum runs along a row: dim=1.": lambda *given: terms(logits(*given), 0).mean(),
        "Only rows choose among columns; this is the mean of both directions.": lambda *given: (
            (terms(logits(*given)).mean() + terms(logits(*given), 0).mean()) / 2
        ),
    }


def temperature_mistakes(right: Callable, usual: float, at: int = 1) -> dict[str, Callable]:
    """Mistakes in the temperature of a right function: its argument at this place, or `usual` where none is given."""

    def wrong(change: Callable[[float], float]) -> Callable:
        def of(*given: Any) -> Any:
            temperature = given[at] if len(given) > at else usual
            return right(*given[:at], change(temperature), *given[at + 1 :])

        return of

    return {
        "The temperature is not used.": wrong(lambda t: 1.0),
        "Divide by the temperature, do not multiply.": wrong(lambda t: 1 / t),
        f"The temperature is {usual:g} in your code, whatever is asked for.": wrong(lambda t: usual),
    }


def slopes(loss: Callable[[list[float], int], float], rows: list[list[float]], step: float = 1e-5) -> list[list[float]]:
    """The derivative of the loss of each row by each of its entries, by moving the entry a little to both sides."""

    def slope(i: int, j: int) -> float:
        up, down = ([c + side * step if k == j else c for k, c in enumerate(rows[i])] for side in (1, -1))
        return (loss(up, i) - loss(down, i)) / (2 * step)

    return [[slope(i, j) for j in range(len(rows))] for i in range(len(rows))]
