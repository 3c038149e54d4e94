"""ArcCSE: an angle to spare, and the order of two masked copies."""

from tiny import make_sentences
from torch.testing import assert_close

from cselab.methods import ArcCSE

BATCH = make_sentences(8)


def test_four_views_two_of_them_masked_one_more_than_the_other(viewed):
    method = ArcCSE()
    views, encode, encoder = viewed(method, BATCH)
    plain, _, less, more = encode.calls[0][0]
    mask = encoder.tokenizer.mask_token_id
    counts = [(view["input_ids"] == mask).sum(1) for view in (plain, less, more)]
    assert (counts[0] == 0).all() and (counts[1] >= 1).all() and (counts[1] <= counts[2]).all()
    assert (counts[1] < counts[2]).any()
    assert_close(views.near, encoder.head(encoder.pooled(less)))
    assert_close(views.far, encoder.head(encoder.pooled(more)))
