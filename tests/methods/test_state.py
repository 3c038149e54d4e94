"""A killed run of any method ends as one that was never interrupted; what a method owns is part of it."""

import json
from importlib.util import find_spec

import pytest
import torch
from tiny import Stopped, differing, family_for, make_encoder, make_rows, make_sentences, short_run, stop_at

from cselab.methods import METHODS, Contrastive, Setup, create_method

CONFIG = {"steps": 4, "lr": 1e-3, "seed": 3, "eval_every": 2, "checkpoint_every": 2, "max_length": 24}
OPTIONS = {name: method.small for name, method in METHODS.items()} | {"cline": {"variant": "released"}}
FEW = make_sentences(8)
ADAPTERS = "simcse, adapters of rank 2"
WITH_PEFT = pytest.mark.skipif(find_spec("peft") is None, reason="adapters are made by peft")


def spread(encoder):
    """Minus the mean cosine: which weights are the best depends on every step before."""
    vectors = encoder.encode(FEW, normalize_embeddings=True)
    return {"score": -float((vectors @ vectors.T).mean())}


def run_training(name, output=None, callbacks=(), evaluator=None):
    method = create_method("simcse" if name == ADAPTERS else name, **OPTIONS.get(name, {}))
    encoder, rows = make_encoder(family_for(name), layers=1), make_rows(method.columns, 20)
    if name == ADAPTERS:
        encoder.add_adapter(2)
    return short_run(method, encoder, rows, evaluator, callbacks, output, **CONFIG)


@pytest.mark.parametrize("name", [*METHODS, pytest.param(ADAPTERS, marks=WITH_PEFT)])
def test_a_killed_run_ends_with_the_same_encoder(name, tmp_path):
    """A killed run ends with the same encoder and the same state."""
    whole = run_training(name, evaluator=spread)
    with pytest.raises(Stopped):
        run_training(name, tmp_path, [stop_at(3)], spread)
    resumed = run_training(name, tmp_path, evaluator=spread)
    again = run_training(name, tmp_path, evaluator=spread)
    assert (resumed.resumed_from, again.resumed_from) == (2, 4)
    lines = (tmp_path / "history.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == whole.history
    for run in (resumed, again):
        assert run.history == whole.history and run.best == whole.best
        assert differing(run.method, whole.method) <= ({"_extra_state"} if run is again else set())  # the last draws
        folded = type(run.encoder.head) is not type(whole.encoder.head)  # saved heads have no batch norm left
        apart = {key for key in differing(run.encoder, whole.encoder) if not (folded and key.startswith("head."))}
        assert apart == set() and folded <= (run is again)


def begun(name):
    """The method as it was before its first step."""
    method = create_method(name, **OPTIONS.get(name, {}))
    encoder = make_encoder(family_for(name), layers=1)
    method.prepare(encoder)
    method.seed(3)
    method.build(Setup(encoder, make_rows(method.columns, 20), 3))
    return method


@pytest.mark.parametrize("kept", [lambda z: z, lambda z: [z], lambda z: {"first": z}])
@pytest.mark.parametrize("begun_in", ["build", "views"])
def test_what_a_checkpoint_would_lose_is_refused_at_once(kept, begun_in):
    class Forgetful(Contrastive):
        name = title = "forgetful"

        def build(self, setup):
            if begun_in == "build":
                self.old = kept(torch.zeros(2))
            return super().build(setup)

        def views(self, encode, batch):
            v = super().views(encode, batch)
            self.old = kept(v.anchor.detach())
            return v

    seen = []
    with pytest.raises(TypeError, match=r"old of Forgetful .* self\.register_buffer\('old'"):
        short_run(Forgetful(), callbacks=[lambda run, row: seen.append(row["step"])], **CONFIG)
    assert max(seen, default=0) <= 1


def test_a_group_has_a_rate_of_its_own():
    run = run_training("pairsupcon")
    key = "encoder.layer.0.output.dense.weight"
    of_encoder = run.encoder.backbone.state_dict()[key] - make_encoder(layers=1).backbone.state_dict()[key]
    of_method = run.method.classifier.weight - begun("pairsupcon").classifier.weight
    most = 4 * run.method.head_lr * 1.01
    assert 0 < of_method.abs().max() <= most < of_encoder.abs().max()
