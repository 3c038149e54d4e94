"""The exercises of lesson 01: the mean cosine, directions removed."""

import math
import tracemalloc
from typing import Any

import numpy as np

from cselab_lab.lessons.exercises import Check, Example, Exercise, Solution, numbers_of

# ---- 1: the mean cosine of all pairs of different rows: my_mean_cosine(vectors) --------------------------

_mean_cosine = Solution("01_anisotropy", "my_mean_cosine")


class _Watched(np.ndarray):
    """Vectors that note the size of every array that is computed from them."""

    sizes: list[int] | None = None

    def __array_finalize__(self, source: Any) -> None:
        self.sizes = getattr(source, "sizes", None)
        if self.sizes is not None:
            self.sizes.append(self.size)


ROWS, WIDTH = 300, 3


def _needs_no_pairs(function: Any) -> str:
    """Whether no array of n * n numbers was made, and not one for each pair either."""
    vectors = np.random.default_rng(0).normal(1, 1, (ROWS, WIDTH)).view(_Watched)
    sizes: list[int] = []
    vectors.sizes = sizes
    returned, expected = numbers_of(function(vectors)), _mean_cosine(np.asarray(vectors))
    if returned.size != 1 or not math.isclose(float(returned.reshape(())), expected, abs_tol=1e-3):
        return f"Your function returned {float(returned.flat[0]):.4g}; expected {expected:.4g}."
    tracemalloc.start()  # other libraries do not compute with `_Watched`
    function(np.array(vectors))
    needed = tracemalloc.get_traced_memory()[1] / np.float64().nbytes
    tracemalloc.stop()
    if max(sum(sizes), len(sizes), needed) >= ROWS * ROWS / 2:
        return "You computed every cosine of two rows. |u_1 + ... + u_n|^2 holds the products of all pairs: expand it."
    return ""


_FOUR = np.array([[4.0, 0.0, 0.0, 0, 0], [0.0, 1.0, 0.0, 0, 0], [3.0, 3.0, 0.0, 0, 0], [1.0, 0.0, 1.0, 0, 0]])
_OF_FOUR = (3 * math.sqrt(0.5) + 0.5) / 6  # of the six pairs three are at 45 degrees, one at 60, two at 90
MEAN_COSINE = Exercise(
    Example("the six pairs of four vectors have the mean cosine 0.437", (_FOUR,), _OF_FOUR),
    Example("the lengths of the vectors do not matter", (_FOUR * [[5.0], [1.0], [0.1], [9.0]],), _OF_FOUR),
    Example("two opposite vectors have -1", (np.array([[1.0, 0.0, 0.0], [-2.0, 0.0, 0.0]]),), -1.0),
    Example("three copies of one vector have 1", (np.array([[3.0, 4.0]] * 3),), 1.0),
    Check(f"{ROWS} rows need no {ROWS} x {ROWS} cosines", _needs_no_pairs),
    solution=_mean_cosine,
    mistakes={
        "Each row is paired with itself, too.": "(total @ total - n) / (n * (n - 1)) -> total @ total / n**2",
        "The n products of a row with itself are still in the sum. Subtract them.": "total - n -> total",
        "n is the number of rows, not their width.": "n = len(vectors) -> n = vectors.shape[1]",
        "Square the length of the sum.": "total @ total -> np.linalg.norm(total)",
        "Each of the n products of a row with itself is 1: subtract n, not 1.": "total - n -> total - 1",
        "That is the length of the mean vector. Square it, and leave out the pairs of a row with itself.": (
            "(total @ total - n) / (n * (n - 1)) -> np.linalg.norm(total / n)"
        ),
        "Do not subtract the mean: this number measures the cone.": (
            "    total = ->     vectors = vectors - vectors.mean(axis=0)\n    total ="
        ),
    },
)

# ---- 2: the mean and the first k principal directions removed: my_removal(vectors, k) --------------------


# Three patterns at right angles to each other, each of mean 0: principal directions by construction.
_PATTERNS = np.array([[1.0, 1.0, 1.0], [-1.0, 1.0, -1.0], [1.0, -1.0, -1.0], [-1.0, -1.0, 1.0]])
_ROWS = _PATTERNS * [2, 3, 1] + [5, 7, -1]
_TURN = np.array([[2.0, -2.0, 1.0], [1.0, 2.0, 2.0], [-2.0, -1.0, 2.0]]) / 3  # a rotation
_TURNED = _ROWS @ _TURN.T
_SIX = np.array([[2.0, 0.0], [-2.0, 0.0], [0.0, 3.0], [0.0, -3.0], [0.0, 3.0], [0.0, -3.0]])


REMOVAL = Exercise(
    Example("k = 0 subtracts the mean and no more", (_ROWS, 0), _PATTERNS * [2, 3, 1]),
    Example("k = 1 removes the widest of three axes", (_ROWS, 1), _PATTERNS * [2, 0, 1]),
    Example("it finds directions that are not axes", (_TURNED, 1), _PATTERNS * [2, 0, 1] @ _TURN.T),
    Example("k = 2 leaves the narrowest", (_TURNED, 2), _PATTERNS * [0, 0, 1] @ _TURN.T),
    Example("six rows, two axes", (_SIX, 1), _SIX * [1, 0]),
    solution=Solution("01_anisotropy", "my_removal"),
    mistakes={
        "The rows still contain the mean: subtract it from them, too.": (
            "return centred - centred @ -> return vectors - vectors @",
            "return centred - centred @ -> return centred - vectors @",
            "return -> return vectors.mean(axis=0) +",
        ),
        "Use the directions of the centred rows: subtract the mean first.": "svd(centred -> svd(vectors",
        "The mean was not removed: subtract the mean, then look for directions.": (
            "vectors - vectors.mean(axis=0) -> vectors"
        ),
        "That is one direction: remove the first k of them.": ("[:k] -> [k : k + 1]", "[:k] -> [k - 1 :][:1]"),
        "Subtract the mean, but do not divide by the deviations.": (
            "vectors - vectors.mean(axis=0) -> (vectors - vectors.mean(axis=0)) / vectors.std(axis=0)"
        ),
        "With k = 0 the slice [-k:] has every direction: take the first k of descending ones.": "[:k] -> [::-1][-k:]",
        "You removed the directions of the smallest variance.": "[:k] -> [::-1][:k]",
        "You kept the k directions and removed the rest: subtract them.": "centred - centred @ -> centred @",
        "These are coordinates along the directions: multiply them by the directions again.": (
            "centred - centred @ directions.T @ directions -> "
            "(centred - centred @ directions.T @ directions) @ np.linalg.svd(centred, full_matrices=False)[2].T",
            "[:k] -> [k:]; centred - centred @ directions.T @ directions -> centred @ directions.T",
        ),
        "The directions are the rows of svd's last matrix, vt[:k], not its columns.": "[:k] -> [:, :k].T",
    },
)
