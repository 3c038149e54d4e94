import pytest
import torch

from cselab.methods import Contrastive, Views


def test_negatives_are_appended_and_weights_fall():
    """Negatives are appended and weights fall on their own cells."""
    plus, minus = torch.ones(1, 3), -torch.ones(2, 3)
    views = Views(torch.randn(4, 3), torch.randn(4, 3)).with_negatives(plus)
    assert views.log_weights is None
    views = views.with_pair_weights(torch.eye(4)).with_negatives(minus)
    assert torch.equal(views.negatives, torch.cat([plus, minus]))
    assert torch.equal(views.log_weights, torch.cat([torch.eye(4), torch.zeros(4, 3)], dim=1))


def test_negatives_of_all_and_of_each_anchors_own_go_together():
    """Negatives of all and of each anchors own go together in their order."""
    one, two, own = torch.randn(4, 3), torch.randn(4, 3), torch.randn(4, 2, 3)
    log_weights = torch.full((4, 2), -1.0)
    views = (
        Views(one, two)
        .with_negatives(torch.ones(1, 3))
        .with_negatives(own, log_weights)
        .with_negatives(torch.zeros(1, 3))
    )
    assert views.negatives.shape == (4, 4, 3)
    assert torch.equal(views.negatives[:, 1:3], own)
    assert (views.negatives[:, 0] == 1).all() and (views.negatives[:, 3] == 0).all()
    assert views.log_weights.sum(0).tolist() == [0.0] * 5 + [-4.0] * 2 + [0.0]
    assert views.with_pair_weights(torch.ones(4, 4)).log_weights.sum(0).tolist() == [4.0] * 4 + [0.0] + [-4.0] * 2 + [
        0.0
    ]


def test_a_column_is_asked_for_by_name():
    method = Contrastive()
    assert method.column(["a", "b"], "sentence") == ["a", "b"]
    method.columns = ("sentence", "entity")
    assert method.column([("a", "x"), ("b", "y")], "entity") == ["x", "y"]
    with pytest.raises(ValueError):
        method.column([("a", "x")], "scene")
