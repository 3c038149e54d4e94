"""From sentences to vectors, once: the distinct sentences of all tasks are encoded together."""

import hashlib
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Float

from cselab._util.checksums import CheckpointError
from cselab._util.writing import make_folder
from cselab.encoders.any_encoder import encode
from cselab.encoders.checkpoint import load_checkpoint, save_checkpoint
from cselab.metrics.degenerate import DegenerateEmbeddings, require_sound
from cselab.metrics.geometry import COSINE_DECIMALS

CACHED_BY = (
    "pooling", "representation", "max_length", "normalize", "template", "precision",
    "prompts", "default_prompt_name", "truncate_dim",
)  # fmt: skip


Matrix = Float[np.ndarray, "_n _d"]
"""A row a sentence."""


@runtime_checkable
class Encoder(Protocol):
    """Anything that turns sentences into vectors, one row per sentence; the requirement of `evaluate` for an encoder.

    A `SentenceEncoder`, a `sentence_transformers.SentenceTransformer`, or your ten lines; `cselab.encoders.as_encoder`
    turns functions, arrays and names into one. Optional attributes go into the records: `name`, `pooling`,
    `representation`, `max_length`, `precision`, `last_truncation`; `weights_hash()` allows caching its vectors.
    """

    def encode(self, sentences: list[str], /) -> Any:
        """An array or tensor [n, d] for n sentences, in their order."""


PairScorer = Callable[[list[str], list[str]], Any]
"""A function of two lists of sentences that gives the similarity of each pair, such as `word_overlap`."""


def name_of(encoder: Encoder | PairScorer) -> str:
    """Its name in the records: the encoder's name, or the name of its function or class."""
    return str(getattr(encoder, "name", None) or getattr(encoder, "__name__", type(encoder).__name__))


class NeedsVectors(ValueError):
    """A task that needs the vector of each sentence was given a function that scores pairs."""


SCORING = f"cosine, rounded to 1e-{COSINE_DECIMALS}"
"""How new records name the similarity that they rank."""


class Encoded:
    """The vectors of a set of sentences; call it with sentences to get their rows.

    `truncated` is the number of sentences that lost tokens, if the encoder reports that.
    """

    similarity = SCORING

    def __init__(self, sentences: list[str], vectors: Matrix, truncated: int | None = None) -> None:
        self.index = {sentence: row for row, sentence in enumerate(sentences)}
        self.vectors, self.truncated = vectors, truncated

    def __call__(self, sentences: list[str]) -> Matrix:
        """One row per sentence, in their order, repeats included.

        Raises:
            DegenerateEmbeddings: among them one that is not finite, or all of them the same vector.
        """
        rows = [self.index[sentence] for sentence in sentences]
        vectors = self.vectors[rows]
        if len(set(rows)) > 1:
            require_sound(vectors)
        return vectors

    def similarities(self, first: list[str], second: list[str]) -> Float[np.ndarray, " _n"]:
        """Cosine of each pair, in float64 and rounded to 1e-6.

        Float32 rounding moves a cosine by about 1e-7, by how the batches were made. Without the rounding a rank
        correlation orders pairs of identical texts by that noise.

        Raises:
            DegenerateEmbeddings: as for a call; a zero vector, whose cosine is not defined.
        """
        both = self([*first, *second]).astype(np.float64)
        length = np.linalg.norm(both, axis=1, keepdims=True)
        if not length.all():
            raise DegenerateEmbeddings(f"{int((length == 0).sum())} embeddings are zero vectors, without a cosine")
        unit = both / length
        return (unit[: len(first)] * unit[len(first) :]).sum(axis=1).round(COSINE_DECIMALS)

    def duplicates(self, sentences: Iterable[str]) -> int:
        """The number of distinct sentences that share exactly one vector."""
        rows = {self.index[sentence] for sentence in sentences}
        counts = Counter(hash(self.vectors[row].tobytes()) for row in rows)
        return sum(count for count in counts.values() if count > 1)


class Scorer:
    """In the place of vectors where sentence pairs are scored directly, as word overlap does."""

    similarity, truncated = "scored without vectors", None

    def __init__(self, score: PairScorer) -> None:
        self.similarities = score

    def __call__(self, sentences: list[str]) -> Matrix:
        raise NeedsVectors("this task needs sentence vectors; a function that scores pairs has none")

    def duplicates(self, sentences: Iterable[str]) -> None:
        return None


def encode_distinct(
    encoder: Encoder, sentences: Iterable[str], cache: str | Path | None = None, **options: Any
) -> Encoded:
    """Encode every distinct sentence once, or read the vectors back from the cache folder.

    The name of a cache file is the hash of the weights, of the settings (`CACHED_BY`, and the `options` of
    `encoder.encode`), and of the sentences. It is written whole or not at all, and its checksum is verified when it is
    read; damaged vectors are computed again, with a warning.

    Raises:
        ValueError: a cache is requested, but the encoder has no `weights_hash()`; or the encoder does not return one
            vector per sentence.
    """
    distinct = sorted(set(sentences))
    path = None if cache is None else Path(cache) / f"vectors-{_cache_key(encoder, distinct, options)}.safetensors"
    if path is not None:
        make_folder(path.parent)
        if path.is_file():
            try:
                tensors, info = load_checkpoint(path)
                return Encoded(distinct, tensors["vectors"].numpy(), info["truncated"])
            except CheckpointError as damage:
                warnings.warn(f"{damage}; the vectors are computed again", stacklevel=3)
    vectors = encode(encoder, distinct, **options)
    cut = getattr(getattr(encoder, "last_truncation", None), "cut", None)  # for encoders that report it
    if path is not None and getattr(encoder, "is_main_process", True):
        save_checkpoint(path, {"vectors": torch.from_numpy(vectors)}, {"truncated": cut})
    return Encoded(distinct, vectors, cut)


def _cache_key(encoder: Encoder, sentences: list[str], options: dict[str, Any]) -> str:
    if not hasattr(encoder, "weights_hash"):
        raise ValueError(f"vectors of {type(encoder).__name__} cannot be cached: weights_hash() is missing")
    digest = hashlib.sha256()
    for part in (encoder.weights_hash(), *(getattr(encoder, name, "") for name in CACHED_BY), options, *sentences):
        digest.update(f"{part!r}\n".encode())  # a sentence may have line ends
    return digest.hexdigest()
