"""ArcCSE: an angle to spare, and the order of two masked copies."""

import pytest
import torch
from tiny import make_encoder, make_sentences

from cselab.methods import ArcCSE

BATCH = make_sentences(8)


def test_four_views_two_of_them_masked_one_more_than_the_other(spied):
    method = ArcCSE()
    encode, encoder = spied(method, dropout=0.0)
    views = method.views(encode, BATCH)
    plain, _, less, more = encode.calls[0][0]
    mask = encoder.tokenizer.mask_token_id
    counts = [(view["input_ids"] == mask).sum(1) for view in (plain, less, more)]
    assert (counts[0] == 0).all() and (counts[1] >= 1).all() and (counts[1] <= counts[2]).all()
    assert (counts[1] < counts[2]).any()
    torch.testing.assert_close(views.near, encoder.head(encoder.pooled(less)))
    torch.testing.assert_close(views.far, encoder.head(encoder.pooled(more)))


def test_less_must_be_less_than_more():
    with pytest.raises(ValueError, match=r"got less=0\.4 and more=0\.4"):
        ArcCSE(less=0.4).prepare(make_encoder(layers=1))
