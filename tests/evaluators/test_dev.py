import numpy as np
import pytest

from cselab.data import Pairs
from cselab.evaluators import DegenerateEmbeddings, PairsEvaluator, evaluate

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
