"""Short-text clustering: do k-means clusters of the vectors recover the classes?"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from cselab.data import MissingFile
from cselab.data.classification import Labelled
from cselab.data.clustering import CLUSTERING_TASKS, load_clustering
from cselab.evaluators.records import Measured, Record
from cselab.evaluators.suites import Options, Source, folder
from cselab.evaluators.vectors import Encoded, Scorer
from cselab.measures.agreement import (
    matched_accuracy,
    normalized_mutual_information,
    share_interval,
    v_measure,
)
from cselab.measures.degenerate import DegenerateEmbeddings, require_sound

TASKS = CLUSTERING_TASKS

RESTARTS = 10


def k_means(
    vectors: Float[np.ndarray, "n d"], k: int, restarts: int = RESTARTS, seed: int = 0
) -> Int[np.ndarray, " n"]:
    """The cluster of each row: scikit-learn's k-means on the vectors as they are (not normalised).

    Starts by k-means++, `restarts` times; the partition with the smallest sum of squares is kept.

    Raises:
        DegenerateEmbeddings: vectors that are not finite, or fewer different ones than clusters.
    """
    from sklearn.cluster import KMeans

    require_sound(vectors)
    different = len(np.unique(vectors, axis=0))
    if different < k:
        raise DegenerateEmbeddings(f"{different} different embeddings cannot make {k} clusters")
    model = KMeans(k, n_init=restarts, random_state=seed)
    return model.fit_predict(vectors).astype(np.int64)


@dataclass(frozen=True)
class ClusteringTask:
    """Labelled texts, clustered into as many clusters as there are classes; scored by matched accuracy."""

    rows: Labelled
    restarts: int = RESTARTS
    seed: int = 0

    @property
    def name(self) -> str:
        return self.rows.name

    @property
    def sentences(self) -> list[str]:
        return self.rows.texts

    def outline(self) -> list[Record]:
        """The headline record before it has a value."""
        return [self._record("accuracy", key=self.name)]

    def measure(self, encoded: Encoded | Scorer) -> Measured:
        """Accuracy by Hungarian matching; then, without a key, NMI and V-measure. All x100.

        Raises:
            DegenerateEmbeddings: vectors that cannot be clustered.
        """
        labels = np.array(self.rows.labels)
        clusters = k_means(encoded(self.sentences), len(self.rows.classes), self.restarts, self.seed)
        accuracy = matched_accuracy(clusters, labels)
        right = round(accuracy / 100 * len(labels))
        records = [
            replace(self.outline()[0], value=accuracy, interval=share_interval(right, len(labels))),
            replace(self._record("nmi"), value=normalized_mutual_information(clusters, labels)),
            replace(self._record("v_measure"), value=v_measure(clusters, labels)),
        ]
        duplicates = encoded.duplicates(self.sentences)
        return Measured([replace(record, duplicates=duplicates) for record in records])

    def _record(self, metric: str, key: str = "") -> Record:
        return Record(
            task=self.name,
            metric=metric,
            split=self.rows.split,
            rows=len(self.rows),
            protocol=f"k-means, {self.restarts} restarts",
            data_hash=self.rows.hash,
            provenance=self.rows.provenance,
            seed=self.seed,
            key=key,
        )


def collect(
    data: Source, tasks: Sequence[str] | None, options: Options
) -> tuple[list[ClusteringTask], dict[str, str]]:
    """Load the named clustering sets, or all that are there.

    Raises:
        MissingFile: a named set is not there, or none at all.
        DataError: a damaged file.
    """
    root, found, missing = folder(data, "clustering"), [], {}
    for task in TASKS if tasks is None else tasks:
        try:
            found.append(ClusteringTask(load_clustering(task, root), seed=options.seed))
        except MissingFile as reason:
            if tasks is not None:
                raise
            missing[task] = str(reason)
    if not found:
        raise MissingFile(next(iter(missing.values())))
    return found, missing
