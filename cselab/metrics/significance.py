"""Scores of predictions, their intervals, and whether a difference is real.

Arrays in: predictions of one or two encoders for rows, and the true values. Bootstrap over rows and
McNemar's test for one seed; the paired t-test over seeds for a method.

See also: `cselab.evaluators.compare`, which compares whole evaluations with these.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from jaxtyping import Bool, Float, Int, Shaped

from cselab._util.arguments import NO_NUMBERS, NonNegativeInt, PositiveInt, Satisfies, check_arguments, checked

RESAMPLES = 1000
DRAWS_AT_ONCE = 250_000  # numbers drawn at a time
LEAST_ROWS = 10
"""Rows below which no bootstrap runs: its values would be too few for an interval."""

ROUNDING = 1e-12
"""Differences below this share of the numbers are rounding."""

RowValues = Shaped[np.ndarray, " n"]
Side = Shaped[np.ndarray, " _n"]  # its length is checked with words
Correlation = Annotated[str, Satisfies("'spearman' or 'pearson'", ("spearman", "pearson").__contains__)]
METRICS = ("spearman", "pearson", "accuracy")
Metric = Annotated[str, Satisfies("'spearman', 'pearson' or 'accuracy'", METRICS.__contains__)]
Labels = Int[np.ndarray, " _n"]
Interval = tuple[float, float]
Strata = Sequence[tuple[np.ndarray, float]]
"""Rows that are scored together (an STS subset, a fold), each with its share in the score."""


class UndefinedCorrelation(ValueError):
    """One side is constant, so the correlation is undefined."""


def require_finite(what: str, values: Shaped[np.ndarray, "..."]) -> None:
    """Refuse numbers that are missing or infinite.

    Raises:
        ValueError: NaN or Inf among the values; the message has their number and the first place.
    """
    values = np.asarray(values)
    if values.dtype.kind in NO_NUMBERS:
        raise ValueError(f"the {what} are no numbers: {values.tolist()!r:.60}")
    if np.issubdtype(values.dtype, np.inexact) and not np.isfinite(values).all():
        bad = np.argwhere(~np.isfinite(values))
        raise ValueError(
            f"{len(bad)} of the {values.size} {what} are not finite (NaN or Inf), the first at "
            f"[{', '.join(map(str, bad[0]))}]"
        )


@dataclass(frozen=True)
class Comparison:
    """Two encoders or methods, compared row by row or seed by seed.

    Attributes:
        name: the compared task.
        difference: second minus first, in points (x100) when it comes from scores.
        interval: 95 % interval of the difference.
        p_value: two-sided: the probability of a difference at least as large by chance.
        test: "paired bootstrap", "McNemar's exact test" or "paired t-test".
        samples: rows (pairs of sentences, classified rows) or seeds.
    """

    name: str
    difference: float
    interval: Interval
    p_value: float
    test: str
    samples: int

    def __str__(self) -> str:
        low, high = self.interval
        return (
            f"{self.name}: {self.difference:+.2f} (95 % interval {low:+.2f} to {high:+.2f}), "
            f"p = {self.p_value:.3g}, {self.test} over {self.samples}"
        )


@checked
def correlation(predicted: Side, gold: Side, metric: Correlation = "spearman") -> float:
    """Spearman (Pearson of the ranks, ties at their middle rank) or Pearson correlation, between -1 and 1.

    Raises:
        ValueError: an unknown metric, sides of different length, a number that is not finite.
        UndefinedCorrelation: fewer than two pairs, or one side is constant.
    """
    require_sides(gold, predicted)
    if len(gold) < 2:
        raise UndefinedCorrelation(f"no correlation of {len(gold)} pairs: at least two are needed")
    for side, values in (("predictions", predicted), ("gold scores", gold)):
        if values.min() == values.max():
            raise UndefinedCorrelation(f"no correlation: the {len(values)} {side} are all the same")
    return float(_scored(predicted, gold, np.arange(len(gold))[None], metric)[0])


def accuracy(predicted: Int[np.ndarray, " n"], gold: Int[np.ndarray, " n"]) -> float:
    """The share of rows whose class is right, between 0 and 1."""
    return float((predicted == gold).mean())


@checked
def score(predicted: Side, gold: Side, metric: Metric = "spearman", strata: Strata | None = None) -> float:
    """Sum over strata of share times correlation, or accuracy; without strata of all rows together.

    One stratum of all pairs is the "all" aggregation of STS; folds of equal shares are nested k-fold.

    Raises:
        ValueError: an unknown metric.
        UndefinedCorrelation: see `correlation`.
    """
    measure = accuracy if metric == "accuracy" else lambda x, y: correlation(x, y, metric)
    return sum(share * measure(predicted[rows], gold[rows]) for rows, share in _strata(strata, gold))


@checked
def bootstrap_interval(
    predicted: Side,
    gold: Side,
    metric: Metric = "spearman",
    strata: Strata | None = None,
    resamples: PositiveInt = RESAMPLES,
    seed: NonNegativeInt = 0,
) -> Interval:
    """95 % percentile interval of the score over resampled rows; strata are resampled apart.

    Raises:
        ValueError: an unknown metric, sides of different length, a number that is not finite, fewer than
            `LEAST_ROWS` rows.
        UndefinedCorrelation: a side is constant, in all rows or in all resamples.
    """
    require_sides(gold, predicted, least=LEAST_ROWS)
    return _middle_95(defined(resampled([predicted], gold, metric, strata, resamples, seed))[0])


@checked
def paired_bootstrap(
    first: Side,
    second: Side,
    gold: Side,
    metric: Metric = "spearman",
    strata: Strata | None = None,
    resamples: PositiveInt = RESAMPLES,
    seed: NonNegativeInt = 0,
    name: str = "",
) -> Comparison:
    """Two predictions of the same rows, each scored on the same resampled rows.

    The resampled units are pairs of sentences, or test rows of classifiers. The interval does not include the
    variation of the training rows. The p-value is twice the share of resamples in which the difference changes its
    sign (at least 2 / (resamples + 1)). Resamples in which a side is constant have no correlation, and do not count.

    Args:
        metric: "spearman" or "pearson" for pairs, "accuracy" for classes.

    Raises:
        ValueError: an unknown metric, sides of different length, a number that is not finite, fewer than
            `LEAST_ROWS` rows.
        UndefinedCorrelation: a side is constant, in all rows or in all resamples.

    See also: `mcnemar`, for classes.
    """
    require_sides(gold, first, second, least=LEAST_ROWS)
    draws = defined(resampled([first, second], gold, metric, strata, resamples, seed))
    differences = draws[1] - draws[0]
    tail = min((differences <= 0).sum(), (differences >= 0).sum())
    low, high = _middle_95(differences)
    return Comparison(
        name=name,
        difference=100 * (score(second, gold, metric, strata) - score(first, gold, metric, strata)),
        interval=(100 * low, 100 * high),
        p_value=min(1.0, 2 * float(tail + 1) / (len(differences) + 1)),
        test="paired bootstrap",
        samples=len(gold),
    )


@checked
def mcnemar(first: Labels, second: Labels, gold: Labels, name: str = "") -> Comparison:
    """Two classifiers on the same rows: McNemar's test, exact, by the rows with exactly one correct classifier.

    Of the b + c rows that only the first (b) or only the second (c) has right, c is binomial with share 1/2 if
    they differ only by chance. The interval is Clopper and Pearson's of that share, brought to the
    difference (c - b) / n; it holds for the b + c found. Folds are pooled: where their sizes differ by a row, so
    does the difference from that of the scores.

    Raises:
        ValueError: sides of different length.
    """
    from scipy.stats import binomtest

    require_sides(gold, first, second)
    one, two = first == gold, second == gold
    only_first, only_second = int((one & ~two).sum()), int((two & ~one).sum())
    apart, p_value, low, high = only_first + only_second, 1.0, 0.0, 0.0
    if apart:
        test = binomtest(only_second, apart)
        share, p_value = test.proportion_ci(0.95, method="exact"), float(test.pvalue)
        low, high = ((2 * float(bound) - 1) * apart / len(gold) for bound in (share.low, share.high))
    return Comparison(
        name=name,
        difference=100 * (only_second - only_first) / len(gold),
        interval=(100 * low, 100 * high),
        p_value=p_value,
        test="McNemar's exact test",
        samples=len(gold),
    )


def paired_t_test(first: Sequence[float], second: Sequence[float], name: str = "") -> Comparison:
    """Two methods over the same seeds: Student's t-test of the differences, as Focal-InfoNCE reports.

    Raises:
        ValueError: different numbers of seeds, fewer than two, a score that is not finite, or differences that are
            all the same (their spread, and so the test, is not defined).
    """
    from scipy.stats import ttest_rel

    for scores in (first, second):
        require_finite("scores", np.asarray(scores))
    check_arguments(paired_t_test, locals())
    if len(first) != len(second) or len(first) < 2:
        raise ValueError(
            f"each method needs scores of the same seeds, at least two; got {len(first)} and {len(second)}"
        )
    both, exponent = near_one(np.asarray([first, second], dtype=np.float64))
    differences = both[1] - both[0]
    if is_constant(differences[None], both)[0]:
        constant = np.ldexp(differences[0], exponent)
        raise ValueError(f"all {len(differences)} differences are {constant:g}: no spread to test against")
    result = ttest_rel(both[1], both[0])
    low, high = np.ldexp(result.confidence_interval(0.95), exponent)
    return Comparison(
        name=name,
        difference=float(np.ldexp(differences.mean(), exponent)),
        interval=(float(low), float(high)),
        p_value=float(result.pvalue),
        test="paired t-test",
        samples=len(differences),
    )


def is_constant(values: Float[np.ndarray, "k n"], of: Float[np.ndarray, "..."]) -> Bool[np.ndarray, " k"]:
    """Whether the values of a row are the same up to rounding; `of` are the numbers from which they were computed."""
    return np.ptp(values, axis=1) <= ROUNDING * np.abs(of).max(initial=0.0)


def runs_interval(right: Bool[np.ndarray, "m n"], resamples: int = RESAMPLES) -> Interval:
    """95 % percentile interval of the mean accuracy of m runs on the same n rows, between 0 and 1.

    Runs and rows are resampled, so the interval covers the chance of the seeds and of the rows. With one run, only
    rows are resampled.

    See also: `bootstrap_interval`, for one run.

    >>> runs_interval(np.array([[True, True], [True, True]]))
    (1.0, 1.0)
    """
    generator = np.random.default_rng(0)
    m, n = right.shape
    runs = generator.multinomial(m, np.full(m, 1 / m), size=resamples) / m
    draws = np.zeros(resamples)
    for block in blocks(resamples, n):
        rows = generator.integers(n, size=(block.stop - block.start, n))
        draws[block] = np.take_along_axis(runs[block] @ right, rows, axis=1).mean(axis=1)
    return _middle_95(draws)


def require_sides(gold: np.ndarray, *predictions: np.ndarray, least: int = 0) -> None:
    """Refuse sides of different length, numbers that are not finite, and fewer rows than `least`."""
    if any(len(predicted) != len(gold) for predicted in predictions):
        raise ValueError(
            "a score needs one prediction for each row, not "
            f"{' and '.join(str(len(predicted)) for predicted in predictions)} predictions of {len(gold)} rows"
        )
    if len(gold) < least:
        raise ValueError(f"an interval needs at least {least} rows, got {len(gold)}")
    require_finite("gold scores", gold)
    for predicted in predictions:
        require_finite("predictions", predicted)


def defined(draws: Float[np.ndarray, "k b"]) -> Float[np.ndarray, "k _b"]:
    """The resamples in which every prediction has a score.

    Raises:
        UndefinedCorrelation: the correlation is undefined.
    """
    whole = draws[:, np.isfinite(draws).all(axis=0)]
    if not whole.shape[1]:
        raise UndefinedCorrelation("no correlation: in every resample one side is constant")
    return whole


def blocks(resamples: int, numbers: int) -> Iterator[slice]:
    """The resamples in blocks of some `DRAWS_AT_ONCE`, where each needs so many numbers."""
    step = max(1, DRAWS_AT_ONCE // numbers)
    for start in range(0, resamples, step):
        yield slice(start, min(start + step, resamples))


def _strata(strata: Strata | None, gold: np.ndarray) -> Strata:
    return [(np.arange(len(gold)), 1.0)] if strata is None else strata


def resampled(
    predictions: Sequence[np.ndarray], gold: RowValues, metric: str, strata: Strata | None, resamples: int, seed: int
) -> Float[np.ndarray, "k b"]:
    """The score of each prediction on the same `resamples` draws of rows with replacement."""
    generator = np.random.default_rng(seed)
    draws = np.zeros((len(predictions), resamples))
    for rows, share in _strata(strata, gold):
        for block in blocks(resamples, len(rows)):
            drawn = generator.integers(len(rows), size=(block.stop - block.start, len(rows)))
            for k, predicted in enumerate(predictions):
                draws[k, block] += share * _scored(predicted[rows], gold[rows], drawn, metric)
    return draws


def _ranks_of_drawn(values: RowValues, drawn: Int[np.ndarray, "b m"]) -> Float[np.ndarray, "b m"]:
    """`rankdata(values[drawn], axis=1)`: how often each value was drawn is counted, and nothing is sorted again."""
    different, group = np.unique(values, return_inverse=True)
    places = group[drawn] + len(different) * np.arange(len(drawn))[:, None]
    counts = np.bincount(places.ravel(), minlength=len(drawn) * len(different)).reshape(len(drawn), -1)
    ranks = (counts.cumsum(axis=1) - (counts - 1) / 2).ravel()[places]
    ranks[np.isnan(values)[drawn].any(axis=1)] = np.nan
    return ranks


def _scored(
    predicted: RowValues, gold: RowValues, drawn: Int[np.ndarray, "b m"], metric: str
) -> Float[np.ndarray, " b"]:
    """The metric of each draw of rows; a correlation is NaN where a side is constant."""
    if metric == "accuracy":
        return (predicted == gold)[drawn].mean(axis=1)
    ranked = metric == "spearman"
    x, y = (_ranks_of_drawn(one, drawn) if ranked else _from_0_to_1(one)[drawn] for one in (predicted, gold))
    varies = (x != x[:, :1]).any(axis=1) & (y != y[:, :1]).any(axis=1)
    x = x - x.mean(axis=1, keepdims=True)
    y = y - y.mean(axis=1, keepdims=True)
    spread = np.sqrt((x * x).sum(axis=1) * (y * y).sum(axis=1))
    return np.divide((x * y).sum(axis=1), spread, out=np.full(len(x), np.nan), where=varies & (spread > 0))


def near_one(values: Shaped[np.ndarray, "..."]) -> tuple[Float[np.ndarray, "..."], int]:
    """The values / 2^k in float64, the largest near 1, and k: exact, but squares of tiny and huge numbers are lost."""
    values = values.astype(np.float64)
    exponent = int(np.frexp(np.abs(values).max(initial=0.0))[1])
    return np.ldexp(values, -exponent), exponent


def _from_0_to_1(values: RowValues) -> Float[np.ndarray, " n"]:
    """The values moved and scaled, which no correlation notices: squares of tiny and of huge numbers have no float."""
    values, _ = near_one(values)
    values = values - values.min(initial=np.inf)
    return values / (values.max(initial=0.0) or 1.0)


def _middle_95(draws: Float[np.ndarray, " b"]) -> Interval:
    low, high = np.percentile(draws, [2.5, 97.5])
    return float(low), float(high)
