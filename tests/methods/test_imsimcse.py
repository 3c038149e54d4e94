import pytest
import torch
from tiny import make_encoder

from cselab.losses import dimension_contrastive, off_dropout_info_nce
from cselab.methods import ImSimCSE


@pytest.mark.parametrize(
    ("variant", "m", "m_on", "reduction"),
    [("default", 0.9, "negatives", "mean"), ("paper", 0.9, "negatives", "sum"), ("released", 1.0, "positive", "mean")],
)
def test_the_loss_is_off_dropout_plus_a_tenth_of_the_dimension_wise_term(variant, m, m_on, reduction, table, batch):
    method = ImSimCSE(variant=variant)
    encode = table(method)
    loss = method.loss(method.views(encode, batch))
    encode.replay()
    first, second = encode(batch), encode(batch)
    clean = encode(batch, dropout=False)
    off_dropout = off_dropout_info_nce(first, second, clean, 0.05, m=m, m_on=m_on).total.item()
    dimensions = dimension_contrastive(first, second, 5.0, reduction).total.item()
    assert loss.floats() == {
        "off_dropout_info_nce": pytest.approx(off_dropout),
        "dimension_contrastive": pytest.approx(0.1 * dimensions),
    }


def test_the_clean_view_has_no_dropout_and_dropout_is_back_on_for_the_next(trainer, forward_rows, batch):
    method = ImSimCSE()
    encode, encoder = trainer(method)
    passes = forward_rows(encoder)
    views, again = method.views(encode, batch), method.views(encode, batch)
    assert passes == [(24, True), (12, False)] * 2
    assert torch.equal(views.clean, again.clean)
    assert (views.anchor - again.anchor).abs().max() > 0.01
    with torch.no_grad():
        expected = encoder.head(encoder.encode(batch, convert_to_tensor=True))
    torch.testing.assert_close(views.clean, expected, atol=1e-6, rtol=1e-5)


def test_the_clean_view_passes_gradients_to_the_encoder(trainer, batch):
    method = ImSimCSE()
    encode, encoder = trainer(method)
    method.views(encode, batch).clean.square().sum().backward()
    assert encoder.backbone.embeddings.word_embeddings.weight.grad.abs().max() > 0


def test_negatives_are_measured_between_clean_views_only(table, batch):
    """Other dropout noise in the views, of the same positives' similarity, leaves the off-dropout term."""
    method = ImSimCSE(weight=0)
    views = method.views(table(method), batch)
    loss = method.loss(views).floats()["off_dropout_info_nce"]
    turn = torch.linalg.qr(torch.randn(8, 8, generator=torch.Generator().manual_seed(3)))[0]
    views.anchor, views.positives = views.anchor @ turn, (views.positive @ turn,)
    assert method.loss(views).floats()["off_dropout_info_nce"] == pytest.approx(loss, rel=1e-5)
    views.clean = views.clean * torch.linspace(0.1, 3, 8)
    assert method.loss(views).floats()["off_dropout_info_nce"] != pytest.approx(loss, rel=1e-3)


def test_each_part_can_be_had_alone(table, batch):
    terms = {}
    for name, options in {"off": {"weight": 0}, "dimensions": {"off_dropout": False}, "both": {}}.items():
        method = ImSimCSE(**options)
        views = method.views(table(method), batch)
        assert (views.clean is None) == (name == "dimensions")  # no clean pass is made for nothing
        terms[name] = method.loss(views).floats()
    assert terms["off"].keys() == {"off_dropout_info_nce"}
    assert terms["dimensions"].keys() == {"info_nce", "dimension_contrastive"}
    assert terms["both"]["dimension_contrastive"] == pytest.approx(terms["dimensions"]["dimension_contrastive"])
    assert terms["both"]["off_dropout_info_nce"] == pytest.approx(terms["off"]["off_dropout_info_nce"])


def test_without_both_parts_it_is_refused():
    with pytest.raises(ValueError, match="is plain SimCSE: train simcse"):
        ImSimCSE(off_dropout=False, weight=0).prepare(make_encoder(layers=1))
