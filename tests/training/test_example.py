"""`examples/train_simcse.py`, which trains without the trainer, against `train`."""

import runpy
from pathlib import Path

from tiny import make_encoder, make_sentences
from torch.testing import assert_close

import cselab.encoders.training_forward
from cselab import TrainConfig, train

EXAMPLE = Path(__file__).parents[2] / "examples" / "train_simcse.py"


def test_the_straight_lines_give_the_weights_of_the_trainer(monkeypatch):
    monkeypatch.setattr(cselab.encoders.training_forward, "is_asynchronous", lambda device: True)  # rows in their order
    sentences, trained, plain = make_sentences(40), make_encoder(layers=2), make_encoder(layers=2)
    config = TrainConfig(steps=8, batch_size=8, lr=1e-3, seed=7, precision="fp32")
    run = train(trained, "simcse", sentences, config, show_progress_bar=False)
    losses = runpy.run_path(str(EXAMPLE))["train_simcse"](plain, sentences, steps=8, batch_size=8, lr=1e-3, seed=7)
    assert_close(losses, run.curve("loss")[1])
    for name, weight in plain.backbone.named_parameters():
        if not name.endswith("key.bias"):  # its gradient is 0 but for rounding, of which AdamW makes a step
            assert_close(weight, trained.backbone.get_parameter(name), rtol=1e-3, atol=1e-5)
