"""Stages for an exercise that writes the alignment of Wang and Isola: my_alignment(x, y, grades, threshold=4)."""

import math
from typing import Any

import torch
import torch.nn.functional as F

from cselab_lab.lessons.exercises import Example


def _wrong(
    dim: Any = 1,
    keep: Any = lambda grades, threshold: grades > threshold,
    power: Any = 2,
    reduce: Any = lambda terms, grades: terms.mean(),
) -> Any:
    """An alignment with one mistake."""

    def of(x: Any, y: Any, grades: Any, threshold: Any = 4) -> Any:
        u, v = (side if dim is None else F.normalize(side, dim=dim) for side in (x, y))
        distances = (u - v).norm(dim=1) ** power
        return reduce(distances[keep(grades, threshold)], grades)

    return of


def _of_entries(x: Any, y: Any, grades: Any, threshold: Any = 4) -> Any:
    kept = grades > threshold
    return F.mse_loss(F.normalize(x)[kept], F.normalize(y)[kept])


def _of_all_pairs(x: Any, y: Any, grades: Any, threshold: Any = 4) -> Any:
    kept = grades > threshold
    return torch.cdist(F.normalize(x)[kept], F.normalize(y)[kept]).square().mean()


def _cosine(x: Any, y: Any, grades: Any, threshold: Any = 4) -> Any:
    return F.cosine_similarity(x, y)[grades > threshold].mean()


MISTAKES = {
    "Square the distances.": _wrong(power=1),
    "Scale each row to length 1 before you measure distances.": _wrong(dim=None),
    "Scale each row to length 1, not each column: dim=1.": _wrong(dim=0),
    "Which pairs count? Those with a grade above the threshold.": _wrong(keep=lambda g, t: g == g),
    "Above the threshold: a pair whose grade equals it does not count.": _wrong(keep=lambda g, t: g >= t),
    "The pairs that count are those above the threshold, not the others.": _wrong(keep=lambda g, t: g <= t),
    "Is there a 4 in your code where threshold should be?": _wrong(keep=lambda g, t: g > 4),
    "Take the mean over the pairs, not the sum.": _wrong(reduce=lambda terms, g: terms.sum()),
    "Divide by the number of pairs that count, not by the number of all pairs.": _wrong(
        reduce=lambda terms, g: terms.sum() / len(g)
    ),
    "Square each distance first, then take the mean; no root at the end.": _wrong(
        reduce=lambda terms, g: terms.mean().sqrt()
    ),
    "A squared distance is the sum over the entries of a row, not their mean.": _of_entries,
    "Row i of x belongs to row i of y alone: no distances between other rows.": _of_all_pairs,
    "This is the mean cosine. The squared distance is 2 - 2 times it.": _cosine,
    "1 - cosine is half of the squared distance.": lambda x, y, g, t=4: 1 - _cosine(x, y, g, t),
}


def _side(degrees: float, length: float) -> list[float]:
    angle = math.radians(degrees)
    return [length * math.cos(angle), length * math.sin(angle), 0.0]


# five pairs with these angles between the sides; on the unit sphere the squared distance is 2 - 2 cos(angle)
ANGLES = {5.0: 120, 4.5: 90, 4.2: 0, 4.0: 60, 1.0: 180}  # by grade; squared distances 3, 2, 0, 1 and 4
STARTS = (0, 40, 75, 110, 200)
X = torch.tensor([_side(start, length) for start, length in zip(STARTS, (2, 1, 0.5, 3, 1.5), strict=True)])
Y = torch.tensor(
    [
        _side(start + angle, length)
        for start, angle, length in zip(STARTS, ANGLES.values(), (3, 2, 1, 2, 1), strict=True)
    ]
)
GRADES = torch.tensor(list(ANGLES))
THREE = [0, 2, 4]
STAGES = [
    Example(
        "of three pairs those graded 5 and 4.2 count; at 120 and 0 degrees they give (3 + 0) / 2 = 1.5",
        (X[THREE], Y[THREE], GRADES[THREE]),
        1.5,
        MISTAKES,
    ),
    Example(
        "of five pairs those graded 5, 4.5 and 4.2 count: (3 + 2 + 0) / 3 = 1.667", (X, Y, GRADES), 5 / 3, MISTAKES
    ),
    Example("with a threshold of 0.5 all five count: 10 / 5 = 2", (X, Y, GRADES, 0.5), 2, MISTAKES),
]
