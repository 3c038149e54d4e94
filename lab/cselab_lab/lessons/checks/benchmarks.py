"""The exercises of lesson 10: Spearman's correlation, a paired bootstrap, the number of seeds for a gain."""

import inspect
import sys
from functools import cache, partial
from typing import Any

import numpy as np
from scipy.stats import kendalltau, mstats, ncf, rankdata, spearmanr, t

from cselab_lab.lessons.exercises import Check, Example, Exercise, Solution, numbers_of

from .answers import is_whole

# ---- 1: Spearman's correlation: my_spearman(x, y), ties at their middle rank ------------------------------


_UNTIED = np.array([0.1, 0.9, 0.7, 0.2]), np.array([9.0, 2.0, 1.0, 5.0])  # ranks 1 4 3 2 and 4 2 1 3
_TIED = np.array([0.0, 0.0, 5.0, 3.0, 3.0]), np.array([0.2, 0.4, 0.9, 0.4, 0.1])
# ranks minus their mean: -1.5 -1.5 2 0.5 0.5 and -1 0.5 2 0.5 -2: their products sum to 4, their squares to 9 and 9.5
_OF_TIED = 4 / (9 * 9.5) ** 0.5
_draw = np.random.default_rng(0)
_MANY = _draw.integers(0, 6, 40).astype(float), _draw.integers(0, 9, 40).astype(float)


def _of_ranks(x: Any, y: Any, mean: float | None = None, power: float = 0.5) -> float:
    """The correlation of the ranks by its formula, with a wrong mean or a wrong power."""
    a, b = (ranks - (ranks.mean() if mean is None else mean) for ranks in (rankdata(x), rankdata(y)))
    return float(a @ b / ((a @ a) * (b @ b)) ** power)


def _is_own(answer: Any) -> bool:
    """Whether an answer works without a call of `spearmanr`, under any name, or the method "spearman" of pandas."""
    called: set[Any] = set()
    before = sys.getprofile()
    sys.setprofile(lambda frame, event, argument: called.update((frame.f_code, str(frame.f_locals.get("method")))))
    try:
        answer(*_UNTIED)
    finally:
        sys.setprofile(before)
    return not called & {*(inspect.unwrap(one).__code__ for one in (spearmanr, mstats.spearmanr)), "spearman"}


SPEARMAN = Exercise(
    Example("four pairs without ties, by hand: 1 - 6 * 18 / 60 = -0.8", _UNTIED, -0.8),
    Example("two ties on each side, by hand: 4 / sqrt(9 * 9.5) = 0.433", _TIED, _OF_TIED),
    Example(
        "only the order matters: the cubes of the values have the same correlation",
        (_TIED[0] ** 3, _TIED[1] ** 3),
        _OF_TIED,
    ),
    Example("forty pairs with many ties", _MANY, spearmanr(*_MANY).statistic),
    Check(
        "the formula is yours",
        _is_own,
        'spearmanr is for comparison, and so is method="spearman" of pandas: compute the ranks and their correlation.',
    ),
    solution=Solution("10_benchmarks", "my_spearman"),
    mistakes={
        "This is Pearson's correlation of the values: rank each side first.": "ranks(x), ranks(y) -> x, y",
        "argsort gives the order of the values, not their ranks.": (
            "(ranks(x), ranks(y)) -> (np.argsort(x), np.argsort(y))"
        ),
        "Equal values must share a rank; in your code each has a different rank.": tuple(
            f"(last - (count - 1) / 2)[group] -> {ranks}.argsort()"
            for ranks in ("values.argsort(kind='stable')", "values.argsort()")
        ),
        "Equal values share their mean rank, not the lowest or the highest.": (
            "(count - 1) / 2 -> (count - 1)",
            " - (count - 1) / 2 -> ",
        ),
        "Number the places, not the distinct values: a group of three equal values takes three places.": (
            "(last - (count - 1) / 2)[group] -> group"
        ),
        "Rank each side.": ("ranks(x), ranks(y) -> ranks(x), y", "ranks(x), ranks(y) -> x, ranks(y)"),
        "1 - 6 sum d^2 / (n^3 - n) holds without ties only: compute the correlation of the ranks.": (
            "np.corrcoef(ranks(x), ranks(y))[0, 1] -> "
            "1 - 6 * ((ranks(x) - ranks(y)) ** 2).sum() / (len(x) ** 3 - len(x))"
        ),
        "np.corrcoef returns a matrix: use the entry [0, 1].": ")[0, 1] -> )",
        "That is Kendall's tau: compute the correlation of the ranks.": lambda x, y: kendalltau(x, y).statistic,
        "Subtract the mean rank from each rank first.": lambda x, y: _of_ranks(x, y, mean=0.0),
        "Divide by the root of the product of the sums of squares.": (
            lambda x, y: _of_ranks(x, y, power=1.0),
            "np.corrcoef(ranks(x), ranks(y)) -> np.cov(ranks(x), ranks(y))",
            "np.corrcoef(ranks(x), ranks(y)) -> np.cov(ranks(x), ranks(y), ddof=0)",
        ),
        "Divide both by n, or both by n - 1: covariance and deviations have different divisors.": (
            lambda x, y: spearmanr(x, y).statistic * len(x) / (len(x) - 1),
            lambda x, y: spearmanr(x, y).statistic * (len(x) - 1) / len(x),
        ),
    },
)

# ---- 2: a paired bootstrap: my_interval(first, second, gold, resamples=1000, seed=0) ----------------------
# The 95 % interval, in points, of the gain of the second predictions over the first in Spearman's correlation.

RESAMPLES = 2000
_draw = np.random.default_rng(14)  # its gains are not symmetric
GOLD = _draw.integers(0, 6, 20).astype(float)
_shared = GOLD + _draw.normal(0, 2.0, 20)  # the same pairs are hard for both encoders
FIRST = 9 * np.exp(_shared + _draw.normal(0, 1.0, 20))
SECOND = np.exp(_shared + 0.4 * GOLD + _draw.normal(0, 0.6, 20))
EXPECTED, SPREAD = (-0.24, 49.25), 13.0  # of 200,000 resamples; a test computes them by a slow loop


def scores(predicted: Any, gold: Any) -> Any:
    """Spearman's correlation of each row of two matrices."""
    ranks = (rankdata(side, axis=1) for side in (predicted, gold))
    a, b = (side - side.mean(axis=1, keepdims=True) for side in ranks)
    return (a * b).sum(1) / np.sqrt((a * a).sum(1) * (b * b).sum(1))


@cache
def _drawn_scores(together: bool, gold_too: bool) -> tuple[Any, Any]:
    """Scores of both encoders on drawn pairs."""
    generator, size = np.random.default_rng(0), (RESAMPLES, len(GOLD))
    rows = generator.integers(len(GOLD), size=size)
    others = rows if together else generator.integers(len(GOLD), size=size)
    gold = [GOLD[drawn] if gold_too else np.tile(GOLD, (RESAMPLES, 1)) for drawn in (rows, others)]
    return scores(FIRST[rows], gold[0]), scores(SECOND[others], gold[1])


def _middle(values: Any, ends: Any = (2.5, 97.5)) -> Any:
    return np.percentile(values, ends)


def _wrong_interval(of_gains: Any = _middle, together: bool = True, gold_too: bool = True) -> Any:
    """An interval with one mistake."""

    def interval(*_: Any) -> Any:
        first, second = _drawn_scores(together, gold_too)
        return 100 * np.asarray(of_gains(second - first))

    return interval


def _ends(interval: Any, first: Any, second: Any) -> Any:
    return numbers_of(interval(first, second, GOLD, 50))


def _same(interval: Any, *seeds: int) -> bool:
    return np.array_equal(*(numbers_of(interval(FIRST, SECOND, GOLD, 50, seed)) for seed in seeds))


class _Drawn(np.ndarray):
    """Grades that keep every table of grades that was drawn from them."""

    drawn: list[Any]

    def __array_finalize__(self, source: Any) -> None:
        self.drawn = getattr(source, "drawn", [])

    def __getitem__(self, rows: Any) -> Any:
        found = np.asarray(self)[rows]
        if np.ndim(rows):
            self.drawn.append(found)
        return found


def _wrong_draws(interval: Any) -> str:
    gold = np.arange(15.0).view(_Drawn)  # a pair is known by its grade
    before = str(np.random.get_state())
    bounds = numbers_of(interval(FIRST[:15], SECOND[:15], gold, 50))
    if before != str(np.random.get_state()):
        return "All code shares the generator of np.random.seed. Make your own: np.random.default_rng(seed)."
    every = gold.tolist()  # drawn as they stand where a library sorts them
    draws = [drawn.tolist() for drawn in gold.drawn if drawn.ndim == 1 and drawn.tolist() != every]
    if others := {*map(len, draws)} - {15}:
        return f"You drew {min(others)} of 15 pairs. The interval is for a test of the same size."
    if draws and all(sorted(draw) == every for draw in draws):
        return "Each of your resamples has every pair once: draw with replacement."
    if draws[1:] and all(draw == draws[0] for draw in draws):
        return "All your resamples are the same: make the generator once, before the loop."
    if gold.drawn and (never := {*every}.difference(*(drawn.flat for drawn in gold.drawn))):
        return f"Row {min(never):.0f} of 15 is never drawn: generator.integers(n) draws 0 to n - 1."
    return "" if bounds is None or np.ptp(bounds) > 1e-6 else f"All that you return is {bounds.flat[0]:.4g}."


PAIRED_BOOTSTRAP = Exercise(
    Check("each resample has as many pairs as the test, any of them, and a gain of its own", _wrong_draws),
    Example("the interval of 20 made-up pairs", (FIRST, SECOND, GOLD, RESAMPLES), EXPECTED, tolerance=0.25 * SPREAD),
    Check(
        "two encoders that rank all pairs alike never differ: 0 to 0",
        lambda interval: np.allclose(_ends(interval, FIRST, np.log(FIRST)), 0, atol=1e-5),
        "are the encoders scored on the same rows?",
    ),
    Check(
        "the same seed draws the same pairs",
        lambda interval: _same(interval, 1, 1),
        "make the generator inside: np.random.default_rng(seed).",
    ),
    Check(
        "the encoders exchanged: both ends change their sign and their place",
        lambda interval: np.allclose(
            _ends(interval, SECOND, FIRST), -_ends(interval, FIRST, SECOND)[::-1], atol=SPREAD
        ),
        "keep the sign of each gain: a loss is a gain below 0.",
    ),
    Check("a new seed draws new pairs", lambda interval: not _same(interval, 1, 2), "is a seed fixed in your code?"),
    Check(
        "one resample has one gain: the ends are equal",
        lambda interval: np.ptp(numbers_of(interval(FIRST, SECOND, GOLD, 1))) < 1e-6,
        "is the number of resamples fixed in your code?",
    ),
    mistakes={
        "Draw the pairs once for both encoders; your code draws separate pairs for each.": _wrong_interval(
            together=False
        ),
        "The gold grades must be drawn along with the predictions.": _wrong_interval(gold_too=False),
        "Second minus first.": _wrong_interval(lambda gains: _middle(-gains)),
        "np.percentile counts from 0 to 100: the ends are 2.5 and 97.5.": tuple(
            _wrong_interval(partial(_middle, ends=ends))
            for ends in ([5, 95], [0, 95], [5, 100], [0.5, 99.5], [0.025, 0.975])
        ),
        "That is the interval of the second's score, not of its gain.": (
            lambda *_: 100 * _middle(_drawn_scores(True, True)[1])
        ),
        "The gains are not symmetric: use their percentiles, not mean +- 1.96 deviations.": _wrong_interval(
            lambda gains: gains.mean() + 1.96 * gains.std() * np.array([-1, 1])
        ),
        "The spread of the gains is the uncertainty: do not divide it by the root of the resamples.": _wrong_interval(
            lambda gains: gains.mean() + 1.96 * gains.std() / RESAMPLES**0.5 * np.array([-1, 1])
        ),
        "The smallest and the largest gain are not a 95 % interval.": _wrong_interval(
            lambda gains: [gains.min(), gains.max()]
        ),
    },
    piece="my_interval",
    given=("correlation",),
)

# ---- 3: the fewest seeds with which a gain of one point is found: a whole number ---------------------------
# Found means: the paired t-test over the seeds gives p < 0.05, in at least four of five tries, where the gain of a seed
# is normal with mean GAIN and standard deviation DEVIATION. The exercise simulates; `power` computes.

GAIN, DEVIATION = 1.0, 0.75
WANTED = 0.8
SLACK = 0.02  # possible error of a thousand simulated tries


def power(seeds: int) -> float:
    """How often a two-sided paired t-test over `seeds` seeds gives p < 0.05.

    >>> power(2) < 0.2 < 0.95 < power(20)
    True
    """
    limit, shift = t.ppf(0.975, seeds - 1), GAIN / DEVIATION * seeds**0.5
    return float(ncf.sf(limit**2, 1, seeds - 1, shift**2))  # the square of a noncentral t


SEEDS_NEEDED = Exercise(
    Check("it is a whole number", is_whole, "write the number of seeds: seeds_needed = 12"),
    Check("a spread needs two seeds at least", lambda n: n >= 2, "one difference has no spread to test it against."),
    Check(
        "four of five studies find the gain",
        lambda n: power(int(n)) >= WANTED - SLACK,
        "too few: try found(...) with this number, and with some more.",
    ),
    Check(
        "with one seed fewer, fewer than four do",
        lambda n: n == 2 or power(int(n) - 1) < WANTED + SLACK,
        "enough, but not the fewest: is one seed fewer enough, too?",
    ),
    piece="seeds_needed",
)
