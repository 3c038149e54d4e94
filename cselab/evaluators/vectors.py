"""From sentences to vectors, once: the distinct sentences of all tasks are encoded together."""

import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from cselab.evaluators.geometry import DegenerateEmbeddings

SAME_DIRECTION = 1e-5  # unit vectors closer than this differ by float32 rounding only


class Encoded:
    """The vectors of a set of sentences; call it with sentences to get their rows."""

    similarity = "cosine"

    def __init__(self, sentences: list[str], vectors: Float[np.ndarray, "n d"]):
        self.index = {sentence: row for row, sentence in enumerate(sentences)}
        self.vectors = vectors

    def __call__(self, sentences: list[str]) -> Float[np.ndarray, "_n _d"]:
        """One row per sentence, in their order, repeats included.

        Raises:
            DegenerateEmbeddings: among them one that is not finite, or all of them the same vector.
        """
        distinct = self.vectors[sorted({self.index[sentence] for sentence in sentences})]
        require_sound(distinct)
        return self.vectors[[self.index[sentence] for sentence in sentences]]

    def similarities(self, first: list[str], second: list[str]) -> Float[np.ndarray, " _n"]:
        """Cosine of each pair.

        Raises:
            DegenerateEmbeddings: as for a call; a zero vector, whose cosine is not defined.
        """
        both = self([*first, *second])
        length = np.linalg.norm(both, axis=1, keepdims=True)
        if not length.all():
            raise DegenerateEmbeddings(
                f"{int((length == 0).sum())} embeddings are zero vectors, without a cosine"
            )
        unit = (both / length).astype(np.float64)
        return (unit[: len(first)] * unit[len(first) :]).sum(axis=1)

    def duplicates(self, sentences: Iterable[str]) -> int:
        """How many of the distinct sentences have exactly the vector of another one of them."""
        rows = self.vectors[sorted({self.index[sentence] for sentence in sentences})]
        keys = [row.tobytes() for row in rows]
        counts: dict[bytes, int] = {}
        for key in keys:
            counts[key] = counts.get(key, 0) + 1
        return sum(count for count in counts.values() if count > 1)


class Scorer:
    """In the place of vectors where sentence pairs are scored directly, as word overlap does."""

    similarity = "scored without vectors"

    def __init__(self, score: Callable[[list[str], list[str]], Any]):
        self.similarities = score

    def __call__(self, sentences: list[str]) -> Float[np.ndarray, "_n _d"]:
        raise ValueError("this task needs sentence vectors; a function that scores pairs has none")

    def duplicates(self, sentences: Iterable[str]) -> None:
        return None


def require_sound(vectors: Float[np.ndarray, "n d"]) -> None:
    """Refuse vectors of distinct sentences that cannot be scored.

    Raises:
        DegenerateEmbeddings: NaN or Inf among them, or (of two or more) all in the same direction.
    """
    finite = np.isfinite(vectors).all(axis=1)
    if not finite.all():
        raise DegenerateEmbeddings(
            f"{int((~finite).sum())} of {len(vectors)} embeddings are not finite (NaN or Inf)"
        )
    if len(vectors) > 1 and _one_direction(vectors):
        raise DegenerateEmbeddings(f"constant embeddings: all {len(vectors)} point the same way")


def _one_direction(vectors: Float[np.ndarray, "n d"]) -> bool:
    reference = vectors[0] / (np.linalg.norm(vectors[0]) or 1.0)
    for block in np.array_split(vectors, len(vectors) // 4096 + 1):
        length = np.linalg.norm(block, axis=1, keepdims=True)
        unit = np.divide(block, length, out=np.zeros_like(block), where=length > 0)
        if np.abs(unit - reference).max() > SAME_DIRECTION:
            return False
    return True


def encode_distinct(encoder: Any, sentences: Iterable[str], cache: str | Path | None = None) -> Encoded:
    """Encode every distinct sentence once, or read the vectors back from the cache folder.

    A cache file is named by the hash of weights, pooling, representation, maximal length and sentences. It is
    written whole or not at all, and its checksum is verified when it is read.

    Raises:
        ValueError: a cache is asked for, but the encoder has no `weights_hash()`; or the encoder returns
            something other than one vector a sentence.
    """
    distinct = sorted(set(sentences))
    if cache is None:
        return Encoded(distinct, encode(encoder, distinct))
    from torch import from_numpy

    from cselab.checkpoint import load_checkpoint, save_checkpoint

    path = Path(cache) / f"vectors-{_cache_key(encoder, distinct)}.safetensors"
    if path.is_file():
        tensors, _ = load_checkpoint(path)
        return Encoded(distinct, tensors["vectors"].numpy())
    vectors = encode(encoder, distinct)
    path.parent.mkdir(parents=True, exist_ok=True)
    save_checkpoint(path, {"vectors": from_numpy(vectors)}, {"sentences": len(distinct)})
    return Encoded(distinct, vectors)


def encode(encoder: Any, sentences: list[str]) -> Float[np.ndarray, "_n _d"]:
    """`encoder.encode(sentences)` as an array [n, d], whatever kind of array or tensor it returns."""
    vectors = encoder.encode(sentences)
    if hasattr(vectors, "detach"):
        vectors = vectors.detach().cpu().float().numpy()
    vectors = np.asarray(vectors)
    if vectors.dtype == np.float16 or not np.issubdtype(vectors.dtype, np.floating):
        vectors = vectors.astype(np.float32)
    if vectors.ndim != 2 or len(vectors) != len(sentences):
        raise ValueError(
            f"encode() of {type(encoder).__name__} returned an array of shape {vectors.shape} for "
            f"{len(sentences)} sentences; one row a sentence is expected"
        )
    return np.ascontiguousarray(vectors)


def _cache_key(encoder: Any, sentences: list[str]) -> str:
    if not hasattr(encoder, "weights_hash"):
        raise ValueError(f"vectors of {type(encoder).__name__} cannot be cached: it has no weights_hash()")
    digest = hashlib.sha256()
    for part in (encoder.weights_hash(), *(getattr(encoder, name, "") for name in CACHED_BY), *sentences):
        digest.update(f"{part}\n".encode())
    return digest.hexdigest()


CACHED_BY = ("pooling", "representation", "max_length")
