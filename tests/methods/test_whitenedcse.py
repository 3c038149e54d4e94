import pytest
import torch
from torch.testing import assert_close
from transformers import BertConfig, RobertaConfig

from cselab.encoders.heads import MLPHead
from cselab.methods import SimCSE, WhitenedCSE
from cselab.sgw import ShuffledGroupWhitening, whitening_matrix


@pytest.fixture
def whitened(monkeypatch):
    """What each call of the whitening got, in order."""
    given, forward = [], ShuffledGroupWhitening.forward

    def spy(layer, x):
        given.append(x.detach().clone())
        return forward(layer, x)

    monkeypatch.setattr(ShuffledGroupWhitening, "forward", spy)
    return given


RECORDED = {"variant": "paper", "backbone_passes": 1}  # the settings of recorded lines


@pytest.mark.parametrize("options, passes", [({}, 3), ({"variant": "paper"}, 3), (RECORDED, 1)])
def test_each_view_has_a_permutation(options, passes, trainer, batch, whitened, forward_rows):
    """Each view has a permutation and by default a dropout mask of its own."""
    method = WhitenedCSE(**options)
    encode, encoder = trainer(method)
    seen = forward_rows(encoder)
    views = method.views(encode, batch)
    assert sum(rows for rows, _ in seen) == passes * len(batch) and all(dropout for _, dropout in seen)
    assert [torch.equal(x, whitened[0]) for x in whitened] == [True, *[passes == 1] * 2]
    assert (views.anchor - views.positive).abs().max() > 1e-3


def test_the_released_layout_keeps_each_view_with_its_sentence(table, batch, whitened):
    method = WhitenedCSE(variant="released")
    encode = table(method)
    views = method.views(encode, batch)
    encode.replay()
    dropped = torch.stack([encode(batch, head=False) for _ in range(3)], dim=1).flatten(0, 1)  # s0v0 s0v1 s0v2 ...
    for third, x in enumerate(whitened[:3]):
        assert_close(x, dropped[12 * third : 12 * (third + 1)])
    encode.head.whitening.generator.manual_seed(0)
    expected = torch.cat([encode.head(dropped[12 * third : 12 * (third + 1)]) for third in range(3)])
    for view, vectors in enumerate((views.anchor, *views.positives)):
        assert_close(vectors, expected[view::3])


def test_every_option_of_the_whitening_reaches_it(trainer):
    options = dict(num_groups=2, eps=1e-3, shrinkage=0.1, divisor="n-1", gradient_through_matrix=True, momentum=0.5)
    _, encoder = trainer(WhitenedCSE(kind="group", **options))
    layer = encoder.head.whitening
    assert {name: getattr(layer, name) for name in options} == options and not layer.shuffle


@pytest.mark.parametrize("kind", ["zca", "pca"])
def test_all_channels_at_once_are_whitened(kind, trainer, batch):
    """Eq. 13: after two batches the weights are 1 - 0.5 and 0.5 of their sum; 12 rows would not do alone."""
    method = WhitenedCSE(kind=kind, running=True, momentum=0.5)
    encode, encoder = trainer(method)
    layer = encoder.head.whitening
    assert (layer.num_groups, layer.kind, layer.shuffle, layer.running) == (1, kind, False, True)
    method.views(encode, batch)
    x = encode(batch, head=False).detach()
    white = layer(x)
    mapped = layer.eval()(x)
    assert_close(white, mapped)
    by_hand = whitening_matrix(layer.running_covariance, kind, layer.eps)
    assert_close(white, (x - layer.running_mean) @ by_hand, atol=1e-4, rtol=1e-4)


def test_without_whitening_it_is_simcse_with_more_views(trainer, batch):
    method = WhitenedCSE(kind="none")
    encode, encoder = trainer(method)
    assert isinstance(encoder.head, MLPHead)
    ours = method.loss(method.views(encode, batch)).total
    other = SimCSE(num_views=3)
    encode, _ = trainer(other)
    assert_close(ours, other.loss(other.views(encode, batch)).total)


@pytest.mark.parametrize("hidden_size, groups", [(768, 128), (1024, 128), (256, 128), (8, 4)])
def test_the_number_of_groups_follows_the_width_the_family(hidden_size, groups):
    """The number of groups follows the width the family and the variant under any recipe."""
    cls, config = WhitenedCSE, BertConfig(hidden_size=hidden_size)
    for recipe in cls.recipes.values():
        assert cls.resolved(config, variant="released", **recipe.hyperparameters)["num_groups"] == groups
    assert cls.resolved(config)["num_groups"] == hidden_size // 2
    roberta = RobertaConfig(hidden_size=hidden_size)
    assert cls.resolved(roberta)["num_groups"] == (4 if hidden_size == 8 else 256)
