"""The results of an evaluation: records of scores, with the task, data and encoder of each score."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cselab._util.arguments import check_choice, checked
from cselab._util.reading import read_json
from cselab._util.writing import write_text
from cselab.data.files import DataError, check_file
from cselab.data.sts import STS_TASKS
from cselab.metrics import significance
from cselab.metrics.significance import RESAMPLES

if TYPE_CHECKING:
    import pandas

    from cselab.data import Labelled, Pairs

RECORD_COLUMNS = ("task", "split", "rows", "metric", "score", "95 % interval", "how")


@dataclass(frozen=True)
class Record:
    """One measured number with its full description.

    Attributes:
        task, split, subset: the scored data; `subset` is empty for the whole task.
        metric: "spearman", "pearson", "accuracy", "uniformity", ...
        value: correlations and accuracies times 100, geometry in its own unit; None when it failed.
        interval: the 95 % interval of the value.
        standard_error: the standard error of a value that was estimated from a sample; None for an exact one.
        aggregation: how subsets were put together ("all", "mean", "weighted_mean"), or empty.
        protocol: the way of measuring, if a task has several.
        rows: the pairs or sentences measured.
        encoder, pooling, representation, max_length, precision: the measured encoder, as far as these are known.
        truncated: how many of the sentences encoded in the same call lost tokens to `max_length`.
        data_hash, provenance: sha256 of the data, and the result of a check of its content.
        duplicates: the number of distinct sentences that share a vector.
        seconds: time to score the task, without encoding.
        failure: the reason for a missing value, or None.
        key: the name of this number in `Scores.scores`; empty for the details beneath a score.
    """

    task: str
    metric: str
    value: float | None = None
    split: str = ""
    subset: str = ""
    rows: int = 0
    interval: tuple[float, float] | None = None
    standard_error: float | None = None
    aggregation: str = ""
    protocol: str = ""
    encoder: str = ""
    pooling: str = ""
    representation: str = ""
    max_length: int | None = None
    precision: str = ""
    truncated: int | None = None
    data_hash: str = ""
    provenance: str = ""
    duplicates: int | None = None
    versions: dict[str, str] = field(default_factory=dict)
    seed: int | None = None
    seconds: float | None = None
    failure: str | None = None
    key: str = ""

    @classmethod
    def of(cls, rows: "Pairs | Labelled", **said: Any) -> "Record":
        """A record of a number measured on these rows, with their name, split, count and hash."""
        told: dict[str, Any] = {"task": rows.name, "split": rows.split, "rows": len(rows)}
        return cls(**told | {"data_hash": rows.hash, "provenance": rows.provenance} | said)

    @property
    def cells(self) -> tuple[str, ...]:
        """The cells of a table for this record, in the columns of `RECORD_COLUMNS`."""
        digits = 2 if abs(self.value or 0.0) >= 10 else 3
        shown = "failed" if self.value is None else f"{self.value:.{digits}f}"
        interval = f"{self.interval[0]:.{digits}f} to {self.interval[1]:.{digits}f}" if self.interval else ""
        how = ", ".join(part for part in (self.aggregation, self.protocol) if part)
        return self.key, self.split, str(self.rows or ""), self.metric, shown, interval, how


@dataclass(frozen=True)
class Outcome:
    """Predictions and true values, row by row, for paired comparisons.

    Attributes:
        predicted, gold: similarities of pairs, or classes of rows.
        strata: the rows that are scored together (of an STS subset, of a fold), with their share in the score.
        metrics: the available metrics; the first is that of the headline record.
        protocol: settings that must be equal for two outcomes to be comparable, in addition to the rows.
        data_hash: sha256 of the data, of the rows that were trained on too.
    """

    predicted: np.ndarray
    gold: np.ndarray
    strata: list[tuple[np.ndarray, float]]
    metrics: tuple[str, ...] = ("spearman", "pearson")
    protocol: str = ""
    data_hash: str = ""

    def metric(self, asked: str | None = None) -> str:
        """The requested metric, or the first.

        Raises:
            ValueError: a metric by which this outcome cannot be scored.
        """
        asked = asked or self.metrics[0]
        check_choice("metric", asked, self.metrics)
        return asked

    def score(self, metric: str | None = None) -> float:
        """The score between -1 and 1; see `cselab.metrics.significance.score`."""
        return significance.score(self.predicted, self.gold, self.metric(metric), self.strata)

    def interval(self, metric: str | None = None, resamples: int = RESAMPLES, seed: int = 0) -> tuple[float, float]:
        """Its 95 % bootstrap interval."""
        metric = self.metric(metric)
        return significance.bootstrap_interval(self.predicted, self.gold, metric, self.strata, resamples, seed)


class Measured(NamedTuple):
    """The result of a task: the headline first, and the predictions if two encoders can be compared by them."""

    records: list[Record]
    outcome: Outcome | None = None


@dataclass(frozen=True)
class Scores:
    """The scores of one encoder on the tasks that ran.

    Attributes:
        records: every number with its details.
        missing: tasks that did not run because of missing data, with the reason. They have no score.
        outcomes: predictions of STS and transfer tasks by name, for `cselab.evaluators.compare`; not written to JSON.
        encode_seconds: time to encode all distinct sentences of all tasks, once.
    """

    records: list[Record]
    missing: dict[str, str] = field(default_factory=dict)
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    encode_seconds: float = 0.0

    @property
    def scores(self) -> dict[str, float]:
        """Score by task name; a task that did not run or failed is not in it."""
        return {record.key: record.value for record in self.records if record.key and record.value is not None}

    @property
    def failures(self) -> dict[str, str]:
        """Why a task has no score although it ran, by task name."""
        return {record.key: record.failure for record in self.records if record.key and record.failure}

    @property
    def doubts(self) -> list[str]:
        """Doubts about scores: STS sets whose content differs from the published sets."""
        return [
            f"{record.key} was scored on unknown text: {record.rows} rows as published, but neither the published "
            "sentences nor scores. Do not compare it with published numbers"
            for record in self.records
            if record.key and record.task in STS_TASKS and record.provenance == "unknown text"
        ]

    @property
    def covers(self) -> tuple[str, ...]:
        """Which of the seven STS sets (test splits) have a score."""
        return tuple(task for task in STS_TASKS if task in self.scores)

    @property
    def avg(self) -> float | None:
        """Mean of the seven STS scores, not rounded before; None unless all seven are present."""
        if self.covers != STS_TASKS:
            return None
        return float(np.mean([self.scores[task] for task in STS_TASKS]))

    def to_dict(self) -> dict[str, Any]:
        """The same for JSON: `scores`, `covers`, `records`; `avg` only when all seven STS sets ran."""
        average = {} if self.avg is None else {"avg": self.avg}
        return {
            "scores": self.scores,
            **average,
            "covers": list(self.covers),
            "failures": self.failures,
            "missing": self.missing,
            "encode_seconds": self.encode_seconds,
            "records": [asdict(record) for record in self.records],
        }

    def to_json(self, path: str | Path) -> None:
        """Write `to_dict` as strict JSON (no NaN) to a file."""
        write_text(Path(path), json.dumps(self.to_dict(), indent=0, allow_nan=False) + "\n")

    def to_frame(self) -> "pandas.DataFrame":
        """A pandas DataFrame with a row for each record, details too; headline scores are those with a `key`.

        The columns are the fields of `Record`, with `low` and `high` instead of `interval`, without `versions`.
        """
        import pandas

        rows = []
        for record in self.records:
            low, high = record.interval or (None, None)
            rows.append(asdict(record) | {"low": low, "high": high})
        columns = [field.name for field in fields(Record) if field.name not in ("versions", "interval")]
        place = columns.index("value") + 1
        return pandas.DataFrame(rows, columns=[*columns[:place], "low", "high", *columns[place:]])

    def __str__(self) -> str:
        return "\n".join([*_aligned(self._rows()), *self.notes])

    def _repr_html_(self) -> str:
        """The same as a table in a notebook."""
        import pandas

        head, *body = self._rows()
        return html_table(pandas.DataFrame(body, columns=head), self.notes)

    def _rows(self) -> list[tuple[str, ...]]:
        return [RECORD_COLUMNS, *(record.cells for record in self.records if record.key)]

    @property
    def notes(self) -> list[str]:
        """The lines below the table: the average, doubts, failures, and tasks that did not run."""
        notes = []
        if self.avg is not None:
            notes.append(f"average of the seven STS sets: {self.avg:.2f}")
        elif self.covers:
            notes.append(f"no average: only {', '.join(self.covers)} of the seven STS sets have a score")
        notes += self.doubts
        notes += [f"{task} failed: {reason}" for task, reason in self.failures.items()]
        notes += [f"{task} did not run: {reason}" for task, reason in self.missing.items()]
        return notes


def html_table(frame: "pandas.DataFrame", notes: Sequence[str] = ()) -> str:
    """A table for a notebook, followed by a line for each note."""
    return frame.to_html(index=False, border=0) + "".join(f"<p>{escape(note)}</p>" for note in notes)


def _aligned(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    numeric = (False, False, True, False, True, False, False)
    return [
        "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, numeric, strict=True)
        ).rstrip()
        for row in rows
    ]


@checked
def read_scores(path: str | Path) -> Scores:
    """Scores from a file that `Scores.to_json` wrote (without the predictions).

    Raises:
        MissingFile, DataError: no such file, or a different one.
    """
    file = check_file(path)
    try:
        content = read_json(file)
        return Scores(
            records=[_record(entry) for entry in content["records"]],
            missing=content["missing"],
            encode_seconds=content["encode_seconds"],
        )
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path} holds no scores of Scores.to_json ({error}): write the file again") from None


def _record(entry: dict[str, Any]) -> Record:
    interval = entry["interval"]
    return Record(**{**entry, "interval": tuple(interval) if interval else None})
