import pytest
import torch

from cselab.losses import triplet


def test_triplet_agrees_with_loops(make_views, cosine):
    anchor, positive, negative = make_views(3)
    triplets = zip(anchor, positive, negative, strict=True)
    rows = [max(0.0, cosine(a, n) - cosine(a, p) + 0.3) for a, p, n in triplets]
    found = triplet(anchor, positive, negative, 0.3).floats()
    assert found == {"triplet": pytest.approx(sum(rows) / 6)} and 0 in rows and max(rows) > 0


def test_a_triplet_in_order_costs_nothing():
    anchor = torch.eye(3)
    assert triplet(anchor, anchor, -anchor, 1.9).total == 0
    assert triplet(anchor, -anchor, anchor, 1.0).total == 3.0
