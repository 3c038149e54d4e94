"""Matryoshka and the spread-out regulariser as methods: what is contrasted is what is kept."""

import pytest

from cselab.losses import info_nce, spread_out
from cselab.methods import Matryoshka, Spread


def test_the_width_is_halved_as_often_as_is_said_and_not_below_two(table, batch):
    method = Matryoshka(temperature=0.2, halvings=4)
    views = method.views(table(method), batch)
    terms = method.loss(views).floats()
    assert terms == {
        f"info_nce_{w}": pytest.approx(info_nce(views.anchor[:, :w], views.positive[:, :w], 0.2).total.item())
        for w in (8, 4, 2)
    }
    assert list(Matryoshka(halvings=1).loss(views).terms) == ["info_nce_8", "info_nce_4"]


@pytest.mark.parametrize(("variant", "mean_weight"), [("default", 0.0), ("descriptors", 1.0)])
def test_both_views_are_spread(table, batch, variant, mean_weight):
    method = Spread(variant=variant, temperature=0.2, weight=0.5)
    views = method.views(table(method), batch)
    both = [spread_out(view, mean_weight).total.item() for view in (views.anchor, views.positive)]
    expected = info_nce(views.anchor, views.positive, 0.2).total.item() + 0.5 * sum(both)
    assert method.loss(views).total.item() == pytest.approx(expected, rel=1e-6)
