import pytest
import torch
from tiny import make_encoder

from cselab.losses import info_nce
from cselab.methods import SimCSE


def test_the_loss_is_info_nce_of_two_dropout_views(table, batch):
    method = SimCSE(temperature=0.2)
    encode = table(method)
    loss = method.loss(method.views(encode, batch))
    encode.replay()
    first, second = encode(batch), encode(batch)
    torch.testing.assert_close(loss.total, info_nce(first, second, 0.2).total)
    assert loss.floats().keys() == {"info_nce"}


def test_both_views_come_from_one_forward_pass_with_a_dropout_mask_each(trainer, forward_rows, batch):
    method = SimCSE()
    encode, encoder = trainer(method)
    passes = forward_rows(encoder)
    views = method.views(encode, batch)
    assert passes == [(2 * len(batch), True)]
    assert (views.anchor - views.positive).abs().max() > 0.01
    assert len(views.positives) == 1


def test_without_dropout_both_views_are_the_vectors_of_the_encoder_through_the_head(trainer, batch):
    method = SimCSE()
    encode, encoder = trainer(method, dropout=0)
    views = method.views(encode, batch)
    with torch.no_grad():
        expected = encoder.head(encoder.encode(batch, convert_to_tensor=True))
    torch.testing.assert_close(views.anchor, expected, atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(views.positive, expected, atol=1e-6, rtol=1e-5)


def test_further_views_are_further_positives_of_the_anchor(trainer, batch):
    method = SimCSE(num_views=3)
    encode, _ = trainer(method)
    v = method.views(encode, batch)
    assert len(v.positives) == 2
    expected = sum(info_nce(v.anchor, positive, 0.05).total for positive in v.positives)
    torch.testing.assert_close(method.loss(v).total, expected)


def test_symmetric_is_the_mean_of_both_directions(trainer, batch):
    method = SimCSE(symmetric=True)
    encode, _ = trainer(method)
    v = method.views(encode, batch)
    there, back = info_nce(v.anchor, v.positive, 0.05).total, info_nce(v.positive, v.anchor, 0.05).total
    assert abs(there - back) > 1e-4
    torch.testing.assert_close(method.loss(v).total, (there + back) / 2)


@pytest.mark.parametrize("options", [{"num_views": 1}, {"num_views": 3, "symmetric": True}])
def test_one_view_or_three_in_both_directions_are_refused(options):
    with pytest.raises(ValueError, match="num_views counts the anchor: at least 2, and 2 where symmetric is set"):
        SimCSE(**options).prepare(make_encoder(layers=1))
