import pytest
import torch
from torch.testing import assert_close

from cselab.methods import MoCoSE


def test_the_queue_starts_random_and_is_replaced(trainer, batch):
    """The queue starts random and is replaced by targets newest first."""
    method = MoCoSE(queue=20)
    encode, _ = trainer(method)
    first = method.views(encode, batch)
    assert_close(first.negatives.norm(dim=1), torch.ones(20))
    second = method.views(encode, batch)
    assert torch.equal(second.negatives[:12], first.positive)
    assert torch.equal(second.negatives[12:], first.negatives[:8])


def test_the_momentum_rises_to_one_along_a_cosine(trainer, batch):
    method = MoCoSE(momentum=0.6, rising_steps=4, fgsm=0.0)
    encode, _ = trainer(method)
    seen = []
    for _ in range(5):
        before = method.slow_projector[0].bias.clone()
        method.projector[0].bias.data = before + 1
        method.views(encode, batch)
        seen.append(method.slow.momentum)
        assert_close(method.slow_projector[0].bias, before + 1 - seen[-1])
    assert seen == pytest.approx([0.6 + 0.4 * (1 - c) / 2 for c in (0.5**0.5, 0, -(0.5**0.5), -1, -1)])


def test_targets_pass_no_predictor_and_no_gradient(viewed, batch):
    method = MoCoSE(fgsm=0.0)
    v, *_ = viewed(method, batch)
    assert_close(v.anchor, method.predictor(v.positive))
    assert not v.positive.requires_grad and v.anchor.requires_grad


def test_every_input_number_moves_by_the_same_length(trainer, batch):
    """Every input number moves by the same length to where the loss is higher."""
    losses = {}
    for fgsm in (0.0, 1e-2):
        method = MoCoSE(fgsm=fgsm)
        losses[fgsm] = method.loss(method.views(trainer(method, dropout=0)[0], batch)).total
    assert losses[1e-2] > losses[0.0] + 1e-3
