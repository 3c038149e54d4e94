"""Semantic textual similarity: how well the cosine of two sentences follows human grades."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cselab._util.arguments import check_choice
from cselab.data import STS_TASKS, Pairs, load_sts, sts_splits
from cselab.metrics.degenerate import DegenerateEmbeddings
from cselab.metrics.significance import LEAST_ROWS, RESAMPLES, UndefinedCorrelation, correlation

from .records import Measured, Outcome, Record
from .task import Collected, LoadedByName, Source, folder
from .vectors import Encoded, Scorer

AGGREGATIONS = ("all", "mean", "weighted_mean")
"""How the subsets of STS12 to STS16 become one number.

* all: one correlation over all pairs together, as SimCSE and everyone after it reports;
* mean: the mean of the correlations of the subsets, as SentEval prints;
* weighted_mean: the same weighted by their numbers of pairs, as BERT-flow and BERT-whitening report.
"""


@dataclass(frozen=True)
class StsTask:
    """Sentence pairs scored by Spearman and Pearson correlation x100, whole and by subset."""

    pairs: Pairs
    name: str
    aggregation: str = "all"
    resamples: int = RESAMPLES
    seed: int = 0

    @property
    def sentences(self) -> list[str]:
        return self.pairs.sentences

    def outline(self) -> list[Record]:
        """The headline record before it has a value."""
        return [self._record("spearman", self.aggregation, key=self.name)]

    def measure(self, encoded: Encoded | Scorer) -> Measured:
        """Spearman in the requested aggregation first; then Pearson, the remaining aggregations and every subset."""
        aggregations = sorted(AGGREGATIONS if self._has_subsets else ("all",), key=self.aggregation.__ne__)
        outcome = self.outcome(encoded)
        records = []
        for aggregation in aggregations:
            whole = replace(outcome, strata=strata(self._subsets, aggregation))
            for metric in ("spearman", "pearson"):
                key = self.name if metric == "spearman" and aggregation == aggregations[0] else ""
                records.append(self._scored(self._record(metric, aggregation, key=key), whole))
        for subset in dict.fromkeys(self._subsets if self._has_subsets else ()):
            rows = np.flatnonzero(np.array(self._subsets) == subset)
            part = replace(outcome, strata=[(rows, 1.0)])
            for metric in ("spearman", "pearson"):
                records.append(self._scored(replace(self._record(metric, ""), subset=subset, rows=len(rows)), part))
        return Measured([replace(record, protocol=encoded.similarity) for record in records], outcome)

    def outcome(self, encoded: Encoded | Scorer) -> Outcome:
        """Predicted and gold similarity of every pair.

        Raises:
            DegenerateEmbeddings: vectors that cannot be scored, or similarities that are all the same.
        """
        predicted = np.asarray(encoded.similarities(self.pairs.sentences1, self.pairs.sentences2), dtype=np.float64)
        outcome = Outcome(
            predicted,
            np.asarray(self.pairs.scores),
            strata(self._subsets, self.aggregation),
            protocol=f"aggregation {self.aggregation}" if self._has_subsets else "",
            data_hash=self.pairs.hash,
        )
        try:
            correlation(outcome.predicted, outcome.gold)
        except UndefinedCorrelation as undefined:
            raise DegenerateEmbeddings(str(undefined)) from None
        return outcome

    @property
    def _subsets(self) -> list[str]:
        return self.pairs.subsets or [""] * len(self.pairs)

    @property
    def _has_subsets(self) -> bool:
        return len(set(self._subsets)) > 1

    def _scored(self, record: Record, outcome: Outcome) -> Record:
        try:
            value = 100 * outcome.score(record.metric)
        except UndefinedCorrelation as undefined:
            return replace(record, failure=str(undefined))
        if not record.key or len(outcome.gold) < LEAST_ROWS:
            return replace(record, value=value)
        low, high = outcome.interval(record.metric, self.resamples, self.seed)
        return replace(record, value=value, interval=(100 * low, 100 * high))

    def _record(self, metric: str, aggregation: str, key: str = "") -> Record:
        how = aggregation if self._has_subsets else ""
        return Record.of(self.pairs, metric=metric, aggregation=how, seed=self.seed, key=key)


def strata(subsets: Sequence[str], aggregation: str) -> list[tuple[np.ndarray, float]]:
    """The groups of rows whose correlations are computed separately, each with its weight in the sum.

    Raises:
        ValueError: an unknown aggregation.

    >>> [share for rows, share in strata(["a", "a", "a", "b"], "weighted_mean")]
    [0.75, 0.25]
    """
    check_choice("aggregation", aggregation, AGGREGATIONS)
    if aggregation == "all":
        return [(np.arange(len(subsets)), 1.0)]
    groups = [np.flatnonzero(np.array(subsets) == subset) for subset in dict.fromkeys(subsets)]
    if aggregation == "mean":
        return [(rows, 1 / len(groups)) for rows in groups]
    return [(rows, len(rows) / len(subsets)) for rows in groups]


@dataclass(frozen=True)
class STS(LoadedByName):
    """The seven STS sets by cosine: the test splits, and further splits by name ("STS-B/dev", "SICK-R/full").

    Attributes:
        aggregation: how the subsets of STS12 to STS16 become one score: "all" (the papers' choice), "mean" or
            "weighted_mean". The remaining aggregations are among the records.
        seed: the seed of the bootstrap.

    Raises:
        ValueError: an unknown aggregation.
    """

    aggregation: str = "all"
    seed: int = 0

    name = "sts"
    tasks = (*STS_TASKS, *(f"{task}/{split}" for task in STS_TASKS for split in sts_splits(task) if split != "test"))

    def __post_init__(self) -> None:
        strata([], self.aggregation)

    def task(self, pairs: Pairs, name: str | None = None) -> StsTask:
        """Your pairs, scored as an STS set."""
        return StsTask(pairs, name or pairs.name, self.aggregation, seed=self.seed)

    def load(self, task: str, data: Source) -> StsTask:
        name, _, split = task.partition("/")
        return self.task(load_sts(name, folder(data, self.name), split or "test"), task)


@dataclass(frozen=True)
class OwnPairs:
    """One task: these pairs, scored as an STS set under their own name.

    `evaluate(encoder, pairs)` scores only pairs; this class is for a list with further suites.
    """

    pairs: Pairs
    aggregation: str = "all"

    @property
    def name(self) -> str:
        """The name of the pairs."""
        return self.pairs.name

    @property
    def tasks(self) -> tuple[str, ...]:
        """Their name, again: a suite of one task."""
        return (self.pairs.name,)

    def collect(self, data: Source, tasks: Sequence[str] | None) -> Collected:
        """The task; nothing is read."""
        return Collected([STS(self.aggregation).task(self.pairs)], {})
