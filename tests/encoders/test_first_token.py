"""The last layer's end for [CLS] alone: the vectors, gradients, masks and random numbers of a whole pass, less work."""

import pytest
import torch
from families import FAMILIES, make_backbone, make_tokenizer
from tiny import make_encoder, make_sentences, seeded
from torch.testing import assert_close

from cselab.encoders import encoder as encoders
from cselab.encoders.adapters import DeepPrefix
from cselab.encoders.encoder import SentenceEncoder

SENTENCES = make_sentences(8)
ALIKE = ["bert", "roberta", "xlm-roberta"]


def make_family(family, pooling):
    return SentenceEncoder(make_backbone(family), make_tokenizer(family), pooling=pooling).eval()


@pytest.fixture
def whole_passes(monkeypatch):
    """Called, every pass from then on computes all tokens to the end."""
    return lambda: monkeypatch.setattr(encoders, "supports_cls_only_last_layer", lambda backbone: False)


def vectors_and_gradients(encoder, seed=0):
    torch.manual_seed(seed)
    encoder.zero_grad()
    vectors = encoder.pooled(encoder.tokenize(SENTENCES))
    (vectors**3).sum().backward()
    found = {name: weight.grad for name, weight in encoder.named_parameters() if weight.grad is not None}
    return vectors.detach(), found, torch.rand(3)


def rows_of_the_last_layer(encoder):
    """How many tokens of each sentence the last feed-forward layer is given."""
    rows = []
    feed_forward = encoder.backbone.encoder.layer[-1].intermediate
    handle = feed_forward.register_forward_hook(lambda module, given, out: rows.append(given[0].shape[1]))
    encoder.pooled(encoder.tokenize(SENTENCES))
    handle.remove()
    return rows


@pytest.mark.parametrize("pooling", ["cls", "cls_pooler"])
@pytest.mark.parametrize("train", [False, True], ids=["evaluated", "trained"])
@pytest.mark.parametrize("family", ALIKE)
def test_it_is_a_whole_pass_to_rounding(family, train, pooling, whole_passes):
    """In training too, where the masks of dropout and the random numbers after it must be the same."""
    encoder = make_family(family, pooling=pooling).train(train)
    encoder.dropout = 0.3
    short = vectors_and_gradients(encoder)
    assert rows_of_the_last_layer(encoder) == [1]
    whole_passes()
    long = vectors_and_gradients(encoder)
    assert rows_of_the_last_layer(encoder) != [1]
    assert_close(short, long, atol=1e-6, rtol=1e-4)


def with_prefix():
    encoder = make_encoder(pooling="cls")
    encoder.prefix = DeepPrefix.fresh(encoder.backbone, 3, seeded())
    return encoder.train()


def with_adapters():
    encoder = make_encoder(pooling="cls")
    encoder.add_adapter(2)
    return encoder.train()


@pytest.mark.parametrize("make", [with_prefix, with_adapters])
def test_with_what_an_encoder_may_carry(make, whole_passes):
    encoder = make()
    short = vectors_and_gradients(encoder)
    assert rows_of_the_last_layer(encoder) == [1]
    whole_passes()
    assert_close(short, vectors_and_gradients(encoder), atol=1e-6, rtol=1e-4)


@pytest.mark.parametrize("pooling", ["mean", "last_token", "emb_last_mean", "last2_mean"])
def test_poolings_that_read_other_tokens_have_all(pooling):
    assert rows_of_the_last_layer(make_encoder(pooling=pooling)) != [1]


def test_rows_that_are_padded_on_the_left_have_all():
    encoder = make_encoder(pooling="cls")
    right = encoder.pooled(encoder.tokenize(SENTENCES[:1]))
    encoder.tokenizer.padding_side = "left"
    assert rows_of_the_last_layer(encoder) != [1]
    assert_close(encoder.pooled(encoder.tokenize(SENTENCES[:1])), right)


@pytest.mark.parametrize("family", FAMILIES)
def test_other_families_are_pooled_as_ever(family):
    """By the first token, in training mode: what has another layout takes a whole pass."""
    encoder = make_family(family, pooling="cls")
    tokens = encoder.tokenize(SENTENCES)
    states = encoder.backbone(**tokens).last_hidden_state
    first = tokens["attention_mask"].argmax(1)
    assert_close(encoder.pooled(tokens), states[torch.arange(len(states)), first])


def test_a_layer_that_the_backward_pass_computes_again_has_all(whole_passes):
    encoder = make_encoder(pooling="cls", dropout=0).train()
    newer = hasattr(encoder.backbone, "activation_checkpointing_enable")  # not in transformers 5.6
    kind = "activation" if newer else "gradient"
    getattr(encoder.backbone, f"{kind}_checkpointing_enable")()
    again = vectors_and_gradients(encoder)
    getattr(encoder.backbone, f"{kind}_checkpointing_disable")()
    whole_passes()
    assert_close(again, vectors_and_gradients(encoder), atol=1e-6, rtol=1e-4)


def test_chunks_of_tokens_have_all():
    encoder = make_encoder(pooling="cls")
    plain = encoder.pooled(encoder.tokenize(SENTENCES[:1]))
    for layer in encoder.backbone.encoder.layer:
        layer.chunk_size_feed_forward = 1
    assert_close(encoder.pooled(encoder.tokenize(SENTENCES[:1])), plain)


def test_a_pass_that_fails_leaves_no_hook():
    encoder = make_encoder(pooling="cls")
    with pytest.raises(IndexError):
        encoder.pooled({"input_ids": torch.tensor([[10**6]]), "attention_mask": torch.ones(1, 1, dtype=torch.long)})
    last = encoder.backbone.encoder.layer[-1]
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in last.modules())
