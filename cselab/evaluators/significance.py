"""Is the difference real? Bootstrap over rows for one seed, paired t-test over seeds for a method."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from cselab.evaluators.records import Outcome, Scores

CORRELATIONS = ("spearman", "pearson")
RESAMPLES = 1000


class UndefinedCorrelation(ValueError):
    """One side is constant, so that there is no correlation."""


@dataclass(frozen=True)
class Comparison:
    """Two encoders or methods, compared row by row or seed by seed.

    Attributes:
        name: what was compared.
        difference: second minus first, in points (x100) when it comes from scores.
        interval: 95 % interval of the difference.
        p_value: two-sided: how often chance alone would give a difference as large.
        test: "paired bootstrap", "McNemar's exact test" or "paired t-test".
        samples: rows (pairs of sentences, classified rows) or seeds.
    """

    name: str
    difference: float
    interval: tuple[float, float]
    p_value: float
    test: str
    samples: int

    def __str__(self) -> str:
        low, high = self.interval
        return (
            f"{self.name}: {self.difference:+.2f} (95 % interval {low:+.2f} to {high:+.2f}), "
            f"p = {self.p_value:.3g}, {self.test} over {self.samples}"
        )


def correlation(
    predicted: Float[np.ndarray, " n"], gold: Float[np.ndarray, " n"], metric: str = "spearman"
) -> float:
    """Spearman (Pearson of the ranks, ties at their middle rank) or Pearson correlation, between -1 and 1.

    Raises:
        ValueError: an unknown metric.
        UndefinedCorrelation: fewer than two pairs, or one side is constant.
    """
    for side, values in (("predictions", predicted), ("gold scores", gold)):
        if len(values) < 2 or values.min() == values.max():
            raise UndefinedCorrelation(f"no correlation: the {len(values)} {side} are all the same")
    once = np.ones((1, len(gold)))
    return float(_weighted_correlation(predicted, gold, once, metric)[0])


def accuracy(predicted: Int[np.ndarray, " n"], gold: Int[np.ndarray, " n"]) -> float:
    """The share of rows whose class is right, between 0 and 1."""
    return float((predicted == gold).mean())


def stratified_score(outcome: Outcome, metric: str | None = None) -> float:
    """Sum over strata of share times correlation, or accuracy; by the outcome's first metric when None.

    One stratum of all pairs is the "all" aggregation of STS; folds of equal shares are nested k-fold.

    Raises:
        ValueError: a metric by which this outcome cannot be scored.
        UndefinedCorrelation: see `correlation`.
    """
    metric = _metric_of(outcome, metric)
    return sum(
        share
        * (
            accuracy(outcome.predicted[rows], outcome.gold[rows])
            if metric == "accuracy"
            else correlation(outcome.predicted[rows], outcome.gold[rows], metric)
        )
        for rows, share in outcome.strata
    )


def bootstrap_interval(
    outcome: Outcome, metric: str | None = None, resamples: int = RESAMPLES, seed: int = 0
) -> tuple[float, float]:
    """95 % percentile interval of the score over resampled rows; strata are resampled apart."""
    return _middle_95(_resampled([outcome], _metric_of(outcome, metric), resamples, seed)[0])


def paired_bootstrap(
    first: Outcome,
    second: Outcome,
    metric: str | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
    name: str = "",
) -> Comparison:
    """Two encoders on the same rows: both are scored on the same resampled rows.

    What is resampled are pairs of sentences, or the rows that classifiers were tested on; that other
    training rows would make another classifier is not in the interval. The p-value is twice the share of
    resamples in which the difference changes its sign (at least 2 / (resamples + 1)).

    Args:
        metric: "spearman" or "pearson" for pairs, "accuracy" for classes; the outcome's first when None.

    Raises:
        ValueError: the two were not measured on the same rows, or not in the same way; a metric by which they
            cannot be scored.

    See also: `mcnemar`, for classes.
    """
    _require_paired(first, second, name)
    metric = _metric_of(first, metric)
    draws = _resampled([first, second], metric, resamples, seed)
    differences = draws[1] - draws[0]
    tail = min((differences <= 0).sum(), (differences >= 0).sum())
    low, high = _middle_95(differences)
    return Comparison(
        name=name,
        difference=100 * (stratified_score(second, metric) - stratified_score(first, metric)),
        interval=(100 * low, 100 * high),
        p_value=min(1.0, 2 * float(tail + 1) / (resamples + 1)),
        test="paired bootstrap",
        samples=len(first.gold),
    )


def mcnemar(first: Outcome, second: Outcome, name: str = "") -> Comparison:
    """Two encoders on the same classified rows: McNemar's test, exact, by the rows of which one alone is right.

    Of the b + c rows that only the first (b) or only the second (c) has right, c is binomial with share 1/2 when
    nothing but chance parts them. The interval is Clopper and Pearson's of that share, brought to the
    difference (c - b) / n; it holds for the b + c found. Folds are pooled: where their sizes differ by a row, so
    does the difference from that of the scores.

    Raises:
        ValueError: predictions that are no classes; otherwise see `paired_bootstrap`.
    """
    from scipy.stats import binomtest

    _require_paired(first, second, name)
    _metric_of(first, "accuracy")
    rows, one, two = len(first.gold), first.predicted == first.gold, second.predicted == second.gold
    only_first, only_second = int((one & ~two).sum()), int((two & ~one).sum())
    apart, p_value, low, high = only_first + only_second, 1.0, 0.0, 0.0
    if apart:
        test = binomtest(only_second, apart)
        share, p_value = test.proportion_ci(0.95, method="exact"), float(test.pvalue)
        low, high = ((2 * float(bound) - 1) * apart / rows for bound in (share.low, share.high))
    return Comparison(
        name=name,
        difference=100 * (only_second - only_first) / rows,
        interval=(100 * low, 100 * high),
        p_value=p_value,
        test="McNemar's exact test",
        samples=rows,
    )


def compare(first: Scores, second: Scores, metric: str = "spearman", seed: int = 0) -> list[Comparison]:
    """Two encoders on every task for which both have predictions: second minus first.

    A paired bootstrap for each STS task; for each transfer task, by accuracy, and McNemar's test beside it.

    Args:
        metric: of STS: "spearman" or "pearson".

    Raises:
        ValueError: no task in common (scores read from a file have no predictions); a task measured on other
            rows, or by another protocol, folds or aggregation: both are named.
    """
    if metric not in CORRELATIONS:
        raise ValueError(f"unknown metric {metric!r}; the metrics are: {', '.join(CORRELATIONS)}")
    common = [task for task in first.outcomes if task in second.outcomes]
    if not common:
        raise ValueError("nothing to compare: the two have no task with predictions in common")
    comparisons = []
    for task in common:
        both = first.outcomes[task], second.outcomes[task]
        if "accuracy" in both[0].metrics:
            comparisons += [paired_bootstrap(*both, "accuracy", seed=seed, name=task), mcnemar(*both, task)]
        else:
            comparisons.append(paired_bootstrap(*both, metric, seed=seed, name=task))
    return comparisons


def paired_t_test(first: Sequence[float], second: Sequence[float], name: str = "") -> Comparison:
    """Two methods over the same seeds: Student's t-test of the differences, as Focal-InfoNCE reports.

    Raises:
        ValueError: different numbers of seeds, fewer than two, or differences that are all the same
            (their spread, and so the test, is not defined).
    """
    from scipy.stats import ttest_rel

    if len(first) != len(second) or len(first) < 2:
        raise ValueError(
            f"scores of the same two or more seeds are needed, not {len(first)} and {len(second)}"
        )
    differences = np.asarray(second, dtype=float) - np.asarray(first, dtype=float)
    if np.ptp(differences) <= 1e-12 * max(1.0, float(np.abs(differences).max())):
        raise ValueError(
            f"all {len(differences)} differences are {differences[0]:g}: no spread to test against"
        )
    result = ttest_rel(second, first)
    low, high = result.confidence_interval(0.95)
    return Comparison(
        name=name,
        difference=float(differences.mean()),
        interval=(float(low), float(high)),
        p_value=float(result.pvalue),
        test="paired t-test",
        samples=len(differences),
    )


def _metric_of(outcome: Outcome, metric: str | None) -> str:
    """The metric that was asked for, or the outcome's first."""
    if metric is not None and metric not in outcome.metrics:
        raise ValueError(f"unknown metric {metric!r}; the metrics are: {', '.join(outcome.metrics)}")
    return metric or outcome.metrics[0]


def _require_paired(first: Outcome, second: Outcome, name: str) -> None:
    """Refuse two outcomes that are not of the same rows, scored in the same way."""
    where = f"{name}: " if name else ""
    if first.data_hash != second.data_hash or not np.array_equal(first.gold, second.gold):
        rows = " and ".join(_rows(outcome) for outcome in (first, second))
        raise ValueError(f"{where}a paired comparison needs the same rows, not {rows}")
    if first.protocol != second.protocol or first.metrics != second.metrics:
        ways = " and ".join(_way(outcome) for outcome in (first, second))
        raise ValueError(f"{where}a paired comparison needs the same protocol, not {ways}")
    strata = zip(first.strata, second.strata, strict=False)
    if len(first.strata) != len(second.strata) or not all(
        share == other and np.array_equal(rows, others) for (rows, share), (others, other) in strata
    ):
        folds = " and ".join(_strata(outcome) for outcome in (first, second))
        raise ValueError(f"{where}a paired comparison needs the same folds or subsets, not {folds}")


def _rows(outcome: Outcome) -> str:
    known = f" of data {outcome.data_hash[:12]}" if outcome.data_hash else ""
    return f"{len(outcome.gold)} rows{known}"


def _way(outcome: Outcome) -> str:
    return repr(outcome.protocol or "/".join(outcome.metrics))


def _strata(outcome: Outcome) -> str:
    return f"{len(outcome.strata)} of {'/'.join(str(len(rows)) for rows, _ in outcome.strata[:10])} rows"


def _resampled(outcomes: list[Outcome], metric: str, resamples: int, seed: int) -> Float[np.ndarray, "k b"]:
    """The score of each outcome on the same `resamples` draws of rows with replacement."""
    generator = np.random.default_rng(seed)
    draws = np.zeros((len(outcomes), resamples))
    for rows, share in outcomes[0].strata:
        for block, weights in _weights(generator, len(rows), resamples):
            for k, outcome in enumerate(outcomes):
                predicted, gold = outcome.predicted[rows], outcome.gold[rows]
                if metric == "accuracy":
                    drawn = weights @ (predicted == gold) / len(rows)
                else:
                    drawn = _weighted_correlation(predicted, gold, weights, metric)
                draws[k, block] += share * drawn
    return draws


def _weights(
    generator: np.random.Generator, n: int, resamples: int
) -> Iterator[tuple[slice, Float[np.ndarray, "_b _n"]]]:
    """How often each of n rows was drawn, for blocks of resamples."""
    step = max(1, 250_000 // n)
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        drawn = generator.integers(n, size=(size, n)) + n * np.arange(size)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=size * n)
        yield slice(start, start + size), counts.reshape(size, n).astype(np.float64)


def _weighted_correlation(
    predicted: Float[np.ndarray, " n"],
    gold: Float[np.ndarray, " n"],
    weights: Float[np.ndarray, "b n"],
    metric: str,
) -> Float[np.ndarray, " b"]:
    """The correlation when pair i counts weights[b, i] times, for every b; NaN where a side is constant."""
    if metric not in CORRELATIONS:
        raise ValueError(f"unknown metric {metric!r}; the metrics are: {', '.join(CORRELATIONS)}")
    if metric == "spearman":
        x, y = _weighted_ranks(predicted, weights), _weighted_ranks(gold, weights)
    else:
        x, y = predicted.astype(np.float64)[None], gold.astype(np.float64)[None]
    total = weights.sum(axis=1, keepdims=True)
    x = x - (weights * x).sum(axis=1, keepdims=True) / total
    y = y - (weights * y).sum(axis=1, keepdims=True) / total
    covariance = (weights * x * y).sum(axis=1)
    spread = np.sqrt((weights * x * x).sum(axis=1) * (weights * y * y).sum(axis=1))
    return np.divide(covariance, spread, out=np.full_like(covariance, np.nan), where=spread > 0)


def _weighted_ranks(
    values: Float[np.ndarray, " n"], weights: Float[np.ndarray, "b n"]
) -> Float[np.ndarray, "b n"]:
    """Middle ranks among the values, value i being there weights[b, i] times."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    is_new = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    tied = np.add.reduceat(weights[:, order], np.flatnonzero(is_new), axis=1)
    middle = np.cumsum(tied, axis=1) - (tied - 1) / 2
    ranks = np.empty_like(weights)
    ranks[:, order] = middle[:, np.cumsum(is_new) - 1]
    return ranks


def _middle_95(draws: Float[np.ndarray, " b"]) -> tuple[float, float]:
    low, high = np.nanpercentile(draws, [2.5, 97.5])
    return float(low), float(high)
