"""Stages for an exercise that writes Spearman's correlation: my_spearman(x, y), ties at their middle rank."""

from typing import Any

import numpy as np
from scipy.stats import kendalltau, pearsonr, rankdata, spearmanr

from cselab_lab.lessons.exercises import Example


def _ranked(method: Any) -> Any:
    return lambda x, y: pearsonr(rankdata(x, method), rankdata(y, method))[0]


def _cosine(x: Any, y: Any) -> Any:
    a, b = rankdata(x), rankdata(y)
    return a @ b / np.sqrt((a @ a) * (b @ b))


def _by_differences(x: Any, y: Any) -> Any:
    n, d = len(x), rankdata(x) - rankdata(y)
    return 1 - 6 * (d @ d) / (n * (n * n - 1))


MISTAKES = {
    "This is Pearson's correlation of the values: rank both sides first.": lambda x, y: pearsonr(x, y)[0],
    "The second side is not ranked.": lambda x, y: pearsonr(rankdata(x), y)[0],
    "The first side is not ranked.": lambda x, y: pearsonr(x, rankdata(y))[0],
    "argsort says which value comes first, not which rank a value has.": lambda x, y: pearsonr(
        np.argsort(x), np.argsort(y)
    )[0],
    "Equal values must share a rank; in your code the one that stands first gets the lower.": _ranked("ordinal"),
    "Equal values share their middle rank, not the lowest.": _ranked("min"),
    "Equal values share their middle rank, not the highest.": _ranked("max"),
    "After two values on one rank, the next rank is left out: 1.5, 1.5, 3.": _ranked("dense"),
    "1 - 6 sum d^2 / (n^3 - n) holds without ties only: take the correlation of the ranks.": _by_differences,
    "This is Kendall's tau, which counts pairs in the right order.": lambda x, y: kendalltau(x, y)[0],
    "Subtract the mean rank first: this is the cosine of the ranks.": _cosine,
    "Divide by both standard deviations: this is the covariance of the ranks.": lambda x, y: np.cov(
        rankdata(x), rankdata(y), bias=True
    )[0, 1],
    "One side is ranked from its largest value.": lambda x, y: -spearmanr(x, y)[0],
    "This is the square of the correlation.": lambda x, y: spearmanr(x, y)[0] ** 2,
    "The correlation itself, between -1 and 1, not times 100.": lambda x, y: 100 * spearmanr(x, y)[0],
    "np.corrcoef gives a matrix: take the entry [0, 1].": lambda x, y: np.corrcoef(rankdata(x), rankdata(y)),
    "spearmanr gives the correlation and a p-value: take the first.": lambda x, y: np.array(spearmanr(x, y)),
}


def _by_counting(x: Any, y: Any) -> float:
    """The rank of a value is how many lie below it, and half of those equal to it."""
    ranks = [(v[:, None] > v).sum(1) + ((v[:, None] == v).sum(1) + 1) / 2 for v in (x, y)]
    a, b = (r - (len(r) + 1) / 2 for r in ranks)
    return float((a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum()))


UNTIED = np.array([0.1, 0.9, 0.7, 0.2]), np.array([9.0, 2.0, 1.0, 5.0])  # ranks 1 4 3 2 and 4 2 1 3
TIED = np.array([0.0, 0.0, 5.0, 3.0, 3.0]), np.array([0.2, 0.4, 0.9, 0.4, 0.1])
# ranks less their mean: -1.5 -1.5 2 0.5 0.5 and -1 0.5 2 0.5 -2: their products sum to 4, their squares to 9 and 9.5
_drawn = np.random.default_rng(0)
MANY = _drawn.integers(0, 6, 40).astype(float), _drawn.integers(0, 9, 40).astype(float)

STAGES = [
    Example("four pairs without ties, by hand: 1 - 6 * 18 / 60 = -0.8", UNTIED, -0.8, MISTAKES),
    Example("two ties on each side, by hand: 4 / sqrt(9 * 9.5) = 0.433", TIED, 4 / (9 * 9.5) ** 0.5, MISTAKES),
    Example(
        "what matters is the order: the cubes of the values have the same correlation",
        (TIED[0] ** 3, TIED[1] ** 3),
        4 / (9 * 9.5) ** 0.5,
        MISTAKES,
    ),
    Example("forty pairs with many ties", MANY, _by_counting(*MANY), MISTAKES),
]
