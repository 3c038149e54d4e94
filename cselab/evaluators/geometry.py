"""The geometry of an encoder on a set of sentences: STS-B dev as in the papers, or any corpus."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from cselab._util.arguments import check_choice, checked
from cselab.data import Pairs, load_sts, read_sentences, sts_splits
from cselab.data.pairs import as_pairs, has_pairs
from cselab.data.rows import check_sentences
from cselab.metrics import geometry
from cselab.metrics.degenerate import DegenerateEmbeddings, VectorArray

from .records import Measured, Record
from .task import Collected, Source
from .vectors import Encoded, Scorer
from .world import world_sts

ALIGNMENT_THRESHOLD = 4.0
"""Positive pairs for the alignment are those with a gold score above this, as in SimCSE."""

WORLD = "world"
"""As the place of the data: the bundled world's pairs, which need no folder."""

STS_B_SPLITS = sts_splits("STS-B")

EXACT_UP_TO = 20_000
"""Sentences up to which the uniformity is summed over all pairs; above it is estimated from a sample."""

GEOMETRY_PROTOCOLS = {
    "alignment": "unit vectors, squared distance, pairs with gold > {threshold:g}",
    "uniformity": "unit vectors, t = 2, all pairs of sentences",
    "mean_cosine": "all pairs of sentences",
    "feature_correlation": "vectors as they are",
    "effective_rank": "singular values of the centred vectors",
}
"""The metrics, functions of `cselab.metrics.geometry`, and their computation."""


@dataclass(frozen=True)
class GeometryTask:
    """The metrics of `cselab.metrics.geometry` on sentences, and the alignment on positive pairs.

    Attributes:
        sentences: repeats included, as in the papers, which use each side of STS-B.
        positives: pairs that mean the same.
        origin: the source of the sentences: a record with task, split, hash and provenance of the data.
    """

    sentences: list[str]
    positives: Pairs
    metrics: tuple[str, ...]
    origin: Record
    threshold: float = ALIGNMENT_THRESHOLD
    name: str = "geometry"

    def outline(self) -> list[Record]:
        return [
            replace(
                self.origin,
                metric=metric,
                rows=len(self.positives) if metric == "alignment" else len(self.sentences),
                protocol=GEOMETRY_PROTOCOLS[metric].format(threshold=self.threshold),
                key=metric,
            )
            for metric in self.metrics
        ]

    def measure(self, encoded: Encoded | Scorer) -> Measured:
        vectors = encoded(self.sentences)
        return Measured([self._measured(record, vectors, encoded) for record in self.outline()])

    def _measured(self, record: Record, vectors: VectorArray, encoded: Encoded | Scorer) -> Record:
        try:
            if record.metric == "alignment":
                first, second = encoded(self.positives.sentences1), encoded(self.positives.sentences2)
                return replace(record, value=geometry.alignment(first, second))
            if record.metric == "uniformity" and len(vectors) > EXACT_UP_TO:
                value, error, samples = geometry.sampled_uniformity(vectors, seed=record.seed or 0)
                how = f"unit vectors, t = 2, {samples} pairs of sentences drawn at random"
                return replace(record, value=value, standard_error=error, protocol=how)
            return replace(record, value=getattr(geometry, record.metric)(vectors))
        except DegenerateEmbeddings as reason:
            return replace(record, failure=str(reason))


@checked
def positives(pairs: Pairs, threshold: float | int = ALIGNMENT_THRESHOLD) -> Pairs:
    """The pairs whose gold score is above the threshold."""
    return pairs.rows([row for row, score in enumerate(pairs.scores) if score > threshold])


@dataclass(frozen=True)
class Geometry:
    """Alignment, uniformity and further measures of how vectors fill the space.

    Measured on STS-B dev, as WhitenedCSE and the survey print it. Uniformity depends on the sentences: compare
    numbers of one split only; every record names its own. With `data` the sentences may also be pairs, a list, a
    text file, or "world" for the bundled world's pairs.

    Attributes:
        split: the split of STS-B or the world's pairs: "train", "dev" or "test"; of STS-B also "full", all together.
            Pairs given as data have their own split.
        threshold: pairs with a gold score above it are the positive pairs of the alignment.
        seed: the seed for drawing pairs if there are too many sentences for all pairs.

    Raises:
        ValueError: an unknown split.
    """

    split: str = "dev"
    threshold: float = ALIGNMENT_THRESHOLD
    seed: int = 0

    name: ClassVar[str] = "geometry"
    tasks: ClassVar[tuple[str, ...]] = tuple(GEOMETRY_PROTOCOLS)

    def __post_init__(self) -> None:
        check_choice("split", self.split, STS_B_SPLITS)

    def collect(self, data: Source, tasks: Sequence[str] | None) -> Collected:
        """One task with the named metrics, or all. Without positive pairs, alignment is missing.

        Raises:
            ValueError: the alignment was requested by name, without positive pairs.
        """
        pairs, sentences, origin = self._origin(data)
        metrics, missing = self.tasks if tasks is None else tuple(tasks), {}
        positive = positives(pairs, self.threshold)
        if not len(positive) and "alignment" in metrics:
            metrics = tuple(metric for metric in metrics if metric != "alignment")
            missing["alignment"] = f"{origin.task} has no pairs with a score above {self.threshold:g}"
            if tasks is not None:
                raise ValueError(f"no alignment: {missing['alignment']}")
        return Collected([GeometryTask(sentences, positive, metrics, origin, self.threshold)], missing)

    def _origin(self, data: Any) -> tuple[Pairs, list[str], Record]:
        if data is not None and has_pairs(data):
            data = as_pairs(data)
        path = isinstance(data, str | Path)
        if isinstance(data, Pairs):
            pairs = data
        elif path and str(data) == WORLD:
            pairs = world_sts(self.split)
        elif data is None or (path and not Path(data).is_file()):
            pairs = load_sts("STS-B", data, self.split)
        else:
            sentences = list(read_sentences(data)) if path else check_sentences(data)
            name = Path(data).name if path else "sentences"
            digest = hashlib.sha256("\n".join(sentences).encode()).hexdigest()
            return Pairs([], [], [], name), sentences, Record(task=name, metric="", data_hash=digest, seed=self.seed)
        return pairs, pairs.sentences, Record.of(pairs, metric="", seed=self.seed)
