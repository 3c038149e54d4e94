"""float32 or bfloat16: asked for by name, said with the scores, and close."""

import numpy as np
import pytest
import torch
from tiny import make_encoder, make_sentences, write_checkpoint

from cselab import SentenceEncoder, evaluate
from cselab.data import Pairs
from cselab.encoders import speed
from cselab.encoders.speed import chosen_precision
from cselab.evaluators import named_encoder

SENTENCES = make_sentences(40)
PAIRS = Pairs(SENTENCES[:20], SENTENCES[20:], [float(row % 6) for row in range(20)], "pairs", "test")


@pytest.fixture
def encoder():
    return make_encoder(width=64)


def test_vectors_in_bf16_are_those_of_float32_to_two_digits(encoder):
    """Vectors in bf16 are those of float32 to two digits and come as float32."""
    exact = encoder.encode(SENTENCES)
    encoder.precision = "bf16"
    near = encoder.encode(SENTENCES)
    assert near.dtype == np.float32
    error = np.linalg.norm(near - exact, axis=1) / np.linalg.norm(exact, axis=1)
    assert 1e-4 < error.mean() < 0.02 and error.max() < 0.05
    assert {weight.dtype for weight in encoder.parameters()} == {torch.float32}
    encoder.precision = "fp32"
    assert (encoder.encode(SENTENCES) == exact).all()


def test_the_scores_and_their_cache_tell_the_precisions_apart(encoder, tmp_path):
    exact = evaluate(encoder, PAIRS, cache=tmp_path)
    encoder.precision = "bf16"
    near = evaluate(encoder, PAIRS, cache=tmp_path)
    assert len(list(tmp_path.iterdir())) == 2
    assert {record.precision for record in exact.records} == {"fp32"}
    assert {record.precision for record in near.records} == {"bf16"}
    assert near.scores["pairs"] == pytest.approx(exact.scores["pairs"], abs=5)


@pytest.mark.parametrize("faster, chosen", [(True, "bf16"), (False, "fp32")])
def test_auto_is_what_this_machine_is_faster_with(faster, chosen, monkeypatch):
    monkeypatch.setattr(speed, "faster_in_bf16", lambda: faster)
    assert chosen_precision("auto") == chosen and chosen_precision("fp32") == "fp32"


def test_another_name_or_an_encoder_without_a_network_is_refused(encoder, tmp_path):
    encoder.precision = "fp16"
    with pytest.raises(ValueError, match=r"unknown precision 'fp16'.* Choose one of auto, fp32, bf16"):
        encoder.encode(SENTENCES)
    write_checkpoint(tmp_path)
    assert named_encoder(str(tmp_path), precision="bf16").precision == "bf16"
    assert SentenceEncoder.from_pretrained(tmp_path).precision == "fp32"
