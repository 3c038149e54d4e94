"""Training heads: seeded, without touching anyone's random numbers, and writable as plain linear layers."""

import pytest
import torch
from tiny import seeded
from torch import nn
from torch.testing import assert_close

from cselab.encoders.heads import DenseLayers, MLPHead, NormalizedHead, ProjectionHead, WhitenedHead
from cselab.sgw import ShuffledGroupWhitening


@pytest.fixture
def rows():
    return torch.randn(12, 6, generator=seeded(5))


def through_layers(head, x):
    for linear, activation in head.dense_layers():
        x = activation(linear(x))
    return x


def test_simcse_s_head_is_a_linear_layer_and_tanh(rows):
    head = MLPHead(6, seeded())
    ((linear, activation),) = head.dense_layers()
    assert isinstance(activation, nn.Tanh) and torch.equal(linear.bias, torch.zeros(6))
    assert torch.equal(head(rows), torch.tanh(rows @ linear.weight.T + linear.bias))


def test_a_projection_is_two_layers_without_bias(rows):
    head = ProjectionHead(6, 4, seeded())
    first, last = (linear for linear, _ in head.dense_layers())
    assert first.bias is None and last.bias is None
    assert torch.equal(head(rows), (rows @ first.weight.T).relu() @ last.weight.T)


def test_normalisation_by_the_running_averages(rows):
    """Normalisation by the running averages is part of the layers."""
    head = NormalizedHead(6, seeded())
    nn.init.normal_(head.layers[1].weight, generator=seeded(1))
    nn.init.normal_(head.layers[1].bias, generator=seeded(2))
    for _ in range(20):
        z = head(3 * rows + 1)
    assert_close(z.mean(0), torch.zeros(6), atol=1e-5, rtol=0)
    assert z.var(0, unbiased=False).max() < 1 + 1e-5
    head.eval()
    assert_close(through_layers(head, rows), head(rows), atol=1e-4, rtol=1e-4)


def test_it_starts_as_bert_does():
    ((linear, _),) = MLPHead(200, seeded()).dense_layers()
    assert linear.weight.std().item() == pytest.approx(0.02, rel=0.02)
    assert linear.weight.mean().item() == pytest.approx(0, abs=5e-4)


def test_a_head_is_drawn_from_its_generator(rows):
    """A head is drawn from its generator and leaves the caller's random numbers alone."""
    before = torch.get_rng_state()
    head, same, other = (WhitenedHead(ShuffledGroupWhitening(6), MLPHead(6, seeded(seed))) for seed in (0, 0, 1))
    head(rows)
    list(head.dense_layers())
    assert torch.equal(torch.get_rng_state(), before)
    weights = [torch.cat([weight.flatten() for weight in each.parameters()]) for each in (head, same, other)]
    assert torch.equal(weights[0], weights[1]) and not torch.equal(weights[0], weights[2])


def test_the_whitened_head_whitens_and_then_applies(rows):
    """The whitened head whitens and then applies the linear layer."""
    head = WhitenedHead(ShuffledGroupWhitening(6, num_groups=3, shuffle=False), MLPHead(6, seeded()))
    by_hand = ShuffledGroupWhitening(6, num_groups=3, shuffle=False)(rows)
    assert_close(head(rows), head.mlp(by_hand))


@pytest.mark.parametrize("kind", ["mlp", "whitened"])
def test_the_dense_layers_of_a_head_give_its_vectors(kind, rows):
    """The dense layers of a head give its vectors at inference."""
    head = MLPHead(6, seeded()) if kind == "mlp" else WhitenedHead(ShuffledGroupWhitening(6), MLPHead(6, seeded()))
    head(rows)  # running estimates
    assert_close(through_layers(head.eval(), rows), head(rows), rtol=1e-6, atol=1e-6)
    again = DenseLayers(list(head.dense_layers()))
    assert_close(again(rows), head(rows), rtol=1e-6, atol=1e-6)
