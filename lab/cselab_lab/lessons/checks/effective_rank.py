"""Stages for an exercise that writes the effective rank of Roy and Vetterli (2007): my_effective_rank(vectors)."""

import math
from typing import Any

import torch

from cselab_lab.lessons.exercises import Example


def _entropy(p: Any) -> Any:
    p = p[p > 0]
    return -(p * p.log()).sum()


def _wrong(
    centre: Any = lambda v: v - v.mean(0),
    power: Any = 1,
    share: Any = lambda s: s / s.sum(),
    end: Any = lambda p: _entropy(p).exp(),
) -> Any:
    """An effective rank with one mistake."""

    def of(vectors: Any) -> Any:
        singular = torch.linalg.svdvals(centre(vectors)).pow(power)
        singular = torch.where(singular > 1e-5 * singular.max(), singular, 0.0)
        return end(share(singular))

    return of


MISTAKES = {
    "Subtract the mean of the rows first: the common direction does not count.": _wrong(centre=lambda v: v),
    "Subtract the mean over the rows (dim=0), not each row's own mean.": _wrong(
        centre=lambda v: v - v.mean(1, keepdim=True)
    ),
    "The singular values themselves, not their squares (the eigenvalues).": _wrong(power=2),
    "Divide the singular values by their sum, so that they are shares.": _wrong(share=lambda s: s),
    "Divide by the sum of the singular values, not by their length.": _wrong(share=lambda s: s / s.norm()),
    "Divide by the sum, not by the largest.": _wrong(share=lambda s: s / s.max()),
    "The singular values are shares of their sum; no softmax.": _wrong(share=lambda s: s.softmax(0)),
    "This is the entropy: take its exponential at the end.": _wrong(end=_entropy),
    "The entropy has a minus: -sum p log p.": _wrong(end=lambda p: (-_entropy(p)).exp()),
    "exp goes with the natural logarithm.": _wrong(end=lambda p: (_entropy(p) / math.log(2)).exp()),
    "exp goes with the natural logarithm, not with log10.": _wrong(end=lambda p: (_entropy(p) / math.log(10)).exp()),
    "Sum over the singular values, do not average.": _wrong(end=lambda p: (_entropy(p) / len(p)).exp()),
    "This counts all directions alike: weigh them by their share.": _wrong(end=lambda p: (p > 0).sum()),
    "This is another measure, 1 / sum p^2; use the entropy.": _wrong(end=lambda p: 1 / p.square().sum()),
    "0 log 0 counts as 0: leave out the singular values that are 0.": math.nan,
}

CROSS = torch.tensor([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
UNEQUAL = CROSS * torch.tensor([[3.0], [3.0], [1.0], [1.0]])  # singular values 3 and 1, times the root of 2
OF_UNEQUAL = 4 / 3**0.75  # exp(-(3/4 log 3/4 + 1/4 log 1/4))
LINE = torch.tensor([[2.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]])
STAGES = [
    Example("one direction three times as long as the other: 4 / 3^0.75 = 1.755", (UNEQUAL,), OF_UNEQUAL, MISTAKES),
    Example("a cross of two equal directions has 2", (CROSS,), 2, MISTAKES),
    Example("a hundred times as long, and the same", (100 * UNEQUAL,), OF_UNEQUAL, MISTAKES),
    Example("all moved aside together, and the same", (UNEQUAL + torch.tensor([5.0, 2.0]),), OF_UNEQUAL, MISTAKES),
    Example("every row twice, and the same", (UNEQUAL.repeat(2, 1),), OF_UNEQUAL, MISTAKES),
    Example("points on a line have 1", (LINE,), 1, MISTAKES),
]
