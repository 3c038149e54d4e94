"""The exercises of lesson 04: shuffled group whitening, and a change that a whitened loss does not see."""

from collections.abc import Callable
from typing import Any

import torch
from scipy.linalg import sqrtm

from cselab.losses import info_nce
from cselab.metrics import mean_cosine
from cselab.sgw import covariance, shuffled_group_whiten, whitening_matrix
from cselab_lab.lessons.checks.mistakes import centre_mistakes
from cselab_lab.lessons.exercises import Example, Exercise, Stage, numbers_of

# ---- 1: shuffled group whitening: my_sgw(x, num_groups, permutation) gives rows [n, d] --------------------
# Rows of x are sentences; the first d / num_groups entries of the permutation are the channels of the first group.


def _centred(z: Any) -> Any:
    return z - z.mean(0)


def _matrix(z: Any, divisor: int = 0, back: Any = lambda left, axes: left @ axes.T) -> Any:
    """The whitening matrix of rows."""
    values, axes = torch.linalg.eigh(z.T @ z / (len(z) - divisor))
    return back(axes * values.clamp(min=1e-12) ** -0.5, axes)


def _zca(z: Any) -> Any:
    return _centred(z) @ _matrix(_centred(z))


def _sgw(
    shuffle: Callable = lambda permutation: permutation,
    back: Callable = torch.argsort,
    size: Callable = lambda width, groups: width // groups,
    whiten: Callable = _zca,
    each: Callable = lambda parts, whiten: list(map(whiten, parts)),
) -> Any:
    """Shuffled group whitening, right or with one mistake."""

    def of(x: Any, num_groups: Any, permutation: Any) -> Any:
        order = shuffle(permutation)
        parts = x.double()[:, order].split(size(x.shape[1], num_groups), dim=1)
        return torch.cat(each(parts, whiten), dim=1)[:, back(order)]

    return of


# Two groups of two channels, whitened by hand. One with variances 2.5 and covariance 1.5 is multiplied by
# [[3, -1], [-1, 3]] / 4; one without covariance and variances 2 and 1/2 is divided by its standard deviations.
_SIGNS = torch.tensor([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]])
_CROSS, _OF_CROSS = (_SIGNS * torch.tensor([[2.0], [2.0], [1.0], [1.0]])).repeat(2, 1), _SIGNS.repeat(2, 1)
_TURNS = torch.tensor([[1.0, 0], [-1, 0], [0, 1], [0, -1], [0, 1], [0, -1], [-1, 0], [1, 0]])  # correlated with _CROSS
_PLUS, _OF_PLUS = _TURNS * torch.tensor([2.0, 1.0]), _TURNS * 2**0.5
_SHIFT = torch.tensor([5.0, -1.0, 3.0, 0.5])
_WIDE = torch.randn(9, 6, generator=torch.Generator().manual_seed(4)) @ torch.full((6, 6), 0.3).fill_diagonal_(1.0)
_SHUFFLE = torch.tensor([3, 0, 5, 1, 2, 4])


def _placed(first: Any, second: Any) -> Any:
    """The channels 0 to 3, where the first group is channels 1 and 2 and the second 3 and 0."""
    return torch.stack([second[:, 1], first[:, 0], first[:, 1], second[:, 0]], dim=1)


def slowly(x: Any, num_groups: int, permutation: Any) -> Any:
    """Group by group, the root of the covariance by SciPy's Schur decomposition instead of eigenvectors."""
    found = torch.empty_like(x, dtype=torch.float64)
    for channels in permutation.chunk(num_groups):
        z = _centred(x[:, channels].double())
        found[:, channels] = z @ torch.from_numpy(sqrtm((z.T @ z / len(z)).numpy())).inverse()
    return found


SGW = Exercise(
    Example(
        "no shuffle yet: two groups of neighbours, each whitened by ZCA as in lesson 03",
        (torch.cat([_CROSS, _PLUS], dim=1) + _SHIFT, 2, torch.arange(4)),
        torch.cat([_OF_CROSS, _OF_PLUS], dim=1),
    ),
    Example(
        "channels 1 and 2 are one group, 3 and 0 the other; each comes back to its place",
        (_placed(_CROSS, _PLUS) + _SHIFT, 2, torch.tensor([1, 2, 3, 0])),  # not its own inverse
        _placed(_OF_CROSS, _OF_PLUS),
    ),
    Example("three groups of two channels", (_WIDE, 3, _SHUFFLE), slowly(_WIDE, 3, _SHUFFLE)),
    mistakes={
        "Undo the permutation at the end.": _sgw(back=lambda order: torch.arange(len(order))),
        "Undoing a permutation takes its inverse, permutation.argsort().": _sgw(back=lambda order: order),
        "The permutation was used the wrong way round: x[:, permutation].": _sgw(torch.argsort),
        "The channels were not shuffled: neighbours were put into a group.": _sgw(lambda p: torch.arange(len(p))),
        "All channels were whitened together: whiten each group alone.": _sgw(size=lambda width, groups: width),
        "num_groups is their number; you took it for the channels in each.": _sgw(size=lambda width, groups: groups),
        "Each group has a matrix of its own; you used that of the first group for all.": _sgw(
            each=lambda parts, whiten: [_centred(part) @ _matrix(_centred(parts[0])) for part in parts]
        ),
        "This is PCA whitening: turn back with U^T, for ZCA.": _sgw(
            whiten=lambda z: _centred(z) @ _matrix(_centred(z), back=lambda left, axes: left)
        ),
        "This is PCA whitening: the turn back, U^T, is missing.": _sgw(
            whiten=lambda z: _centred(z) @ whitening_matrix(covariance(z), kind="pca")
        ),
        "Divide the covariance by N, not by N - 1.": _sgw(whiten=lambda z: _centred(z) @ _matrix(_centred(z), 1)),
        "Divide the covariance by N, the number of rows.": _sgw(whiten=lambda z: _zca(z) / len(z) ** 0.5),
        "The mean must be gone from the result, too.": _sgw(whiten=lambda z: z @ _matrix(_centred(z))),
        "Each channel was scaled alone.": _sgw(whiten=lambda z: _centred(z) / z.std(0, correction=0)),
        "The rows were whitened, but are the rows still in their order?": lambda x, k, p: _sgw()(x.roll(1, 0), k, p),
    }
    | centre_mistakes(lambda centre: _sgw(whiten=lambda z: centre(z) @ _matrix(centre(z)))),
)

# ---- 2: a change of the vectors that a whitened loss does not see: unseen_change(x) gives changed rows ----
# The loss of WhitenedCSE must stay what it was, the mean cosine rise above 0.95.

ROWS, WIDTH, GROUPS = 64, 16, 8


def views() -> tuple[Any, Any]:
    """Two views of 64 sentences, a little apart, and somewhat in a cone."""
    draw = torch.Generator().manual_seed(0)
    x = torch.randn(ROWS, WIDTH, generator=draw) + 0.3
    return x, x + 0.3 * torch.randn(ROWS, WIDTH, generator=draw)


def whitened_loss(first: Any, second: Any) -> float:
    """InfoNCE of the two views, each after a shuffled group whitening of its own."""
    draw = torch.Generator().manual_seed(1)
    orders = [torch.randperm(WIDTH, generator=draw) for _ in range(2)]
    one, two = (shuffled_group_whiten(x, GROUPS, p) for x, p in zip((first, second), orders, strict=True))
    return float(info_nce(one, two, 0.05).total)


def _changed(answer: Any) -> list[Any]:
    """Both views after the student's change."""
    return [torch.from_numpy(numbers_of(answer(view))).float() for view in views()]


def _is_seen(answer: Any) -> str:
    before, after = whitened_loss(*views()), whitened_loss(*_changed(answer))
    seen = abs(before - after) > 1e-3 * before + 1e-4
    return f"The loss was {before:.4f} and is {after:.4f}: it sees what you did." if seen else ""


def _is_no_cone(answer: Any) -> str:
    before, after = mean_cosine(views()[0]), mean_cosine(_changed(answer)[0])
    return "" if after > 0.95 else f"The mean cosine was {before:.2f} and is {after:.2f}."


UNSEEN_CHANGE = Exercise(
    Stage(
        "it takes rows and gives rows of the same shape",
        lambda answer: numbers_of(answer(views()[0])).shape == (ROWS, WIDTH),
        "one row for each row, one channel for each",
    ),
    Stage(
        "the whitened loss does not see it",
        _is_seen,
        "What does whitening take away, whatever it was? The centre, and a size that all channels share.",
    ),
    Stage(
        "the mean cosine is above 0.95: the cone of the encoder has closed",
        _is_no_cone,
        "What all sentences share makes a cone: give them more of it.",
    ),
)
