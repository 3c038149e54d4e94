"""Settings that leave no trace in a score: clipping, weights that are not finite, threads beside a training."""

from dataclasses import fields
from threading import Thread

import numpy as np
import pytest
from tiny import make_encoder, make_sentences, short_run

from cselab._util.arguments import accepts, hints
from cselab.training import TrainConfig, TrainingDiverged

CORPUS = make_sentences(64)


def trained(**settings):
    encoder = make_encoder()
    before = {name: weights.detach().clone() for name, weights in encoder.backbone.named_parameters()}
    short_run(encoder=encoder, **settings)
    return max(
        float((weights.detach() - before[name]).abs().max()) for name, weights in encoder.backbone.named_parameters()
    )


def test_a_gradient_is_clipped_to_the_length_that_was_asked():
    """Below Adam's epsilon of 1e-8 a gradient moves nothing; above it Adam moves each weight by about the rate."""
    assert trained(clip=1.0) > 1e-3
    assert trained(clip=1e-14) < 1e-6


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_an_encoder_with_weights_of_nan_is_not_saved(tmp_path, value):
    """The last step may overflow a weight, and no loss is computed after it that would tell."""

    def spoil(run, row):
        if row["step"] == 2:
            next(run.encoder.backbone.parameters()).data[0, 0] = value

    with pytest.raises(TrainingDiverged, match=r"after step 2 1 weights are NaN or infinite, the first backbone\."):
        short_run(callbacks=[spoil], output=tmp_path / "run")
    assert not (tmp_path / "run" / "model.safetensors").exists()


@pytest.mark.parametrize("value", ["3", 2.5, True, [], {}, b"3", float("nan"), float("inf"), len, object()])
@pytest.mark.parametrize("setting", [field.name for field in fields(TrainConfig)])
def test_a_setting_of_another_type_is_refused_by_name(setting, value):
    if value == 2.5 and accepts(hints(TrainConfig)[setting], value):
        value = "2.5"
    with pytest.raises((TypeError, ValueError), match=rf"^(unknown )?{setting} "):
        TrainConfig(**{setting: value})


def test_what_is_encoded_while_another_thread_trains():
    """With a rate of 0 training changes no weight, so every encoding must give the same vectors."""
    encoder = make_encoder(pooling="cls")
    encoder.dropout = 0.5
    expected, found, failures = encoder.encode(CORPUS), [], []

    def encode():
        try:
            found.extend(encoder.encode(CORPUS, batch_size=8) for _ in range(25))
        except RuntimeError as error:
            failures.append(error)

    threads = [Thread(target=encode) for _ in range(3)]
    for thread in threads:
        thread.start()
    short_run(encoder=encoder, corpus=CORPUS, steps=60, lr=0.0)
    for thread in threads:
        thread.join()
    assert not failures and len(found) == 75
    assert max(float(np.abs(vectors - expected).max()) for vectors in found) < 1e-5
