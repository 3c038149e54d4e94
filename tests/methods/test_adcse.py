import torch
from torch.nn.functional import cosine_similarity
from torch.testing import assert_close

from cselab.losses import info_nce
from cselab.methods import AdCSE


def test_the_adversaries_climb_by_the_written_rule(trainer, batch):
    """The adversaries climb by the written rule after the step that saw them."""
    method = AdCSE(adversaries=5, adversary_lr=0.1, temperature=0.5)
    encode, _ = trainer(method)
    w, u = method.w.clone(), torch.zeros(5, 8)
    for _ in range(2):
        v = method.views(encode, batch)
        assert torch.equal(v.negatives, w)
        probe = w.clone().requires_grad_()
        info_nce(v.anchor.detach(), v.positive, 0.5, probe).total.backward()
        u = 0.9 * u + probe.grad - 1e-4 * w
        w = w + 0.1 * u
        assert_close(method.w, w)


def test_keys_come_from_the_slow_encoder_and_carry_no_gradient(viewed, batch):
    method = AdCSE()
    v, encode, encoder = viewed(method, batch)
    assert_close(v.positive, v.anchor.detach())  # the copy has not moved yet
    assert not v.positive.requires_grad and not v.negatives.requires_grad
    with torch.no_grad():
        for weight in encoder.backbone.parameters():
            weight.add_(0.3)
    v = method.views(encode, batch)
    assert (v.positive - v.anchor).abs().max() > 1e-3


def test_symmetric_takes_two_pairs_each_a_query_of_the_encoder(spied, batch):
    """Symmetric takes two pairs each a query of the encoder and a key of the slow one."""
    method = AdCSE(symmetric=True, adversaries=5, adversary_lr=0.1, temperature=0.5)
    encode, encoder = spied(method, dropout=0.5)
    with torch.no_grad():
        for weight in encoder.backbone.parameters():
            weight.add_(0.3)
    before = next(method.slow.encoder.backbone.parameters()).clone()
    w = method.w.clone().requires_grad_()
    v = method.views(encode, batch)
    assert [(views, options.get("by")) for views, options in encode.calls] == [
        ((batch, batch), method.slow.encoder),
        ((batch, batch), None),
    ]
    now, quick = (next(network.backbone.parameters()) for network in (method.slow.encoder, encoder))
    assert_close(now, 0.995 * before + 0.005 * quick)  # it follows once a step
    halves = [(v.anchor, v.positive), (v.other_q, v.other_k)]
    assert all(q.requires_grad and not k.requires_grad for q, k in halves)
    assert not torch.equal(v.anchor, v.other_q) and not torch.equal(v.positive, v.other_k)
    total = 0
    for q, k in halves:
        for i in range(12):
            logits = torch.stack([cosine_similarity(q[i], column, dim=0) / 0.5 for column in [*k, *w]])
            total -= logits.log_softmax(0)[i] / 24
    assert_close(method.loss(v).total, total)
    u = torch.autograd.grad(total, w)[0] - 1e-4 * w.detach()
    assert_close(method.w, w.detach() + 0.1 * u)
