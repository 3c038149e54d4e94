"""Which words make two sentences alike, for any encoder."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from cselab.data.rows import check_sentences
from cselab.metrics.geometry import token_contributions

from .any_encoder import as_encoder, encode
from .text import WORD_OR_CHARACTER


@dataclass(frozen=True, eq=False)
class CosineParts:
    """The cosine of two sentences, and the part of each word.

    Attributes:
        cosine: the cosine of the two sentences.
        first, second: the words of each sentence; special tokens and a prompt are among them where `pairs` is known.
        of_first, of_second: the part of each word.
        pairs: the part of each pair of words [n, m], which sum to the cosine, and whose sums over rows and columns are
            `of_first` and `of_second`. None if no such sum exists: then a part is the cosine less the cosine without
            this word, and the parts need not sum to the cosine.
    """

    cosine: float
    first: list[str]
    second: list[str]
    of_first: Float[np.ndarray, " n"]
    of_second: Float[np.ndarray, " m"]
    pairs: Float[np.ndarray, "n m"] | None = None

    @property
    def how(self) -> str:
        """How the parts were computed."""
        if self.pairs is not None:
            return "the sum over all pairs of words"
        return "a word has the change of the cosine when it is removed; these numbers need not sum to the cosine"


def explain_cosine(encoder: Any, first: str, second: str) -> CosineParts:
    """Where the cosine of two sentences comes from.

    Mean poolings: the exact sum over pairs of tokens (`cselab.metrics.token_contributions`), those of a word together,
    also after a fitted transform that is linear (centring, components removed, whitening). [CLS], the last token, a
    prompt's [MASK], a head, BERT-flow, and encoders of other libraries: no exact sum exists, so each word is removed in
    turn and its sentence is encoded again ("." instead of an only word):

        part of word i of a  =  cos(a, b) - cos(a without i, b)          in [-2, 2]

    `CosineParts.pairs` is None in this case.

    Args:
        encoder: what `cselab.encoders.as_encoder` accepts.
        first, second: the sentences.

    Raises:
        TypeError, ValueError: no encoder; a sentence that is empty or not a string.
        DegenerateEmbeddings: vectors without a direction.

    >>> parts = explain_cosine("micro", "A dog barks.", "A cat sleeps.")
    >>> parts.first, parts.pairs.shape
    (['[CLS]', 'A', 'dog', 'barks', '.', '[SEP]'], (6, 6))
    """
    encoder = as_encoder(encoder)
    check_sentences([first, second])
    one, two = (getattr(encoder, "token_vectors", lambda _: None)(text) for text in (first, second))
    if one is not None and two is not None:
        pairs = token_contributions(one.vectors, two.vectors).numpy()
        pairs = np.add.reduceat(np.add.reduceat(pairs, one.firsts, axis=0), two.firsts, axis=1)
        return CosineParts(float(pairs.sum()), one.words, two.words, pairs.sum(axis=1), pairs.sum(axis=0), pairs)
    words = [list(WORD_OR_CHARACTER.finditer(text)) for text in (first, second)]
    texts = [first, second]
    for text, found in zip(tuple(texts), words, strict=True):
        texts += [(text[: word.start()] + text[word.end() :]).strip() or "." for word in found]
    rows = encode(encoder, texts).astype(float)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    cosine, end = float(rows[0] @ rows[1]), 2 + len(words[0])
    alone = [[word.group() for word in found] for found in words]
    return CosineParts(cosine, alone[0], alone[1], cosine - rows[2:end] @ rows[1], cosine - rows[end:] @ rows[0])
