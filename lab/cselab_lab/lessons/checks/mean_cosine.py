"""Stages for an exercise that writes the mean cosine of all pairs of different rows: my_mean_cosine(vectors)."""

import math
from typing import Any

import numpy as np

from cselab_lab.lessons.exercises import Example, Stage


def _unit(x: Any) -> Any:
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def _of(u: Any, diagonal: bool = False) -> Any:
    n = len(u)
    return ((u @ u.T).sum() - (0 if diagonal else np.trace(u @ u.T))) / (n * n if diagonal else n * (n - 1))


def _expanded(u: Any, without: int, n: int) -> Any:
    """|u_1 + ... + u_n|^2, less so many products of a row with itself, over the ordered pairs of n."""
    total = u.sum(axis=0)
    return (total @ total - without) / (n * (n - 1))


def _of_parts(x: Any, part: Any) -> Any:
    cosines = part(_unit(x) @ _unit(x).T)
    return (cosines.sum() - len(x)) / (len(x) * (len(x) - 1))


MISTAKES = {
    "Each row has been paired with itself, too: n of the n * n cosines are 1.": lambda x: _of(_unit(x), diagonal=True),
    "Scale each row to length 1 first.": _of,
    "Scale each row to length 1 first: only then is the product of a row with itself 1.": lambda x: _expanded(
        x, len(x), len(x)
    ),
    "Scale each row to length 1 first, and leave out the pairs of a row with itself.": lambda x: _of(x, diagonal=True),
    "Scale each row, not each column: axis=1.": lambda x: _of(x / np.linalg.norm(x, axis=0)),
    "Do not subtract the mean: the cone is what is measured.": lambda x: _of(_unit(x - x.mean(0))),
    "Keep the sign of each cosine: opposite directions count against the cone.": lambda x: _of_parts(x, np.abs),
    "That is the mean of the squares of the cosines.": lambda x: _of_parts(x, np.square),
    "The n products of a row with itself are still in the sum. Take them out.": lambda x: _expanded(
        _unit(x), 0, len(x)
    ),
    "Each of the n products of a row with itself is 1: take out n, not 1.": lambda x: _expanded(_unit(x), 1, len(x)),
    "Write / (n * (n - 1)): without the brackets the last factor multiplies.": lambda x: (
        _of(_unit(x)) * (len(x) - 1) ** 2
    ),
    "n is the number of rows, not of columns.": lambda x: _expanded(_unit(x), len(x), x.shape[1]),
    "Take the mean over the pairs, not the sum.": lambda x: _of(_unit(x)) * len(x) * (len(x) - 1),
    "That is the sum over pairs i < j. Divide by their number.": lambda x: _of(_unit(x)) * len(x) * (len(x) - 1) / 2,
    "There are n (n - 1) ordered pairs; you divided by n * n.": lambda x: _of(_unit(x)) * (len(x) - 1) / len(x),
    "You counted each pair once, and divided by the number of ordered pairs.": lambda x: _of(_unit(x)) / 2,
    "That is the length of the mean vector. Square it, and leave out the pairs of a row with itself.": lambda x: (
        np.linalg.norm(_unit(x).mean(0))
    ),
    "That is the mean cosine to the mean vector. What is wanted is the mean over pairs of rows.": lambda x: (
        (_unit(x) @ x.mean(0)).mean() / np.linalg.norm(x.mean(0))
    ),
    "That is 1 minus the mean cosine, a distance.": lambda x: 1 - _of(_unit(x)),
}


class _Watched(np.ndarray):
    """Vectors that note the size of every array that is computed from them."""

    sizes: list[int] | None = None

    def __array_finalize__(self, source: Any) -> None:
        self.sizes = getattr(source, "sizes", None)
        if self.sizes is not None:
            self.sizes.append(self.size)


ROWS, WIDTH = 300, 3


def _needs_no_pairs(function: Any) -> bool:
    """Whether no array of n * n numbers was made, and not one for each pair either."""
    vectors = np.random.default_rng(0).normal(1, 1, (ROWS, WIDTH)).view(_Watched)
    sizes: list[int] = []
    vectors.sizes = sizes
    found = function(vectors)
    if not math.isclose(float(found), float(_of(_unit(np.asarray(vectors)))), abs_tol=1e-6):
        return False
    return max(sizes, default=0) < ROWS * ROWS / 2 and len(sizes) < ROWS * ROWS / 2


FOUR = np.array([[4.0, 0.0, 0.0], [0.0, 1.0, 0.0], [3.0, 3.0, 0.0], [1.0, 0.0, 1.0]])
OF_FOUR = (3 * math.sqrt(0.5) + 0.5) / 6  # of the six pairs three are at 45 degrees, one at 60, two at 90
LONGER = FOUR * np.array([[5.0], [1.0], [0.1], [9.0]])
OPPOSITE = np.array([[1.0, 0.0], [-2.0, 0.0]])

STAGES = [
    Example("the six pairs of four vectors have the mean cosine 0.437", (FOUR,), OF_FOUR, MISTAKES),
    Example("the lengths of the vectors do not matter", (LONGER,), OF_FOUR, MISTAKES),
    Example("two opposite vectors have -1", (OPPOSITE,), -1.0, MISTAKES),
    Example("three copies of one vector have 1", (np.array([[3.0, 4.0]] * 3),), 1.0, MISTAKES),
    Stage(
        f"{ROWS} rows need no {ROWS} x {ROWS} cosines",
        _needs_no_pairs,
        "you compared every row with every row. |u_1 + ... + u_n|^2 holds the products of all pairs: expand it.",
    ),
]
