import torch
from tiny import make_sentences

from cselab.losses import dimension_contrastive
from cselab.methods import DimensionWise, ImSimCSE, Views

BATCH = make_sentences(8)


def test_it_is_imsimcse_without_its_info_nce(spied):
    method = DimensionWise(dimension_temperature=5.0)
    encode, _ = spied(method)
    v = method.views(encode, BATCH)
    assert encode.calls == [((BATCH, BATCH), {})]
    both = ImSimCSE(off_dropout=False, weight=1.0).loss(v).terms
    assert method.loss(v).terms.keys() == {"dimension_contrastive"}
    torch.testing.assert_close(method.loss(v).total, both["dimension_contrastive"])


def test_the_paper_sums_and_the_default_takes_the_mean():
    pair = torch.randn(2, 9, 4, generator=torch.Generator().manual_seed(0))
    for variant, reduction in (("default", "mean"), ("paper", "sum")):
        found = DimensionWise(variant=variant).loss(Views(*pair)).total
        torch.testing.assert_close(found, dimension_contrastive(*pair, 0.05, reduction).total)


def test_copies_of_one_sentence_cost_nothing_more_than_other_sentences_of_the_same_spread():
    """Rows are only seen through their dimensions: turning all signs of some rows changes nothing."""
    one, other = torch.randn(2, 6, 4, generator=torch.Generator().manual_seed(0))
    one, other = torch.cat([one, -one]), torch.cat([other, -other])  # each dimension has mean 0
    signs = torch.tensor([1, -1] * 3).repeat(2)[:, None]
    loss = DimensionWise().loss
    torch.testing.assert_close(loss(Views(one, other)).total, loss(Views(signs * one, signs * other)).total)
