"""Stages for an exercise that writes ZCA's matrix: my_zca(x, eps=0.0) gives W [d, d] for rows x [n, d]."""

import math
from typing import Any

import torch

from cselab_lab.lessons.exercises import Example


def _wrong(
    kind: str = "zca",
    power: float = -0.5,
    centre: bool = True,
    divisor: int = 0,
    outside: bool = False,
    use_eps: bool = True,
    identity: bool = False,
) -> Any:
    """A whitening matrix with one mistake."""

    def of(x: Any, eps: Any = 0.0) -> Any:
        x = x.double()
        x = x - x.mean(0) if centre else x
        c = x.T @ x / (len(x) - divisor)
        eps = eps if use_eps else 0.0
        if kind == "channels apart":
            return torch.diag((c.diagonal() + eps) ** power)
        if kind == "rows":
            c = x @ x.T / len(x)
        values, axes = torch.linalg.eigh(c)
        scale = values.clamp(min=0) ** power + eps if outside else (values + eps).clamp(min=0) ** power
        if identity:
            scale = 1 / (values.clamp(min=0).sqrt() + eps)
        left = axes * scale
        return {
            "pca": left,
            "pca turned": left.T,
            "no transpose": left @ axes,
            "eigenvectors as rows": left.T @ axes,
        }.get(kind, left @ axes.T)

    return of


def _whitened_rows(x: Any, eps: Any = 0.0) -> Any:
    return (x.double() - x.double().mean(0)) @ _wrong()(x, eps)


MISTAKES = {
    "Divide the covariance by N, the number of rows, not by N - 1.": _wrong(divisor=1),
    "Subtract the mean of each channel before you compute the covariance.": _wrong(centre=False),
    "The exponent is -1/2, not +1/2: loud directions become quieter.": _wrong(power=0.5),
    "This is the inverse of the covariance: the square root is missing.": _wrong(power=-1),
    "This is the covariance itself: eigenvalues to the power -1/2.": _wrong(power=1),
    "This is PCA whitening, U L^(-1/2): turn back with U^T.": _wrong("pca"),
    "This is L^(-1/2) U^T, without the turn back: U comes first.": _wrong("pca turned"),
    "The second U must be transposed: U L^(-1/2) U^T.": _wrong("no transpose"),
    "eigh gives eigenvectors as columns; yours are used as rows.": _wrong("eigenvectors as rows"),
    "Each channel was scaled alone: that does not remove their correlation.": _wrong("channels apart"),
    "The covariance is between channels, X^T X, not between sentences, X X^T.": _wrong("rows"),
    "eps belongs under the root, added to the variances: (L + eps)^(-1/2).": _wrong(outside=True),
    "eps belongs under the root: you added it to the standard deviations.": _wrong(identity=True),
    "eps is not used.": _wrong(use_eps=False),
    "Return the matrix W, not the whitened rows.": _whitened_rows,
}

# Points at (2, 2), (-2, -2) on one axis and (1, -1), (-1, 1) on the other: variances 4 and 1 along the diagonals.
CROSS = torch.tensor([[2.0, 2.0], [-2.0, -2.0], [1.0, -1.0], [-1.0, 1.0]])
# Three axes in space, u, v and w at right angles, with variances 4, 1 and 1/4: u u^T / 2 + v v^T + 2 w w^T, by hand.
_U, _V, _W = (
    torch.tensor([[2.0, 2.0, 1.0]]) / 3,
    torch.tensor([[-2.0, 1.0, 2.0]]) / 3,
    torch.tensor([[1.0, -2.0, 2.0]]) / 3,
)
SPACE = math.sqrt(3) * torch.cat([2 * _U, -2 * _U, _V, -_V, _W / 2, -_W / 2])
AWAY = SPACE + torch.tensor([10.0, -5.0, 1.0])
OF_SPACE = _U.T @ _U / 2 + _V.T @ _V + 2 * _W.T @ _W
PLUS = torch.tensor([[2.0, 0.0], [-2.0, 0.0], [0.0, 1.0], [0.0, -1.0]])  # variances 2 and 1/2 on the channels
THIN = torch.tensor([[32**0.5, 0.0], [-(32**0.5), 0.0], [0.0, 14**0.5], [0.0, -(14**0.5)]])  # variances 16 and 7

STAGES = [
    Example(
        "two channels without correlation, variances 2 and 1/2: each divided by its standard deviation",
        (PLUS,),
        torch.diag(torch.tensor([2**-0.5, 2**0.5])),
        MISTAKES,
    ),
    Example(
        "a cross on the diagonals, variances 4 and 1: W is symmetric, 3/4 and -1/4",
        (CROSS,),
        torch.tensor([[0.75, -0.25], [-0.25, 0.75]]),
        MISTAKES,
    ),
    Example("where the cloud lies does not matter: the mean is removed", (AWAY,), OF_SPACE, MISTAKES),
    Example(
        "variances 16 and 7 with eps = 9: 1 / sqrt(16 + 9) and 1 / sqrt(7 + 9)",
        (THIN, 9.0),
        torch.tensor([[1 / 5, 0.0], [0.0, 1 / 4]]),
        MISTAKES,
    ),
]
