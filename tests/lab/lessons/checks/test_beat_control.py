"""The check of an encoder above the control: it measures on dev, and refuses what was fitted on the pairs scored."""

import numpy as np
import pytest
from cselab_lab.lessons.checks import beat_control
from cselab_lab.lessons.exercises import diagnose

from cselab import SentenceEncoder
from cselab.evaluators import RandomEncoder


class CentredOnWhatItSees:
    def __init__(self, encoder):
        self.encoder = encoder

    def encode(self, sentences, **options):
        vectors = self.encoder.encode(sentences)
        return vectors - vectors.mean(axis=0)


@pytest.fixture(scope="module")
def plain():
    return SentenceEncoder.from_pretrained("mini", pooling="cls")


def test_the_plain_encoder_is_not_above_its_centred_self(plain):
    assert "not there yet" in diagnose(plain, beat_control.STAGES).lines[-1]


def test_a_random_encoder_is_not_above_it():
    assert "not there yet" in diagnose(RandomEncoder(), beat_control.STAGES).lines[-1]


def test_what_is_fitted_on_the_scored_sentences_is_refused(plain):
    assert "fit on training sentences" in diagnose(CentredOnWhatItSees(plain), beat_control.STAGES).lines[-1]


@pytest.mark.parametrize("answer", [57.2, "mini", lambda sentences: np.zeros((len(sentences), 3))])
def test_what_does_not_encode_is_named(answer):
    assert ".encode(list)" in diagnose(answer, beat_control.STAGES).lines[-1]
