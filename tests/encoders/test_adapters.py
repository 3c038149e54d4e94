"""Adapters in every family: where they go, what changes, and the folder that opens without peft."""

import copy

import families
import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal
from sentence_transformers import SentenceTransformer
from tiny import make_encoder, make_sentences, seeded

from cselab.encoders.encoder import SentenceEncoder

peft = pytest.importorskip("peft", reason="adapters are made by peft")

SENTENCES = make_sentences(12)


def moved(encoder):
    """The adapters as if they had been trained."""
    with torch.no_grad():
        for row, weight in enumerate(weight for weight in encoder.backbone.parameters() if weight.requires_grad):
            weight.normal_(std=0.1, generator=seeded(row))
    return encoder


def adapted(family="bert", adapter=2):
    backbone, tokenizer = families.make_backbone(family), families.make_tokenizer(family)
    encoder = SentenceEncoder(backbone, tokenizer, families.FAMILIES[family].pooling, name=family)
    encoder.add_adapter(adapter)
    return encoder


@pytest.mark.parametrize("family", families.FAMILIES)
def test_each_family_opens_with_its_trained_adapters(family, tmp_path):
    """Each family opens there and here with its trained adapters."""
    encoder = adapted(family)
    plain = SentenceEncoder(families.make_backbone(family), encoder.tokenizer, encoder.pooling).encode(SENTENCES)
    assert_array_equal(encoder.encode(SENTENCES), plain)
    names = [name for name, weight in encoder.backbone.named_parameters() if weight.requires_grad]
    assert names and all("lora_" in name and "pooler" not in name for name in names)
    vectors = moved(encoder).encode(SENTENCES)
    assert np.abs(vectors - plain).max() > 1e-2
    before = encoder.weights_hash()
    encoder.save_pretrained(tmp_path / "mine")
    assert encoder.weights_hash() == before and np.array_equal(encoder.encode(SENTENCES), vectors)
    again = SentenceEncoder.from_pretrained(tmp_path / "mine")
    assert_allclose(again.encode(SENTENCES), vectors, atol=1e-5)
    assert all(weight.requires_grad for weight in again.parameters()) and not hasattr(again.backbone, "peft_config")
    theirs = SentenceTransformer(str(tmp_path / "mine"), device="cpu")
    assert_allclose(theirs.encode(SENTENCES), vectors, atol=1e-5)


@pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing` is deprecated")  # peft of transformers
def test_the_adapters_alone_are_opened_by_peft_on_the_model(tmp_path):
    """The adapters alone are opened by peft on the model that they were trained on."""
    encoder = moved(adapted("qwen3"))
    encoder.save_pretrained(tmp_path / "mine")
    model = peft.PeftModel.from_pretrained(families.make_backbone("qwen3"), str(tmp_path / "mine" / "adapter"))
    again = SentenceEncoder(model.merge_and_unload(), encoder.tokenizer, encoder.pooling)
    assert_allclose(again.encode(SENTENCES), encoder.encode(SENTENCES), atol=1e-5)


@pytest.mark.parametrize("kind", [{"use_dora": True}, {"bias": "lora_only"}, {"init_lora_weights": "pissa"}])
def test_a_config_of_peft_is_taken_as_it_is(kind, tmp_path):
    config = peft.LoraConfig(r=3, target_modules=["query", "value"], **kind)
    before = copy.deepcopy(config)
    encoder = make_encoder(name="tiny")
    encoder.add_adapter(config)
    names = [name.split(".lora_")[0] for name, _ in encoder.backbone.named_parameters() if "lora_" in name]
    assert {name.rpartition(".")[2] for name in names} == {"query", "value"} and config == before
    encoder = moved(encoder)
    encoder.save_pretrained(tmp_path)
    again = SentenceEncoder.from_pretrained(tmp_path)
    assert_allclose(again.encode(SENTENCES), encoder.encode(SENTENCES), atol=1e-5)


def test_first_weights_follow_the_seed():
    """First weights follow the seed and no random number of the caller is drawn."""
    drawn = torch.get_rng_state()
    hashes = []
    for seed in (1, 1, 2):
        encoder = make_encoder()
        encoder.add_adapter(2, seed)
        hashes.append(encoder.weights_hash())
    assert hashes[0] == hashes[1] != hashes[2] and torch.equal(torch.get_rng_state(), drawn)


@pytest.mark.parametrize(
    "adapter, said",
    [
        (0, "the rank of adapters must be at least 1, got 0: with rank 0 they change nothing"),
        (
            {"target_modules": ["q_proj"]},
            r"no adapters were added to BertModel: .*q_proj.*layers are query, key, value",
        ),
        ({"modules_to_save": ["pooler"]}, "modules_to_save is not supported"),
    ],
)
def test_what_adds_no_adapter_is_refused(adapter, said):
    """What adds no adapter is refused and the encoder is as before."""
    encoder = make_encoder()
    before = encoder.weights_hash()
    with pytest.raises(ValueError, match=said):
        encoder.add_adapter(peft.LoraConfig(**adapter) if isinstance(adapter, dict) else adapter)
    assert encoder.weights_hash() == before and all(weight.requires_grad for weight in encoder.parameters())
    encoder.add_adapter(1)
    with pytest.raises(ValueError, match="this encoder has adapters already"):
        encoder.add_adapter(1)
