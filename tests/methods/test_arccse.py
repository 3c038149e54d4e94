"""ArcCSE: an angle to spare, and the order of two masked copies."""

from math import pi

import pytest
import torch
from tiny import make_encoder, make_sentences

from cselab.losses import arc_con
from cselab.methods import ArcCSE, Views

BATCH = make_sentences(8)


def test_four_views_two_of_them_masked_one_more_than_the_other(spied):
    method = ArcCSE()
    encode, encoder = spied(method)
    views = method.views(encode, BATCH)
    plain, again, less, more = encode.calls[0][0]
    assert plain is again
    mask = encoder.tokenizer.mask_token_id
    counts = [(view["input_ids"] == mask).sum(1) for view in (plain, less, more)]
    assert (counts[0] == 0).all() and (counts[1] >= 1).all() and (counts[1] <= counts[2]).all()
    assert (counts[1] < counts[2]).any()
    loss = method.loss(views)
    pairs = arc_con(views.anchor, views.positive, 0.05, 10 * pi / 180)
    assert loss.terms["arc_con"] == pairs.total


def test_the_triplet_wants_the_less_masked_copy_nearer():
    anchor = torch.eye(4)
    near = anchor + 0.1
    method = ArcCSE(weight=2.0, triplet_margin=0.0)
    right = method.loss(Views(anchor, anchor, near=near, far=-anchor)).terms["triplet"]
    wrong = method.loss(Views(anchor, anchor, near=-anchor, far=near)).terms["triplet"]
    cosine = torch.cosine_similarity(anchor, near)[0]
    assert right == 0
    torch.testing.assert_close(wrong, 2 * (cosine + 1))


def test_less_must_be_less_than_more():
    with pytest.raises(ValueError, match=r"got less=0\.4 and more=0\.4"):
        ArcCSE(less=0.4).prepare(make_encoder(layers=1))
