"""The quality of the first numbers of an encoder's vectors, the measure for Matryoshka training."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from cselab.data import Pairs
from cselab.evaluators.records import Measured, Record
from cselab.evaluators.sts import StsTask
from cselab.evaluators.task import Collected, Source
from cselab.evaluators.vectors import Encoded, Scorer
from cselab.evaluators.world import world_sts
from cselab.metrics.degenerate import DegenerateEmbeddings
from cselab.metrics.geometry import effective_rank

WIDTHS = (8, 16, 32, 64, 128, 256, 512)

PROTOCOLS = {
    "score": "cosine of the first numbers of each vector",
    "pca_score": "cosine on the first principal components, fitted on the sentences of the pairs",
    "effective_rank": "singular values of the centred first numbers",
}


@dataclass(frozen=True)
class DimensionsTask:
    """One set of scored pairs at each width: `score@64`, `pca_score@64`, `effective_rank@64`."""

    pairs: Pairs
    metrics: tuple[str, ...]
    widths: tuple[int, ...]
    seed: int = 0
    name: str = "dimensions"

    @property
    def sentences(self) -> list[str]:
        return self.pairs.sentences

    def outline(self) -> list[Record]:
        return [self._record(measure, measure) for measure in self.metrics]

    def measure(self, encoded: Encoded | Scorer) -> Measured:
        distinct = list(dict.fromkeys(self.sentences))
        vectors = encoded(distinct)
        whole = vectors.shape[1]
        shown = {measure: _principal(vectors) if measure == "pca_score" else vectors for measure in self.metrics}
        records = []
        for width in [*(width for width in self.widths if width < whole), whole]:
            for measure, rows in shown.items():
                record = self._record(measure, f"{measure}@{width}")
                records.append(self._measured(record, distinct, rows[:, :width]))
        return Measured(records)

    def _measured(self, record: Record, sentences: list[str], rows: Float[np.ndarray, "n d"]) -> Record:
        try:
            if record.metric == "effective_rank":
                return replace(record, value=effective_rank(rows))
            (correlation, *_), _ = StsTask(self.pairs, self.name, seed=self.seed).measure(Encoded(sentences, rows))
        except DegenerateEmbeddings as reason:
            return replace(record, failure=str(reason))
        return replace(record, value=correlation.value, interval=correlation.interval)

    def _record(self, measure: str, key: str) -> Record:
        metric = "effective_rank" if measure == "effective_rank" else "spearman"
        return Record.of(self.pairs, metric=metric, protocol=PROTOCOLS[measure], seed=self.seed, key=key)


def _principal(vectors: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n k"]:
    """The vectors on their principal axes, the largest variance first."""
    from sklearn.decomposition import PCA

    return PCA(random_state=0).fit_transform(vectors)


@dataclass(frozen=True)
class Dimensions:
    """The score of the first 8, 16, ... numbers of each vector, their effective rank, and a control.

    An encoder trained with `matryoshka` is meant to be cut. Any encoder loses little at first, because its numbers are
    redundant. The control measures this: the same number of principal components, which use all numbers of the vector
    and have the most variance at that width. They are fitted on the very sentences that are scored, without their
    grades, which favours the control. At the full width the control differs only by the mean, which PCA subtracts.

    Attributes:
        widths: numbers of dimensions below the encoder's width; the whole width is always included.
        seed: the seed of the bootstrap.

    Raises:
        ValueError: no widths, or one below 2, of which every cosine is 1 or -1.

    See also: `SentenceEncoder.truncate_dim`; `cselab.methods.Matryoshka`, Kusupati et al. 2022.
    """

    widths: Sequence[int] = WIDTHS
    seed: int = 0

    name: ClassVar[str] = "dimensions"
    tasks: ClassVar[tuple[str, ...]] = tuple(PROTOCOLS)

    def __post_init__(self) -> None:
        if not self.widths or min(self.widths) < 2:
            raise ValueError(f"widths must be numbers of at least 2, got {self.widths!r}")

    def collect(self, data: Source, tasks: Sequence[str] | None) -> Collected:
        """One task with the named metrics, or all, on the pairs given as data, or the bundled world's test pairs."""
        pairs = data if isinstance(data, Pairs) else replace(world_sts("test"), name="World-STS", provenance="bundled")
        metrics = self.tasks if tasks is None else tuple(tasks)
        return Collected([DimensionsTask(pairs, metrics, tuple(sorted(self.widths)), self.seed)], {})
