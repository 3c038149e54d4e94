import pytest
import torch
from tiny import make_encoder
from transformers import BertConfig, RobertaConfig

from cselab.encoders.heads import MLPHead
from cselab.losses import multi_positive_info_nce
from cselab.methods import SimCSE, WhitenedCSE
from cselab.sgw import ShuffledGroupWhitening, covariance, whitening_matrix


@pytest.fixture
def whitened(monkeypatch):
    """What each call of the whitening got, in order: (input, permutation drawn)."""
    calls = []
    forward, draw = ShuffledGroupWhitening.forward, ShuffledGroupWhitening.draw_permutation

    def spy_draw(layer):
        permutation = draw(layer)
        calls[-1]["permutation"] = permutation
        return permutation

    def spy(layer, x, permutation=None):
        calls.append({"input": x.detach().clone()})
        return forward(layer, x, permutation)

    monkeypatch.setattr(ShuffledGroupWhitening, "forward", spy)
    monkeypatch.setattr(ShuffledGroupWhitening, "draw_permutation", spy_draw)
    return calls


@pytest.mark.parametrize("num_views", [2, 3, 4])
def test_each_view_has_a_permutation_of_its_own(num_views, trainer, batch, whitened):
    method = WhitenedCSE(num_views=num_views)
    encode, _ = trainer(method)
    views = method.views(encode, batch)
    assert 1 + len(views.positives) == num_views == len(whitened)
    assert {len(call["input"]) for call in whitened} == {len(batch)}
    assert len({tuple(call["permutation"].tolist()) for call in whitened}) == num_views


def test_by_default_each_view_has_a_dropout_mask_too(trainer, batch, whitened, forward_rows):
    method = WhitenedCSE()
    encode, encoder = trainer(method)
    passes = forward_rows(encoder)
    method.views(encode, batch)
    assert sum(rows for rows, _ in passes) == 3 * len(batch) and all(dropout for _, dropout in passes)
    assert not torch.equal(whitened[0]["input"], whitened[1]["input"])


def test_one_backbone_pass_is_whitened_several_times(trainer, batch, whitened, forward_rows):
    method = WhitenedCSE(variant="paper")
    assert method.backbone_passes == 1
    encode, encoder = trainer(method)
    passes = forward_rows(encoder)
    views = method.views(encode, batch)
    assert passes == [(len(batch), True)]
    assert len(whitened) == 3 and all(torch.equal(call["input"], whitened[0]["input"]) for call in whitened)
    assert (views.anchor - views.positive).abs().max() > 1e-3  # and yet they differ


def test_the_released_layout_shares_the_permutation_within_a_sentence(trainer, batch, whitened):
    """Rows lie sentence by sentence and are whitened in contiguous thirds: 12 sentences, 4 a third."""
    method = WhitenedCSE(variant="released")
    encode, _ = trainer(method, dropout=0)
    views = method.views(encode, batch)
    assert len(whitened) == 3 and {len(call["input"]) for call in whitened} == {12}
    for call in whitened:  # without dropout the views of a sentence are one vector: four different rows thrice
        rows = call["input"].unflatten(0, (4, 3))
        torch.testing.assert_close(rows[:, 0], rows[:, 1], atol=1e-6, rtol=1e-5)
        torch.testing.assert_close(rows[:, 0], rows[:, 2], atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(views.anchor, views.positives[0], atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(views.anchor, views.positives[1], atol=1e-5, rtol=1e-4)


def test_the_released_layout_keeps_each_view_with_its_sentence(table, batch, whitened):
    method = WhitenedCSE(variant="released")
    encode = table(method)
    views = method.views(encode, batch)
    encode.replay()
    dropped = torch.stack([encode(batch, head=False) for _ in range(3)], dim=1).flatten(0, 1)  # s0v0 s0v1 s0v2 ...
    for third, call in enumerate(whitened[:3]):
        torch.testing.assert_close(call["input"], dropped[12 * third : 12 * (third + 1)])
    encode.head.whitening.generator.manual_seed(0)
    expected = torch.cat([encode.head(dropped[12 * third : 12 * (third + 1)]) for third in range(3)])
    for view, vectors in enumerate((views.anchor, *views.positives)):
        torch.testing.assert_close(vectors, expected[view::3])


@pytest.mark.parametrize(("options", "width"), [({}, 2), ({"num_groups": 2}, 4), ({"num_groups": 8}, 1)])
def test_num_groups_counts_groups_and_is_half_the_width_by_default(options, width, trainer, batch):
    method = WhitenedCSE(kind="group", **options)
    encode, encoder = trainer(method)
    whitening = encoder.head.whitening
    assert whitening.num_groups == 8 // width
    white = whitening(torch.stack([encode(batch, head=False), encode(batch, head=False)]).flatten(0, 1))
    blocks = covariance(white).detach().unflatten(0, (-1, width)).unflatten(2, (-1, width))
    for group in range(8 // width):
        torch.testing.assert_close(blocks[group, :, group], torch.eye(width), atol=0.01, rtol=0)


def test_every_option_of_the_whitening_reaches_it(trainer):
    method = WhitenedCSE(
        num_groups=2, kind="group", eps=1e-3, shrinkage=0.1, divisor="n-1", gradient_through_matrix=True, momentum=0.5
    )
    _, encoder = trainer(method)
    layer = encoder.head.whitening
    found = (
        layer.num_groups,
        layer.shuffle,
        layer.eps,
        layer.shrinkage,
        layer.divisor,
        layer.gradient_through_matrix,
        layer.momentum,
    )
    assert found == (2, False, 1e-3, 0.1, "n-1", True, 0.5)


@pytest.mark.parametrize("reduction", ["outside", "inside", "inside_printed"])
def test_the_loss_contrasts_the_anchor_with_every_positive(reduction, table, batch):
    method = WhitenedCSE(reduction=reduction, weight=0.5, temperature=0.1)
    views = method.views(table(method), batch)
    expected = multi_positive_info_nce(views.anchor, list(views.positives), 0.1, reduction, 0.5)
    torch.testing.assert_close(method.loss(views).total, expected.total)


@pytest.mark.parametrize("variant", ["default", "paper", "released"])
def test_the_running_estimates_follow_the_batches(variant, trainer, batch):
    method = WhitenedCSE(variant=variant)
    encode, encoder = trainer(method, dropout=0)
    method.views(encode, batch)
    whitening = encoder.head.whitening
    assert whitening.updates == 3
    vectors = encode(batch, head=False).detach()
    if variant != "released":  # there each update saw a third of the sentences
        torch.testing.assert_close(whitening.running_mean, vectors.mean(0), atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(whitening.running_covariance, covariance(vectors), atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"backbone_passes": 1, "kind": "group"}, "one backbone pass and kind='group' make 3 identical views"),
        ({"backbone_passes": 1, "kind": "none"}, "one backbone pass and kind='none' make 3 identical views"),
        ({"backbone_passes": 2}, "backbone_passes must be 1 or num_views, got 2"),
    ],
)
def test_values_without_meaning_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        WhitenedCSE(**options).prepare(make_encoder(layers=1))


@pytest.mark.parametrize("kind", ["zca", "pca"])
def test_all_channels_at_once_are_whitened_by_the_running_estimates(kind, trainer, batch):
    """Eq. 13: after two batches the weights are 1 - 0.5 and 0.5 of their sum; 12 rows would not do alone."""
    method = WhitenedCSE(kind=kind, running=True, momentum=0.5)
    encode, encoder = trainer(method)
    layer = encoder.head.whitening
    assert (layer.num_groups, layer.kind, layer.shuffle, layer.estimate) == (1, kind, False, "running")
    method.views(encode, batch)
    x = encode(batch, head=False).detach()
    white = layer(x)
    mapped = layer.eval()(x)
    torch.testing.assert_close(white, mapped)
    by_hand = whitening_matrix(layer.running_covariance, kind, layer.eps)
    torch.testing.assert_close(white, (x - layer.running_mean) @ by_hand, atol=1e-4, rtol=1e-4)


def test_without_whitening_it_is_simcse_with_more_views(trainer, batch):
    method = WhitenedCSE(kind="none")
    encode, encoder = trainer(method)
    assert isinstance(encoder.head, MLPHead)
    ours = method.loss(method.views(encode, batch)).total
    other = SimCSE(num_views=3)
    encode, _ = trainer(other)
    torch.testing.assert_close(ours, other.loss(other.views(encode, batch)).total)


@pytest.mark.parametrize(("hidden_size", "groups"), [(768, 128), (1024, 128), (256, 128), (8, 4)])
def test_the_number_of_groups_follows_the_width_the_family_and_the_variant_under_any_recipe(hidden_size, groups):
    cls, config = WhitenedCSE, BertConfig(hidden_size=hidden_size)
    for recipe in cls.recipes.values():
        assert cls.resolved(config, variant="released", **recipe.hyperparameters)["num_groups"] == groups
    assert cls.resolved(config)["num_groups"] == hidden_size // 2
    roberta = RobertaConfig(hidden_size=hidden_size)
    assert cls.resolved(roberta)["num_groups"] == (4 if hidden_size == 8 else 256)


def test_the_paper_evaluates_the_vector_after_the_head():
    assert WhitenedCSE(variant="paper").representation == "head"
    assert WhitenedCSE().representation == WhitenedCSE(variant="released").representation == "backbone"
