"""The exercises of lesson 10: Spearman's correlation, a paired bootstrap, how many seeds a gain takes."""

from functools import cache
from typing import Any

import numpy as np
from scipy import stats
from scipy.stats import nct, rankdata, t

from cselab_lab.lessons.checks.answers import is_whole
from cselab_lab.lessons.exercises import Example, Exercise, Stage, numbers_of

# ---- 1: Spearman's correlation: my_spearman(x, y), ties at their middle rank ------------------------------


def _spearman(x: Any, y: Any) -> Any:
    a, b = rankdata(x), rankdata(y)
    return stats.pearsonr(a, b)[0]


def _by_counting(x: Any, y: Any) -> float:
    """The rank of a value is how many lie below it, and half of those equal to it."""
    ranks = [(v[:, None] > v).sum(1) + ((v[:, None] == v).sum(1) + 1) / 2 for v in (x, y)]
    a, b = (r - (len(r) + 1) / 2 for r in ranks)
    return float((a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum()))


_UNTIED = np.array([0.1, 0.9, 0.7, 0.2]), np.array([9.0, 2.0, 1.0, 5.0])  # ranks 1 4 3 2 and 4 2 1 3
_TIED = np.array([0.0, 0.0, 5.0, 3.0, 3.0]), np.array([0.2, 0.4, 0.9, 0.4, 0.1])
# ranks less their mean: -1.5 -1.5 2 0.5 0.5 and -1 0.5 2 0.5 -2: their products sum to 4, their squares to 9 and 9.5
_OF_TIED = 4 / (9 * 9.5) ** 0.5
_draw = np.random.default_rng(0)
_MANY = _draw.integers(0, 6, 40).astype(float), _draw.integers(0, 9, 40).astype(float)
SPEARMAN = Exercise(
    Example("four pairs without ties, by hand: 1 - 6 * 18 / 60 = -0.8", _UNTIED, -0.8),
    Example("two ties on each side, by hand: 4 / sqrt(9 * 9.5) = 0.433", _TIED, _OF_TIED),
    Example(
        "what matters is the order: the cubes of the values have the same correlation",
        (_TIED[0] ** 3, _TIED[1] ** 3),
        _OF_TIED,
    ),
    Example("forty pairs with many ties", _MANY, _by_counting(*_MANY)),
    right=_spearman,
    mistakes={
        "This is Pearson's correlation of the values: rank both sides first.": "rankdata( -> (",
        "The second side is not ranked.": "rankdata(y) -> y",
        "The first side is not ranked.": "rankdata(x) -> x",
        "argsort says which value comes first, not which rank a value has.": "rankdata( -> np.argsort(",
        "Equal values must share a rank; in your code the one that stands first gets the lower.": (
            "(x), -> (x, 'ordinal'),; (y) -> (y, 'ordinal')"
        ),
        "Equal values must share a rank; in your code the one that stands last gets the lower.": (
            "(x), -> (x[::-1], 'ordinal')[::-1],; (y) -> (y[::-1], 'ordinal')[::-1]"
        ),
        "Equal values share their middle rank, not the lowest.": "(x), -> (x, 'min'),; (y) -> (y, 'min')",
        "Equal values share their middle rank, not the highest.": "(x), -> (x, 'max'),; (y) -> (y, 'max')",
        "After two values on one rank, the next rank is left out: 1.5, 1.5, 3.": (
            "(x), -> (x, 'dense'),; (y) -> (y, 'dense')"
        ),
        "1 - 6 sum d^2 / (n^3 - n) holds without ties only: take the correlation of the ranks.": (
            "stats.pearsonr(a, b)[0] -> 1 - 6 * ((a - b) ** 2).sum() / (len(x) ** 3 - len(x))"
        ),
        "This is Kendall's tau, which counts pairs in the right order.": "pearsonr(a, b) -> kendalltau(x, y)",
        "Subtract the mean rank first: this is the cosine of the ranks.": (
            "stats.pearsonr(a, b)[0] -> a @ b / np.sqrt((a @ a) * (b @ b))"
        ),
        "Divide by both standard deviations: this is the covariance of the ranks.": (
            "stats.pearsonr(a, b)[0] -> np.cov(a, b, bias=True)[0, 1]"
        ),
        "Divide by both standard deviations; and by n, not n - 1.": "stats.pearsonr(a, b)[0] -> np.cov(a, b)[0, 1]",
        "np.corrcoef gives a matrix: take the entry [0, 1].": "stats.pearsonr(a, b)[0] -> np.corrcoef(a, b)",
        "spearmanr gives the correlation and a p-value: take the first.": (
            "stats.pearsonr(a, b)[0] -> np.array(stats.spearmanr(x, y))"
        ),
    },
)

# ---- 2: a paired bootstrap: my_interval(first, second, gold, resamples=1000, seed=0) ----------------------
# The 95 % interval, in points, of the gain of the second predictions over the first in Spearman's correlation.

RESAMPLES = 4000
_draw = np.random.default_rng(3)
GOLD = _draw.integers(0, 6, 80).astype(float)
_shared = GOLD + _draw.normal(0, 2.0, 80)  # both encoders stumble over the same pairs
FIRST = np.exp(_shared + _draw.normal(0, 1.0, 80))
SECOND = np.exp(_shared + 0.4 * GOLD + _draw.normal(0, 0.6, 80))
EXPECTED, SPREAD = (8.87, 27.67), 4.8  # of 40,000 resamples; a test computes them by a slow loop


def scores(predicted: Any, gold: Any, ranked: bool = True) -> Any:
    """The correlation of each row of two matrices."""
    a, b = (rankdata(side, axis=1) if ranked else side for side in (predicted, gold))
    a, b = (side - side.mean(axis=1, keepdims=True) for side in (a, b))
    return (a * b).sum(1) / np.sqrt((a * a).sum(1) * (b * b).sum(1))


@cache
def _drawn_scores(together: bool, gold_too: bool, share: float, ranked: bool) -> tuple[Any, Any]:
    """Scores of both encoders on drawn pairs."""
    generator, size = np.random.default_rng(0), (RESAMPLES, round(share * len(GOLD)))
    rows = generator.integers(len(GOLD), size=size)
    others = rows if together else generator.integers(len(GOLD), size=size)
    gold = [GOLD[drawn] if gold_too else np.tile(GOLD, (RESAMPLES, 1)) for drawn in (rows, others)]
    return scores(FIRST[rows], gold[0], ranked), scores(SECOND[others], gold[1], ranked)


def _percentiles(values: Any) -> Any:
    return np.percentile(values, [2.5, 97.5])


def _interval(
    statistic: Any = lambda one, two: _percentiles(two - one),
    together: bool = True,
    gold_too: bool = True,
    share: float = 1.0,
    ranked: bool = True,
) -> Any:
    """An interval with one mistake."""
    return lambda *arguments: 100 * np.asarray(statistic(*_drawn_scores(together, gold_too, share, ranked)))


def _bounds(one: Any, two: Any) -> Any:
    (low, high), (lower, higher) = _percentiles(one), _percentiles(two)
    return [lower - high, higher - low]


def _of_the_mean(one: Any, two: Any) -> Any:
    error = (two - one).std() / len(one) ** 0.5
    return [(two - one).mean() - 1.96 * error, (two - one).mean() + 1.96 * error]


def _has_width(interval: Any) -> bool:
    bounds = numbers_of(interval(FIRST, SECOND, GOLD, 50))
    return bounds is None or bounds.shape != (2,) or not abs(bounds[1] - bounds[0]) < 1e-6


def _same(interval: Any, seed: int, other: int) -> bool:
    return np.array_equal(*(numbers_of(interval(FIRST, SECOND, GOLD, 50, number)) for number in (seed, other)))


PAIRED_BOOTSTRAP = Exercise(
    Stage(
        "other pairs give another gain: the interval has a width",
        _has_width,
        "draw with replacement: all the same pairs in another order have the same score.",
    ),
    Example("the interval of 80 made-up pairs", (FIRST, SECOND, GOLD, RESAMPLES), EXPECTED, tolerance=0.2 * SPREAD),
    Stage(
        "two encoders that rank all pairs alike never differ: 0 to 0",
        lambda interval: np.allclose(numbers_of(interval(FIRST, np.log(FIRST), GOLD, 50)), 0, atol=1e-5),
        "are both scored on the same rows?",
    ),
    Stage(
        "the same seed draws the same pairs",
        lambda interval: _same(interval, 1, 1),
        "make the generator inside: np.random.default_rng(seed).",
    ),
    Stage(
        "another seed draws others", lambda interval: not _same(interval, 1, 2), "is there a fixed seed in your code?"
    ),
    mistakes={
        "Draw the pairs once for both: each encoder is scored on pairs of its own here.": _interval(together=False),
        "The gold grades must be drawn along with the predictions.": _interval(gold_too=False),
        "Second minus first.": _interval(lambda one, two: _percentiles(one - two)),
        "Between 2.5 and 97.5; yours are 5 and 95.": _interval(lambda one, two: np.percentile(two - one, [5, 95])),
        "The percentiles of each encoder apart do not know that pairs were drawn together.": _interval(
            lambda one, two: _percentiles(two) - _percentiles(one)
        ),
        "The lowest gain is not the low bound of one minus the high bound of the other.": _interval(_bounds),
        "That is how well the mean of the resamples is known: it shrinks with their number.": _interval(_of_the_mean),
        "That is the interval of the second's score, not of its gain.": _interval(lambda one, two: _percentiles(two)),
        "Smallest and largest are no 95 % interval.": _interval(
            lambda one, two: [(two - one).min(), (two - one).max()]
        ),
        "The lower bound comes first.": _interval(lambda one, two: _percentiles(two - one)[::-1]),
        "Draw as many pairs as there are.": _interval(share=0.5),
        "Spearman's correlation, not Pearson's.": _interval(ranked=False),
    },
)

# ---- 3: the fewest seeds with which a gain of one point is seen: a whole number ---------------------------
# Seen means: the paired t-test over the seeds gives p < 0.05, in at least four of five tries, where the gain of a seed
# is normal with mean GAIN and standard deviation DEVIATION. The exercise simulates; `power` computes.

GAIN, DEVIATION = 1.0, 0.75
WANTED = 0.8
SLACK = 0.02  # what a thousand simulated tries may be off


def power(seeds: int, gain: float = GAIN, spread: float = DEVIATION) -> float:
    """How often a two-sided paired t-test over so many seeds gives p < 0.05.

    >>> power(2) < 0.2 < 0.95 < power(20)
    True
    """
    limit, shift = t.ppf(0.975, seeds - 1), gain / spread * seeds**0.5
    return float(nct.sf(limit, seeds - 1, shift) + nct.cdf(-limit, seeds - 1, shift))


SEEDS_NEEDED = Exercise(
    Stage("it is a whole number", is_whole, "write the number of seeds: seeds_needed = 12"),
    Stage("a spread needs two seeds at least", lambda n: n >= 2, "one difference has no spread to test it against."),
    Stage(
        "four of five tries see the gain",
        lambda n: power(int(n)) >= WANTED - SLACK,
        "too few: try found(...) with this number, and with some more.",
    ),
    Stage(
        "with one seed fewer they do not",
        lambda n: n == 2 or power(int(n) - 1) < WANTED + SLACK,
        "enough, but not the fewest: does one seed less still do?",
    ),
)
