"""The exercises of lesson 06: the cross-correlation, Barlow Twins, artificial rows, columns in contrast."""

import math
from typing import Any

import numpy as np
import torch
from torch.nn.functional import batch_norm

from cselab_lab.lessons.exercises import Check, Example, Exercise, Solution, numbers_of

from .answers import choice_mistakes, right_gradient, why_not_drawn, wrong_shapes

_ANCHOR = torch.tensor([[2.0, 0.0, 1.0], [4.0, 1.0, -1.0], [9.0, 5.0, 0.0], [1.0, 2.0, 3.0], [3.0, 0.5, 1.5]])
_POSITIVE = torch.tensor([[1.0, 0.5, 1.0], [5.0, 0.0, -2.0], [7.0, 4.0, 1.0], [2.0, 3.0, 2.0], [3.0, 2.0, -1.0]])

# ---- 1: the cross-correlation of the dimensions (Eq. 4): my_correlation(first, second), [D, D] ------------


_correlation = Solution("06_rank_bottleneck", "my_correlation")
_SMALL = torch.tensor([[3.0, 1.0], [4.0, 2.0]]), torch.tensor([[0.0, 2.0], [1.0, 1.0]])
CORRELATION = Exercise(
    Example(
        "two sentences, two dimensions: 4 / 5, 10 / 5 / 5^0.5, ...",
        _SMALL,
        [[4 / 5, 10 / 5 / 5**0.5], [2 / 5**0.5, 4 / 5]],
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
            "    one = ->     first, second = first - first.mean(0), second - second.mean(0)\n    one ="
        ),
        "Divide by the lengths of the columns, not by the number of rows.": (
            "one.T @ other -> first.T @ second / len(first)"
        ),
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
        "Each part is a sum, not a mean.": ".sum() -> .mean()",
        "The first sum has a plus: with the paper's minus the diagonal is pushed away from 1.": "agree + -> -agree +",
        "Square 1 - C_cc.": (
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

# ---- 3: artificial rows: my_rows(first, second, count, generator) -> both views with the rows below ------


_SENTENCES = torch.arange(12.0).reshape(3, 4), 50 + torch.arange(12.0).reshape(3, 4)


def _returned(answer: Any, count: int = 5, train: bool = False) -> Any:
    views = [1 * view.clone().requires_grad_(train) for view in _SENTENCES]
    return answer(*views, count, torch.Generator().manual_seed(0))


def _padded(answer: Any, count: int = 5) -> list[Any]:
    return [torch.from_numpy(numbers_of(view)) for view in _returned(answer, count)]


def _beneath(answer: Any) -> str:
    views = _padded(answer)
    for problem, rows in {
        "": [view[:3] for view in views],
        "The views have changed places.": [view[:3] for view in reversed(views)],
        "Your rows are above the sentences.": [view[-3:] for view in views],
    }.items():
        if all(torch.allclose(top, view.double(), atol=1e-3) for top, view in zip(rows, _SENTENCES, strict=True)):
            return problem
    return "The first N rows are no longer the sentences."


def _same_beneath(answer: Any) -> str:
    first, second = _padded(answer)
    return (
        ""
        if torch.equal(first[3:], second[3:])
        else "Your rows differ: draw once, and put the same rows below both views."
    )


def _normal(answer: Any) -> str:
    drawn = _padded(answer, count=2_000)[0][3:]
    low, mean, spread = float(drawn.min()), float(drawn.mean()), float(drawn.std())
    if drawn.std(0).min() < 0.5 * spread or drawn.std(1).median() < 0.5 * spread:
        return "Several of your numbers are the same: draw each, torch.randn(count, width)."
    if abs(mean) < 0.05 and abs(spread - 1) < 0.05 and low < -2.5:
        return ""
    way = "torch.rand draws from 0 to 1, torch.randn normal numbers." if 0 <= low < spread else ""
    return f"Yours have mean {abs(mean):.2f} and deviation {spread:.2f}; expected 0 and 1. {way}".strip()


def _drawn_anew(answer: Any) -> str:
    zeros = torch.zeros(2, 4)
    return why_not_drawn(lambda generator: answer(zeros, zeros, 5, generator)[0])


ROWS = Exercise(
    Check(
        "for two views of 3 sentences and 5 rows the result is two views, 8 rows long",
        lambda answer: wrong_shapes(_returned(answer), 2, (8, 4)),
        "Each view gets `count` rows more.",
    ),
    Check("the sentences are on top", _beneath, "Try torch.cat([view, rows])."),
    Check("the same rows are below both views", _same_beneath),
    Check("the rows are standard normal numbers", _normal),
    Check("they are drawn again at each call, from the generator", _drawn_anew),
    Check(
        "gradients go through to the views",
        lambda answer: all(getattr(view, "requires_grad", False) for view in _returned(answer, train=True)),
        for_training=True,
    ),
    solution=Solution("06_rank_bottleneck", "my_rows"),
)

# ---- further: the dimension-wise contrast (ImSimCSE Eq. 5, with the scale of the released code) -----------------
# my_dimension_contrast(anchor, positive, temperature=5.0), the mean over the dimensions.


_contrast = Solution("06_rank_bottleneck", "my_dimension_contrast")


def _logits(anchor: Any, positive: Any, temperature: float = 5.0) -> Any:
    a, p = (batch_norm(view, None, None, training=True) for view in (anchor, positive))
    return a.T @ p / len(anchor) / temperature


_UNCORRELATED = torch.tensor([[1.0, 2.0, 3.0], [1.0, -2.0, -3.0], [-1.0, 2.0, -3.0], [-1.0, -2.0, 3.0]])


def _by_hand(temperature: float) -> float:
    """With Pearson's correlation, dimension by dimension."""
    correlation = np.corrcoef(_ANCHOR.T, _POSITIVE.T)[:3, 3:] / temperature
    return sum(math.log(sum(math.exp(s - row[c]) for s in row)) for c, row in enumerate(correlation)) / 3


DIMENSION_CONTRAST = Exercise(
    Example(
        "three uncorrelated dimensions at temperature 1: log(1 + 2 / e) = 0.551",
        (_UNCORRELATED, _UNCORRELATED, 1.0),
        math.log1p(2 * math.exp(-1)),
    ),
    Example("five sentences, three dimensions", (_ANCHOR, _POSITIVE, 0.5), _by_hand(0.5)),
    Example(
        "neither the scale nor the mean of a dimension matters",
        (_ANCHOR * torch.tensor([3.0, 1.0, 0.2]) + torch.tensor([4.0, 0.0, -7.0]), _POSITIVE, 0.5),
        _by_hand(0.5),
    ),
    Example("a lower temperature is sharper", (_ANCHOR, _POSITIVE, 0.1), _by_hand(0.1)),
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
    },
    trained=True,
)
