from math import acos, cos, exp, log, pi, sin

import pytest
import torch
from torch.testing import assert_close

from cselab.losses import arc_con, info_nce


def test_arc_con_agrees_with_loops(make_views, cosine):
    view1, view2 = make_views()
    temperature, margin, rows = 0.3, 0.4, []
    for i in range(6):
        positive = exp(cos(acos(cosine(view1[i], view2[i])) + margin) / temperature)
        negatives = sum(exp(cosine(view1[i], view2[j]) / temperature) for j in range(6) if j != i)
        rows.append(-log(positive / (positive + negatives)))
    loss = arc_con(view1, view2, temperature, margin)
    assert loss.floats() == {"arc_con": pytest.approx(sum(rows) / 6, abs=1e-10)}


def test_without_a_margin_it_is_info_nce(make_views):
    view1, view2 = (view.requires_grad_() for view in make_views())
    arc, plain = arc_con(view1, view2, 0.05, 0.0).total, info_nce(view1, view2, 0.05).total
    assert_close(arc, plain, rtol=0, atol=1e-12)
    gradients = [torch.autograd.grad(loss, (view1, view2)) for loss in (arc, plain)]
    assert_close(*gradients, rtol=0, atol=1e-12)


@pytest.mark.parametrize("sign", [1, -1])
def test_at_cosines_of_plus_and_minus_one_all_is_finite(sign):
    """At cosines of one and minus one value and gradient are finite."""
    view1 = torch.eye(3).requires_grad_()
    view2 = (sign * torch.eye(3)).requires_grad_()
    loss = arc_con(view1, view2, 0.5, 0.2).total
    assert loss.item() == pytest.approx(log(1 + 2 * exp(-sign * cos(0.2) / 0.5)), rel=1e-5)
    assert all(gradient.isfinite().all() for gradient in torch.autograd.grad(loss, (view1, view2)))


def test_close_to_a_cosine_of_one_the_gradient_keeps_its_size():
    """However small the angle, it grows by one radian a unit of arc; through arccos this would blow up."""
    view1, margin = torch.eye(3), 0.5
    for angle in (1e-2, 1e-4, 1e-6):
        view2 = torch.eye(3) * cos(angle) + torch.eye(3).roll(1, 0) * sin(angle)  # row 0 leans to sentence 2
        view2.requires_grad_()
        gradient = torch.autograd.grad(arc_con(view1, view2, 1.0, margin).total, view2)[0]
        normaliser = exp(cos(angle + margin)) + 2
        away_from_own = 2 / normaliser * sin(angle + margin)
        towards_another = 1 / normaliser
        assert gradient[0, 2].item() == pytest.approx((away_from_own + towards_another) / 3, rel=2e-2)


@pytest.mark.parametrize("angle, direction", [(pi - 0.5 - 0.1, -1), (pi - 0.5 + 0.1, 1)])
def test_past_pi_minus_the_margin_positives_are_pushed_apart(angle, direction):
    angle = torch.tensor(angle, dtype=torch.float64, requires_grad=True)
    zero = torch.zeros_like(angle)
    view1 = torch.eye(2, 3, dtype=torch.float64)
    turned = torch.stack([torch.stack([angle.cos(), zero, angle.sin()]), torch.stack([zero, angle.cos(), angle.sin()])])
    by_angle = torch.autograd.grad(arc_con(view1, turned, 1.0, 0.5).total, angle)[0]
    assert -by_angle.sign() == direction
