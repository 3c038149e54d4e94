import torch

from cselab.losses import info_nce
from cselab.methods import AdCSE


def test_the_adversaries_climb_by_the_written_rule_after_the_step_that_saw_them(trainer, batch):
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
        torch.testing.assert_close(method.w, w)


def test_adversaries_make_the_loss_of_a_still_encoder_rise(table, batch, trainer):
    method = AdCSE(adversary_lr=5.0, momentum=0.0)
    encode, _ = trainer(method, dropout=0)
    losses = [method.loss(method.views(encode, batch)).total.item() for _ in range(30)]
    assert losses[-1] > losses[0] + 0.1


def test_keys_come_from_the_slow_encoder_and_carry_no_gradient(trainer, batch):
    method = AdCSE()
    encode, encoder = trainer(method, dropout=0)
    v = method.views(encode, batch)
    torch.testing.assert_close(v.positive, v.anchor.detach())  # the copy has not moved yet
    assert not v.positive.requires_grad and not v.negatives.requires_grad
    with torch.no_grad():
        for weight in encoder.backbone.parameters():
            weight.add_(0.3)
    v = method.views(encode, batch)
    assert (v.positive - v.anchor).abs().max() > 1e-3


def test_symmetric_is_the_mean_of_both_directions(trainer, batch):
    method = AdCSE(symmetric=True)
    v = method.views(trainer(method)[0], batch)
    there = info_nce(v.anchor, v.positive, 0.05, v.negatives).total
    back = info_nce(v.positive, v.anchor, 0.05, v.negatives).total
    torch.testing.assert_close(method.loss(v).total, (there + back) / 2)
