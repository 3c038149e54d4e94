import pytest
import torch

from cselab.losses import pair_margin, triplet


def test_pair_margin_agrees_with_loops(make_views):
    first, second = make_views()
    equal = torch.tensor([True, False, True, False, False, True])
    rows = []
    for i in range(6):
        distance = sum((a - b) ** 2 for a, b in zip(first[i].tolist(), second[i].tolist(), strict=True)) ** 0.5
        rows.append(distance**2 if equal[i] else max(0.0, 2.0 - distance) ** 2)
    assert pair_margin(first, second, equal, 2.0).floats() == {"pair_margin": pytest.approx(sum(rows) / 6)}


def test_different_pairs_beyond_the_margin_are_left_alone(make_views):
    first, second = (view.requires_grad_() for view in make_views())
    apart = torch.zeros(6, dtype=torch.bool)
    loss = pair_margin(first, second + 100, apart, 1.0).total
    assert loss == 0 and torch.autograd.grad(loss, first)[0].abs().max() == 0
    near = pair_margin(first, second, apart, 10.0).total
    stepped = first - 1e-3 * torch.autograd.grad(near, first)[0]
    assert ((stepped - second).norm(dim=1) > (first - second).norm(dim=1)).all()


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
    with pytest.raises(ValueError, match=r"equal has shape \[2\]; it must be \[3\]"):
        pair_margin(views, views, torch.ones(2).bool(), 1.0)
    with pytest.raises(ValueError, match="margin is 0"):
        pair_margin(views, views, torch.ones(3).bool(), 0)
    with pytest.raises(ValueError, match="margin is -1; it must be a number of at least 0"):
        triplet(views, views, views, -1)
    with pytest.raises(ValueError, match="distance is 'euclidean'; allowed are 'squared', 'cosine'"):
        triplet(views, views, views, 1, "euclidean")
