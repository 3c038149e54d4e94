"""No training on identical views: every method on encoders of 2026 whose configs drop nothing out."""

import families
import pytest
import torch
from tiny import make_encoder, make_rows, short_run

from cselab.encoders.encoder import SentenceEncoder, UnknownTokensWarning
from cselab.methods import METHODS, Setup, create_method
from cselab.training import TrainConfig, train
from cselab.training.preflight import check_views_differ


def silent(family):
    backbone, tokenizer = families.make_backbone(family), families.make_tokenizer(family)
    return SentenceEncoder(backbone, tokenizer, "mean", name=family)


@pytest.mark.filterwarnings("ignore::cselab.encoders.encoder.UnknownTokensWarning")  # a tokenizer of few words
@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("family", ["modernbert", "qwen3"])
def test_who_counts_on_dropout_is_stopped_where_there_is_none(family, name):
    """Who counts on dropout is stopped where there is none and nobody else."""
    encoder = silent(family)
    method = create_method(name, **METHODS[name].small)

    def run():
        short_run(method, encoder, make_rows(method.columns, 16), steps=1)

    if name == "dcpcse" or method.needs_capitals:  # cannot, for a different reason
        with pytest.raises(ValueError, match=r"with upper and lower case|goes before BERT's and RoBERTa's layers"):
            run()
    elif method.positives_by_dropout:
        told = rf"{name} encodes each sentence twice.*attention_dropout = 0.*--dropout 0.1"
        with pytest.raises(ValueError, match=told):
            run()
    else:
        run()


@pytest.mark.parametrize(
    "name, options, stopped",
    [
        ("noise", {"variance": 0.1, "on": "positives"}, False),
        ("noise", {"variance": 0.1, "on": "negatives"}, True),
        ("whitenedcse", {"kind": "shuffled"}, False),
        ("whitenedcse", {"kind": "zca", "running": True}, True),
        ("moco", {"queue": 8}, False),
    ],
)
def test_what_counts_is_whether_the_views_differ(name, options, stopped):
    encoder, method, rows = (
        make_encoder(layers=1, dropout=0),
        create_method(name, **options),
        make_rows(("sentence",), 8),
    )
    method.prepare(encoder)
    encoder.attach_head(method.build(Setup(encoder, rows)))
    state, drawn = {key: value.clone() for key, value in method.state_dict().items()}, torch.get_rng_state()
    if stopped:
        with pytest.raises(ValueError, match=r"hidden_dropout_prob = 0, attention_probs_dropout_prob = 0"):
            check_views_differ(method, encoder, rows, 32)
    else:
        check_views_differ(method, encoder, rows, 32)
    assert torch.equal(torch.get_rng_state(), drawn) and not encoder.training
    assert all(torch.equal(value, state[key]) for key, value in method.state_dict().items())


@pytest.mark.parametrize("name, dropout", [("imsimcse", 0.1), ("esimcse", 0.1), ("esimcse", 0), ("moco", 0)])
def test_it_changes_no_number_of_a_run(monkeypatch, name, dropout):
    def history():
        run = short_run(create_method(name, **METHODS[name].small), make_encoder(layers=1, dropout=dropout), steps=3)
        return run.history, run.encoder.weights_hash()

    guarded = history()
    monkeypatch.setattr("cselab.training.loop.check_views_differ", lambda *_: None)
    assert guarded == history()


def test_a_corpus_that_the_encoder_cannot_read_is_trained():
    """A corpus that the encoder cannot read is trained on with a warning."""
    rows = [f"何か {'猫' * number}" for number in range(8)] + make_rows(("sentence",), 8)
    with pytest.warns(UnknownTokensWarning, match="cannot read 8 of 16 sentences") as told:
        train(make_encoder(layers=1), "simcse", rows, TrainConfig(steps=2, batch_size=16), show_progress_bar=False)
    assert [one.filename for one in told] == [__file__]
