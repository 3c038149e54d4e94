"""The exercises of lesson 03: ZCA's matrix, how many dimensions to keep."""

import math
from typing import Any

import numpy as np
import torch

from cselab_lab.lessons.exercises import Example, Exercise, Solution

# ---- 1: ZCA's matrix: my_zca(x, eps=0.0) gives W [d, d] for rows x [n, d] ---------------------------------

# Points at (2, 2), (-2, -2) on one axis and (1, -1), (-1, 1) on the other: variances 4 and 1 along the diagonals.
_CROSS = torch.tensor([[2.0, 2.0], [-2.0, -2.0], [1.0, -1.0], [-1.0, 1.0]])
# Three axes in space, u, v and w at right angles, with variances 4, 1 and 1/4: u u^T / 2 + v v^T + 2 w w^T, by hand.
_U, _V, _W = (torch.tensor([axis]) / 3 for axis in ([2.0, 2.0, 1.0], [-2.0, 1.0, 2.0], [1.0, -2.0, 2.0]))
_SPACE = math.sqrt(3) * torch.cat([2 * _U, -2 * _U, _V, -_V, _W / 2, -_W / 2]) + torch.tensor([10.0, -5.0, 1.0])
_PLUS = torch.tensor([[0.02, 0.0], [-0.02, 0.0], [0.0, 0.01], [0.0, -0.01]])  # variances so small that 1e-5 counts
_THIN = torch.tensor([[32**0.5, 0.0], [-(32**0.5), 0.0], [0.0, 14**0.5], [0.0, -(14**0.5)]])  # variances 16 and 7


def _by_cholesky(x: Any, eps: float = 0.0) -> Any:
    """The inverse of L, where the covariance is L L^T."""
    covariance = torch.cov(x.T, correction=0) + eps * torch.eye(x.shape[1])
    return torch.linalg.inv(torch.linalg.cholesky(covariance))


ZCA = Exercise(
    Example(
        "a cross on the diagonals, variances 4 and 1: W is symmetric, 3/4 and -1/4",
        (_CROSS,),
        torch.tensor([[0.75, -0.25], [-0.25, 0.75]]),
    ),
    Example(
        "two channels without correlation, variances 1/5000 and 1/20000: each divided by its standard deviation",
        (_PLUS,),
        torch.diag(torch.tensor([5000**0.5, 20000**0.5])),
    ),
    Example(
        "the position of the cloud does not matter, because the mean is removed",
        (_SPACE,),
        _U.T @ _U / 2 + _V.T @ _V + 2 * _W.T @ _W,
    ),
    Example(
        "variances 16 and 7 with eps = 9: 1 / sqrt(16 + 9) and 1 / sqrt(7 + 9)",
        (_THIN, 9.0),
        torch.tensor([[1 / 5, 0.0], [0.0, 1 / 4]]),
    ),
    solution=Solution("03_whitening", "my_zca"),
    mistakes={
        "The exponent is -1/2: large directions become smaller, by a root.": ("** -0.5 -> ** 0.5", "** -0.5 -> ** -1"),
        "This is PCA whitening, with one rotation: ZCA is U L^(-1/2) U^T.": (" @ axes.T -> ", "axes @ torch -> torch"),
        "eigh gives eigenvectors as columns; yours are used as rows.": (
            "axes @ torch -> axes.T @ torch; ) @ axes.T -> ) @ axes"
        ),
        "eps belongs under the root, added to the variances.": (
            "(values + eps) ** -0.5 -> values**-0.5 + eps",
            "(values + eps) ** -0.5 -> 1 / (values.sqrt() + eps)",
            "values + eps -> values.clamp(min=eps)",
        ),
        "Subtract the mean of each channel before you compute the covariance.": "x - x.mean(0) -> x",
        "That whitens, but is not symmetric, as with Cholesky: ZCA is U L^(-1/2) U^T.": (
            _by_cholesky,
            lambda *given: _by_cholesky(*given).T,
        ),
    },
)

# ---- 2: how many dimensions BERT-whitening keeps: my_choice(corpus, dev, test, ks) gives (k, score) --------
# Whitening is fitted on the rows of `corpus`; `dev` and `test` are (first, second, grades) each; the k in `ks` with
# the highest Spearman correlation on dev is chosen, and scored on test.


def _pairs(draw: Any, n: int, weights: Any) -> tuple[Any, Any, Any]:
    """Pairs of vectors whose grade is how well the weighted channels agree."""
    first = draw.normal(size=(n, len(_SPREAD)))
    agree = draw.uniform(-1, 1, size=(n, 1))
    second = agree * first + np.sqrt(1 - agree**2) * draw.normal(size=first.shape)
    mix = np.where(weights, second, draw.normal(size=first.shape))
    return (first * _SPREAD) @ _AXES + _CENTRE, (mix * _SPREAD) @ _AXES + _CENTRE, np.exp(2 * agree[:, 0])


_DRAW = np.random.default_rng(35)
_SPREAD = np.array([6.0, 3.0, 2.0, 1.0, 0.5, 0.2])  # standard deviations of the channels before the rotation
_AXES = np.linalg.qr(_DRAW.normal(size=(6, 6)))[0]
_CENTRE = np.array([4.0, -3.0, 0.0, 2.0, 1.0, -2.0])
_CORPUS = (_DRAW.normal(size=(80, 6)) * _SPREAD) @ _AXES + _CENTRE
_DEV = _pairs(_DRAW, 40, [False, False, True, True, False, False])  # the two largest directions mean nothing
_TEST = _pairs(_DRAW, 40, [False, False, True, True, True, False])  # on test the fifth helps, too


# grades that fall with the cosine: without their signs, with test, or with a k between 3 and 5, the choice is different
_FALLING = (_CORPUS[:50, :5], *((a[:30, :5], b[:30, :5], -grades[:30]) for a, b, grades in (_DEV, _TEST)))
_PAIRED = _CORPUS, _DEV, _TEST
CHOICE = Exercise(
    Example("one k to choose from, 4 of 6: fit on the corpus, score the test pairs", (*_PAIRED, [4]), (4, 0.5653)),
    Example("with k = 3, 6, 2, 4 or 5, dev decides", (*_PAIRED, [3, 6, 2, 4, 5]), (4, 0.5653)),
    Example("dev and test choose differently: dev decides, even if test falls", (*_PAIRED, [6, 5, 4]), (4, 0.5653)),
    Example("correlations below 0: the highest is the nearest to 0", (*_FALLING, [3, 5]), (5, -0.5844)),
    solution=Solution("03_whitening", "my_choice"),
    given=("BertWhitening",),
    mistakes={
        "You chose k on the test pairs. That score is too good: choose on dev.": "score(dev, k) -> score(test, k)",
        "That is the score on dev; the second number is the score on test.": "score(test, best) -> score(dev, best)",
        "Fit on `corpus`, not on the dev pairs.": (
            "fit(corpus) -> fit(np.concatenate(dev[:2]))",
            "fit(corpus) -> fit(np.concatenate([corpus, *dev[:2]]))",
        ),
        "Return k itself, not its place in `ks`.": "return best -> return ks.index(best)",
        "That is the lowest score on dev: choose the highest.": "max(ks -> min(ks",
        "Dev decides; the largest k is not the best.": "max(ks, key=lambda k: score(dev, k)) -> max(ks)",
        "A correlation lies between -1 and 1: do not multiply by 100.": "return spearmanr -> return 100 * spearmanr",
        "Fit on `corpus`, not on the test pairs.": "fit(corpus) -> fit(np.concatenate(test[:2]))",
        "Compare by the cosine: divide the product by the length of each vector.": (
            " / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1) -> "
        ),
        "Spearman correlates the ranks; this is Pearson's correlation.": (
            "spearmanr(cosines, pairs[2])[0] -> np.corrcoef(cosines, pairs[2])[0, 1]"
        ),
    },
)
