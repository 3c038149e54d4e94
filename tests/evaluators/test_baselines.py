import gzip

import numpy as np
import pytest

from cselab.data import DataError, Pairs
from cselab.evaluators import RandomEncoder, StaticEmbeddings, TransformedEncoder, evaluate, word_overlap

GLOVE = "dog 1 0 0\nThe 0 1 0\nruns 0 0 1\n"


@pytest.fixture
def glove(tmp_path):
    path = tmp_path / "glove.txt"
    path.write_text(GLOVE)
    return path


def test_the_random_encoder_knows_a_text_again_whatever_its_company():
    encoder = RandomEncoder(dim=16)
    together, alone = encoder.encode(["one", "two", "three"]), RandomEncoder(dim=16).encode(["two"])
    assert (together[1] == alone[0]).all()
    assert together.shape == (3, 16) and together.dtype == np.float32


def test_another_seed_or_text_is_another_vector():
    one = RandomEncoder(dim=16).encode(["one"])
    assert not (RandomEncoder(dim=16, seed=1).encode(["one"]) == one).any()
    assert not (RandomEncoder(dim=16).encode(["one "]) == one).any()


def test_random_vectors_are_spread_evenly():
    vectors = RandomEncoder(dim=64).encode([str(i) for i in range(2000)])
    assert vectors.mean() == pytest.approx(0, abs=0.01)
    assert vectors.std() == pytest.approx(1, abs=0.01)
    assert np.abs(np.corrcoef(vectors.T) - np.eye(64)).max() < 0.15


def test_a_random_encoder_knows_nothing_of_similarity():
    rows = [str(row) for row in range(1000)]
    gold = list(np.random.default_rng(0).uniform(0, 5, size=1000))
    (record, *_) = evaluate(RandomEncoder(), Pairs(rows, [row + "'" for row in rows], gold, "toy")).records
    assert record.interval[0] < 0 < record.interval[1]


@pytest.mark.parametrize(
    ("first", "second", "overlap"),
    [("a b c", "a b c", 1), ("a b", "c d", 0), ("a a b", "b a", 1), ("a b c", "b c d", 0.5)],
)
def test_word_overlap_is_intersection_over_union(first, second, overlap):
    assert word_overlap([first], [second]) == [overlap]


def test_static_embeddings_are_the_mean_of_the_known_words(glove):
    encoder = StaticEmbeddings.from_glove(glove)
    vectors = encoder.encode(["dog runs", "dog dog unknown runs"])
    assert vectors == pytest.approx(np.array([[1 / 2, 0, 1 / 2], [2 / 3, 0, 1 / 3]]))
    assert encoder.unknown == 0
    assert encoder.name == "averaged glove.txt"


def test_a_word_is_looked_up_as_it_is_and_then_in_lower_case(glove):
    vectors = StaticEmbeddings.from_glove(glove).encode(["The", "the dog", "DOG"])
    assert vectors == pytest.approx(np.array([[0, 1, 0], [1, 0, 0], [1, 0, 0]]))


def test_a_sentence_without_a_known_word_gets_the_mean_of_the_table(glove):
    encoder = StaticEmbeddings.from_glove(glove)
    assert encoder.encode(["xyzzy", "dog"])[0] == pytest.approx(np.full(3, 1 / 3))
    assert encoder.unknown == 1


def test_word_vectors_are_read_with_a_header_packed_and_in_part(tmp_path):
    path = tmp_path / "vectors.txt.gz"
    with gzip.open(path, "wt") as file:
        file.write("3 3\n" + GLOVE)
    encoder = StaticEmbeddings.from_glove(path, words=["Dog", "absent"])
    assert encoder.table.tolist() == [[1, 0, 0]]
    assert encoder.embedding_dimension == 3


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("dog 1 2\ncat 1\n", r"bad\.txt, line 2: 1 numbers, 2 expected"),
        ("dog 1 2\ncat 1 x\n", r"bad\.txt, line 2: not a word and its numbers"),
        ("", r"bad\.txt: no word vectors"),
    ],
)
def test_a_bad_line_of_word_vectors_is_named(tmp_path, content, message):
    path = tmp_path / "bad.txt"
    path.write_text(content)
    with pytest.raises(DataError, match=message):
        StaticEmbeddings.from_glove(path)


def test_a_models_own_input_embeddings_are_averaged_without_special_tokens():
    import torch

    class Backbone:
        def get_input_embeddings(self):
            return torch.nn.Embedding.from_pretrained(torch.arange(8.0).reshape(4, 2))

    class Encoder:
        name, backbone = "toy", Backbone()

        @staticmethod
        def tokenizer(sentence, add_special_tokens):
            assert add_special_tokens is False
            return {"input_ids": [int(word) for word in sentence.split()]}

    encoder = StaticEmbeddings.from_encoder(Encoder())
    assert encoder.encode(["0 3", "2"]).tolist() == [[3, 4], [4, 5]]
    assert encoder.name == "input embeddings of toy"


def test_a_transformed_encoder_passes_its_vectors_through_the_transform(angles, pairs):
    class Turn:
        """A quarter turn, which leaves every cosine as it is."""

        def transform(self, vectors):
            return vectors @ np.array([[0, 1], [-1, 0]], dtype=vectors.dtype)

    turned = TransformedEncoder(angles, Turn())
    assert turned.encode(["0 a"]) == pytest.approx(np.array([[0, 1]]))
    assert turned.name == "angles + Turn" and turned.pooling == "none"
    assert evaluate(turned, pairs).scores == pytest.approx(evaluate(angles, pairs).scores)
