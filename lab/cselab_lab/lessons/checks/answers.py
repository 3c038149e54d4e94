"""What several lessons share: the type of an answer, its gradient, vectors at angles, InfoNCE and its mistakes."""

import math
import warnings
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from scipy.special import logsumexp
from torch.nn.functional import normalize

from cselab_lab.lessons.exercises import MEAN, WRONG_GRADIENT, Check, Solution, kind_of, mutate_source, numbers_of


def are_texts(answer: Any, count: int) -> bool:
    """Whether an answer is `count` texts in a row: a tuple, a list, an array; not one text, not a dictionary."""
    if isinstance(answer, str | dict) or not hasattr(answer, "__getitem__") or not hasattr(answer, "__len__"):
        return False
    return len(answer) == count and all(isinstance(text, str) for text in answer)


def is_whole(answer: Any) -> bool:
    """Whether this is one whole number: 6, 6.0, one of NumPy or torch; not a bool, not a list with a number in it."""
    if isinstance(answer, bool | list | tuple) or (number := numbers_of(answer)) is None or number.size != 1:
        return False
    return float(number.reshape(())).is_integer()


def wrong_shapes(returned: Any, count: int, shape: tuple[int, ...]) -> str:
    """A sentence about a wrong number or wrong shapes of several tables; empty if they are right."""
    several = isinstance(returned, list | tuple) or getattr(returned, "ndim", 0) == 3
    shapes = [_shape(table) for table in returned] if several else []
    if shapes == [shape] * count:
        return ""
    return f"Expected {count} tables of shape {shape}; your function returned {kind_of(returned)}."


def _shape(table: Any) -> tuple[int, ...]:
    return getattr(numbers_of(table), "shape", ())


def at(*degrees: float) -> torch.Tensor:
    """Unit vectors in the plane, at these angles."""
    radians = torch.tensor(degrees).deg2rad()
    return torch.stack([radians.cos(), radians.sin()], dim=1)


def by_hand(logits: Any) -> float:
    """InfoNCE of logits [N, N], by SciPy in double precision."""
    return float(np.mean(logsumexp(logits, axis=1) - np.diagonal(logits)))


def cosine_logits(first: Any, second: Any, temperature: float = 0.05) -> Any:
    """Cosines of rows with rows, divided by the temperature."""
    return normalize(first) @ normalize(second).T / temperature


AS_IT_IS = "Do not detach anything, and do not write into the arguments."


def _requiring_gradient(value: Any, leaves: list[Any]) -> Any:
    """The same, its tensors requiring a gradient; they are added to `leaves`."""
    if isinstance(value, list):
        return [_requiring_gradient(part, leaves) for part in value]
    if torch.is_tensor(value) and value.is_floating_point():
        leaves.append(value.detach().clone().requires_grad_())
        return 1 * leaves[-1]  # not a leaf, as in training, so that a function may write into it
    return value


def _gradients(function: Callable, arguments: tuple[Any, ...]) -> list[Any] | None:
    """The gradient of a weighted sum of the result for every tensor argument, or None."""
    leaves: list[Any] = []
    try:
        with warnings.catch_warnings(action="ignore"):  # of float(tensor), say, which needs no gradient
            returned = function(*(_requiring_gradient(argument, leaves) for argument in arguments))
    except RuntimeError as error:
        if "numpy" in str(error):  # which takes no tensor that requires a gradient
            return None
        raise
    if isinstance(returned, list | tuple) and all(map(torch.is_tensor, returned)):
        returned = torch.stack(list(returned))
    if not getattr(returned, "requires_grad", False):
        return None
    weights = torch.linspace(-1, 3, returned.numel() + 1)[1:].reshape(returned.shape)
    return list(torch.autograd.grad((returned * weights).sum(), leaves, materialize_grads=True))


def right_gradient(
    solution: Solution,
    *arguments: Any,
    known: Mapping[str, str] = MappingProxyType({}),
    hint: str = AS_IT_IS,
    for_training: bool = False,
) -> Check:
    """A check: the gradients of an answer by all tensors among the arguments are those of the solution.

    An answer without a gradient passes: `student_or_reference` reports that a lesson cannot train with it. `known` are
    changes of the solution's source that have another gradient, by their message. With `for_training` an answer with
    right numbers and a wrong gradient is solved, and the lesson trains with the solution.
    """

    def holds(answer: Callable) -> str:
        gradients = _gradients(answer, arguments)

        def is_of(function: Callable) -> bool:
            expected = _gradients(function, arguments) or []
            return gradients is None or all(
                torch.allclose(a, b.to(a), atol=2e-3) for a, b in zip(gradients, expected, strict=True)
            )

        if is_of(solution):
            return ""
        messages = (message for message, change in known.items() if is_of(mutate_source(solution, change)))
        return next(messages, f"Yours is a different one. {hint}")

    missing = WRONG_GRADIENT if for_training else ""
    return Check("the gradient through the result is right", holds, missing, for_training)


LOST = "a positive with a share of exp(-400) costs 400: add nothing to a share, and do not clamp it"
"""The name of an example at a temperature of 0.005; an epsilon inside the logarithm changes its right answer."""
FAR = "a row far below the largest cosine costs nothing: each row has its own maximum"
"""The name of an example at a temperature of 0.005 in which the whole table has no common scale."""


CHOICES: Mapping[str, Callable[[Any, Any, Any], Any]] = MappingProxyType(
    {
        "The positive belongs in the denominator, too.": (lambda s, own, below: (below.exp() - own.exp()).log() - own),
        "Your softmax is taken twice: cross_entropy computes it by itself.": (
            lambda s, own, below: s.softmax(1).logsumexp(1) - s.softmax(1).diagonal()
        ),
        "Rows and columns have changed places: row i belongs to the first view, and the sum runs along it (dim=1).": (
            lambda s, own, below: s.logsumexp(0) - own
        ),
        "Only rows choose among columns; this is the mean of two directions.": (
            lambda s, own, below: (below + s.logsumexp(0)) / 2 - own
        ),
        "The right answer of row i is column i, not column 0.": lambda s, own, below: below - s[:, 0],
        "The right answer of row i is column i, not column 1.": lambda s, own, below: below - s[:, 1],
        "The right answer of row i is column i: your answers run backwards.": lambda s, own, below: (
            below - s.flip(1).diagonal()
        ),
        "That is the share of the positive: the log and the minus are missing.": lambda s, own, below: (
            own - below
        ).exp(),
        "That is 1 minus the share of the positive: take minus its log.": lambda s, own, below: 1 - (own - below).exp(),
        "The log of the share is missing (nll_loss expects log_softmax, not softmax).": lambda s, own, below: (
            -(own - below).exp()
        ),
        "label_smoothing changes the loss: leave it out.": lambda s, own, below: below - 0.9 * own - 0.1 * s.mean(1),
        "Each row has its own sum; yours is the sum of the whole table.": lambda s, own, below: (
            s.flatten().logsumexp(0) - own
        ),
        "Only the share on the diagonal counts, not every share.": lambda s, own, below: below - s.mean(1),
        "The denominator is missing.": lambda s, own, below: -own,
        "Divide by the sum over the row, not by its mean.": lambda s, own, below: below - own - math.log(len(s)),
        "Take the log of each row's share first, then the mean.": lambda s, own, below: (
            -(own - below).exp().mean().log()
        ),
    }
)
"""What may be wrong in any InfoNCE, from its logits, their diagonal and the log of each row's sum."""


def choice_mistakes(logits: Callable) -> dict[str, Callable]:
    """The common mistakes in an InfoNCE; `logits` turns the arguments of the exercise into the right logits [N, N]."""

    def mean_of(losses: Callable) -> Callable:
        def of(*arguments: Any) -> Any:
            s = logits(*arguments).double()
            return losses(s, s.diagonal(), s.logsumexp(1)).mean()

        return of

    def summed(*arguments: Any) -> Any:
        s = logits(*arguments).double()
        return (s.logsumexp(1) - s.diagonal()).sum()

    return {message: mean_of(losses) for message, losses in CHOICES.items()} | {MEAN: summed}
