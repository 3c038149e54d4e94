"""Where the cosine of two sentences comes from: exact sums, and words removed."""

import numpy as np
import pytest
from families import FAMILIES, make_backbone, make_tokenizer
from numpy.testing import assert_allclose
from tiny import make_sentences
from tokenizers import Tokenizer, models, pre_tokenizers

from cselab import SentenceEncoder
from cselab.encoders import as_encoder, explain_cosine
from cselab.encoders.pooling import POOLINGS
from cselab.encoders.text import words_of_tokens
from cselab.evaluators import TransformedEncoder
from cselab.metrics import token_contributions
from cselab.transforms import fit

SENTENCES = make_sentences(40)
ONE, TWO = "the cat paints quickly", "a dog sees the small cat"
MEANS = [name for name, pooling in POOLINGS.items() if pooling.counts == "all"]


def made(family, pooling="mean", **settings):
    return SentenceEncoder(make_backbone(family), make_tokenizer(family), pooling, name=family, **settings)


def cosine(encoder, *pair):
    a, b = np.asarray(encoder.encode([*pair]), dtype=np.float64)
    return a @ b / np.linalg.norm(a) / np.linalg.norm(b)


@pytest.mark.parametrize("pooling", MEANS)
@pytest.mark.parametrize("family", FAMILIES)
def test_of_every_mean_the_pairs_of_words_sum_to_the_cosine(family, pooling):
    encoder = made(family, pooling)
    parts = explain_cosine(encoder, ONE, TWO)
    assert parts.pairs.shape == (len(parts.first), len(parts.second)) and parts.pairs.sum() == parts.cosine
    assert parts.cosine == pytest.approx(cosine(encoder, ONE, TWO), abs=1e-6)  # encoded side by side, with padding
    assert [token for token in parts.first if token in ONE.split()] == ONE.split()
    assert_allclose(parts.of_first, parts.pairs.sum(axis=1))
    other = explain_cosine(encoder, TWO, ONE)
    assert_allclose(other.pairs, parts.pairs.T, atol=1e-9)
    assert (other.first, other.second) == (parts.second, parts.first)


@pytest.mark.parametrize("transform", ["centred", "without 2", "whitening"])
def test_after_a_linear_transform_the_sum_is_exact_again(transform):
    encoder = made("bert", normalize=True)
    after = TransformedEncoder(encoder, fit(transform, encoder.encode(SENTENCES)))
    parts = explain_cosine(after, ONE, TWO)
    assert parts.cosine == pytest.approx(cosine(after, ONE, TWO), abs=1e-6)
    assert abs(parts.cosine - cosine(encoder, ONE, TWO)) > 1e-2


@pytest.mark.parametrize("family", ["bert", "gemma3"])
def test_the_prompt_and_the_dimensions_are_those_of_encode(family):
    encoder = made(family, normalize=True)
    encoder.prompts, encoder.default_prompt_name, encoder.truncate_dim = {"query": "this cat : "}, "query", 6
    parts = explain_cosine(encoder, ONE, TWO)
    assert parts.pairs is not None and parts.cosine == pytest.approx(cosine(encoder, ONE, TWO), abs=1e-6)
    assert parts.first[1:3] == ["this", "cat"]


@pytest.mark.parametrize("family, pooling", [("bert", "cls"), ("qwen3", "last_token"), ("llama", "last_token")])
def test_of_one_token_a_word_has_what_the_cosine_loses(family, pooling):
    """Of one token a word has what the cosine loses without it."""
    encoder = made(family, pooling)
    parts = explain_cosine(encoder, ONE, TWO)
    assert parts.pairs is None and "removed" in parts.how and parts.first == ONE.split()
    assert parts.cosine == pytest.approx(cosine(encoder, ONE, TWO), abs=1e-6)
    for place, word in enumerate(ONE.split()):
        left = cosine(encoder, ONE.replace(word, ""), TWO)
        assert parts.of_first[place] == pytest.approx(parts.cosine - left, abs=1e-6)
    assert_allclose(explain_cosine(encoder, TWO, ONE).of_second, parts.of_first, atol=1e-6)


def test_any_function_of_sentences_is_explained():
    """Any function of sentences is explained by removing words."""

    def bag(texts):
        return [[text.count("cat"), text.count("dog"), 1] for text in texts]

    parts = explain_cosine(bag, "cat, cat", "cat")
    assert parts.first == ["cat", ",", "cat"] and parts.of_second == pytest.approx(
        [parts.cosine - cosine(as_encoder(bag), ".", "cat, cat")]
    )
    assert parts.of_first[1] == 0 and parts.of_first[0] == parts.of_first[2] != 0


def test_a_transform_that_is_not_linear_has_no_exact_sum():
    class Squared:
        def transform(self, rows):
            return rows**2

    assert TransformedEncoder(made("bert"), Squared()).token_vectors(ONE) is None
    assert explain_cosine(TransformedEncoder(made("bert"), Squared()), ONE, TWO).pairs is None


def test_the_tokens_of_a_word_are_added_up():
    encoder = SentenceEncoder("micro")
    parts = explain_cosine(encoder, "A dog barks loudly!", "I'm onion-like, ok?")
    assert parts.first == ["[CLS]", "A", "dog", "barks", "loudly", "!", "[SEP]"]
    assert parts.second == ["[CLS]", "I", "'", "m", "onion", "-", "like", ",", "ok", "?", "[SEP]"]
    tokens = [encoder.token_vectors(text) for text in ("A dog barks loudly!", "I'm onion-like, ok?")]
    assert len(tokens[0].vectors) > len(parts.first)
    every = token_contributions(*(one.vectors for one in tokens)).numpy()
    ends = [*tokens[0].firsts[1:], len(every)]
    for row, (start, end) in enumerate(zip(tokens[0].firsts, ends, strict=True)):
        assert parts.of_first[row] == pytest.approx(every[start:end].sum())


def test_words_are_found_whatever_marks_a_tokenizer_puts():
    """Words are found whatever marks a tokenizer puts on its pieces."""
    pieces = Tokenizer(
        models.BPE({piece: row for row, piece in enumerate(["\u0120", "b", "c", "\u0120b"])}, [("\u0120", "b")])
    )
    pieces.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    found = pieces.encode("c bc")
    assert found.tokens == ["c", "\u0120b", "c"] and words_of_tokens("c bc", found) == (["c", "bc"], [0, 1])
    read = SentenceEncoder("micro").tokenizer.backend_tokenizer.encode
    assert words_of_tokens("\u732b\u72ac", read("\u732b\u72ac"))[0] == ["[CLS]", "\u732b", "\u72ac", "[SEP]"]
