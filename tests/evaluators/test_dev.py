import math

import numpy as np
import pytest

from cselab.data import Pairs
from cselab.evaluators import (
    DegenerateEmbeddings,
    PairsEvaluator,
    RandomEncoder,
    UnlabelledEvaluator,
    evaluate,
)

KEYS = {"score", "alignment", "uniformity", "mean_cosine", "effective_rank"}


def test_the_dev_score_and_geometry_are_those_of_the_suites(angles, pairs):
    row = PairsEvaluator(pairs)(angles)
    scores = evaluate(angles, "geometry", data=pairs).scores
    assert set(row) == KEYS
    assert row["score"] == pytest.approx(evaluate(angles, pairs).scores["angles"])
    for key in KEYS - {"score"}:
        assert row[key] == pytest.approx(scores[key])


def test_each_distinct_sentence_is_encoded_once_a_call(angles):
    pairs = Pairs(["0 a", "0 a", "5 b"], ["5 b", "90 c", "0 a"], [5.0, 1.0, 4.5])
    PairsEvaluator(pairs)(angles)
    assert [sorted(call) for call in angles.calls] == [["0 a", "5 b", "90 c"]]


def test_the_threshold_chooses_the_positive_pairs(angles, pairs):
    strict, loose = (PairsEvaluator(pairs, threshold)(angles)["alignment"] for threshold in (4.5, 1))
    assert strict < loose


def test_pairs_without_a_positive_one_are_refused():
    with pytest.raises(ValueError, match=r"no pair of toy has a score above 4 \(the highest is 1.0\)"):
        PairsEvaluator(Pairs(["a"], ["b"], [1.0], "toy"))


def test_a_collapsed_encoder_is_an_error_and_not_a_zero(pairs):
    class Collapsed:
        def encode(self, sentences):
            return np.ones((len(sentences), 4), dtype=np.float32)

    with pytest.raises(DegenerateEmbeddings, match="constant embeddings"):
        PairsEvaluator(pairs)(Collapsed())


# ----------------------------------------------------------------------------------------- without labels


class Fixed:
    """Vectors by sentence."""

    def __init__(self, vectors):
        self.vectors = vectors
        self.calls = []

    def encode(self, sentences):
        self.calls.append(sentences)
        return np.array([self.vectors[sentence] for sentence in sentences], dtype=np.float32)


def test_the_label_free_score_equals_its_formula():
    evaluator = UnlabelledEvaluator(["a b c d", "e f g h", "i j k l"], temperature=0.3)
    generator = np.random.default_rng(0)
    encoder = Fixed({text: generator.normal(size=5) for text in evaluator.sentences + evaluator.twins})
    u, v = (
        [encoder.encode([text])[0] / np.linalg.norm(encoder.encode([text])[0]) for text in side]
        for side in (evaluator.sentences, evaluator.twins)
    )
    total = 0.0
    for i in range(3):
        sums = sum(math.exp(float(u[i] @ v[j]) / 0.3) for j in range(3))
        total += math.log(math.exp(float(u[i] @ v[i]) / 0.3) / sums)
    row = evaluator(encoder)
    assert set(row) == KEYS
    assert row["score"] == pytest.approx(math.log(3) + total / 3, rel=1e-5)
    assert row["alignment"] == pytest.approx(
        np.mean([np.sum((a - b) ** 2) for a, b in zip(u, v, strict=True)])
    )


def test_the_label_free_score_is_chance_for_an_encoder_that_tells_nothing():
    sentences = [f"{word} goes to {place}" for word in "abcdefghij" for place in "klmnopqrst"]
    assert UnlabelledEvaluator(sentences)(RandomEncoder())["score"] < 0.5


def test_the_label_free_score_is_the_log_of_n_when_every_twin_is_found():
    evaluator = UnlabelledEvaluator(["a b c d", "e f g h", "i j k l"])
    axes = np.eye(3)
    vectors = dict(zip(evaluator.sentences, axes, strict=True)) | dict(
        zip(evaluator.twins, axes, strict=True)
    )
    assert evaluator(Fixed(vectors))["score"] == pytest.approx(math.log(3), abs=1e-6)


def test_twins_are_drawn_once_from_the_seed_and_keep_a_word():
    sentences = ["one two three four five six", "seven", "eight nine ten"]
    evaluator = UnlabelledEvaluator(sentences, seed=1)
    assert evaluator.twins == UnlabelledEvaluator(sentences, seed=1).twins
    assert evaluator.twins != UnlabelledEvaluator(sentences, seed=2).twins
    for sentence, twin in zip(sentences, evaluator.twins, strict=True):
        assert twin and set(twin.split()) <= set(sentence.split())


def test_half_of_the_words_are_left_out_by_default():
    long = [" ".join(f"w{row}x{column}" for column in range(200)) for row in range(10)]
    kept = sum(len(twin.split()) for twin in UnlabelledEvaluator(long).twins)
    assert kept / 2000 == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sentences": ["a", "a"]}, "1 different sentences; at least two"),
        ({"sentences": ["a", "b"], "drop": 1.0}, "drop must be between 0 and 1, got 1.0"),
        ({"sentences": ["a", "b"], "temperature": 0.0}, "temperature must be positive"),
    ],
)
def test_what_the_label_free_evaluator_cannot_use_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        UnlabelledEvaluator(**options)
