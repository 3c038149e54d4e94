"""Mistakes that several exercises know: in rows, in a matrix that whitens, in a temperature, in a loss that chooses."""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F

from cselab_lab.lessons.exercises import Mistakes, otherwise


def terms(logits: Any, dim: int = 1) -> Any:
    """The loss of each row, -log softmax at the diagonal; with `dim` 0 of each column."""
    return logits.logsumexp(dim) - logits.diagonal()


def unit(x: Any, axis: Any = 1) -> Any:
    """Rows of length 1, of NumPy or torch; or columns, or the whole matrix."""
    return F.normalize(x, dim=axis) if torch.is_tensor(x) else x / ((x * x).sum(axis, keepdims=True) + 1e-24) ** 0.5


LENGTHS: Mistakes = {
    "Scale each row to length 1 first.": "unit( -> (",
    "Scale each row to length 1, not each column.": "unit( -> unit(axis=0, x=",
    "Scale each row to length 1, not the whole matrix.": "unit( -> unit(axis=(0, 1), x=",
}
"""Where rows are scaled by `unit`."""

ROOT: Mistakes = {
    "The exponent is -1/2, not +1/2: loud directions become quieter.": "** -0.5 -> ** 0.5",
    "This is the inverse of the covariance: the square root is missing.": "** -0.5 -> ** -1",
    "This is the covariance itself: eigenvalues to the power -1/2.": "** -0.5 -> ** 1",
    "This is PCA whitening, U L^(-1/2): turn back with U^T.": "axes * scale @ axes.T -> axes * scale",
    "This is L^(-1/2) U^T, without the turn back: U comes first.": "axes * scale @ axes.T -> (axes * scale).T",
    "The second U must be transposed: U L^(-1/2) U^T.": "scale @ axes.T -> scale @ axes",
    "eigh gives eigenvectors as columns; yours are used as rows.": "axes * scale @ axes.T -> axes.T * scale @ axes",
    "This is L^(-1/2) alone: U turns to the axes, U^T turns back; U * s scales the columns of U.": (
        "axes * scale @ axes.T -> torch.diag(scale)"
    ),
    "eps belongs under the root, added to the variances.": "(variances + eps) ** -0.5 -> variances**-0.5 + eps",
    "eps under the root: you added it to the standard deviations.": (
        "(variances + eps) ** -0.5 -> (variances**0.5 + eps) ** -1"
    ),
    "eps is not used.": "variances + eps -> variances",
}
"""In U (L + eps)^(-1/2) U^T."""

GRADIENT: Mistakes = {
    "Divide by the temperature outside the softmax, too: the inner derivative.": "eye) / t -> eye)",
    "Outside the softmax divide by the temperature, do not multiply.": "eye) / t -> eye) * t",
    "The temperature divides inside the softmax, too.": " / t).softmax -> ).softmax",
    "Inside the softmax divide by the temperature, do not multiply.": "/ t).softmax -> * t).softmax",
    "The softmax runs along a row: dim=1.": "softmax(1) -> softmax(0)",
    "On the diagonal subtract 1: raising the positive's cosine lowers the loss.": "shares - eye -> shares",
    "Subtract 1 on the diagonal alone: torch.eye(len(cosines)).": "shares - eye -> shares - 1",
    "The positive has a gradient, too: p - 1.": "(shares - eye) -> (shares - eye) * (1 - eye)",
    "The softmax, not its log.": "softmax(1) -> log_softmax(1)",
    "Divide the exponentials by the sum of their row.": "softmax(1) -> exp()",
    "Each row is divided by its own sum: sum(dim=1, keepdim=True).": (
        "softmax(1) -> exp(); (shares -> (shares / shares.sum(1)"
    ),
    "The softmax of each row by itself, not of the whole table.": "softmax(1) -> flatten().softmax(0).view_as(eye)",
    "On the diagonal it is p - 1, not 1 - p: the loss falls when the positive comes nearer.": (
        "(shares - eye) -> (shares - eye) * (1 - 2 * eye)"
    ),
    "Divide by the temperature once outside the softmax.": "eye) / t -> eye) / t**2",
}
"""In (shares - eye) / t, where the shares are a softmax."""


def _mean_loss(s: Any) -> Any:
    return (s.logsumexp(1) - s.diagonal()).mean()


CHOICE = {
    "The positive belongs into the sum below, too.": (
        "s.logsumexp(1) -> s.masked_fill(torch.eye(len(s), dtype=torch.bool), -torch.inf).logsumexp(1)"
    ),
    "cross_entropy takes the softmax by itself.": "(s.logsumexp(1) - s.diagonal()) -> terms(s.softmax(1))",
    "The log comes first, then the mean.": (
        "(s.logsumexp(1) - s.diagonal()).mean() -> -s.softmax(1).diagonal().mean().log()"
    ),
    "The log is missing.": "(s.logsumexp(1) - s.diagonal()) -> s.softmax(1).diagonal()",
    "The right answer for row i is column i, not column 0.": "s.diagonal() -> s[:, 0]",
    "For row i only column i counts, not the mean over all columns.": "s.diagonal() -> s.mean(1)",
    "Each row has a sum of its own, not one for the whole table.": "logsumexp(1) -> logsumexp((0, 1))",
    "Divide by the sum of the row, not by its mean.": (
        "s.diagonal() -> s.diagonal() - torch.tensor(float(s.shape[1])).log()"
    ),
    "The share of the positive is missing: the log of the sum, less the positive's logit.": "- s.diagonal() -> ",
    "The loss is -log p, not 1 - p.": "(s.logsumexp(1) - s.diagonal()) -> (1 - s.softmax(1).diagonal())",
    "nll_loss wants the log of the shares: cross_entropy takes logits.": (
        "(s.logsumexp(1) - s.diagonal()) -> -s.softmax(1).diagonal()"
    ),
}
DIRECTION = {
    "The sum runs along a row: dim=1.": "logsumexp(1) -> logsumexp(0)",
    "Only rows choose among columns; this is the mean of both directions.": (
        "s.logsumexp(1) -> (s.logsumexp(1) + s.logsumexp(0)) / 2"
    ),
}


def choice_mistakes(logits: Callable) -> Mistakes:
    """Mistakes in what is made of logits; `logits` takes the arguments of the exercise and gives [N, N]."""
    return {said: _of_logits(logits, otherwise(_mean_loss, change)) for said, change in CHOICE.items()}


def direction_mistakes(logits: Callable) -> Mistakes:
    """Mistakes in who chooses among whom."""
    return {said: _of_logits(logits, otherwise(_mean_loss, change)) for said, change in DIRECTION.items()}


def _of_logits(logits: Callable, wrong: Callable) -> Callable:
    return lambda *given: wrong(logits(*given).double())


def temperature_mistakes(right: Callable, usual: float, at: int = 1) -> Mistakes:
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
        "Divide by the temperature once, not by its square.": wrong(lambda t: t * t),
    }


def slopes(loss: Callable[[list[float], int], float], rows: list[list[float]], step: float = 1e-5) -> list[list[float]]:
    """The derivative of the loss of each row by each of its entries, by moving the entry a little to both sides."""

    def slope(i: int, j: int) -> float:
        up, down = ([c + side * step if k == j else c for k, c in enumerate(rows[i])] for side in (1, -1))
        return (loss(up, i) - loss(down, i)) / (2 * step)

    return [[slope(i, j) for j in range(len(rows))] for i in range(len(rows))]
