"""Transfer: the accuracy of a linear classifier on frozen sentence vectors, by SentEval's protocol.

Which rows train, choose and test depends on the set:

* MR, CR, SUBJ, MPQA have no test rows: nested k-fold;
* TREC, MRPC have test rows: k-fold on the training rows chooses the penalty, then the classifier is trained again;
* SST-2 has dev and test rows.

Rows come in SentEval's order, folds from scikit-learn's StratifiedKFold with seed 1111; initial weights and order of
the minibatches are also SentEval's. Only the rounding of float32 sums differs.
"""

import hashlib
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from cselab._util.arguments import check_choice
from cselab._util.progress import Progress
from cselab.data.classification import CLASSIFICATION_ROWS, CLASSIFICATION_TASKS, Labelled, load_classification
from cselab.data.published import PROVENANCES
from cselab.metrics.agreement import Classes, f1, share_interval
from cselab.metrics.linear_probes import Fold, MinibatchProbes

from .records import Measured, Outcome, Record
from .task import LoadedByName, Source, folder
from .vectors import Encoded, Scorer

SENTEVAL_SEED = 1111

Features = Float[np.ndarray, "n d"]
"""A row a sentence or pair."""

LONG_WORK = 50_000  # folds x rows from which on progress is shown


@dataclass(frozen=True)
class Protocol:
    """How classifiers are trained and their penalty is chosen.

    Attributes:
        name: the name in the record.
        folds: k of the k-fold cross-validation (inside and outside).
        penalties: the grid; among equals (in per cent, rounded to two digits) the first is chosen.
        probes: how a classifier is trained.
    """

    name: str
    folds: int
    penalties: tuple[float, ...]
    probes: MinibatchProbes


WEIGHT_DECAYS = (1e-5, 1e-4, 1e-3, 1e-2)

PROTOCOLS = {
    protocol.name: protocol
    for protocol in (
        Protocol("senteval", 10, WEIGHT_DECAYS, MinibatchProbes("Adam", 1e-3, 64, tenacity=5, epoch_size=4)),
        Protocol("senteval-fast", 5, WEIGHT_DECAYS, MinibatchProbes("RMSprop", 1e-2, 128, tenacity=3, epoch_size=2)),
    )
}
"""The ways to measure transfer.

* senteval: as published tables are made (SimCSE's `--mode test`): 10 folds, Adam, minibatches of 64;
* senteval-fast: SimCSE's `--mode fasttest`: 5 folds, RMSprop, minibatches of 128, stops earlier;
"""


@dataclass(frozen=True)
class Transferred:
    """The outcome of a transfer task.

    Attributes:
        accuracy: per cent; in nested k-fold the mean over the outer folds.
        dev_accuracy: per cent, of the chosen penalty on the rows it was chosen by.
        penalties: the chosen penalty, one for each trial.
        predicted: the class given to each test row.
        folds: the test rows that were scored together; the accuracy is the mean of theirs.
    """

    accuracy: float
    dev_accuracy: float
    penalties: tuple[float, ...]
    predicted: Int[np.ndarray, " m"]
    folds: list[Int[np.ndarray, " _k"]]


class FoldTrial(NamedTuple):
    """The rows that select a penalty, and the rows that test it.

    Attributes:
        search: the folds by whose dev rows the penalty is chosen.
        final: trained again with that penalty and tested; None if the classifier of `search` is tested.
    """

    search: list[Fold]
    final: Fold | None


def trials_of(y: Classes, sizes: dict[str, int], k: int) -> list[FoldTrial]:
    """The rows for choosing and testing, from the sizes of the consecutive splits.

    * all: nested k-fold. Each row is tested once, the penalty of each outer fold chosen by k-fold inside its
      training rows: k (k p + 1) classifiers for p penalties, 410 for k = 10, p = 4;
    * train, test: the training rows choose the penalty by k-fold and train the classifier again;
    * train, dev, test: the dev rows stop the classifiers and choose among them.
    """
    rows = np.arange(len(y))
    if "all" in sizes:
        outer = stratified_folds(rows, y, k)
    else:
        outer = [(rows[: sizes["train"]], rows[len(y) - sizes["test"] :])]
    if "dev" in sizes:
        (train, test), dev = outer[0], rows[sizes["train"] : len(y) - sizes["test"]]
        return [FoldTrial([Fold(train, dev, test)], None)]
    return [
        FoldTrial(
            [Fold(fit, dev, dev[:0]) for fit, dev in stratified_folds(train, y[train], k)], Fold(train, None, test)
        )
        for train, test in outer
    ]


def transfer(
    x: Features, y: Classes, sizes: dict[str, int], classes: int, protocol: Protocol, name: str = "classifiers"
) -> Transferred:
    """Choose penalties, train and test by `trials_of`.

    SentEval rounds the accuracy of each outer fold to two digits before the mean; cselab does not round.

    Args:
        sizes: rows of each split, in the order in which they follow in x and y: "all"; "train" and "test"; or
            "train", "dev" and "test".
    """
    trials = trials_of(y, sizes, protocol.folds)
    search = [fold for trial in trials for fold in trial.search]
    final = [trial.final for trial in trials if trial.final is not None]
    classifiers = len(search) * len(protocol.penalties) + len(final)
    with Progress(classifiers, name, show=len(search) * len(y) > LONG_WORK) as progress:
        grid = np.tile(protocol.penalties, (len(search), 1))
        searched = protocol.probes.fit(x, y, classes, search, grid, progress.update)
        dev_accuracy = searched.dev_accuracy.reshape(len(trials), -1, len(protocol.penalties)).mean(1)
        chosen = [_choice(row) for row in dev_accuracy]
        penalties = tuple(protocol.penalties[c] for c in chosen)
        if final:
            each = np.array(penalties)[:, None]
            predictions = [one[0] for one in protocol.probes.fit(x, y, classes, final, each, progress.update).predicted]
        else:
            predictions = [one[c] for one, c in zip(searched.predicted, chosen, strict=True)]
    tests = [fold.test for fold in final or search]
    tested = np.sort(np.concatenate(tests))
    predicted = np.zeros(len(tested), dtype=np.int64)
    folds = [np.searchsorted(tested, test) for test in tests]
    for rows, classes_seen in zip(folds, predictions, strict=True):
        predicted[rows] = classes_seen
    right = predicted == y[tested]
    return Transferred(
        accuracy=100 * float(np.mean([right[rows].mean() for rows in folds])),
        dev_accuracy=100 * float(np.mean([row[c] for row, c in zip(dev_accuracy, chosen, strict=True)])),
        penalties=penalties,
        predicted=predicted,
        folds=folds,
    )


def pair_features(u: Features, v: Features) -> Float[np.ndarray, "n _e"]:
    """|u - v| and u * v side by side, the features of a pair (MRPC) in SentEval's classifier."""
    return np.concatenate([np.abs(u - v), u * v], axis=1)


def stratified_folds(rows: Classes, labels: Classes, k: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """k times (training rows, a k-th of the rows), classes in proportion, shuffled with SentEval's seed.

    Raises:
        ValueError: a class has fewer rows than folds.
    """
    from sklearn.model_selection import StratifiedKFold

    if np.bincount(labels).min() < k:
        raise ValueError(f"{k} folds need at least {k} rows of each class; the rarest has {np.bincount(labels).min()}")
    splits = StratifiedKFold(k, shuffle=True, random_state=SENTEVAL_SEED).split(labels, labels)
    return [(rows[train], rows[test]) for train, test in splits]


def _choice(accuracies: Float[np.ndarray, " p"]) -> int:
    """The first of the best penalties, after SentEval's rounding."""
    return int(np.argmax(np.round(100 * accuracies, 2)))


@dataclass(frozen=True)
class TransferTask:
    """A transfer set scored by the accuracy of a linear classifier, x100.

    Attributes:
        splits: "all"; or "train" and "test"; or "train", "dev" and "test".
    """

    name: str
    splits: dict[str, Labelled]
    protocol: Protocol

    @property
    def sentences(self) -> list[str]:
        return [text for rows in self.splits.values() for text in rows.texts]

    @property
    def tested(self) -> Labelled:
        """The rows that are tested."""
        return self.splits["all" if "all" in self.splits else "test"]

    def outline(self) -> list[Record]:
        """The headline record before it has a value."""
        return [self._record("accuracy", self.tested, key=self.name)]

    def measure(self, encoded: Encoded | Scorer) -> Measured:
        """Accuracy on the test rows; then, without a key, that on dev rows, and F1 for pairs.

        Raises:
            DegenerateEmbeddings: vectors that are not finite, or all the same.
        """
        encoded(self.sentences)  # vectors that cannot be scored are noticed over all splits
        x = np.concatenate([_features(rows, encoded) for rows in self.splits.values()])
        y = np.concatenate([rows.labels for rows in self.splits.values()]).astype(np.int64)
        sizes = {split: len(rows) for split, rows in self.splits.items()}
        transferred = transfer(x, y, sizes, len(self.tested.classes), self.protocol, self.name)
        gold = np.array(self.tested.labels)
        right = int((transferred.predicted == gold).sum())
        accuracy = replace(self.outline()[0], value=transferred.accuracy, interval=share_interval(right, len(gold)))
        choosing = self.splits.get("dev") or self.splits.get("train") or self.tested
        how = "dev" if "dev" in self.splits else "cross-validation"
        dev = replace(self._record("accuracy", choosing), split=how, value=transferred.dev_accuracy)
        records = [accuracy, dev]
        if self.tested.sentences2:
            records.append(replace(self._record("f1", self.tested), value=f1(transferred.predicted, gold)))
        outcome = Outcome(
            transferred.predicted,
            gold,
            [(rows, 1 / len(transferred.folds)) for rows in transferred.folds],
            metrics=("accuracy",),
            protocol=self.protocol.name,
            data_hash=self._data_hash(),
        )
        return Measured(records, outcome)

    def _data_hash(self) -> str:
        """sha256 over all splits: the training rows make the number as much as the tested ones."""
        return hashlib.sha256("".join(part.hash for part in self.splits.values()).encode()).hexdigest()

    def _record(self, metric: str, rows: Labelled, key: str = "") -> Record:
        known = {part.provenance for part in self.splits.values()}
        least = max(known, key=PROVENANCES.index) if len(known) > 1 else known.pop()
        all_splits = {"task": self.name, "data_hash": self._data_hash(), "provenance": least}
        return Record.of(rows, metric=metric, protocol=self.protocol.name, seed=SENTEVAL_SEED, key=key, **all_splits)


@dataclass(frozen=True)
class Transfer(LoadedByName):
    """SentEval's seven transfer sets: accuracy of a linear classifier on frozen vectors.

    Attributes:
        protocol: "senteval" or "senteval-fast"; see `PROTOCOLS`.

    Raises:
        ValueError: an unknown protocol.
    """

    protocol: str = "senteval"

    name = "transfer"
    tasks = CLASSIFICATION_TASKS

    def __post_init__(self) -> None:
        check_choice("protocol", self.protocol, PROTOCOLS)

    def load(self, task: str, data: Source) -> TransferTask:
        root = folder(data, self.name)
        splits = {split: load_classification(task, root, split) for split in CLASSIFICATION_ROWS[task]}
        return TransferTask(task, splits, PROTOCOLS[self.protocol])


def _features(rows: Labelled, encoded: Encoded | Scorer) -> Float[np.ndarray, "_n _d"]:
    vectors = encoded(rows.texts)
    return pair_features(vectors[: len(rows)], vectors[len(rows) :]) if rows.sentences2 else vectors
