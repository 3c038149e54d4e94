"""The exercises of lesson 06: the cross-correlation, Barlow Twins, columns in contrast."""

import math
from typing import Any

import numpy as np
import torch
from torch.nn.functional import batch_norm

from cselab_lab.lessons.exercises import Example, Exercise, Solution

from .answers import by_hand, choice_mistakes, right_gradient

_ANCHOR = torch.tensor([[2.0, 0.0, 1.0], [4.0, 1.0, -1.0], [9.0, 5.0, 0.0], [1.0, 2.0, 3.0], [3.0, 0.5, 1.5]])
_POSITIVE = torch.tensor([[1.0, 0.5, 1.0], [5.0, 0.0, -2.0], [7.0, 4.0, 1.0], [2.0, 3.0, 2.0], [3.0, 2.0, -1.0]])

# ---- 1: the cross-correlation of the dimensions (Eq. 4): my_correlation(first, second), [D, D] ------------


_correlation = Solution("06_rank_bottleneck", "my_correlation")


def _pearson(first: Any, second: Any) -> Any:
    width = first.shape[1]
    return np.corrcoef(first.T, second.T)[:width, width:]


_SMALL = torch.tensor([[3.0, 1.0], [4.0, 2.0], [0.0, 2.0]]), torch.tensor([[0.0, 2.0], [1.0, 1.0], [0.0, 2.0]])
CORRELATION = Exercise(
    Example(
        "three sentences, two dimensions: 4 / 5, 10 / 5 / 3, 2 / 3, 8 / 3 / 3",
        _SMALL,
        [[4 / 5, 10 / 5 / 3], [2 / 3, 8 / 3 / 3]],
    ),
    Example(
        "five sentences, three dimensions, one with a reversed sign in the second view",
        (_ANCHOR, _POSITIVE * torch.tensor([1.0, -1.0, 1.0])),
        [
            [sign * float(a @ b / a.norm() / b.norm()) for b, sign in zip(_POSITIVE.T, (1, -1, 1), strict=True)]
            for a in _ANCHOR.T
        ],
    ),
    right_gradient(_correlation, _ANCHOR, _POSITIVE, for_training=True),
    solution=_correlation,
    mistakes={
        "These are the cosines of sentences; compute those of dimensions, D x D.": (
            "norm(dim=0) -> norm(dim=1, keepdim=True); one.T @ other -> one @ other.T"
        ),
        "Scale each column (dimension) to length 1, not each row.": "norm(dim=0) -> norm(dim=1, keepdim=True)",
        "Eq. 4 subtracts no mean.": (
            "    one = ->     first, second = first - first.mean(0), second - second.mean(0)\n    one =",
            "first / first.norm(dim=0) -> (first - first.mean(0)) / first.std(0) / len(first)**0.5; "
            "second / second.norm(dim=0) -> (second - second.mean(0)) / second.std(0) / len(first)**0.5",
        ),
        "Divide by the lengths of the columns, not by the number of rows.": (
            "one.T @ other -> first.T @ second / len(first)"
        ),
        "Compare the first view with the second, not with itself.": "one.T @ other -> one.T @ one",
        "Divide row c by the length of column c of the first view, column d by that of the second.": (
            "one.T @ other -> first.T @ second / (first.norm(dim=0) * second.norm(dim=0))"
        ),
        "Scale to length 1 by the root of the sum of squares.": "norm(dim=0) -> norm(p=1, dim=0)",
        "Each view has its own lengths.": "second.norm(dim=0) -> first.norm(dim=0)",
    },
    trained=True,
)

# ---- 2: Barlow Twins of such a matrix: my_barlow_twins(correlation, weight=0.012) -------------------------


_twins = Solution("06_rank_bottleneck", "my_barlow_twins")
_TABLE = [[0.5, 0.2, -0.3], [-0.4, 0.9, 0.1], [0.6, -0.2, 0.7]]
_TWINS = (
    sum((1 - _TABLE[c][c]) ** 2 for c in range(3)),
    sum(_TABLE[c][d] ** 2 for c in range(3) for d in range(3) if c != d),
)
BARLOW_TWINS = Exercise(
    Example(
        "a matrix of 2 x 2, weight 0.4: 0.25 + 0.01 on the diagonal, 0.4 times 0.04 + 0.16 off it",
        (torch.tensor([[0.5, 0.2], [-0.4, 0.9]]), 0.4),
        0.34,
    ),
    Example("a matrix of 3 x 3, weight 2", (torch.tensor(_TABLE), 2.0), _TWINS[0] + 2 * _TWINS[1]),
    Example("the identity has the loss 0", (torch.eye(4), 0.7), 0.0),
    Example("4 dimensions that are all one: only off the diagonal", (torch.ones(4, 4), 0.25), 3.0),
    right_gradient(_twins, torch.tensor(_TABLE), 2.0, for_training=True),
    solution=_twins,
    mistakes={
        "Each part is a sum, not a mean.": (
            ".sum() -> .mean()",
            "diagonal).square().sum() -> diagonal).square().mean(); "
            "rest.square().sum() -> rest.square().sum() / (rest.numel() - len(rest))",
        ),
        "The diagonal is pulled to 1, not to 0.": "(1 - diagonal) -> diagonal",
        "Your first sum is that of a diagonal of 0: `diagonal()` is a view, which changes with its table.": (
            "(1 - diagonal) -> (1 - 0 * diagonal)"
        ),
        "The first sum has a plus: with the paper's minus the diagonal is pushed away from 1.": "agree + -> -agree +",
        "Leave the root out: each part is a sum of squares.": ".square().sum() -> .norm()",
        "The weight multiplies the squares, and is not squared.": "weight * differ -> weight**2 * differ",
        "Square each number, then add them up.": (
            ".square().sum() -> .abs().sum()",
            ".square().sum() -> .sum().square()",
        ),
        "Square each 1 - C_cc, then add them up.": (
            "(1 - diagonal).square().sum() -> (1 - diagonal).sum().square()",
            "(1 - diagonal).square() -> (1 - diagonal).abs()",
            "(1 - diagonal).square() -> (1 - diagonal.square())",
        ),
        "The second sum leaves out the diagonal.": "differ = rest -> differ = correlation",
        "The weight belongs only to the second sum.": (
            "agree + weight * differ -> weight * (agree + differ)",
            "agree + weight * differ -> weight * agree + differ",
        ),
        "The second sum is added, not subtracted.": "agree + -> agree -",
        "Square each entry off the diagonal, then add them up.": (
            "rest.square().sum() -> rest.sum()",
            "rest.square().sum() -> rest.abs().sum()",
            "rest.square().sum() -> rest.sum().square()",
        ),
        "The second sum has both sides of the diagonal, d below c and d above c.": "rest. -> rest.triu().",
    },
    trained=True,
)

# ---- further: the dimension-wise contrast (ImSimCSE Eq. 5, with the scale of the released code) -----------------
# my_dimension_contrast(anchor, positive, temperature=5.0), the mean over the dimensions.


_contrast = Solution("06_rank_bottleneck", "my_dimension_contrast")


def _logits(anchor: Any, positive: Any, temperature: float = 5.0) -> Any:
    a, p = (batch_norm(view, None, None, training=True) for view in (anchor, positive))
    return a.T @ p / len(anchor) / temperature


_UNCORRELATED = torch.tensor([[1.0, 2.0, 3.0], [1.0, -2.0, -3.0], [-1.0, 2.0, -3.0], [-1.0, -2.0, 3.0]])


def _of_pearson(temperature: float) -> float:
    return by_hand(_pearson(_ANCHOR, _POSITIVE) / temperature)


DIMENSION_CONTRAST = Exercise(
    Example(
        "three uncorrelated dimensions at temperature 1: log(1 + 2 / e) = 0.551",
        (_UNCORRELATED, _UNCORRELATED, 1.0),
        math.log1p(2 * math.exp(-1)),
    ),
    Example("five sentences, three dimensions", (_ANCHOR, _POSITIVE, 0.5), _of_pearson(0.5)),
    Example(
        "neither the scale nor the mean of a dimension matters",
        (_ANCHOR * torch.tensor([3.0, 1.0, 0.2]) + torch.tensor([4.0, 0.0, -7.0]), _POSITIVE, 0.5),
        _of_pearson(0.5),
    ),
    Example("a lower temperature is sharper", (_ANCHOR, _POSITIVE, 0.1), _of_pearson(0.1)),
    Example(
        "a dimension that never changes gives no NaN; next to a dimension of variance 1: (log(1 + 1 / e) + log 2) / 2",
        (torch.tensor([[1.0, 7.0], [-1.0, 7.0]]), torch.tensor([[3.0, 2.0], [1.0, 2.0]]), 1.0),
        (math.log1p(math.exp(-1)) + math.log(2)) / 2,
    ),
    Example(
        "dimensions of deviation 0.001: 1e-5 is added to the variance, not to the deviation",
        (1e-3 * _UNCORRELATED / _UNCORRELATED.std(0, correction=0),) * 2 + (0.1,),
        math.log1p(2 * math.exp(-10 / 11)),
    ),
    right_gradient(_contrast, _ANCHOR, _POSITIVE, 0.5, for_training=True),
    solution=_contrast,
    mistakes=choice_mistakes(_logits)
    | {
        "This compares sentences, not dimensions: transpose.": "views[0].T @ views[1] -> views[0] @ views[1].T",
        "Subtract each dimension's mean, too.": "centred / ( -> view / (",
        "Divide the dot product by N.": " / len(anchor) -> ",
        "Divide the dot product by N, the number of rows, not by D.": " / len(anchor) -> / anchor.shape[1]",
        "The variance has the divisor N: var(dim=0, correction=0).": "centred.square().mean(dim=0) -> view.var(dim=0)",
        "1e-5 is added to the variance, before the root.": "(variance + 1e-5).sqrt() -> (variance.sqrt() + 1e-5)",
    },
    trained=True,
)
