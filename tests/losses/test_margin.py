import pytest
import torch

from cselab.losses import triplet


@pytest.mark.parametrize("distance", ["squared", "cosine"])
def test_triplet_agrees_with_loops(make_views, cosine, distance):
    anchor, positive, negative = make_views(3)

    def apart(u, v):
        return 1 - cosine(u, v) if distance == "cosine" else float((u - v).square().sum())

    rows = [max(0.0, apart(anchor[i], positive[i]) - apart(anchor[i], negative[i]) + 0.3) for i in range(6)]
    found = triplet(anchor, positive, negative, 0.3, distance).floats()
    assert found == {"triplet": pytest.approx(sum(rows) / 6)} and 0 in rows and max(rows) > 0


def test_a_triplet_in_order_costs_nothing():
    anchor = torch.eye(3)
    assert triplet(anchor, anchor, -anchor, 1.9, "cosine").total == 0
    assert triplet(anchor, anchor, -anchor, 4.0).total == 0
    assert triplet(anchor, -anchor, anchor, 1.0).total == 5.0


def test_what_does_not_fit_is_refused(unchecked_annotations):
    views = torch.eye(3)
    with pytest.raises(ValueError, match="margin is -1; it must be a number of at least 0"):
        triplet(views, views, views, -1)
    with pytest.raises(ValueError, match="distance is 'euclidean'; allowed are 'squared', 'cosine'"):
        triplet(views, views, views, 1, "euclidean")
