"""Use anything that turns sentences into vectors as an encoder: `as_encoder`, and `encode`, which returns an array."""

import inspect
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from cselab._util.arguments import NO_NUMBERS


class KnownVectors:
    """An encoder of given sentences only, whose vectors are fixed."""

    name = "given vectors"

    def __init__(self, vectors: Mapping[str, Any]) -> None:
        self.vectors = vectors

    def encode(self, sentences: Sequence[str]) -> Float[np.ndarray, "n d"]:
        unknown = [sentence for sentence in sentences if sentence not in self.vectors]
        if unknown:
            raise ValueError(
                f"vectors were given, but none for {len(unknown)} of {len(sentences)} sentences, the first "
                f"{unknown[0]!r}: add these vectors, or pass an encoder"
            )
        return np.stack([np.asarray(self.vectors[sentence]) for sentence in sentences])


class Called:
    """An encoder that calls a function, for example of a service on the network."""

    def __init__(self, function: Callable[[list[str]], Any]) -> None:
        self.function, self.name = function, getattr(function, "__name__", type(function).__name__)

    def encode(self, sentences: Sequence[str]) -> Any:
        return self.function(list(sentences))


def as_encoder(given: Any, sentences: Sequence[str] | None = None) -> Any:
    """An object with `encode(sentences)`, made from anything that turns sentences into vectors.

    Args:
        given: anything with `encode` (a `SentenceEncoder`, a `SentenceTransformer`, a model of model2vec), which is
            returned as is; the result of `train`, for its encoder; the name or folder of an encoder; a function of a
            list of sentences that returns their vectors; `{sentence: vector}`; or an array with a row for each of
            `sentences`.
        sentences: the sentences of the rows of an array.

    Raises:
        TypeError: something else, or an array where no sentences are known.
        ValueError: an array with a different number of rows than sentences.

    >>> as_encoder({"a cat": [1.0, 0.0], "a dog": [0.8, 0.6]}).encode(["a dog"])
    array([[0.8, 0.6]])
    >>> as_encoder(lambda texts: [[len(text), 1] for text in texts]).encode(["a cat"])
    [[5, 1]]
    """
    if hasattr(given, "encode") and not isinstance(given, str):
        return given
    if hasattr(given, "encoder"):
        return given.encoder
    if isinstance(given, str | Path):
        from .encoder import SentenceEncoder

        return SentenceEncoder.from_pretrained(given)
    if isinstance(given, Mapping):
        return KnownVectors(given)
    if callable(given) and takes_one(given):
        return Called(given)
    if hasattr(given, "__array__") and sentences is not None:
        rows = as_array(given, len(sentences), "the argument is")
        return KnownVectors(dict(zip(sentences, rows, strict=True)))
    why = ": an array needs the sentences of its rows, {sentence: vector}" if hasattr(given, "__array__") else ""
    raise TypeError(
        f"{type(given).__name__} is no encoder{why}; give something with encode(sentences), a function of a list of "
        "sentences, {sentence: vector}, or the name of an encoder"
    )


def takes_one(function: Any) -> bool:
    """Whether a function needs one argument (a list of sentences) and not two, as a function that scores pairs does."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # some builtins have no signature
        return False
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(one.kind in positional and one.default is one.empty for one in parameters) == 1


def encode(encoder: Any, sentences: list[str], **options: Any) -> Float[np.ndarray, "_n _d"]:
    """The result of `encoder.encode(sentences, **options)`, an array or a tensor, as an array [n, d].

    Raises:
        ValueError: anything except one vector per sentence.
    """
    returned = encoder.encode(sentences, **options)
    return as_array(returned, len(sentences), f"encode() of {type(encoder).__name__} returned")


def as_array(vectors: Any, rows: int, what: str) -> Float[np.ndarray, "_n _d"]:
    """Vectors as an array of floats [rows, d].

    Raises:
        ValueError: a wrong shape, or bytes: cosines of packed bits are meaningless.
    """
    if hasattr(vectors, "detach"):
        vectors = vectors.detach().cpu().float().numpy()
    try:
        vectors = np.asarray(vectors)
        if vectors.dtype.kind in NO_NUMBERS:
            raise TypeError
    except (TypeError, ValueError):  # ValueError: rows of different lengths
        raise ValueError(f"{what} no array of numbers; expected one row per sentence") from None
    if vectors.dtype == np.uint8:
        raise ValueError(
            f"{what} bytes (uint8), whose cosines are meaningless: unpack bits, 2.0 * np.unpackbits(vectors, axis=1) - "
            "1; turn scaled numbers back into floats"
        )
    if vectors.dtype == np.int8:
        warnings.warn(
            f"{what} whole numbers (int8), taken as they are; if these are packed bits (precision 'binary'), unpack "
            "them: 2.0 * np.unpackbits((vectors.astype(int) + 128).astype(np.uint8), axis=1) - 1",
            stacklevel=3,
        )
    if vectors.dtype not in (np.float32, np.float64):  # half precision, other byte order, whole numbers
        wide = vectors.dtype.kind == "f" and vectors.dtype.itemsize >= 8
        vectors = vectors.astype(np.float64 if wide else np.float32)
    if vectors.ndim != 2 or len(vectors) != rows:
        raise ValueError(
            f"{what} an array of shape {vectors.shape} for {rows} sentences; expected one row per sentence"
        )
    return np.ascontiguousarray(vectors)
