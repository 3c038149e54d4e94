"""Adapters in training: alone, with every method, part of the run, and never all frozen."""

import json

import families
import pytest
import torch
from tiny import family_for, make_encoder, make_rows, short_run

from cselab.encoders.encoder import SentenceEncoder
from cselab.methods import METHODS, create_method

peft = pytest.importorskip("peft", reason="adapters are made by peft")


def adapted(adapter=2, **kind):
    encoder = make_encoder(layers=1, **kind)
    encoder.add_adapter(adapter)
    return encoder


@pytest.mark.filterwarnings("ignore::cselab.encoders.encoder.UnknownTokensWarning")  # a tokenizer of few words
@pytest.mark.parametrize("name", METHODS)
def test_with_every_method_the_adapters_learn(name):
    """With every method the adapters learn and the transformer stays."""
    encoder = adapted(family=family_for(name))
    before = {key: weight.clone() for key, weight in encoder.backbone.named_parameters()}
    method, rows = create_method(name, **METHODS[name].small), make_rows(METHODS[name].columns, 24)
    if name == "dcpcse":
        with pytest.raises(ValueError, match="are all frozen or disabled, so dcpcse would train none of them"):
            short_run(method, encoder, rows)
        return
    short_run(method, encoder, rows)
    changed = {key for key, weight in encoder.backbone.named_parameters() if not torch.equal(weight, before[key])}
    assert changed and all("lora_" in key for key in changed)


def test_adapters_are_part_of_a_run_which_is_read_back(tmp_path):
    """Adapters are part of a run which is read back to the bit."""
    encoder = adapted()
    short_run(encoder=encoder, output=tmp_path / "run")
    told = json.loads((tmp_path / "run" / "run.json").read_text())["identity"]["encoder"]["adapter"]
    assert told["peft_type"] == "LORA" and (told["r"], told["lora_alpha"]) == (2, 4)
    again = short_run(encoder=adapted(), output=tmp_path / "run")
    assert again.resumed_from == 2 and again.encoder.weights_hash() == encoder.weights_hash()
    for other in (adapted(3), make_encoder(layers=1)):
        with pytest.raises(ValueError, match="holds a run with a different encoder"):
            short_run(encoder=other, output=tmp_path / "run")


def switched_off(encoder):
    encoder.backbone.disable_adapters()


def frozen(encoder):
    encoder.backbone.requires_grad_(False)


@pytest.mark.parametrize(
    "adapter, spoilt, said",
    [
        (2, switched_off, r"or disabled, so simcse would train none of them: enable_adapters\(\)"),
        (2, frozen, "are all frozen or disabled"),
        (2, None, None),
        ({"target_modules": ["output.dense"]}, None, None),
    ],
)
def test_adapters_that_do_not_learn_are_refused(adapter, spoilt, said):
    encoder = adapted(peft.LoraConfig(**adapter) if isinstance(adapter, dict) else adapter)
    if spoilt is not None:
        spoilt(encoder)
    before, drawn = encoder.weights_hash(), torch.get_rng_state()
    if said is None:
        short_run(encoder=encoder)
    else:
        with pytest.raises(ValueError, match=said):
            short_run(encoder=encoder)
        assert encoder.weights_hash() == before
    assert torch.equal(torch.get_rng_state(), drawn)


@pytest.mark.parametrize("family", families.FAMILIES)
def test_adapters_of_each_family_are_trained(family):
    backbone, tokenizer = families.make_backbone(family), families.make_tokenizer(family)
    encoder = SentenceEncoder(backbone, tokenizer, families.FAMILIES[family].pooling, name=family)
    encoder.dropout = 0.1
    encoder.add_adapter(2)
    before = encoder.weights_hash()
    assert short_run(encoder=encoder).encoder.weights_hash() != before
