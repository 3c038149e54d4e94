"""The exercises of lesson 08: alignment, a cone that keeps the score."""

import math
from typing import Any

import numpy as np
import torch
from scipy.stats import spearmanr

from cselab.metrics import uniformity
from cselab_lab.lessons.exercises import Check, Example, Exercise, Solution, numbers_of

# ---- 1: the alignment of Wang and Isola: my_alignment(x, y, grades, threshold=4) --------------------------


def _side(degrees: float, length: float) -> list[float]:
    angle = math.radians(degrees)
    return [length * math.cos(angle), length * math.sin(angle), 0.0, 0.0]


# five pairs with these angles between the sides; on the unit sphere the squared distance is 2 - 2 cos(angle)
_ANGLES = {5.0: 120, 4.5: 90, 4.2: 0, 4.0: 60, 1.0: 180}  # by grade; squared distances 3, 2, 0, 1 and 4
_STARTS = (0, 40, 75, 110, 200)
_X = torch.tensor([_side(start, length) for start, length in zip(_STARTS, (2, 1, 0.5, 3, 1.5), strict=True)])
_ENDS = zip(_STARTS, _ANGLES.values(), (3, 2, 1, 2, 1), strict=True)
_Y = torch.tensor([_side(start + angle, length) for start, angle, length in _ENDS])
_GRADES = torch.tensor(list(_ANGLES))
_THREE = [0, 2, 4]
ALIGNMENT = Exercise(
    Example(
        "of three pairs those graded 5 and 4.2 count; at 120 and 0 degrees they give (3 + 0) / 2 = 1.5",
        (_X[_THREE], _Y[_THREE], _GRADES[_THREE]),
        1.5,
    ),
    Example(
        "of five pairs those graded 5, 4.5 and 4.2 count: (3 + 2 + 0) / 3 = 1.667",
        (_X[:, :3], _Y[:, :3], _GRADES),
        5 / 3,
    ),
    Example("with a threshold of 0.5 all five count: 10 / 5 = 2", (_X, _Y, _GRADES, 0.5), 2),
    solution=Solution("08_alignment_uniformity", "my_alignment"),
    mistakes={
        "Square the distances.": (".square().sum(dim=1) -> .norm(dim=1)", ".square() -> .abs()"),
        "Scale the rows of both sides to length 1.": (
            "u, v = (torch -> u, v = x, torch; side, dim=1) for side in (x, y)) -> y, dim=1)",
            "u, v = ( -> u, v = ; side, dim=1) for side in (x, y)) -> x, dim=1), y",
        ),
        "Which pairs count? Those with a grade above the threshold.": (
            "[grades > threshold] -> ",
            "> threshold -> <= threshold",
            "> threshold -> < threshold",
        ),
        "Compare each grade as it is, without rounding.": "grades > -> grades.int() >",
        "There is no logarithm in the alignment.": ".mean() -> .mean().log()",
        "Square the difference of each pair, then average.": (
            ".square().sum(dim=1).mean() -> .mean(dim=0).square().sum()"
        ),
        "Scale the sides to length 1, not the difference.": "(u - v)[ -> torch.nn.functional.normalize(x - y, dim=1)[",
        "Square first, then sum.": ".square().sum(dim=1) -> .sum(dim=1).square()",
        "A pair whose grade equals the threshold does not count.": "> threshold -> >= threshold",
        "Divide by the number of pairs that count, not by the number of all pairs.": ".mean() -> .sum() / len(grades)",
        "The squared distance is 2 - 2 times the cosine, not half as much.": (
            "(u - v)[grades > threshold].square() -> (u * v)[grades > threshold]",
            "return (u - v)[grades > threshold].square() -> return 1 - (u * v)[grades > threshold]",
        ),
    },
)

# ---- 2: the geometry spoiled, the score kept: my_cone(vectors), rows of any length ------------------------

NARROW = -0.1  # the uniformity of a very narrow cone


def _cloud() -> Any:
    """Forty rows of unequal lengths about five centres: some near each other, some opposite."""
    generator = np.random.default_rng(0)
    centres = generator.standard_normal((5, 16))
    rows = np.repeat(centres, 8, axis=0) + 0.7 * generator.standard_normal((40, 16))
    return rows * generator.uniform(0.2, 3.0, size=(40, 1))


def _are_rows(table: Any) -> bool:
    return table.ndim == 2 and len(table) == 40 and bool(np.isfinite(table).all() and table.any(axis=1).all())


def _cosines(rows: Any) -> Any:
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return (unit @ unit.T)[np.triu_indices(len(rows), 1)]


def _narrow(cone: Any) -> str:
    found = uniformity(numbers_of(cone(_cloud())))
    return "" if found > NARROW else f"Yours is {found:.3f}."


def _changes_the_order(cone: Any) -> str:
    """How far the order of the cosines has changed, and whether this depends on the lengths of the rows."""
    rows = _cloud()
    found, of_unit = (_cosines(numbers_of(cone(side))) for side in (rows, rows / np.linalg.norm(rows, axis=1)[:, None]))
    if (agreement := spearmanr(found, _cosines(rows)).statistic) > 0.999:
        return ""
    lengths = "" if np.allclose(found, of_unit) else " The lengths of the rows change your cosines."
    return f"Yours is {agreement:.3f}.{lengths}"


CONE = Exercise(
    Check(
        "each row gives a row of numbers, not all of them 0",
        lambda cone: _are_rows(numbers_of(cone(_cloud()))) and len(cone(_cloud()[:9])) == 9,
        "return an array with as many rows as `vectors`, without NaN; it may be wider.",
    ),
    Check(
        "the uniformity is above -0.1: all vectors crowd together",
        _narrow,
        "add the same large part to all rows. Scaling the rows changes no cosine.",
    ),
    Check(
        "the cosines still differ",
        lambda cone: np.ptp(_cosines(numbers_of(cone(_cloud())))) > 1e-7,
        "the differences between the rows are gone, or lost in rounding: keep them, and add less.",
    ),
    Check("the order of the cosines is exactly the old one: Spearman above 0.999", _changes_the_order),
    piece="my_cone",
)
