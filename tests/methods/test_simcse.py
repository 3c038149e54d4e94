import pytest
import torch
from tiny import make_encoder

from cselab.methods import SimCSE


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


@pytest.mark.parametrize("options", [{"num_views": 1}, {"num_views": 3, "symmetric": True}])
def test_one_view_or_three_in_both_directions_are_refused(options):
    with pytest.raises(
        ValueError, match=r"num_views (of simcse is 1; expected .* from 2 to|counts the anchor: 2 where)"
    ):
        SimCSE(**options).prepare(make_encoder(layers=1))
