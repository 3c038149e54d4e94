"""Nested widths and the spread-out regulariser, against sentence-transformers' own."""

import pytest
import torch
from sentence_transformers.sentence_transformer.losses import (
    GlobalOrthogonalRegularizationLoss,
    MatryoshkaLoss,
    MultipleNegativesRankingLoss,
)
from torch import nn

from cselab.losses import info_nce, matryoshka_info_nce, spread_out


class Given(nn.Module):
    """Stands in for a SentenceTransformer: its sentences are their vectors."""

    def forward(self, features):
        return {"sentence_embedding": features["vectors"]}

    def get_embedding_dimension(self):
        return 16


def test_it_is_the_matryoshka_loss_of_sentence_transformers(make_views):
    views = [view.float().requires_grad_() for view in make_views(2, rows=8, width=16)]
    model = Given()
    inner = MultipleNegativesRankingLoss(model, scale=20.0)
    theirs = MatryoshkaLoss(model, inner, matryoshka_dims=[16, 8, 3])
    expected = theirs([{"vectors": view} for view in views], None)
    ours = matryoshka_info_nce(*views, temperature=1 / 20, widths=(16, 8, 3)).total
    assert ours.item() == pytest.approx(expected.item(), abs=1e-6)
    slopes = zip(torch.autograd.grad(ours, views), torch.autograd.grad(expected, views), strict=True)
    assert all(torch.allclose(own, other, atol=1e-6) for own, other in slopes)


def test_further_negatives_are_cut_with_the_views(make_views):
    anchor, positive, more = make_views(3)
    found = matryoshka_info_nce(anchor, positive, 0.2, (5, 2), negatives=more[:, None]).floats()
    assert found == {
        f"info_nce_{w}": info_nce(anchor[:, :w], positive[:, :w], 0.2, more[:, None, :w]).total.item() for w in (5, 2)
    }


@pytest.mark.parametrize("mean_weight", [0.0, 1.0])
def test_it_is_the_global_orthogonal_regulariser(make_views, mean_weight):
    """It is the global orthogonal regulariser of sentence transformers."""
    views = [view.float().requires_grad_() for view in make_views(2, rows=8, width=16)]
    theirs = GlobalOrthogonalRegularizationLoss(Given(), mean_weight=mean_weight, aggregation="sum")
    expected = sum(theirs([{"vectors": view} for view in views]).values())
    ours = sum(spread_out(view, mean_weight) for view in views).total
    assert ours.item() == pytest.approx(expected.item(), abs=1e-6)
    slopes = zip(torch.autograd.grad(ours, views), torch.autograd.grad(expected, views), strict=True)
    assert all(torch.allclose(own, other, atol=1e-6) for own, other in slopes)
