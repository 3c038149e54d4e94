"""Running ahead of a GPU: as far as a CPU can show it, the same vectors and the same numbers."""

import pytest
import torch
from tiny import LONGEST, make_encoder, make_sentences

import cselab.encoders.speed
from cselab.encoders.speed import expand_attention_mask, to_device


def test_a_ready_mask_gives_the_same_vectors(monkeypatch):
    encoder = make_encoder(layers=2)
    sentences = [*make_sentences(6), "a " * (LONGEST - 2)]
    plain = encoder.encode(sentences, convert_to_tensor=True)
    monkeypatch.setattr(cselab.encoders.speed, "is_asynchronous", lambda device: True)
    features = encoder.tokenize(sentences)
    ready = expand_attention_mask(features, encoder.backbone)
    assert ready["attention_mask"].shape == (7, 1, *features["input_ids"].shape[1:] * 2)
    torch.testing.assert_close(encoder.encode(sentences, convert_to_tensor=True), plain, rtol=0, atol=1e-6)


@pytest.mark.parametrize("setting, value", [("model_type", "modernbert"), ("_attn_implementation", "eager")])
def test_other_networks_get_their_mask_as_it_was(setting, value, monkeypatch):
    encoder = make_encoder(layers=1)
    features = encoder.tokenize(make_sentences(3))
    assert expand_attention_mask(features, encoder.backbone) is features  # a CPU has no queue
    monkeypatch.setattr(cselab.encoders.speed, "is_asynchronous", lambda device: True)
    monkeypatch.setattr(encoder.backbone.config, setting, value)
    assert expand_attention_mask(features, encoder.backbone) is features


def test_what_is_sent_to_its_own_device_is_itself():
    tensor = torch.ones(3)
    assert to_device(tensor, torch.device("cpu")) is tensor


@pytest.mark.gpu
def test_what_is_sent_to_a_gpu_arrives_without_a_wait():
    device, tensor = torch.device("cuda", 0), torch.arange(1000)
    torch.cuda.set_sync_debug_mode("error")
    try:
        moved = to_device(tensor, device)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert moved.device == device and torch.equal(moved.cpu(), tensor)
