"""Stages for an exercise that writes shuffled group whitening: my_sgw(x, num_groups, permutation) gives rows [n, d].

Rows of x are sentences; the first d / num_groups entries of the permutation are the channels of the first group.
"""

from typing import Any

import torch

from cselab.sgw import covariance, whitening_matrix
from cselab_lab.lessons.exercises import Example


def _zca(z: Any, kind: str = "zca", divisor: int = 0, centre: bool = True) -> Any:
    """Rows whitened, all channels together."""
    z = z - z.mean(0) if centre else z
    values, axes = torch.linalg.eigh((z.T @ z) / (len(z) - divisor))
    left = axes * values.clamp(min=1e-12) ** -0.5
    return z @ (left if kind == "pca" else left @ axes.T)


def _sgw(
    order: str = "right", undo: str = "right", groups: str = "right", whiten: Any = _zca, joined: str = "channels"
) -> Any:
    """Shuffled group whitening, right or with one mistake."""

    def of(x: Any, num_groups: Any, permutation: Any) -> Any:
        x, width = x.double(), x.shape[1]
        inverse = permutation.argsort()
        shuffle = {"right": permutation, "none": torch.arange(width), "inverse": inverse}[order]
        size = {"right": width // num_groups, "size": num_groups, "one": width}[groups]
        shuffled = x[:, shuffle]
        if groups == "interleaved":
            parts = [shuffled[:, start::num_groups] for start in range(num_groups)]
        else:
            parts = list(shuffled.split(size, dim=1))
        if joined == "first matrix":
            z = parts[0] - parts[0].mean(0)
            values, axes = torch.linalg.eigh(z.T @ z / len(z))
            matrix = axes * values**-0.5 @ axes.T
            done = torch.cat([(part - part.mean(0)) @ matrix for part in parts], dim=1)
        else:
            done = torch.cat([whiten(part) for part in parts], dim=1)
        back = {"right": shuffle.argsort(), "none": torch.arange(width), "again": shuffle}[undo]
        return done[:, back]

    return of


def _channels_scaled(z: Any) -> Any:
    return (z - z.mean(0)) / z.std(0, correction=0)


def _rows_shuffled(x: Any, num_groups: Any, permutation: Any) -> Any:
    rows = torch.arange(len(x)).roll(1)
    return _sgw()(x[rows], num_groups, permutation)


MISTAKES = {
    "Undo the permutation at the end: each channel goes back to its place.": _sgw(undo="none"),
    "To undo a permutation takes its inverse, permutation.argsort(), not the permutation once more.": _sgw(
        undo="again"
    ),
    "This permutation was used the wrong way round: shuffled is x[:, permutation].": _sgw(order="inverse"),
    "The channels were not shuffled: neighbours were put into a group.": _sgw(order="none"),
    "All channels were whitened together: whiten each group alone.": _sgw(groups="one"),
    "num_groups is the number of groups; you took it for the channels in each.": _sgw(groups="size"),
    "Each group has a matrix of its own; you used that of the first group for all.": _sgw(joined="first matrix"),
    "This is PCA whitening: turn back with U^T, for ZCA.": _sgw(whiten=lambda z: _zca(z, "pca")),
    "This is PCA whitening: the turn back, U^T, is missing.": _sgw(
        whiten=lambda z: (z - z.mean(0)) @ whitening_matrix(covariance(z), kind="pca")
    ),
    "Divide the covariance by N, not by N - 1.": _sgw(whiten=lambda z: _zca(z, divisor=1)),
    "Subtract the mean of each channel first.": _sgw(whiten=lambda z: _zca(z, centre=False)),
    "The mean must be gone from the result, not only from the covariance.": _sgw(
        whiten=lambda z: z @ torch.linalg.lstsq(z - z.mean(0), _zca(z)).solution
    ),
    "Each channel was scaled alone: inside a group the correlation must go, too.": _sgw(whiten=_channels_scaled),
    "The rows were whitened, but are the rows still in their order?": _rows_shuffled,
}

# Two groups of two channels, whitened by hand. One with variances 2.5 and covariance 1.5 is multiplied by
# [[3, -1], [-1, 3]] / 4; one without covariance and variances 2 and 1/2 is divided by its standard deviations.
_CROSS = torch.tensor([[2.0, 2.0], [-2.0, -2.0], [1.0, -1.0], [-1.0, 1.0]])
_OF_CROSS = torch.tensor([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]])
_PLUS = torch.tensor([[2.0, 0.0], [-2.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
_OF_PLUS = torch.tensor([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]) * 2**0.5
_TURNS = [0, 1, 2, 3, 2, 3, 1, 0]  # so that the two groups are correlated with each other
CROSS, OF_CROSS = _CROSS.repeat(2, 1), _OF_CROSS.repeat(2, 1)
PLUS, OF_PLUS = _PLUS[_TURNS], _OF_PLUS[_TURNS]
PERMUTATION = torch.tensor([1, 2, 3, 0])  # first group: channels 1 and 2; the second: 3 and 0. Not its own inverse.


def _placed(first: Any, second: Any) -> Any:
    """The channels 0 to 3, where the first group is channels 1 and 2 and the second 3 and 0."""
    return torch.stack([second[:, 1], first[:, 0], first[:, 1], second[:, 0]], dim=1)


SHIFT = torch.tensor([5.0, -1.0, 3.0, 0.5])
WIDE = torch.randn(9, 6, generator=torch.Generator().manual_seed(4)) @ torch.full((6, 6), 0.3).fill_diagonal_(1.0)
SHUFFLE = torch.tensor([3, 0, 5, 1, 2, 4])


def _slow(x: Any, num_groups: int, permutation: Any) -> Any:
    """Group by group in a loop, the inverse root by Newton's iteration instead of eigenvectors."""
    found = torch.empty_like(x, dtype=torch.float64)
    for channels in permutation.chunk(num_groups):
        z = x[:, channels].double()
        z = z - z.mean(0)
        cov = z.T @ z / len(z)
        norm, one = cov.norm(), torch.eye(len(channels), dtype=torch.float64)
        y, w = cov / norm, one
        for _ in range(40):
            step = (3 * one - w @ y) / 2
            y, w = y @ step, step @ w
        found[:, channels] = z @ w / norm.sqrt()
    return found


STAGES = [
    Example(
        "no shuffle yet: two groups of neighbours, each whitened by ZCA as in lesson 03",
        (torch.cat([CROSS, PLUS], dim=1) + SHIFT, 2, torch.arange(4)),
        torch.cat([OF_CROSS, OF_PLUS], dim=1),
        MISTAKES,
    ),
    Example(
        "channels 1 and 2 are one group, 3 and 0 the other; each comes back to its place",
        (_placed(CROSS, PLUS) + SHIFT, 2, PERMUTATION),
        _placed(OF_CROSS, OF_PLUS),
        MISTAKES,
    ),
    Example("three groups of two channels", (WIDE, 3, SHUFFLE), _slow(WIDE, 3, SHUFFLE), MISTAKES),
]
