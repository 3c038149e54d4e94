"""The following encoder: its weights are an average over the steps, and it gives no gradient."""

import torch
from tiny import make_encoder, make_sentences, seeded
from torch.testing import assert_close

from cselab.encoders.heads import MLPHead
from cselab.encoders.training_forward import Encode
from cselab.methods.components import MomentumEncoder

BATCH = make_sentences(6)


def make(head=None, momentum=0.9, dropout=0.1):
    encoder = make_encoder(layers=1, dropout=dropout)
    return encoder, MomentumEncoder(encoder, momentum, head)


def moved(encoder, by):
    with torch.no_grad():
        for weight in encoder.parameters():
            weight += by


def test_its_weights_are_the_exponential_average_of_the_encoders():
    encoder, slow = make()
    weight = encoder.backbone.embeddings.word_embeddings.weight
    start = weight.detach().clone()
    for _ in range(3):
        moved(encoder, 1.0)
        slow.follow(encoder)
    # 0.1 * (1 * 0.81 + 2 * 0.9 + 3)
    assert_close(slow.encoder.backbone.embeddings.word_embeddings.weight, start + 0.561)


def test_keys_have_no_gradient_and_follow_first():
    encoder, slow = make(momentum=0.0)
    encode = Encode(encoder, 32)
    moved(encoder, 0.5)
    keys = slow.keys(encode, BATCH, dropout=False)
    assert not keys.requires_grad
    assert_close(keys, encode(BATCH, dropout=False).detach())
    one, two = slow.keys(encode, BATCH, BATCH[::-1])
    assert one.shape == two.shape == keys.shape


def test_a_shared_head_is_the_trained_one():
    """A shared head is the trained one and an own head follows."""
    head = MLPHead(8, seeded())
    for own in (False, True):
        encoder, slow = make(head if own else None)
        encoder.attach_head(head)
        encode = Encode(encoder, 32)
        before = slow.keys(encode, BATCH, dropout=False)
        with torch.no_grad():
            head.layers[0].bias += 1
        after = slow.keys(encode, BATCH, dropout=False)
        raw = slow.keys(Encode(make_encoder(layers=1), 32), BATCH, dropout=False) if not own else None
        if own:  # a tenth of the way
            assert_close(after.atanh(), before.atanh() + 0.1, atol=1e-4, rtol=1e-3)
        else:
            assert_close(after, head(raw).detach())
        with torch.no_grad():
            head.layers[0].bias -= 1
