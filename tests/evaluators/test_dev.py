import json

import numpy as np
import pytest
from tiny import make_encoder, make_sentences, short_run

from cselab.data import Pairs
from cselab.evaluators import PairsEvaluator, RandomEncoder, UnlabelledEvaluator, compare, evaluate
from cselab.evaluators.dev import mean_reciprocal_rank
from cselab.losses import Loss
from cselab.methods import SimCSE
from cselab.metrics import DegenerateEmbeddings

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


def test_the_label_free_score_is_the_mean_reciprocal_rank():
    """The label free score is the mean reciprocal rank of the twins."""
    evaluator = UnlabelledEvaluator([f"a{row} b{row} c{row} d{row}" for row in range(30)])
    generator = np.random.default_rng(0)
    encoder = Fixed({text: generator.normal(size=3) for text in evaluator.sentences + evaluator.twins})
    u, v = (encoder.encode(side).astype(np.float64) for side in (evaluator.sentences, evaluator.twins))
    u, v = u / np.linalg.norm(u, axis=1, keepdims=True), v / np.linalg.norm(v, axis=1, keepdims=True)
    total = 0.0
    for i in range(30):
        total += 1 / (1 + sum(float(u[i] @ v[j]) > float(u[i] @ v[i]) for j in range(30) if j != i))
    row = evaluator(encoder)
    assert set(row) == KEYS
    assert row["score"] == pytest.approx(100 * total / 30)
    assert row["alignment"] == pytest.approx(np.mean(np.sum((u - v) ** 2, axis=1)), rel=1e-5)


def test_equal_twins_share_their_middle_rank():
    x = np.eye(3)
    assert mean_reciprocal_rank(x, np.ones((3, 3))) == pytest.approx(1 / 2)
    assert mean_reciprocal_rank(x, np.array([[1.0, 0, 0], [1, 0, 0], [0, 0, 1]])) == pytest.approx(
        (1 / 1.5 + 1 / 2 + 1) / 3
    )


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


# ------------------------------------------------------------------------------------ in training

CORPUS = [sentence for sentence in make_sentences(80) if "today" not in sentence][:40]
HELD_OUT = make_sentences(24, seed=1)
DEV = Pairs(HELD_OUT[:12], HELD_OUT[12:], [float(row % 6) for row in range(12)], "toy", "dev")


class ToOnePoint(SimCSE):
    """Its loss is least where every vector is the same; Adam's first step of size 1 leads there, the next away."""

    def prepare(self, encoder):
        super().prepare(encoder)
        self.norm = encoder.backbone.encoder.layer[-1].output.LayerNorm

    def loss(self, v):
        return Loss({"to_one_point": self.norm.weight.abs().sum() - self.norm.bias.sum()})


@pytest.mark.parametrize("evaluator", [PairsEvaluator(DEV), UnlabelledEvaluator(HELD_OUT)])
def test_a_run_that_collapses_goes_on_and_says_why(evaluator):
    """A run that collapses goes on and the step says why it has no score."""
    seen = []
    with pytest.warns(UserWarning, match=r"no score at step 1: constant embeddings: .*; training continues") as warned:
        note = [lambda run, row: seen.append(row)]
        run = short_run(ToOnePoint(), make_encoder(), CORPUS, evaluator, note, steps=4, lr=1.0, eval_every=1)
    assert len(warned) == 1
    assert [row["step"] for row in run.history] == [0, 1, 2, 3, 4] and seen == run.history
    collapsed = run.history[1]
    assert collapsed["degenerate"].startswith("constant embeddings: all 24 point the same way")
    assert "loss" in collapsed and not KEYS & collapsed.keys()
    scored = [row for row in run.history if row is not collapsed]
    assert all(row.keys() >= KEYS and "degenerate" not in row for row in scored)
    assert run.best["score"] == max(row["score"] for row in scored[1:])
    assert run.curve("score")[0] == [0, 2, 3, 4] and run.curve("degenerate")[0] == [1]


def test_a_run_that_is_never_scored_warns_once(tmp_path):
    """A run that is never scored warns once and keeps its last weights."""

    def constant(encoder):
        raise DegenerateEmbeddings("constant embeddings")

    hashes = []
    keep = [lambda run, row: hashes.append(run.encoder.weights_hash())]
    with pytest.warns(UserWarning, match="no score at step 0: constant") as warned:
        run = short_run(evaluator=constant, callbacks=keep, output=tmp_path, eval_every=1)
    assert len(warned) == 1
    assert run.best is None and all("constant" in row["degenerate"] for row in run.history)
    assert run.encoder.weights_hash() == hashes[-1] != hashes[0]
    again = short_run(evaluator=constant, output=tmp_path, eval_every=1)
    assert again.history == run.history and again.best is None


def test_two_encoders_are_compared_by_what_the_evaluator(angles, pairs):
    """Two encoders are compared by what the evaluator of pairs returned."""
    evaluator = PairsEvaluator(pairs)
    first, second = evaluator(RandomEncoder()), evaluator(angles)
    (comparison,) = compare(first, second)
    assert comparison.name == pairs.name and comparison.samples == 20
    assert comparison.difference == pytest.approx(second["score"] - first["score"])
    assert comparison.interval[0] > 0
    assert json.loads(json.dumps(first)) == dict(first)
