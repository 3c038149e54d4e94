"""Is the difference real? Bootstrap over pairs for one seed, paired t-test over seeds for a method."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from cselab.evaluators.records import Outcome, Scores

METRICS = ("spearman", "pearson")
RESAMPLES = 1000


class UndefinedCorrelation(ValueError):
    """One side is constant, so that there is no correlation."""


@dataclass(frozen=True)
class Comparison:
    """Two encoders or methods, compared pair by pair or seed by seed.

    Attributes:
        name: what was compared.
        difference: second minus first, in points (x100) when it comes from scores.
        interval: 95 % interval of the difference.
        p_value: two-sided: how often chance alone would give a difference as large.
        test: "paired bootstrap" or "paired t-test".
        samples: pairs or seeds.
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


def stratified_correlation(outcome: Outcome, metric: str = "spearman") -> float:
    """Sum over strata of share times correlation: one stratum of all pairs is the "all" aggregation."""
    return sum(
        share * correlation(outcome.predicted[rows], outcome.gold[rows], metric)
        for rows, share in outcome.strata
    )


def bootstrap_interval(
    outcome: Outcome, metric: str = "spearman", resamples: int = RESAMPLES, seed: int = 0
) -> tuple[float, float]:
    """95 % percentile interval of the correlation over resampled pairs; strata are resampled apart."""
    return _middle_95(_resampled([outcome], metric, resamples, seed)[0])


def paired_bootstrap(
    first: Outcome,
    second: Outcome,
    metric: str = "spearman",
    resamples: int = RESAMPLES,
    seed: int = 0,
    name: str = "",
) -> Comparison:
    """Two encoders on the same pairs: both are scored on the same resampled pairs.

    The p-value is twice the share of resamples in which the difference changes its sign (at least
    2 / (resamples + 1)).

    Raises:
        ValueError: the two were not measured on the same pairs.
    """
    if not np.array_equal(first.gold, second.gold):
        raise ValueError(
            f"a paired comparison needs the same pairs, not {len(first.gold)} and {len(second.gold)} with "
            "other gold scores"
        )
    draws = _resampled([first, second], metric, resamples, seed)
    differences = draws[1] - draws[0]
    tail = min((differences <= 0).sum(), (differences >= 0).sum())
    low, high = _middle_95(differences)
    return Comparison(
        name=name,
        difference=100 * (stratified_correlation(second, metric) - stratified_correlation(first, metric)),
        interval=(100 * low, 100 * high),
        p_value=min(1.0, 2 * float(tail + 1) / (resamples + 1)),
        test="paired bootstrap",
        samples=len(first.gold),
    )


def compare(first: Scores, second: Scores, metric: str = "spearman", seed: int = 0) -> list[Comparison]:
    """Paired bootstrap of two encoders on every task for which both have predictions: second minus first.

    Raises:
        ValueError: no task in common (scores read from a file have no predictions).
    """
    common = [task for task in first.outcomes if task in second.outcomes]
    if not common:
        raise ValueError("nothing to compare: the two have no task with predictions in common")
    return [
        paired_bootstrap(first.outcomes[task], second.outcomes[task], metric, seed=seed, name=task)
        for task in common
    ]


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


def _resampled(outcomes: list[Outcome], metric: str, resamples: int, seed: int) -> Float[np.ndarray, "k b"]:
    """The correlation of each outcome on the same `resamples` draws of pairs with replacement."""
    generator = np.random.default_rng(seed)
    draws = np.zeros((len(outcomes), resamples))
    for rows, share in outcomes[0].strata:
        for block, weights in _weights(generator, len(rows), resamples):
            for k, outcome in enumerate(outcomes):
                draws[k, block] += share * _weighted_correlation(
                    outcome.predicted[rows], outcome.gold[rows], weights, metric
                )
    return draws


def _weights(
    generator: np.random.Generator, n: int, resamples: int
) -> Iterator[tuple[slice, Float[np.ndarray, "_b _n"]]]:
    """How often each of n pairs was drawn, for blocks of resamples."""
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
    if metric not in METRICS:
        raise ValueError(f"unknown metric {metric!r}; the metrics are: {', '.join(METRICS)}")
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
