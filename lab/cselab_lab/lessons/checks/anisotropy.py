"""The exercises of lesson 01: the mean cosine, directions removed, two sentences outside the cone."""

import math
import tracemalloc
from typing import Any

import numpy as np
import torch
from torch.overrides import TorchFunctionMode

from cselab_lab.lessons.checks.mistakes import LENGTHS, unit
from cselab_lab.lessons.exercises import Example, Exercise, Stage, numbers_of

# ---- 1: the mean cosine of all pairs of different rows: my_mean_cosine(vectors) --------------------------


def _mean_cosine(x: Any) -> Any:
    n, u = len(x), unit(x)
    between = (u.sum(0) ** 2).sum() - (u**2).sum()
    return between / (n * (n - 1))


class _Watched(np.ndarray):
    """Vectors that note the size of every array that is computed from them."""

    sizes: list[int] | None = None

    def __array_finalize__(self, source: Any) -> None:
        self.sizes = getattr(source, "sizes", None)
        if self.sizes is not None:
            self.sizes.append(self.size)


class _Sizes(TorchFunctionMode):
    """Notes the size of every tensor that is computed."""

    def __init__(self) -> None:
        super().__init__()
        self.sizes: list[int] = [0]

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        found = function(*args, **(kwargs or {}))
        self.sizes.append(found.numel() if torch.is_tensor(found) else 0)
        return found


ROWS, WIDTH = 300, 3


def _needs_no_pairs(function: Any) -> str:
    """Whether no array of n * n numbers was made, and not one for each pair either."""
    vectors = np.random.default_rng(0).normal(1, 1, (ROWS, WIDTH)).view(_Watched)
    sizes: list[int] = []
    vectors.sizes = sizes
    returned, expected = numbers_of(function(vectors)), _mean_cosine(np.asarray(vectors))
    if returned.size != 1 or not math.isclose(float(returned.reshape(())), expected, abs_tol=1e-3):
        return f"Your function returned {float(returned.flat[0]):.4g}; expected is {expected:.4g}."
    tracemalloc.start()  # what another library computes is not of `_Watched`
    with _Sizes() as of_torch:
        function(np.array(vectors))
    needed = tracemalloc.get_traced_memory()[1] / np.float64().nbytes
    tracemalloc.stop()
    if max([*sizes, *of_torch.sizes, needed]) >= ROWS * ROWS / 2 or len(sizes) >= ROWS * ROWS / 2:
        return "You compared every row with every row. |u_1 + ... + u_n|^2 holds the products of all pairs: expand it."
    return ""


_FOUR = np.array([[4.0, 0.0, 0.0, 0, 0], [0.0, 1.0, 0.0, 0, 0], [3.0, 3.0, 0.0, 0, 0], [1.0, 0.0, 1.0, 0, 0]])
_OF_FOUR = (3 * math.sqrt(0.5) + 0.5) / 6  # of the six pairs three are at 45 degrees, one at 60, two at 90
MEAN_COSINE = Exercise(
    Example("the six pairs of four vectors have the mean cosine 0.437", (_FOUR,), _OF_FOUR),
    Example("the lengths of the vectors do not matter", (_FOUR * [[5.0], [1.0], [0.1], [9.0]],), _OF_FOUR),
    Example("two opposite vectors have -1", (np.array([[1.0, 0.0, 0.0], [-2.0, 0.0, 0.0]]),), -1.0),
    Example("three copies of one vector have 1", (np.array([[3.0, 4.0]] * 3),), 1.0),
    Stage(f"{ROWS} rows need no {ROWS} x {ROWS} cosines", _needs_no_pairs),
    right=_mean_cosine,
    mistakes=LENGTHS
    | {
        "Each row is paired with itself, too.": " - (u**2).sum() -> ; (n * (n - 1)) -> n**2",
        "The n products of a row with itself are still in the sum. Take them out.": " - (u**2).sum() -> ",
        "Each of the n products of a row with itself is 1: take out n, not 1.": "(u**2).sum() -> 1",
        "Scale each row to length 1 first: only then is u_i . u_i 1.": "unit(x) -> x; (u**2).sum() -> n",
        "Scale each row to length 1, not the whole matrix: then take out n.": (
            "unit(x) -> x / np.linalg.norm(x); (u**2).sum() -> n"
        ),
        "Scale each row first, and leave out its pair with itself.": (
            "unit(x) -> x; - (u**2).sum() -> + 0; (n * (n - 1)) -> n**2"
        ),
        "Do not subtract the mean: the cone is what is measured.": "unit(x) -> unit(x - x.mean(0))",
        "Keep the sign of each cosine: opposite directions count against the cone.": (
            "(u.sum(0) ** 2) -> np.abs(u @ u.T)"
        ),
        "That is the mean of the squares of the cosines.": "u.sum(0) ** 2 -> (u @ u.T) ** 2",
        "Write / (n * (n - 1)): without the brackets (n - 1) multiplies.": "(n * (n - 1)) -> n * (n - 1)",
        "n is the number of rows, not of columns.": "len(x) -> x.shape[1]",
        "That is the length of the mean vector. Square it, and leave out the pairs of a row with itself.": (
            "between / (n * (n - 1)) -> np.linalg.norm(u.mean(0))"
        ),
        "That is the mean cosine to the mean vector. What is wanted is the mean over pairs of rows.": (
            "between / (n * (n - 1)) -> (u @ x.mean(0)).mean() / np.linalg.norm(x.mean(0))"
        ),
        "Add the rows (axis=0), not the numbers in each row.": "u.sum(0) -> u.sum(1)",
        "Square the length of the sum.": "(u.sum(0) ** 2).sum() -> np.linalg.norm(u.sum(0))",
        "All pairs, not only neighbours.": "between / (n * (n - 1)) -> (u[1:] * u[:-1]).sum(1).mean()",
        "All pairs, not only those of the first row.": "between / (n * (n - 1)) -> (u[1:] @ u[0]).mean()",
    },
)

# ---- 2: the mean and the first k principal directions removed: my_removal(vectors, k) --------------------


def _removal(x: Any, k: int) -> Any:
    rows = x - x.mean(0)
    axes = np.linalg.svd(rows, full_matrices=False)[2]
    chosen = axes[:k]
    return rows - rows @ chosen.T @ chosen


# Three patterns at right angles to each other, each of mean 0: principal directions by construction.
_PATTERNS = np.array([[1.0, 1.0, 1.0], [-1.0, 1.0, -1.0], [1.0, -1.0, -1.0], [-1.0, -1.0, 1.0]])
_ROWS = _PATTERNS * [3, 2, 1] + [5, 7, -1]
_TURN = np.array([[2.0, -2.0, 1.0], [1.0, 2.0, 2.0], [-2.0, -1.0, 2.0]]) / 3  # a rotation
_TURNED = _ROWS @ _TURN.T


def _twice_is_two(function: Any) -> bool:
    x = np.random.default_rng(0).normal(1, 1, (6, 4)) * [4, 3, 2, 1]
    once = numbers_of(function(x.copy(), 1))
    return np.allclose(numbers_of(function(once, 1)), numbers_of(function(x, 2)), atol=5e-3)


REMOVAL = Exercise(
    Example("k = 0 subtracts the mean and no more", (_ROWS, 0), _PATTERNS * [3, 2, 1]),
    Example("k = 1 takes the widest of three axes away", (_ROWS, 1), _PATTERNS * [0, 2, 1]),
    Example("it finds directions that are no axes", (_TURNED, 1), _PATTERNS * [0, 2, 1] @ _TURN.T),
    Example("k = 2 leaves the narrowest", (_TURNED, 2), _PATTERNS * [0, 0, 1] @ _TURN.T),
    Stage("one direction, and then one more, are two", _twice_is_two, "is every row changed in the same way?"),
    right=_removal,
    mistakes={
        "The mean is still in it: subtract it from the rows, too.": "rows - rows @ -> x - x @",
        "You added the mean again at the end; it stays out.": "return rows -> return x.mean(0) + rows",
        "Take the directions of the centred rows: subtract the mean first.": "svd(rows -> svd(x",
        "Nothing of the mean was removed: subtract it, then look for directions.": "x - x.mean(0) -> x",
        "You removed those of the smallest variance.": "axes[:k] -> axes[len(axes) - k :]",
        "You kept the k directions and removed the rest: subtract them.": "rows - rows @ -> rows @",
        "One direction too many is gone.": "axes[:k] -> axes[: k + 1]",
        "One direction too few is gone.": "axes[:k] -> axes[: max(k - 1, 0)]",
        "The directions are the rows of svd's last matrix, vt[:k], not its columns.": "axes[:k] -> axes[:, :k].T",
        "The eigenvectors are the columns of what eigh returns.": (
            "svd(rows, full_matrices=False)[2] -> eigh(rows.T @ rows)[1][:, ::-1]"
        ),
        "These are coordinates along what is left: the result is as wide as the input.": (
            "rows - rows @ chosen.T @ chosen -> rows @ axes[k:].T"
        ),
        "Subtract the mean of each column (axis=0), not of each row.": (
            "rows - rows @ chosen.T @ chosen -> x - x.mean(1, keepdims=True)"
        ),
        "Only the mean is gone; the k directions are still in it.": "rows - rows @ chosen.T @ chosen -> rows",
        "With k = 0, axes[-k:] is all of them: turn the order round, then take [:k].": (
            "svd(rows, full_matrices=False)[2] -> eigh(rows.T @ rows)[1].T; axes[:k] -> axes[-k:]"
        ),
        "All k directions, not the k-th alone.": "axes[:k] -> axes[k - 1 : k]",
        "Project the centred rows, not those that were given.": "rows @ -> x @",
        "Nothing is done to the rows: subtract their mean, then the k directions.": (
            "rows - rows @ chosen.T @ chosen -> x"
        ),
        "Subtract the mean of each column, not one mean of all numbers.": "x - x.mean(0) -> x - x.mean()",
        "Subtract the part along the directions, do not add it.": "rows - rows @ -> rows + rows @",
        "Do not divide the columns by their standard deviation.": "x - x.mean(0) -> (x - x.mean(0)) / x.std(0)",
        "Leave the rows as long as they are: do not scale them first.": "x - x.mean(0) -> unit(x) - unit(x).mean(0)",
    },
)
