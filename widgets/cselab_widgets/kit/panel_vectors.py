"""Where a panel's vectors come from: an encoder, bundled or the user's own, and sentences of the world or theirs."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Float

from cselab.encoders.any_encoder import as_encoder, encode
from cselab.encoders.encoder import SentenceEncoder, check_sentences
from cselab.world import World


class SameArray:
    """An array as an argument that `lru_cache` can tell: equal where it is the same array."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SameArray) and self.array is other.array

    def __hash__(self) -> int:
        return id(self.array)


def sentences_or_world(sentences: Sequence[str] | None, count: int) -> list[str]:
    """The user's sentences, checked, or `count` of the bundled world."""
    if sentences is None:
        return [sentence.text for sentence in World().sentences(count, split="dev")]
    return check_sentences(sentences)


def dropout_views(
    encoder: SentenceEncoder, sentences: Sequence[str], times: int, dropout: bool = True
) -> Float[np.ndarray, "k n d"]:
    """`times` vectors of each sentence, each with its own dropout masks (or without any), before the head.

    The encoder and the caller's random numbers are left as they were.

    Raises:
        TypeError: something that encodes, but not with dropout.
    """
    if not hasattr(encoder, "pooled"):
        raise TypeError(
            f"{type(encoder).__name__} encodes only without dropout: give a cselab.SentenceEncoder, the name or "
            "folder of one, or your own vectors."
        )
    features = encoder.tokenize(sentences)
    mode = encoder.training
    with torch.no_grad(), torch.random.fork_rng():
        torch.manual_seed(0)
        encoder.train(dropout)
        try:
            views = [encoder.pooled(features).float().cpu().numpy() for _ in range(times)]
        finally:
            encoder.train(mode)
    return np.stack(views)


def described(encoder: Any) -> str:
    """An encoder in a title: its name and its pooling."""
    name = getattr(encoder, "name", None) or "encoder"
    return f"{name}, {encoder.pooling} pooling" if hasattr(encoder, "pooled") else name


def all_described(encoders: Iterable[Any]) -> str:
    """A sentence that lists encoders, for the line under a picture."""
    told = "; ".join(map(described, encoders)).replace("sentences of the world", "training sentences")
    return f" The encoders: {told}."


def given_views(
    encoder: Any, sentences: Sequence[str] | None, vectors: Any, times: int, count: int = 256
) -> Float[np.ndarray, "k n d"]:
    """The vectors of a lab: the user's vectors, else dropout views by an encoder; of something that
    encodes without dropout alone (`cselab.encoders.as_encoder`) the one view that it gives.

    The sentences are the user's or those of the bundled world.
    """
    if vectors is not None:
        return stacked_views(vectors, "vectors")
    sentences = sentences_or_world(sentences, count)
    encoder = as_encoder(encoder, sentences)
    if not hasattr(encoder, "pooled"):
        return stacked_views(encode(encoder, sentences), "encoder")
    return dropout_views(encoder, sentences, times)


def stacked_views(given: Any, name: str) -> Float[np.ndarray, "k n d"]:
    """Vectors [n, d] or several views of them [k, n, d], as [k, n, d] of finite numbers.

    Raises:
        ValueError: a wrong shape, fewer than 4 rows, or a number that is not finite.
    """
    views = np.asarray(given, dtype=np.float32)
    views = views[None] if views.ndim == 2 else views
    if views.ndim != 3 or views.shape[1] < 4 or views.shape[2] < 2:
        raise ValueError(
            f"{name} has shape {np.shape(given)}; expected [sentences, width] or [views, sentences, width], "
            "with at least 4 sentences and 2 channels."
        )
    if not np.isfinite(views).all():
        raise ValueError(f"{name} holds NaN or infinity; leave those rows out.")
    return views
