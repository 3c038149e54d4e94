"""Whole evaluations compared: task by task, on the same rows, measured in the same way."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from cselab.data.nearest import require_known
from cselab.evaluators.geometry import PROTOCOLS
from cselab.evaluators.records import Outcome
from cselab.metrics.significance import Comparison, mcnemar, paired_bootstrap, paired_t_test

if TYPE_CHECKING:
    import pandas

CORRELATIONS = ("spearman", "pearson")


@runtime_checkable
class Predictions(Protocol):
    """What keeps predictions by task: `Scores`, or what a `PairsEvaluator` returns."""

    outcomes: dict[str, Outcome]


class Comparisons(list[Comparison]):
    """Comparisons, one a line."""

    def to_frame(self) -> "pandas.DataFrame":
        """A pandas DataFrame with a row for each comparison; `low` and `high` are the ends of its interval."""
        import pandas

        rows = []
        for one in self:
            row = asdict(one)
            row["low"], row["high"] = row.pop("interval")
            rows.append(row)
        return pandas.DataFrame(rows, columns=["name", "test", "difference", "low", "high", "p_value", "samples"])

    def __str__(self) -> str:
        return "\n".join(map(str, self))

    def _repr_html_(self) -> str:
        return self.to_frame().to_html(index=False, border=0)


def compare(first: Predictions, second: Predictions, metric: str = "spearman", seed: int = 0) -> Comparisons:
    """Two encoders on every task for which both have predictions: second minus first.

    A paired bootstrap for each STS task; for each transfer task, by accuracy, and McNemar's test beside it. Scores
    without predictions, which were read from a file, are compared over their tasks: a paired t-test of the tasks that
    both have, which takes the tasks for a sample of all that there could be.

    Args:
        first, second: `Scores`, or what a `PairsEvaluator` returned.
        metric: of STS: "spearman" or "pearson".

    Raises:
        ValueError: no task in common; without predictions, fewer than two; a task measured on other rows, or by
            another protocol, folds or aggregation: both are named.
    """
    require_known("metric", metric, CORRELATIONS)
    common = [task for task in first.outcomes if task in second.outcomes]
    if not common:
        return _over_tasks(first, second)
    comparisons = Comparisons()
    for task in common:
        one, two = first.outcomes[task], second.outcomes[task]
        require_paired(one, two, task)
        rows, classes = (one.predicted, two.predicted, one.gold), "accuracy" in one.metrics
        by = "accuracy" if classes else metric
        comparisons.append(paired_bootstrap(*rows, by, one.strata, seed=seed, name=task))
        if classes:
            comparisons.append(mcnemar(*rows, name=task))
    return comparisons


def _over_tasks(first: Predictions, second: Predictions) -> Comparisons:
    one, two = (_agreement(scores) for scores in (first, second))
    shared = [task for task in one if task in two]
    if len(shared) < 2:
        raise ValueError(
            "nothing to compare: the two have no task with predictions in common, and of those without "
            f"{len(shared)}; at least two are needed"
        )
    first_values, second_values = ([scores[task] for task in shared] for scores in (one, two))
    return Comparisons([paired_t_test(first_values, second_values, f"mean of {len(shared)} tasks")])


def _agreement(scores: Any) -> dict[str, float]:
    """Scores by task, without the measures of geometry, which have units of their own."""
    return {task: value for task, value in getattr(scores, "scores", {}).items() if task not in PROTOCOLS}


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
