import numpy as np
import pytest
import torch

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


def test_rows_come_in_the_order_of_the_sentences_with_repeats(angles):
    encoded = encode_distinct(angles, ["90 b", "0 a", "90 b", "180 c"])
    assert len(angles.calls[0]) == 3
    rows = encoded(["90 b", "0 a", "90 b"])
    assert rows == pytest.approx(np.array([[0, 1], [1, 0], [0, 1]]), abs=1e-6)


def test_one_sentence_alone_is_not_a_constant_encoder(angles):
    encoded = encode_distinct(angles, ["10 a", "20 b"])
    assert encoded(["10 a", "10 a"]).shape == (2, 2)


def test_vectors_that_point_the_same_way_are_constant_whatever_their_length():
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


def test_zero_vectors_have_no_cosine():
    encoded = Encoded(["a", "b", "c"], np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]]))
    with pytest.raises(DegenerateEmbeddings, match="1 embeddings are zero vectors"):
        encoded.similarities(["a"], ["b"])
