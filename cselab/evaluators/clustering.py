"""Short-text clustering: do k-means clusters of the vectors recover the classes?"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from cselab.data.classification import Labelled
from cselab.data.clustering import CLUSTERING_TASKS, load_clustering
from cselab.metrics.agreement import matched, normalized_mutual_information
from cselab.metrics.degenerate import DegenerateEmbeddings, require_sound
from cselab.metrics.significance import runs_interval

from .records import Measured, Record
from .task import LoadedByName, Source, folder
from .vectors import Encoded, Scorer

KMEANS_SEEDS = tuple(range(10))


def k_means(vectors: Float[np.ndarray, "n d"], k: int, seeds: Sequence[int] = KMEANS_SEEDS) -> Int[np.ndarray, "m n"]:
    """The cluster of each row in m runs: scikit-learn's k-means on the vectors as they are (not normalised).

    A run starts once, by k-means++.

    Raises:
        DegenerateEmbeddings: vectors that are not finite, or fewer different ones than clusters.
    """
    from sklearn.cluster import KMeans

    require_sound(vectors)
    different = len(np.unique(vectors, axis=0))
    if different < k:
        raise DegenerateEmbeddings(f"{different} different embeddings cannot make {k} clusters")
    runs = [KMeans(k, n_init=1, random_state=seed).fit_predict(vectors) for seed in seeds]
    return np.stack(runs).astype(np.int64)


@dataclass(frozen=True)
class ClusteringTask:
    """Labelled texts, clustered into one cluster per class; scored by matched accuracy.

    Each score is the mean over k-means runs that differ in their seed.
    """

    rows: Labelled
    seeds: tuple[int, ...] = KMEANS_SEEDS

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
        """Accuracy by Hungarian matching; then, without a key, NMI, which is the V-measure. Both x100.

        The interval of the accuracy covers the chance of the rows and of the seeds; `standard_error` is only that of
        the mean over seeds.

        Raises:
            DegenerateEmbeddings: vectors that cannot be clustered.
        """
        labels, vectors = np.array(self.rows.labels), encoded(self.sentences)
        runs = k_means(vectors, len(self.rows.classes), self.seeds)
        right = np.stack([matched(clusters, labels) for clusters in runs])
        accuracies = [100 * float(run.mean()) for run in right]
        low, high = runs_interval(right)
        records = [
            replace(self._over_seeds("accuracy", accuracies), interval=(100 * low, 100 * high)),
            self._over_seeds("nmi", [normalized_mutual_information(clusters, labels) for clusters in runs]),
        ]
        return Measured(records)

    def _over_seeds(self, metric: str, values: Sequence[float]) -> Record:
        record = self._record(metric, key=self.name if metric == "accuracy" else "")
        error = float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None
        return replace(record, value=float(np.mean(values)), standard_error=error)

    def _record(self, metric: str, key: str = "") -> Record:
        protocol = f"mean of {len(self.seeds)} k-means, one start each"
        return Record.of(self.rows, task=self.name, metric=metric, protocol=protocol, seed=self.seeds[0], key=key)


@dataclass(frozen=True)
class Clustering(LoadedByName):
    """Six short-text sets: mean accuracy of k-means over seeds, as the survey's numbers were made.

    Attributes:
        seeds: the seeds of the k-means runs whose mean is reported, with their spread in the interval. EASE's released
            code has one run, the best of ten starts, which scores higher.

    Raises:
        ValueError: no seed.
    """

    seeds: Sequence[int] = KMEANS_SEEDS

    name = "clustering"
    tasks = CLUSTERING_TASKS

    def __post_init__(self) -> None:
        if not len(self.seeds):
            raise ValueError("seeds is empty: name at least one, for example range(10)")

    def load(self, task: str, data: Source) -> ClusteringTask:
        return ClusteringTask(load_clustering(task, folder(data, self.name)), tuple(self.seeds))
