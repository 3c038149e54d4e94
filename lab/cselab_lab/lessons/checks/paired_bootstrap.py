"""Stages for an exercise that writes a paired bootstrap: my_interval(first, second, gold, resamples=1000, seed=0).

It returns the 95 % interval, in points, of the gain of the second predictions over the first in Spearman's correlation.
"""

from functools import cache
from typing import Any

import numpy as np
from scipy.stats import rankdata

from cselab_lab.lessons.exercises import Example, Stage

RESAMPLES = 4000


def _scores(predicted: Any, gold: Any, ranked: bool) -> Any:
    """The correlation of each row of two matrices."""
    a, b = (rankdata(side, axis=1) if ranked else side for side in (predicted, gold))
    a, b = (side - side.mean(axis=1, keepdims=True) for side in (a, b))
    return (a * b).sum(1) / np.sqrt((a * a).sum(1) * (b * b).sum(1))


@cache
def _drawn_scores(together: bool, gold_too: bool, share: float, ranked: bool) -> tuple[Any, Any]:
    """Scores of both encoders on drawn pairs."""
    generator, (n, scores) = np.random.default_rng(0), (len(GOLD), [])
    rows = None
    for predicted in (FIRST, SECOND):
        if rows is None or not together:
            size = (RESAMPLES, round(share * n))
            rows = generator.integers(n, size=size)
        gold = GOLD[rows] if gold_too else np.tile(GOLD, (RESAMPLES, 1))
        scores.append(_scores(predicted[rows], gold, ranked))
    return scores[0], scores[1]


def _wrong(
    statistic: Any = lambda one, two: np.percentile(two - one, [2.5, 97.5]),
    factor: float = 100,
    together: bool = True,
    gold_too: bool = True,
    share: float = 1.0,
    ranked: bool = True,
) -> Any:
    """An interval with one mistake."""

    def of(*arguments: Any) -> Any:
        return factor * np.asarray(statistic(*_drawn_scores(together, gold_too, share, ranked)))

    return of


def _apart(one: Any, two: Any) -> Any:
    return np.percentile(two, [2.5, 97.5]) - np.percentile(one, [2.5, 97.5])


def _bounds(one: Any, two: Any) -> Any:
    (low, high), (lower, higher) = np.percentile(one, [2.5, 97.5]), np.percentile(two, [2.5, 97.5])
    return [lower - high, higher - low]


def _of_the_mean(one: Any, two: Any) -> Any:
    error = (two - one).std() / len(one) ** 0.5
    return [(two - one).mean() - 1.96 * error, (two - one).mean() + 1.96 * error]


MISTAKES = {
    "Draw the pairs once for both: each encoder is scored on pairs of its own here.": _wrong(together=False),
    "The gold grades must be drawn along with the predictions.": _wrong(gold_too=False),
    "Second minus first.": _wrong(statistic=lambda one, two: np.percentile(one - two, [2.5, 97.5])),
    "In points: times 100.": _wrong(factor=1),
    "95 % lie between the percentiles 2.5 and 97.5; yours are 5 and 95.": _wrong(
        statistic=lambda one, two: np.percentile(two - one, [5, 95])
    ),
    "The percentiles of each encoder apart do not know that pairs were drawn together.": _wrong(statistic=_apart),
    "The lowest gain is not the low bound of one minus the high bound of the other.": _wrong(statistic=_bounds),
    "That is how well the mean of the resamples is known: it shrinks with their number.": _wrong(
        statistic=_of_the_mean
    ),
    "That is the interval of the second encoder's score, not of its gain.": _wrong(
        statistic=lambda one, two: np.percentile(two, [2.5, 97.5])
    ),
    "The smallest and the largest gain are no 95 % interval.": _wrong(
        statistic=lambda one, two: [(two - one).min(), (two - one).max()]
    ),
    "The lower bound comes first.": _wrong(statistic=lambda one, two: np.percentile(two - one, [97.5, 2.5])),
    "Draw as many pairs as there are.": _wrong(share=0.5),
    "Spearman's correlation, not Pearson's.": _wrong(ranked=False),
}

_drawn = np.random.default_rng(3)
GOLD = _drawn.integers(0, 6, 80).astype(float)
_shared = GOLD + _drawn.normal(0, 2.0, 80)  # both encoders stumble over the same pairs
FIRST = np.exp(_shared + _drawn.normal(0, 1.0, 80))
SECOND = np.exp(_shared + 0.4 * GOLD + _drawn.normal(0, 0.6, 80))


EXPECTED, SPREAD = (8.87, 27.67), 4.8  # of 40,000 resamples; a test computes them by a slow loop


def _has_width(interval: Any) -> bool:
    found = np.asarray(interval(FIRST, SECOND, GOLD, 50), dtype=float)
    return found.shape != (2,) or abs(found[1] - found[0]) > 1e-6


def _copies(interval: Any) -> bool:
    low, high = interval(FIRST, np.log(FIRST), GOLD, 50)
    return abs(low) < 1e-9 and abs(high) < 1e-9


def _repeats(interval: Any) -> bool:
    return np.array_equal(interval(FIRST, SECOND, GOLD, 50, 1), interval(FIRST, SECOND, GOLD, 50, 1))


def _differs(interval: Any) -> bool:
    return not np.array_equal(interval(FIRST, SECOND, GOLD, 50, 1), interval(FIRST, SECOND, GOLD, 50, 2))


STAGES = [
    Stage(
        "other pairs give another gain: the interval has a width",
        _has_width,
        "draw with replacement: all the same pairs in another order have the same score.",
    ),
    Example(
        "the interval of 80 made-up pairs",
        (FIRST, SECOND, GOLD, RESAMPLES),
        np.array(EXPECTED),
        MISTAKES,
        tolerance=0.2 * SPREAD,
    ),
    Stage("two encoders that rank all pairs alike never differ: 0 to 0", _copies, "are both scored on the same rows?"),
    Stage("the same seed draws the same pairs", _repeats, "make the generator inside: np.random.default_rng(seed)."),
    Stage("another seed draws others", _differs, "is there a fixed seed in your code?"),
]
