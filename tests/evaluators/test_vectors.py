import numpy as np
import pytest
import torch

from cselab import SentenceEncoder
from cselab.evaluators.dev import mean_reciprocal_rank
from cselab.evaluators.vectors import Encoded, encode, encode_distinct
from cselab.metrics import DegenerateEmbeddings
from cselab.metrics.degenerate import require_sound


class Returns:
    """An encoder that returns what it is told to."""

    def __init__(self, vectors):
        self.vectors = vectors

    def encode(self, sentences):
        return self.vectors


@pytest.mark.parametrize(
    "vectors",
    [
        np.ones((2, 3)),
        np.ones((2, 3), dtype=np.float16),
        np.ones((2, 3), dtype=int),
        torch.ones(2, 3, requires_grad=True),
        torch.ones(2, 3, dtype=torch.bfloat16),
        [[1.0, 1.0, 1.0]] * 2,
    ],
)
def test_whatever_array_an_encoder_returns_is_read(vectors):
    read = encode(Returns(vectors), ["a", "b"])
    assert read.shape == (2, 3) and (read == 1).all()
    assert read.dtype in (np.float32, np.float64)


@pytest.mark.parametrize("vectors", [np.ones((3, 4)), np.ones(2), np.ones((1, 2, 3))])
def test_anything_but_a_row_a_sentence_is_refused(vectors):
    with pytest.raises(ValueError, match=r"encode\(\) of Returns returned an array of shape"):
        encode(Returns(vectors), ["a", "b"])


def test_packed_bits_are_refused_with_what_unpacks_them():
    bits = np.packbits(np.random.default_rng(0).normal(size=(2, 64)) > 0, axis=1)
    with pytest.raises(ValueError, match=r"bits.* np.unpackbits"):
        encode(Returns(bits), ["a", "b"])


def test_rows_come_in_the_order_of_the_sentences_with_repeats(angles):
    encoded = encode_distinct(angles, ["90 b", "0 a", "90 b", "180 c"])
    assert len(angles.calls[0]) == 3
    rows = encoded(["90 b", "0 a", "90 b"])
    assert rows == pytest.approx(np.array([[0, 1], [1, 0], [0, 1]]), abs=1e-6)


def test_vectors_that_point_the_same_way_are_constant():
    """Vectors that point the same way are constant whatever their length."""
    direction = np.array([[3.0, 4.0]])
    with pytest.raises(DegenerateEmbeddings, match="constant embeddings: all 3"):
        require_sound(direction * np.array([[1.0], [2.0], [0.1]]))
    require_sound(np.array([[3.0, 4.0], [3.0, 4.1]]))
    require_sound(np.array([[3.0, 4.0], [0.0, 0.0]]))


def test_soundness_is_checked_in_every_block():
    vectors = np.ones((10_000, 2), dtype=np.float32)
    with pytest.raises(DegenerateEmbeddings, match="constant"):
        require_sound(vectors)
    vectors[9_999] = [1, 2]
    require_sound(vectors)
    vectors[9_998] = np.nan
    with pytest.raises(DegenerateEmbeddings, match="1 of 10000 embeddings are not finite"):
        require_sound(vectors)


def test_pairs_of_one_direction_have_one_cosine():
    """Pairs of one direction have one cosine whatever float32 makes of it."""
    directions = np.random.default_rng(0).normal(size=(200, 256)).astype(np.float32)
    vectors = np.concatenate([directions, directions * np.linspace(0.1, 9, 200, dtype=np.float32)[:, None]])
    names = [str(row) for row in range(400)]
    assert set(Encoded(names, vectors).similarities(names[:200], names[200:])) == {1.0}
    assert mean_reciprocal_rank(vectors[:3], vectors[[200, 200, 200]]) == pytest.approx(1 / 2)


def test_a_score_does_not_depend_on_batches():
    """A score does not depend on batches or on what else is encoded."""
    micro = SentenceEncoder.from_pretrained("micro")
    words = ["dog", "cat", "rain", "sun", "tree", "house"]
    texts = [f"A {one} and a {other}." for one in words for other in words]
    twins = [text.upper() for text in texts]
    alone = encode_distinct(micro, texts + twins, batch_size=1).similarities(texts, twins)
    amid = encode_distinct(micro, texts + twins + ["a long walk " * 9], batch_size=64).similarities(texts, twins)
    assert set(alone) == set(amid) == {1.0}
    small, large = (encode_distinct(micro, texts, batch_size=size).similarities(texts, texts[::-1]) for size in (1, 64))
    np.testing.assert_allclose(small, large, atol=1.1e-6)
