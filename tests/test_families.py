"""The families of methods that the interface carries: trained, killed and resumed, alone and in two processes."""

import pytest
import torch
from families import FAMILIES
from tiny import make_encoder, make_rows

from cselab.training import TrainConfig, train

CONFIG = TrainConfig(steps=4, batch_size=8, lr=1e-2, seed=3, eval_every=2, checkpoint_every=2, precision="fp32")

every_family = pytest.mark.parametrize("family", FAMILIES)


class Killed(Exception):
    pass


def kill(run, row):
    if row["step"] == 3:
        raise Killed


def spread(encoder):
    vectors = encoder.encode(make_rows(("sentence",), 6), normalize_embeddings=True)
    return {"score": -float((vectors @ vectors.T).mean())}


def run_training(family, output=None, callbacks=(), dropout=0.1):
    method = FAMILIES[family]()
    encoder = make_encoder(layers=1, dropout=dropout)
    return train(
        encoder, method, make_rows(method.columns, 20), CONFIG, spread, callbacks, output, show_progress_bar=False
    )


@every_family
def test_a_killed_run_ends_as_an_uninterrupted_one_with_all_that_the_method_owns(family, tmp_path):
    whole = run_training(family)
    with pytest.raises(Killed):
        run_training(family, tmp_path / "run", [kill])
    resumed = run_training(family, tmp_path / "run")
    assert resumed.resumed_from == 2
    assert resumed.history == whole.history
    for one, other in ((resumed.encoder, whole.encoder), (resumed.method, whole.method)):
        expected = other.state_dict()
        assert one.state_dict().keys() == expected.keys()
        assert [key for key, value in one.state_dict().items() if not torch.equal(value, expected[key])] == []


@pytest.mark.parametrize("family", ["momentum_queue", "discriminator", "entities", "two_encoders"])
def test_a_finished_run_is_read_back_with_what_the_method_owns(family, tmp_path):
    first = run_training(family, tmp_path / "run")
    again = run_training(family, tmp_path / "run")
    assert again.resumed_from == 4 and again.history == first.history
    expected = first.method.state_dict()
    assert all(torch.equal(value, expected[key]) for key, value in again.method.state_dict().items())


def test_what_a_method_owns_learns_or_follows():
    queue = run_training("momentum_queue").method
    assert not any(weight.requires_grad for weight in queue.slow.parameters())
    fresh = make_encoder(layers=1).backbone.state_dict()
    assert any(not torch.equal(queue.slow.backbone.state_dict()[key], fresh[key]) for key in fresh)
    entities = run_training("entities").method
    drawn = torch.randn(entities.table.weight.shape, generator=torch.Generator().manual_seed(3))
    assert not torch.allclose(entities.table.weight, drawn)


def test_frozen_weights_stay_and_are_thawed_after_the_run():
    run = run_training("frozen_backbone")
    before = make_encoder(layers=1).backbone.state_dict()
    assert all(torch.equal(value, before[key]) for key, value in run.encoder.backbone.state_dict().items())
    assert all(weight.requires_grad for weight in run.encoder.backbone.parameters())
    assert len({row.get("gradient_norm") for row in run.history}) > 1


def test_a_group_has_a_rate_of_its_own():
    run = run_training("discriminator", dropout=0)
    judge, backbone = run.method.judge.state_dict(), make_encoder(layers=1, dropout=0).backbone.state_dict()
    key = "encoder.layer.0.output.dense.weight"
    moved = {"judge": judge[key] - backbone[key], "encoder": run.encoder.backbone.state_dict()[key] - backbone[key]}
    assert 0 < moved["judge"].abs().max() <= 4e-3 * 1.01 < moved["encoder"].abs().max()


@pytest.mark.parametrize(
    ("family", "corpus", "message"),
    [
        ("hard_negatives", ["one text"] * 9, r"corpus\[0\] is one text, but hard_negatives takes rows of 3 texts"),
        ("entities", [("a", "b"), ("a", "b", "c")] * 9, r"corpus\[1\] is 3 texts, .*read_rows .* World\(\)\.rows"),
        ("entities", [("a", "b"), ("a", " ")] * 9, r"entity of corpus\[1\] is ' ', not a text: leave the row out"),
        ("spans", [("a", "b")] * 9, r"sentences\[0\] is \('a', 'b'\) of type tuple, not a string"),
    ],
)
def test_rows_without_the_methods_columns_are_refused(family, corpus, message):
    with pytest.raises((TypeError, ValueError), match=message):
        train(make_encoder(layers=1), FAMILIES[family](), corpus, CONFIG, show_progress_bar=False)
