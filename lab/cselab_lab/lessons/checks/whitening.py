"""The exercises of lesson 03: ZCA's matrix, how many dimensions to keep, a sentence far out."""

import math
import re
from functools import cache
from typing import Any

import numpy as np
import torch
from scipy.stats import pearsonr, spearmanr

from cselab_lab.lessons.checks.encoders import plain, sentences
from cselab_lab.lessons.exercises import Example, Exercise, Stage

# ---- 1: ZCA's matrix: my_zca(x, eps=0.0) gives W [d, d] for rows x [n, d] ---------------------------------


def _zca(
    centre: Any = lambda x: x - x.mean(0),
    covariance: Any = lambda x: x.T @ x / len(x),
    scale: Any = lambda values, eps: (values + eps).clamp(min=0) ** -0.5,
    end: Any = lambda axes, scale: axes * scale @ axes.T,
) -> Any:
    """A whitening matrix with one mistake: in the covariance, in what is made of its eigenvalues, at the end."""

    def of(x: Any, eps: Any = 0.0) -> Any:
        values, axes = torch.linalg.eigh(covariance(centre(x.double())))
        return end(axes, scale(values.clamp(min=0), eps))

    return of


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
    mistakes={
        "Divide the covariance by N, the number of rows, not by N - 1.": _zca(covariance=lambda x: x.T.cov()),
        "Divide the covariance by N, the number of rows.": _zca(covariance=lambda x: x.T @ x),
        "Subtract the mean of each channel before you compute the covariance.": _zca(centre=lambda x: x),
        "The exponent is -1/2, not +1/2: loud directions become quieter.": _zca(scale=lambda v, eps: (v + eps) ** 0.5),
        "This is the inverse of the covariance: the square root is missing.": _zca(scale=lambda v, eps: 1 / (v + eps)),
        "This is the covariance itself: eigenvalues to the power -1/2.": _zca(scale=lambda v, eps: v + eps),
        "This is PCA whitening, U L^(-1/2): turn back with U^T.": _zca(end=lambda u, s: u * s),
        "This is L^(-1/2) U^T, without the turn back: U comes first.": _zca(end=lambda u, s: (u * s).T),
        "The second U must be transposed: U L^(-1/2) U^T.": _zca(end=lambda u, s: u * s @ u),
        "eigh gives eigenvectors as columns; yours are used as rows.": _zca(end=lambda u, s: (u.T * s) @ u),
        "Scale the columns of U, not its rows: U * s.": _zca(end=lambda u, s: (u * s[:, None]) @ u.T),
        "Each channel was scaled alone.": _zca(covariance=lambda x: torch.diag((x * x).mean(0))),
        "eps belongs under the root, added to the variances.": _zca(scale=lambda v, eps: v**-0.5 + eps),
        "eps under the root: you added it to the standard deviations.": _zca(scale=lambda v, eps: 1 / (v.sqrt() + eps)),
        "eps is not used.": _zca(scale=lambda v, eps: v**-0.5),
        "Return the matrix W, not the whitened rows.": lambda x, eps=0.0: (x - x.mean(0)).double() @ _zca()(x, eps),
    },
)

# ---- 2: how many dimensions BERT-whitening keeps: my_choice(corpus, dev, test, ks) gives (k, score) --------
# Whitening is fitted on the rows of `corpus`; `dev` and `test` are (first, second, grades) each; of `ks` the one with
# the highest Spearman correlation on dev is taken, and scored on test.


def _choice(
    by: str = "dev",
    rows: Any = lambda corpus, dev, test: corpus,
    axes: Any = lambda axes: axes,
    power: float = -1.0,
    mean: float = 1.0,
    length: Any = lambda x: np.linalg.norm(x, axis=1),
    correlation: Any = spearmanr,
    best: Any = lambda scores, ks: int(np.argmax(scores)),
    gives: Any = lambda score, ks, place: (ks[place], score("test", ks[place])),
) -> Any:
    """k and the score on test, right or with one mistake."""

    def of(corpus: Any, dev: Any, test: Any, ks: Any) -> Any:
        fitted = rows(corpus, dev, test)
        centre = fitted.mean(0)
        _, singular, directions = np.linalg.svd(fitted - centre, full_matrices=False)
        kernel = axes(directions.T * (singular / len(fitted) ** 0.5) ** power)

        def score(name: str, k: int) -> float:
            pairs = {"dev": dev, "test": test}[name]
            a, b = ((side - mean * centre) @ kernel[:, :k] for side in pairs[:2])
            return float(correlation((a * b).sum(1) / length(a) / length(b), pairs[2])[0])

        return gives(score, ks, best([score(by, k) for k in ks], ks))

    return of


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
    return Example(what, given, _choice()(*given))  # a test computes them in another way


CHOICE = Exercise(
    _of("one k to choose from, 4 of 6: fit on the corpus, score the test pairs", [4]),
    _of("with k = 3, 6, 2, 4 or 5, dev decides", [3, 6, 2, 4, 5]),
    _of("dev and test would choose differently: dev decides, whatever it costs", [6, 5, 4]),
    mistakes={
        "You chose k on the test pairs. That score is too good: choose on dev.": _choice("test"),
        "That is the score on dev; the second number is the score on test.": _choice(
            gives=lambda score, ks, at: (ks[at], score("dev", ks[at]))
        ),
        "Return k itself, not its place in `ks`.": _choice(gives=lambda score, ks, at: (at, score("test", ks[at]))),
        "Leave the correlation between -1 and 1: do not multiply by 100.": _choice(
            gives=lambda score, ks, at: (ks[at], 100 * score("test", ks[at]))
        ),
        "First k, then the score.": _choice(gives=lambda score, ks, at: (score("test", ks[at]), ks[at])),
        "The best k has the highest score; you took the lowest.": _choice(
            best=lambda scores, ks: int(np.argmin(scores))
        ),
        "You took the first of the ks, whatever dev says.": _choice(best=lambda scores, ks: 0),
        "You took the last of the ks, whatever dev says.": _choice(best=lambda scores, ks: len(ks) - 1),
        "You took the largest k, whatever dev says.": _choice(best=lambda scores, ks: ks.index(max(ks))),
        "You took the smallest k, whatever dev says.": _choice(best=lambda scores, ks: ks.index(min(ks))),
        "Fit on `corpus`, not on the dev pairs.": _choice(rows=lambda corpus, dev, test: np.concatenate(dev[:2])),
        "Fit on `corpus`, not on the test pairs.": _choice(rows=lambda corpus, dev, test: np.concatenate(test[:2])),
        "The largest variances; eigh gives the smallest first.": _choice(axes=lambda kernel: kernel[:, ::-1]),
        "The directions are there, but not scaled to variance 1: divide by the standard deviations.": _choice(power=0),
        "Divide by the standard deviations, the roots of the variances.": _choice(power=-2.0),
        "Subtract the mean of `corpus` before you multiply.": _choice(mean=0.0),
        "Compare by the cosine: divide the product by both lengths.": _choice(length=lambda x: 1.0),
        "Spearman correlates the ranks; this is Pearson's correlation.": _choice(correlation=pearsonr),
    },
)

# ---- 3: a sentence that whitening throws further out than any of 300 others -------------------------------
# Whitened, every direction counts alike, and what is rare in the corpus is what makes a vector long. The encoder is
# `mini`; the whitening keeps 200 directions and is fitted on 1,000 sentences of the world.

KEPT, FITTED_ON, OTHERS = 200, 1000, 300


@cache
def _lengths() -> tuple[Any, Any]:
    """A function that gives the lengths of whitened vectors, and those of the others."""
    from cselab.transforms import BertWhitening

    whitening = BertWhitening(KEPT).fit(np.asarray(plain().encode(sentences(FITTED_ON, "train"))))

    def lengths(texts: list[str]) -> Any:
        return np.linalg.norm(whitening.transform(np.asarray(plain().encode(texts))), axis=1)

    return lengths, lengths(sentences(OTHERS, "test"))


def length(sentence: str) -> float:
    """The length of a sentence's whitened vector: 1 is that of a typical sentence of the world."""
    lengths, others = _lengths()
    return float(lengths([str(sentence)])[0] / np.median(others))


def _further(sentence: str) -> str:
    others = _lengths()[1]
    found, longest = length(sentence), float(others.max() / np.median(others))
    said = f"Yours is {found:.2f} times as long as a typical one; the longest of the {OTHERS} is {longest:.2f}."
    return "" if found > longest else said


FAR_SENTENCE = Exercise(
    Stage("it is a text", lambda s: isinstance(s, str), 'write "..."'),
    Stage("it has no digits in it", lambda s: not re.search(r"\d", s), "digits are too easy: use words"),
    Stage(
        "it has three words or more",
        lambda s: len(re.findall(r"[^\W\d_]+", s)) >= 3,
        "write at least three words, of letters.",
    ),
    Stage(
        f"whitened, it is longer than each of {OTHERS} sentences of the world",
        _further,
        "What does the world never say? Think of questions, of repetition, of words without a sentence.",
    ),
)
