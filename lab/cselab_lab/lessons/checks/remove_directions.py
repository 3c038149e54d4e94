"""Stages for an exercise that removes the mean and the first k principal directions: my_removal(vectors, k)."""

from typing import Any

import numpy as np

from cselab_lab.lessons.exercises import Example, Stage


def _removed(
    x: Any, k: int, centre: bool = True, fit: Any = None, back: bool = False, first: bool = True, keep: bool = False
) -> Any:
    """A removal with one mistake."""
    mean = x.mean(0)
    values = x - mean if centre else x
    axes = np.linalg.svd(x - mean if fit is None else fit(x), full_matrices=False)[2]
    axes = axes[:k] if first else axes[len(axes) - k :]
    along = values @ axes.T @ axes
    return (along if keep else values - along) + (mean if back else 0)


def _rows_for_columns(x: Any, k: int) -> Any:
    centred = x - x.mean(0)
    axes = np.linalg.eigh(centred.T @ centred)[1][:, ::-1][:k].T
    return centred - centred @ axes @ axes.T


def _columns_for_rows(x: Any, k: int) -> Any:
    centred = x - x.mean(0)
    axes = np.linalg.svd(centred, full_matrices=False)[2][:, :k].T
    return centred - centred @ axes.T @ axes


def _in_new_axes(x: Any, k: int) -> Any:
    centred = x - x.mean(0)
    return centred @ np.linalg.svd(centred, full_matrices=False)[2][k:].T


MISTAKES = {
    "The mean is still in it: subtract it from the rows, too.": lambda x, k: _removed(x, k, centre=False),
    "You added the mean again at the end; it stays out.": lambda x, k: _removed(x, k, back=True),
    "Take the directions of the centred rows: subtract the mean first.": lambda x, k: _removed(x, k, fit=lambda y: y),
    "Nothing of the mean was removed: subtract it, then look for directions.": lambda x, k: _removed(
        x, k, centre=False, fit=lambda y: y
    ),
    "You removed the directions of the smallest variance; eigh sorts upwards.": lambda x, k: _removed(
        x, k, first=False
    ),
    "You kept the k directions and removed the rest: subtract them.": lambda x, k: _removed(x, k, keep=True),
    "One direction too many is gone: the mean is not one of the k.": lambda x, k: _removed(x, k + 1),
    "One direction too few is gone: the mean is not one of the k.": lambda x, k: _removed(x, max(k - 1, 0)),
    "The directions are the rows of the last matrix that svd returns, vt[:k], not its columns.": _columns_for_rows,
    "The eigenvectors are the columns of what eigh returns, not its rows.": _rows_for_columns,
    "These are coordinates along the directions that are left. Go back: the result is as wide as the input.": (
        _in_new_axes
    ),
    "Subtract the mean of each column (axis=0), not of each row.": lambda x, k: x - x.mean(1, keepdims=True),
}

# Three patterns at right angles to each other, each of mean 0: principal directions by construction.
PATTERNS = np.array([[1.0, 1.0, 1.0], [-1.0, 1.0, -1.0], [1.0, -1.0, -1.0], [-1.0, -1.0, 1.0]])
ROWS = PATTERNS * [3, 2, 1] + [5, 7, -1]
TURN = np.array([[2.0, -2.0, 1.0], [1.0, 2.0, 2.0], [-2.0, -1.0, 2.0]]) / 3  # a rotation
TURNED = ROWS @ TURN.T


def _twice_is_two(function: Any) -> bool:
    x = np.random.default_rng(0).normal(1, 1, (6, 4)) * [4, 3, 2, 1]
    return np.allclose(function(function(x, 1), 1), function(x, 2), atol=1e-6)


def _stays_as_it_was(function: Any) -> bool:
    given = ROWS.copy()
    function(given, 1)
    return np.array_equal(given, ROWS)


STAGES = [
    Example("k = 0 subtracts the mean and no more", (ROWS, 0), PATTERNS * [3, 2, 1], MISTAKES),
    Example("k = 1 takes the widest of three axes away", (ROWS, 1), PATTERNS * [0, 2, 1], MISTAKES),
    Example("it finds directions that are no axes", (TURNED, 1), PATTERNS * [0, 2, 1] @ TURN.T, MISTAKES),
    Example("k = 2 leaves the narrowest", (TURNED, 2), PATTERNS * [0, 0, 1] @ TURN.T, MISTAKES),
    Stage("one direction, and then one more, are two", _twice_is_two, "is every row changed in the same way?"),
    Stage("the vectors that were given stay as they are", _stays_as_it_was, "`x -= mean` changes them: x = x - mean."),
]
