import torch
from torch.testing import assert_close

from cselab.methods import SimCSE


def test_both_views_come_from_one_forward_pass(trainer, forward_rows, batch):
    """Both views come from one forward pass with a dropout mask each."""
    method = SimCSE()
    encode, encoder = trainer(method)
    passes = forward_rows(encoder)
    views = method.views(encode, batch)
    assert passes == [(2 * len(batch), True)]
    assert (views.anchor - views.positive).abs().max() > 0.01
    assert len(views.positives) == 1


def test_without_dropout_both_views_are_the_vectors(viewed, batch):
    """Without dropout both views are the vectors of the encoder through the head."""
    method = SimCSE()
    views, _, encoder = viewed(method, batch)
    with torch.no_grad():
        expected = encoder.head(encoder.encode(batch, convert_to_tensor=True))
    assert_close(views.anchor, expected, atol=1e-6, rtol=1e-5)
    assert_close(views.positive, expected, atol=1e-6, rtol=1e-5)
