"""The exercises of lesson 03: ZCA's matrix, how many dimensions to keep, a sentence far out."""

import math
from typing import Any

import numpy as np
import torch
from scipy import stats

from cselab_lab.lessons.checks.mistakes import ROOT, unit
from cselab_lab.lessons.exercises import Example, Exercise

# ---- 1: ZCA's matrix: my_zca(x, eps=0.0) gives W [d, d] for rows x [n, d] ---------------------------------


def _zca(x: Any, eps: Any = 0.0) -> Any:
    z = x.double() - x.double().mean(0)
    values, axes = torch.linalg.eigh(z.T @ z / len(z))
    variances = values.clamp(min=0)
    scale = (variances + eps) ** -0.5
    return axes * scale @ axes.T


# Points at (2, 2), (-2, -2) on one axis and (1, -1), (-1, 1) on the other: variances 4 and 1 along the diagonals.
_CROSS = torch.tensor([[2.0, 2.0], [-2.0, -2.0], [1.0, -1.0], [-1.0, 1.0]])
# Three axes in space, u, v and w at right angles, with variances 4, 1 and 1/4: u u^T / 2 + v v^T + 2 w w^T, by hand.
_U, _V, _W = (torch.tensor([axis]) / 3 for axis in ([2.0, 2.0, 1.0], [-2.0, 1.0, 2.0], [1.0, -2.0, 2.0]))
_SPACE = math.sqrt(3) * torch.cat([2 * _U, -2 * _U, _V, -_V, _W / 2, -_W / 2]) + torch.tensor([10.0, -5.0, 1.0])
_PLUS = torch.tensor([[2.0, 0.0], [-2.0, 0.0], [0.0, 1.0], [0.0, -1.0]])  # variances 2 and 1/2 on the channels
_THIN = torch.tensor([[32**0.5, 0.0], [-(32**0.5), 0.0], [0.0, 14**0.5], [0.0, -(14**0.5)]])  # variances 16 and 7
ZCA = Exercise(
    Example(
        "two channels without correlation, variances 2 and 1/2: each divided by its standard deviation",
        (_PLUS,),
        torch.diag(torch.tensor([2**-0.5, 2**0.5])),
    ),
    Example(
        "a cross on the diagonals, variances 4 and 1: W is symmetric, 3/4 and -1/4",
        (_CROSS,),
        torch.tensor([[0.75, -0.25], [-0.25, 0.75]]),
    ),
    Example(
        "where the cloud lies does not matter: the mean is removed",
        (_SPACE,),
        _U.T @ _U / 2 + _V.T @ _V + 2 * _W.T @ _W,
    ),
    Example(
        "variances 16 and 7 with eps = 9: 1 / sqrt(16 + 9) and 1 / sqrt(7 + 9)",
        (_THIN, 9.0),
        torch.tensor([[1 / 5, 0.0], [0.0, 1 / 4]]),
    ),
    right=_zca,
    mistakes=ROOT
    | {
        "Divide the covariance by N, the number of rows, not by N - 1.": "z.T @ z / len(z) -> z.T.cov()",
        "Divide the covariance by N, the number of rows.": "z.T @ z / len(z) -> z.T @ z",
        "Subtract the mean of each channel before you compute the covariance.": " - x.double().mean(0) -> ",
        "Each channel was scaled alone.": "z.T @ z / len(z) -> torch.diag((z * z).mean(0))",
        "Return the matrix W, not the whitened rows.": "return axes -> return z @ axes",
        "Divide by the number of rows, not by that of columns.": "/ len(z) -> / z.shape[1]",
        "The covariance is of the channels as they are: do not scale them first.": (
            "z.T @ z / len(z) -> (z / z.std(0)).T @ (z / z.std(0)) / len(z)"
        ),
        "The covariance, not the correlation of the channels.": "z.T @ z / len(z) -> z.T.corrcoef()",
        "Scale U by the eigenvalues to the power -1/2.": "axes * scale @ axes.T -> axes",
    },
)

# ---- 2: how many dimensions BERT-whitening keeps: my_choice(corpus, dev, test, ks) gives (k, score) --------
# Whitening is fitted on the rows of `corpus`; `dev` and `test` are (first, second, grades) each; of `ks` the one with
# the highest Spearman correlation on dev is taken, and scored on test.


def _choice(corpus: Any, dev: Any, test: Any, ks: Any) -> Any:
    rows = corpus
    mean = rows.mean(0)
    _, singular, directions = np.linalg.svd(rows - mean, full_matrices=False)
    kernel = directions.T * (singular / len(rows) ** 0.5) ** -1.0

    def score(pairs: Any, k: int) -> float:
        a, b = ((side - mean) @ kernel[:, :k] for side in pairs[:2])
        return float(stats.spearmanr((unit(a) * unit(b)).sum(1), pairs[2])[0])

    scores = [score(dev, k) for k in ks]
    best = int(np.argmax(scores))
    return ks[best], score(test, ks[best])


def _pairs(draw: Any, n: int, weights: Any) -> tuple[Any, Any, Any]:
    """Pairs of vectors whose grade is how well the weighted channels agree."""
    first = draw.normal(size=(n, len(_SPREAD)))
    agree = draw.uniform(-1, 1, size=(n, 1))
    second = agree * first + np.sqrt(1 - agree**2) * draw.normal(size=first.shape)
    mix = np.where(weights, second, draw.normal(size=first.shape))
    return (first * _SPREAD) @ _AXES + _CENTRE, (mix * _SPREAD) @ _AXES + _CENTRE, np.exp(2 * agree[:, 0])


_DRAW = np.random.default_rng(35)
_SPREAD = np.array([6.0, 3.0, 2.0, 1.0, 0.5, 0.2])  # standard deviations of the channels, before they are turned
_AXES = np.linalg.qr(_DRAW.normal(size=(6, 6)))[0]
_CENTRE = np.array([4.0, -3.0, 0.0, 2.0, 1.0, -2.0])
_CORPUS = (_DRAW.normal(size=(80, 6)) * _SPREAD) @ _AXES + _CENTRE
_DEV = _pairs(_DRAW, 40, [False, False, True, True, False, False])  # the two loudest directions mean nothing
_TEST = _pairs(_DRAW, 40, [False, False, True, True, True, False])  # on test the fifth helps, too


def _of(what: str, ks: list[int]) -> Example:
    given = (_CORPUS, _DEV, _TEST, ks)
    return Example(what, given, _choice(*given))  # a test computes them in another way


CHOICE = Exercise(
    _of("one k to choose from, 4 of 6: fit on the corpus, score the test pairs", [4]),
    _of("with k = 3, 6, 2, 4 or 5, dev decides", [3, 6, 2, 4, 5]),
    _of("dev and test would choose differently: dev decides, whatever it costs", [6, 5, 4]),
    right=_choice,
    mistakes={
        "You chose k on the test pairs. That score is too good: choose on dev.": "score(dev, k) -> score(test, k)",
        "That is the score on dev; the second number is the score on test.": "score(test, -> score(dev,",
        "Return k itself, not its place in `ks`.": "return ks[best] -> return best",
        "Leave the correlation between -1 and 1: do not multiply by 100.": "score(test, -> 100 * score(test,",
        "First k, then the score.": "ks[best], score(test, ks[best]) -> score(test, ks[best]), ks[best]",
        "The best k has the highest score; you took the lowest.": "argmax -> argmin",
        "You took the first of the ks, whatever dev says.": "int(np.argmax(scores)) -> 0",
        "You took the last of the ks, whatever dev says.": "int(np.argmax(scores)) -> len(ks) - 1",
        "You took the largest k, whatever dev says.": "int(np.argmax(scores)) -> ks.index(max(ks))",
        "You took the smallest k, whatever dev says.": "int(np.argmax(scores)) -> ks.index(min(ks))",
        "Fit on `corpus`, not on the dev pairs.": "rows = corpus -> rows = np.concatenate(dev[:2])",
        "Fit on `corpus`, not on the test pairs.": "rows = corpus -> rows = np.concatenate(test[:2])",
        "The largest variances; eigh gives the smallest first.": "kernel[:, :k] -> kernel[:, ::-1][:, :k]",
        "The directions are there, but not scaled to variance 1: divide by the standard deviations.": (
            "** -1.0 -> ** 0"
        ),
        "Divide by the standard deviations, the roots of the variances.": "** -1.0 -> ** -2.0",
        "Subtract the mean of `corpus` before you multiply.": "side - mean -> side",
        "Compare by the cosine: divide the product by both lengths.": "unit( -> (",
        "Spearman correlates the ranks; this is Pearson's correlation.": "spearmanr -> pearsonr",
        "This is Kendall's correlation; Spearman's is wanted.": "spearmanr -> kendalltau",
        "spearmanr gives the correlation first, then a p-value: [0].": ", pairs[2])[0] -> , pairs[2])[1]",
        "The sign of the correlation is the other way round.": "score(test, -> -score(test,",
        "Keep k directions: yours are k + 1.": "[:, :k] -> [:, : k + 1]",
        "Keep k directions: yours are k - 1.": "[:, :k] -> [:, : max(k - 1, 1)]",
        "Divide by the standard deviations: yours multiplies.": "** -1.0 -> ** 1",
        "Subtract the mean of `corpus`, not each side's own.": "side - mean -> side - side.mean(0)",
        "Fit on `corpus` alone, not on the pairs, too.": (
            "rows = corpus -> rows = np.concatenate([corpus, *dev[:2], *test[:2]])"
        ),
        "Subtract the mean before you take the directions, too.": "svd(rows - mean -> svd(rows",
        "Compare by the cosine, not by the distance.": ("(unit(a) * unit(b)).sum(1) -> -((a - b) ** 2).sum(1)"),
        "Whiten the pairs, too; yours are as they were.": "(side - mean) @ kernel[:, :k] -> side",
        "Turn the rows to the directions first; yours are the first k channels.": "@ kernel[:, :k] -> [:, :k]",
    },
)
