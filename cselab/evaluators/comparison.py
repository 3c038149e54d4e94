"""Whole evaluations compared: task by task, on the same rows, measured in the same way."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Protocol, runtime_checkable

import numpy as np

from cselab._util.arguments import Satisfies, checked
from cselab.metrics.significance import Comparison, Correlation, mcnemar, paired_bootstrap

from .records import Outcome, Record, html_table

if TYPE_CHECKING:
    import pandas


@runtime_checkable
class Predictions(Protocol):
    """An object with predictions by task: `Scores`, or the result of a `PairsEvaluator`."""

    @property
    def outcomes(self) -> dict[str, Outcome]: ...


Compared = Annotated[
    Predictions,
    Satisfies("the Scores of evaluate, or the result of a PairsEvaluator", lambda x: hasattr(x, "outcomes")),
]


class Comparisons(list[Comparison]):
    """Comparisons, one per line."""

    def to_frame(self) -> "pandas.DataFrame":
        """A pandas DataFrame with a row for each comparison; `low` and `high` are the ends of its interval."""
        import pandas

        rows = [asdict(one) | {"low": one.interval[0], "high": one.interval[1]} for one in self]
        return pandas.DataFrame(rows, columns=["name", "test", "difference", "low", "high", "p_value", "samples"])

    def __str__(self) -> str:
        return "\n".join(map(str, self))

    def _repr_html_(self) -> str:
        return html_table(self.to_frame())


@checked
def compare(first: Compared, second: Compared, metric: Correlation = "spearman", seed: int = 0) -> Comparisons:
    """Two encoders on every task with predictions of each: second minus first.

    A paired bootstrap for each STS task; for each transfer task, by accuracy, with McNemar's test.

    Args:
        first, second: `Scores`, or the result of a `PairsEvaluator`.
        metric: the metric of STS: "spearman" or "pearson".

    Raises:
        TypeError: something else than `Scores` or such a result.
        ValueError: no task in common, because of scores from a file without predictions, for example; a task with
            different rows, protocol, folds or aggregation; the message names each.

    See also: `cselab_lab.diagnosis.tie_table` for scores without predictions.
    """
    common = [task for task in first.outcomes if task in second.outcomes]
    if not common:
        raise ValueError(
            "nothing to compare: the encoders share no task with predictions. Scores from a file have none: test their "
            "table with `cselab ties`"
        )
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


def shared_scores(systems: Sequence[Sequence[Record]]) -> tuple[dict[str, list[float]], list[str]]:
    """Scores that can be compared, by task: of the same split, subsets and revision of the data in every system.

    A mean over subsets is computed again over the subsets of all systems.

    Args:
        systems: the records of each system.

    Returns:
        For each task the score of every system, in their order; and a note for each task that not all systems have,
        whose data differ, or that is scored on a part of its subsets.
    """
    scores, notes = dict[str, list[float]](), list[str]()
    headlines = [{(r.task, r.split): r for r in records if r.key and r.value is not None} for records in systems]
    places = dict.fromkeys(place for system in headlines for place in system)
    splits = Counter(task for task, _ in places)
    for place in places:
        task, split = place
        name = task if splits[task] == 1 else f"{task} {split}"
        own = [system[place] for system in headlines if place in system]
        parts = [_by_subset(records, place) for records in systems]
        subsets = [subset for subset in parts[0] if all(subset in other for other in parts)]
        every = {subset for part in parts for subset in part}
        if len(own) < len(systems):
            notes.append(f"Left out, as not every system has it: {name}.")
        elif len(others := {r.data_hash for r in own} - {""}) > 1:
            notes.append(
                f"Left out, as the data differ (revisions {' and '.join(sorted(r[:12] for r in others))}): {name}."
            )
        elif len(others := {r.metric for r in own}) > 1:
            notes.append(f"Left out, as the metrics differ ({' and '.join(sorted(others))}): {name}.")
        elif every == set(subsets):
            scores[name] = [float(r.value or 0) for r in own]
        elif subsets and all(r.aggregation in ("", "mean") for r in own):
            scores[name] = [fmean(part[subset] for subset in subsets) for part in parts]
            notes.append(f"{name}: the mean over {', '.join(subsets)}, which all systems have.")
        else:
            notes.append(f"Left out, as no subset is in every system: {name}.")
    return scores, notes


def _by_subset(records: Sequence[Record], place: tuple[str, str]) -> dict[str, float]:
    """The value of each subset of a task, by the metric of its headline; of a task without subsets its one value."""
    own = [record for record in records if (record.task, record.split) == place and record.value is not None]
    metrics = [record.metric for record in own if record.key]
    parts = {r.subset: float(r.value or 0) for r in own if r.subset and not r.key and r.metric in metrics}
    return parts or {record.subset: float(record.value or 0) for record in own if record.key}


def require_paired(first: Outcome, second: Outcome, task: str) -> None:
    """Refuse two outcomes that are not of the same rows, scored in the same way.

    Raises:
        ValueError: different rows, protocol, folds or subsets; the message names each.
    """
    sides = (first, second)
    strata = zip(first.strata, second.strata, strict=False)
    if first.data_hash != second.data_hash or not np.array_equal(first.gold, second.gold):
        what, found = "rows", [_rows(side) for side in sides]
    elif first.protocol != second.protocol or first.metrics != second.metrics:
        what, found = "protocol", [repr(side.protocol or "/".join(side.metrics)) for side in sides]
    elif len(first.strata) != len(second.strata) or not all(
        share == other and np.array_equal(rows, others) for (rows, share), (others, other) in strata
    ):
        what, found = "folds or subsets", [_strata(side) for side in sides]
    else:
        return
    raise ValueError(f"{task}: a paired comparison needs the same {what}, not {' and '.join(found)}")


def _rows(outcome: Outcome) -> str:
    known = f" of data {outcome.data_hash[:12]}" if outcome.data_hash else ""
    return f"{len(outcome.gold)} rows{known}"


def _strata(outcome: Outcome) -> str:
    return f"{len(outcome.strata)} of {'/'.join(str(len(rows)) for rows, _ in outcome.strata[:10])} rows"
