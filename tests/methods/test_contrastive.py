import pytest
import torch

from cselab.losses import focal_info_nce, info_nce
from cselab.methods import Contrastive, Focal, ImSimCSE, Views


class Marked(Contrastive):
    """Every anchor against two vectors of ones; a weight for the first."""

    name = title = "marked"

    def views(self, encode, batch):
        v = super().views(encode, batch)
        weights = torch.tensor([[0.5, 0.0]]).expand(len(v.anchor), 2)
        return v.with_negatives(torch.ones(2, v.anchor.shape[1]), weights)


class MarkedFocal(Marked, Focal):
    """Both."""

    name = title = "marked_focal"


class MarkedImSimCSE(Marked, ImSimCSE):
    """Both."""

    name = title = "marked_imsimcse"


def test_a_method_adds_to_what_the_next_returns(table, batch):
    method = MarkedFocal(m=0.2)
    encode = table(method)
    views = method.views(encode, batch)
    weights = torch.zeros(12, 14)
    weights[:, 12] = 0.5
    expected = focal_info_nce(views.anchor, views.positive, 0.07, 0.2, False, torch.ones(2, 8), weights)
    torch.testing.assert_close(method.loss(views).total, expected.total)
    assert method.temperature == 0.07 and list(method.hyperparameters())[:3] == ["temperature", "m", "detach"]


def test_off_dropout_measures_further_negatives_against_the_clean_view(table, batch):
    method = MarkedImSimCSE(weight=0)
    views = method.views(table(method), batch)
    before = method.loss(views).total
    views.clean = views.clean.flip(0)
    views.log_weights = None
    assert method.loss(views).total != before


def test_negatives_are_appended_and_weights_fall_on_their_own_cells():
    one, two = torch.randn(4, 3), torch.randn(4, 3)
    views = (
        Views(one, two)
        .with_negatives(torch.ones(1, 3))
        .with_pair_weights(torch.eye(4))
        .with_negatives(-torch.ones(2, 3))
    )
    assert views.negatives.tolist() == [[1.0] * 3, [-1.0] * 3, [-1.0] * 3]
    assert torch.equal(views.log_weights, torch.cat([torch.eye(4), torch.zeros(4, 3)], dim=1))
    late = Views(one, two).with_negatives(torch.ones(1, 3)).with_negatives(torch.ones(2, 3), torch.full((4, 2), 2.0))
    assert late.log_weights.sum(0).tolist() == [0.0] * 5 + [8.0] * 2
    assert Views(one, two).with_negatives(torch.ones(1, 3)).log_weights is None


def test_negatives_of_all_and_of_each_anchors_own_go_together_in_their_order():
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


def test_with_nothing_added_it_is_simcse(table, batch):
    method = Contrastive(temperature=0.2)
    encode = table(method)
    loss = method.loss(method.views(encode, batch))
    encode.replay()
    assert loss.total == info_nce(encode(batch), encode(batch), 0.2).total


def test_a_column_is_asked_for_by_name():
    method = Contrastive()
    assert method.column(["a", "b"], "sentence") == ["a", "b"]
    method.columns = ("sentence", "entity")
    assert method.column([("a", "x"), ("b", "y")], "entity") == ["x", "y"]
    with pytest.raises(ValueError):
        method.column([("a", "x")], "scene")
