import torch

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
