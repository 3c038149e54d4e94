"""Whole evaluations compared: task by task, on the same rows, measured in the same way."""

from typing import Protocol, runtime_checkable

import numpy as np

from cselab.evaluators.records import Outcome
from cselab.metrics.significance import Comparison, mcnemar, paired_bootstrap

CORRELATIONS = ("spearman", "pearson")


@runtime_checkable
class Predictions(Protocol):
    """What keeps predictions by task: `Scores`, or what a `PairsEvaluator` returns."""

    outcomes: dict[str, Outcome]


def compare(first: Predictions, second: Predictions, metric: str = "spearman", seed: int = 0) -> list[Comparison]:
    """Two encoders on every task for which both have predictions: second minus first.

    A paired bootstrap for each STS task; for each transfer task, by accuracy, and McNemar's test beside it.

    Args:
        first, second: `Scores`, or what a `PairsEvaluator` returned.
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
        one, two = first.outcomes[task], second.outcomes[task]
        require_paired(one, two, task)
        rows, classes = (one.predicted, two.predicted, one.gold), "accuracy" in one.metrics
        by = "accuracy" if classes else metric
        comparisons.append(paired_bootstrap(*rows, by, one.strata, seed=seed, name=task))
        if classes:
            comparisons.append(mcnemar(*rows, name=task))
    return comparisons


def require_paired(first: Outcome, second: Outcome, task: str) -> None:
    """Refuse two outcomes that are not of the same rows, scored in the same way.

    Raises:
        ValueError: other rows, another protocol, other folds or subsets; both are named.
    """
    if first.data_hash != second.data_hash or not np.array_equal(first.gold, second.gold):
        rows = " and ".join(_rows(outcome) for outcome in (first, second))
        raise ValueError(f"{task}: a paired comparison needs the same rows, not {rows}")
    if first.protocol != second.protocol or first.metrics != second.metrics:
        ways = " and ".join(_way(outcome) for outcome in (first, second))
        raise ValueError(f"{task}: a paired comparison needs the same protocol, not {ways}")
    strata = zip(first.strata, second.strata, strict=False)
    if len(first.strata) != len(second.strata) or not all(
        share == other and np.array_equal(rows, others) for (rows, share), (others, other) in strata
    ):
        folds = " and ".join(_strata(outcome) for outcome in (first, second))
        raise ValueError(f"{task}: a paired comparison needs the same folds or subsets, not {folds}")


def _rows(outcome: Outcome) -> str:
    known = f" of data {outcome.data_hash[:12]}" if outcome.data_hash else ""
    return f"{len(outcome.gold)} rows{known}"


def _way(outcome: Outcome) -> str:
    return repr(outcome.protocol or "/".join(outcome.metrics))


def _strata(outcome: Outcome) -> str:
    return f"{len(outcome.strata)} of {'/'.join(str(len(rows)) for rows, _ in outcome.strata[:10])} rows"
