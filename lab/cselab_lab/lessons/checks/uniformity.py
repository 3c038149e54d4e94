"""Stages for an exercise that writes the uniformity of Wang and Isola (2020): my_uniformity(vectors, t=2)."""

import math
from typing import Any

import torch
import torch.nn.functional as F

from cselab_lab.lessons.exercises import Example


def _wrong(
    dim: Any = 1,
    square: Any = True,
    diagonal: Any = False,
    order: Any = "log of mean",
    factor: Any = None,
    sign: Any = -1,
    base: Any = 1.0,
) -> Any:
    """A uniformity with one mistake."""

    def of(vectors: Any, t: Any = 2) -> Any:
        u = vectors if dim is None else F.normalize(vectors, dim=dim)
        distances = torch.cdist(u, u) if diagonal else torch.pdist(u)
        exponents = sign * (t if factor is None else factor) * (distances.square() if square else distances)
        if order == "mean of log":
            return exponents.mean()
        if order == "no log":
            return exponents.exp().mean()
        if order == "sum":
            return exponents.exp().sum().log()
        return exponents.exp().mean().log() * base

    return of


MISTAKES = {
    "Square the distances.": _wrong(square=False),
    "Each row is paired with itself, too: only pairs i < j.": _wrong(diagonal=True),
    "The mean of the exponentials comes first, the log last.": _wrong(order="mean of log"),
    "The log is missing.": _wrong(order="no log"),
    "Take the mean over the pairs, not the sum.": _wrong(order="sum"),
    "The exponent is negative: -t times the squared distance.": _wrong(sign=1),
    "Use the natural logarithm.": _wrong(base=1 / math.log(10)),
    "Scale each row to length 1, not each column: dim=1.": _wrong(dim=0),
    "Scale each row to length 1 before you measure distances.": _wrong(dim=None),
    "Is there a 2 in your code where t should be?": _wrong(factor=2),
}

OPPOSITE = torch.tensor([[0.6, 0.8], [-0.6, -0.8]])
CORNER = torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])  # squared distances 2, 2 and 4
OF_CORNER = math.log((2 * math.exp(-4) + math.exp(-8)) / 3)
STAGES = [
    Example("two opposite vectors have uniformity -2 * 2**2 = -8", (OPPOSITE,), -8, MISTAKES),
    Example("three vectors, two right angles between them, have -4.40", (CORNER,), OF_CORNER, MISTAKES),
    Example(
        "the lengths of the vectors do not matter", (CORNER * torch.tensor([[5.0], [1.0], [0.1]]),), OF_CORNER, MISTAKES
    ),
    Example(
        "at t = 1 the same three have log((2 exp(-2) + exp(-4)) / 3) = -2.34",
        (CORNER, 1),
        math.log((2 * math.exp(-2) + math.exp(-4)) / 3),
        MISTAKES,
    ),
]
