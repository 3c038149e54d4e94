"""Methods with networks, queues and prefixes of their own: a killed run ends as one that was never interrupted."""

import pytest
import torch
from tiny import family_for, make_encoder, make_rows

from cselab.methods import create_method
from cselab.training import TrainConfig, train

CONFIG = TrainConfig(
    steps=4, batch_size=8, lr=1e-3, seed=3, eval_every=2, checkpoint_every=2, max_length=24, precision="fp32"
)
OPTIONS = {
    "cert": {"queue": 20, "width": 8},
    "clear": {},
    "cline": {"variant": "released"},
    "ct": {},
    "dcpcse": {"length": 3},
    "declutr": {},
    "esimcse": {"queue": 12},
    "is_bert": {},
    "promptbert": {},
    "pt_bert": {"pseudo_tokens": 4, "queue": 12},
    "sg_opt": {"projection": 16},
    "switch_case": {},
}


class Killed(Exception):
    pass


def kill(run, row):
    if row["step"] == 3:
        raise Killed


def run_training(name, output=None, callbacks=()):
    method = create_method(name, **OPTIONS[name])
    encoder, rows = make_encoder(family_for(name), layers=1), make_rows(method.columns, 20)
    return train(encoder, method, rows, CONFIG, None, callbacks, output, show_progress_bar=False)


@pytest.mark.parametrize("name", OPTIONS)
def test_a_killed_run_ends_with_the_same_encoder_and_the_same_state(name, tmp_path):
    whole = run_training(name)
    with pytest.raises(Killed):
        run_training(name, tmp_path / "run", [kill])
    resumed = run_training(name, tmp_path / "run")
    assert resumed.resumed_from == 2 and resumed.history == whole.history
    again = run_training(name, tmp_path / "run")
    assert again.resumed_from == 4
    for run in (resumed, again):
        for one, other in ((run.encoder, whole.encoder), (run.method, whole.method)):
            expected = other.state_dict()
            assert one.state_dict().keys() == expected.keys()
            changed = {key for key, value in one.state_dict().items() if not torch.equal(value, expected[key])}
            assert changed <= ({"_extra_state"} if run is again else set())  # what was drawn last is not kept
