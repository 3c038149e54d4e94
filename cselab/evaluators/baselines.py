"""What every score should be seen beside: chance, word overlap, and word vectors without a context."""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from cselab.data import DataError, read_lines
from cselab.evaluators.vectors import encode


class RandomEncoder:
    """A vector drawn from the hash of the text: the score of knowing nothing but identity.

    Deterministic, and independent of the order and company of the sentences.

    >>> a, b, c = RandomEncoder(dim=3).encode(["one", "two", "one"])
    >>> bool((a == c).all()), bool((a == b).all())
    (True, False)
    """

    name, pooling, representation = "random", "", ""

    def __init__(self, dim: int = 256, seed: int = 0):
        self.embedding_dimension, self.seed = dim, seed

    def encode(self, sentences: list[str], **options: Any) -> Float[np.ndarray, "n d"]:
        return np.stack([self._draw(sentence) for sentence in sentences])

    def _draw(self, sentence: str) -> Float[np.ndarray, " d"]:
        digest = hashlib.sha256(f"{self.seed} {sentence}".encode()).digest()
        generator = np.random.default_rng(int.from_bytes(digest))
        return generator.standard_normal(self.embedding_dimension, dtype=np.float32)


def word_overlap(sentences1: list[str], sentences2: list[str]) -> Float[np.ndarray, " n"]:
    """Jaccard overlap of the words of each pair, split at white space: |A and B| / |A or B|, 0 to 1.

    Scores pairs without vectors; pass it to `evaluate` in the place of an encoder.

    >>> word_overlap(["a dog runs"], ["a dog sleeps"])
    array([0.5])
    """
    overlaps = []
    for first, second in zip(sentences1, sentences2, strict=True):
        a, b = set(first.split()), set(second.split())
        overlaps.append(len(a & b) / len(a | b))
    return np.array(overlaps)


class StaticEmbeddings:
    """The mean of word vectors that know no context.

    A sentence none of whose tokens is in the table gets the mean of the table; `unknown` counts them in the
    last call.

    See also: `from_glove` for text files of word vectors, `from_encoder` for a model's own input embeddings.
    """

    pooling, representation = "mean of static vectors", ""

    def __init__(self, table: Float[np.ndarray, "v d"], tokenize: Any, name: str = "static"):
        self.table, self.tokenize, self.name = table, tokenize, name
        self.embedding_dimension, self.unknown = table.shape[1], 0

    @classmethod
    def from_glove(cls, path: str | Path, words: Iterable[str] | None = None) -> "StaticEmbeddings":
        """Read lines of a word and its numbers, as GloVe and fastText write them (a header is passed over).

        Args:
            words: keep only these, to save memory.

        Raises:
            DataError: a line with another number of numbers, something that is not a number, or no vector.
        """
        wanted = None if words is None else {form for word in words for form in (word, word.lower())}
        rows: dict[str, int] = {}
        vectors: list[np.ndarray] = []
        for number, line in enumerate(read_lines(path), start=1):
            fields = line.rstrip().split(" ")
            if number == 1 and len(fields) == 2:
                continue
            if (wanted is not None and fields[0] not in wanted) or fields[0] in rows:
                continue
            width = len(vectors[0]) if vectors else len(fields) - 1
            vectors.append(_numbers(fields[1:], width, f"{path}, line {number}"))
            rows[fields[0]] = len(rows)
        if not vectors:
            raise DataError(f"{path}: no word vectors in it that were asked for")

        def tokenize(sentence: str) -> list[int]:
            found = (rows.get(word, rows.get(word.lower())) for word in sentence.split())
            return [row for row in found if row is not None]

        return cls(np.stack(vectors), tokenize, name=f"averaged {Path(path).name}")

    @classmethod
    def from_encoder(cls, encoder: Any) -> "StaticEmbeddings":
        """The input embeddings of a `SentenceEncoder`, without its special tokens, positions and layers."""
        table = encoder.backbone.get_input_embeddings().weight.detach().float().cpu().numpy()

        def tokenize(sentence: str) -> list[int]:
            return encoder.tokenizer(sentence, add_special_tokens=False)["input_ids"]

        return cls(table, tokenize, name=f"input embeddings of {encoder.name}")

    def encode(self, sentences: list[str], **options: Any) -> Float[np.ndarray, "n d"]:
        self.unknown = 0
        return np.stack([self._mean(sentence) for sentence in sentences]).astype(np.float32)

    def _mean(self, sentence: str) -> Float[np.ndarray, " d"]:
        rows = self.tokenize(sentence)
        self.unknown += not rows
        return self.table[rows].mean(axis=0) if rows else self.table.mean(axis=0)


class TransformedEncoder:
    """An encoder whose vectors pass through a fitted post-hoc transform (BERT-whitening, BERT-flow).

    `transform` is anything fitted with `transform(vectors) -> vectors`.
    """

    def __init__(self, encoder: Any, transform: Any, name: str | None = None):
        self.encoder, self.transform = encoder, transform
        self.name = name or f"{getattr(encoder, 'name', type(encoder).__name__)} + {type(transform).__name__}"
        self.pooling = getattr(encoder, "pooling", "")
        self.representation = getattr(encoder, "representation", "")

    def encode(self, sentences: list[str], **options: Any) -> Float[np.ndarray, "n d"]:
        transformed = self.transform.transform(encode(self.encoder, sentences))
        return np.asarray(transformed)


def _numbers(fields: list[str], width: int, place: str) -> Float[np.ndarray, " d"]:
    try:
        vector = np.array(fields, dtype=np.float32)
    except ValueError as error:
        raise DataError(f"{place}: not a word and its numbers ({error})") from None
    if not len(vector) or len(vector) != width:
        raise DataError(f"{place}: {len(vector)} numbers, {width} expected")
    return vector
