"""Settings that leave no trace in a score: clipping, weights that are not finite, threads beside a training."""

from dataclasses import fields
from threading import Thread

import numpy as np
import pytest
from tiny import make_encoder, make_sentences

from cselab import SentenceEncoder
from cselab._util.arguments import accepts, hints
from cselab.training import StopTraining, TrainConfig, TrainingDiverged, train

CORPUS = make_sentences(64)


def trained(**settings):
    encoder = make_encoder()
    config = TrainConfig(**{"steps": 2, "batch_size": 8, "lr": 1e-2, "precision": "fp32"} | settings)
    before = {name: weights.detach().clone() for name, weights in encoder.backbone.named_parameters()}
    train(encoder, "simcse", CORPUS, config, show_progress_bar=False)
    return max(
        float((weights.detach() - before[name]).abs().max()) for name, weights in encoder.backbone.named_parameters()
    )


def test_a_gradient_is_clipped_to_the_length_that_was_asked():
    """Below Adam's epsilon of 1e-8 a gradient moves nothing; above it Adam moves each weight by about the rate."""
    assert trained(clip=1.0) > 1e-3
    assert trained(clip=1e-14) < 1e-6


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_an_encoder_with_weights_that_are_not_finite_is_not_saved(tmp_path, value):
    """The last step may overflow a weight, and no loss is computed after it that would tell."""
    encoder, config = make_encoder(), TrainConfig(steps=2, batch_size=8, precision="fp32")

    def spoil(run, row):
        if row["step"] == 2:
            next(run.encoder.backbone.parameters()).data[0, 0] = value

    with pytest.raises(TrainingDiverged, match=r"after step 2 1 weights are NaN or infinite, the first backbone\."):
        train(encoder, "simcse", CORPUS, config, callbacks=[spoil], output=tmp_path / "run", show_progress_bar=False)
    assert not (tmp_path / "run" / "model.safetensors").exists()


@pytest.mark.parametrize("lr", [1e30, -1.0])
def test_a_learning_rate_has_bounds(lr):
    with pytest.raises(ValueError, match=r"lr is .*; expected a number from 0 to 1,000,000"):
        TrainConfig(lr=lr)


@pytest.mark.parametrize("value", ["3", 2.5, True, [], {}, b"3", float("nan"), float("inf"), len, object()])
@pytest.mark.parametrize("setting", [field.name for field in fields(TrainConfig)])
def test_a_setting_of_another_type_is_refused_by_name(setting, value):
    if value == 2.5 and accepts(hints(TrainConfig)[setting], value):
        value = "2.5"
    with pytest.raises((TypeError, ValueError), match=rf"^(unknown )?{setting} "):
        TrainConfig(**{setting: value})


def test_what_is_encoded_while_another_thread_trains_has_no_dropout_in_it():
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
    train(
        encoder,
        "simcse",
        CORPUS,
        TrainConfig(steps=60, batch_size=8, lr=0.0, precision="fp32"),
        show_progress_bar=False,
    )
    for thread in threads:
        thread.join()
    assert not failures and len(found) == 75
    assert max(float(np.abs(vectors - expected).max()) for vectors in found) < 1e-5


def test_a_run_that_was_stopped_and_then_killed_takes_no_further_step(tmp_path, monkeypatch):
    """The checkpoint says that a callback stopped it; the process died before the encoder was saved."""
    config = TrainConfig(steps=9, batch_size=8, eval_every=1, checkpoint_every=1, precision="fp32")

    def stop(run, row):
        if row["step"] == 3:
            raise StopTraining("enough")

    def killed(*_, **__):
        raise KeyboardInterrupt

    def again(*callbacks):
        return train(make_encoder(), "simcse", CORPUS, config, None, callbacks, tmp_path / "run", False)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(SentenceEncoder, "save_pretrained", killed)
        again(stop)
    run = again()
    assert run.stopped == "enough" and run.history[-1]["step"] == 3
