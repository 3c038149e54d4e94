"""Stages for an exercise that chooses how many dimensions BERT-whitening keeps.

my_choice(corpus, dev, test, ks) gives (k, score): whitening is fitted on the rows of `corpus`; `dev` and `test` are
(first, second, grades) each; of `ks` the one with the highest Spearman correlation on dev is taken, and scored on test.
"""

from typing import Any

import numpy as np
from scipy.stats import pearsonr, spearmanr

from cselab_lab.lessons.exercises import Example


def _kernel(rows: Any, ascending: bool, scale: float) -> tuple[Any, Any]:
    """Mean, and the directions of largest variance times their standard deviation to a power."""
    mean = rows.mean(0)
    _, singular, axes = np.linalg.svd(rows - mean, full_matrices=False)
    kernel = axes.T * (singular / len(rows) ** 0.5) ** scale
    return mean, kernel[:, ::-1] if ascending else kernel


def _answer(
    choose: str = "dev",
    on: str = "corpus",
    ascending: bool = False,
    scale: float = -1.0,
    centre: bool = True,
    similarity: str = "cosine",
    correlation: Any = spearmanr,
    best: Any = np.argmax,
    gives: str = "test",
) -> Any:
    """The right answer, or one with one mistake."""

    def of(corpus: Any, dev: Any, test: Any, ks: Any) -> Any:
        rows = {"corpus": corpus, "dev": np.concatenate(dev[:2]), "test": np.concatenate(test[:2])}[on]
        mean, kernel = _kernel(rows, ascending, scale)
        mean = mean if centre else 0

        def score(pairs: Any, k: int) -> float:
            a, b = ((side - mean) @ kernel[:, :k] for side in pairs[:2])
            products = (a * b).sum(1)
            lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
            return float(correlation(products / (lengths if similarity == "cosine" else 1), pairs[2])[0])

        if choose == "each":
            return [score(dev, k) for k in ks]
        place = int(best([score(test if choose == "test" else dev, k) for k in ks]))
        value = score(dev if gives == "dev" else test, ks[place])
        return (place if gives == "place" else ks[place], 100 * value if gives == "percent" else value)

    return of


MISTAKES = {
    "You chose k on the test pairs. That score is too good: choose on dev.": _answer(choose="test"),
    "That is the score on dev; the second number is the score on test.": _answer(gives="dev"),
    "Return k itself, not its place in `ks`.": _answer(gives="place"),
    "Leave the correlation between -1 and 1: do not multiply by 100.": _answer(gives="percent"),
    "The best k has the highest correlation; you took the lowest.": _answer(best=np.argmin),
    "You took the first of the ks, whatever dev says.": _answer(best=lambda scores: 0),
    "You took the last of the ks, whatever dev says.": _answer(best=lambda scores: len(scores) - 1),
    "Fit mean and matrix on `corpus`, not on the dev pairs.": _answer(on="dev"),
    "Fit mean and matrix on `corpus`, not on the test pairs.": _answer(on="test"),
    "Keep the k directions of largest variance; eigh gives the smallest first.": _answer(ascending=True),
    "The directions are there, but not scaled to variance 1: divide by the standard deviations.": _answer(scale=0.0),
    "Divide by the standard deviations, the roots of the variances.": _answer(scale=-2.0),
    "Subtract the mean of `corpus` before you multiply.": _answer(centre=False),
    "Compare by the cosine: divide the product by both lengths.": _answer(similarity="product"),
    "Spearman correlates the ranks; this is Pearson's correlation.": _answer(correlation=pearsonr),
}


def _pairs(draw: Any, n: int, weights: Any) -> tuple[Any, Any, Any]:
    """Pairs of vectors whose grade is how well the weighted channels agree."""
    first = draw.normal(size=(n, len(SPREAD)))
    agree = draw.uniform(-1, 1, size=(n, 1))
    second = agree * first + np.sqrt(1 - agree**2) * draw.normal(size=first.shape)
    mix = np.where(weights, second, draw.normal(size=first.shape))
    return (first * SPREAD) @ TURN + CENTRE, (mix * SPREAD) @ TURN + CENTRE, np.exp(2 * agree[:, 0])


_DRAW = np.random.default_rng(35)
SPREAD = np.array([6.0, 3.0, 2.0, 1.0, 0.5, 0.2])  # standard deviations of the channels, before they are turned
TURN = np.linalg.qr(_DRAW.normal(size=(6, 6)))[0]
CENTRE = np.array([4.0, -3.0, 0.0, 2.0, 1.0, -2.0])
CORPUS = (_DRAW.normal(size=(80, 6)) * SPREAD) @ TURN + CENTRE
DEV = _pairs(_DRAW, 40, [True, True, True, False, False, False])  # meaning lies in the three loudest directions
TEST = _pairs(_DRAW, 40, [True, True, True, True, False, False])  # on test the fourth helps, too

_RIGHT = _answer()
STAGES = [
    Example(
        "one k to choose from, 2 of 6: fit on the corpus, score the test pairs",
        (CORPUS, DEV, TEST, [2]),
        _RIGHT(CORPUS, DEV, TEST, [2]),
        MISTAKES,
    ),
    Example(
        "with k = 1, 6, 3 or 5, dev decides",
        (CORPUS, DEV, TEST, [1, 6, 3, 5]),
        _RIGHT(CORPUS, DEV, TEST, [1, 6, 3, 5]),
        MISTAKES,
    ),
    Example(
        "dev and test would choose differently: dev decides, whatever it costs",
        (CORPUS, DEV, TEST, [6, 5, 4, 3, 2, 1]),
        _RIGHT(CORPUS, DEV, TEST, [6, 5, 4, 3, 2, 1]),
        MISTAKES,
    ),
]
