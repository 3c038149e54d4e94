from math import exp, log

import pytest
import torch

from cselab.losses import info_nce, multi_positive_info_nce


@pytest.mark.parametrize("reduction", ["outside", "inside", "inside_printed"])
def test_multi_positive_info_nce_agrees_with_loops(make_views, cosine, reduction):
    anchor, *positives = make_views(4)
    weight, rows = 0.4, []
    for i in range(6):
        outside, inside, printed = 0.0, 0.0, 0.0
        for positive in positives:
            own = cosine(anchor[i], positive[i]) / 0.3
            denominator = sum(exp(cosine(anchor[i], positive[j]) / 0.3) for j in range(6))
            outside += -weight * log(exp(own) / denominator)
            inside += weight * exp(-own) * denominator
            printed += weight * exp(-own) / denominator
        rows.append({"outside": outside, "inside": log(inside), "inside_printed": -log(printed)}[reduction])
    loss = multi_positive_info_nce(anchor, positives, 0.3, reduction, weight)
    assert loss.floats() == {"multi_positive_info_nce": pytest.approx(sum(rows) / 6, abs=1e-10)}


@pytest.mark.parametrize("reduction", ["outside", "inside"])
def test_with_one_positive_it_is_info_nce(make_views, reduction):
    anchor, positive = make_views()
    loss = multi_positive_info_nce(anchor, [positive], 0.05, reduction)
    torch.testing.assert_close(loss.total, info_nce(anchor, positive, 0.05).total, rtol=0, atol=1e-12)


def test_outside_is_the_weighted_sum_of_each_positives_info_nce(make_views):
    anchor, *positives = make_views(4)
    expected = 0.5 * sum(info_nce(anchor, positive, 0.1).total for positive in positives)
    torch.testing.assert_close(multi_positive_info_nce(anchor, positives, 0.1, weight=0.5).total, expected)


def test_equal_positives_have_a_closed_form():
    views = torch.eye(4, dtype=torch.float64)
    single = log(1 + 3 * exp(-1))
    expected = {"outside": 3 * single, "inside": log(3) + single, "inside_printed": 2 + single - log(3)}
    for reduction, value in expected.items():
        loss = multi_positive_info_nce(views, [views] * 3, 1.0, reduction)
        assert loss.total.item() == pytest.approx(value), reduction


def test_the_order_of_positives_does_not_matter(make_views):
    anchor, *positives = make_views(4)
    for reduction in ("outside", "inside", "inside_printed"):
        forwards = multi_positive_info_nce(anchor, positives, 0.1, reduction).total
        backwards = multi_positive_info_nce(anchor, positives[::-1], 0.1, reduction).total
        torch.testing.assert_close(forwards, backwards)


def test_inside_gives_most_of_the_gradient_to_the_least_similar_positive(make_views):
    anchor, near = make_views(noise=0.1)
    far = make_views(count=1, noise=1.0, seed=0)[0]
    shares = {}
    for reduction in ("outside", "inside"):
        positives = [near.clone().requires_grad_(), far.clone().requires_grad_()]
        loss = multi_positive_info_nce(anchor, positives, 0.1, reduction).total
        gradients = torch.autograd.grad(loss, positives)
        norms = [
            (gradient * view.norm(dim=1, keepdim=True)).norm()
            for gradient, view in zip(gradients, positives, strict=True)
        ]
        shares[reduction] = (norms[1] / (norms[0] + norms[1])).item()
    assert shares["inside"] > shares["outside"] > 0.5


def test_inside_the_logarithm_the_weight_is_a_constant_without_gradient(make_views):
    anchor, *positives = make_views(3)
    anchor.requires_grad_()
    for reduction, sign in (("inside", 1), ("inside_printed", -1)):
        one = multi_positive_info_nce(anchor, positives, 0.1, reduction).total
        half = multi_positive_info_nce(anchor, positives, 0.1, reduction, weight=0.5).total
        assert (half - one).item() == pytest.approx(sign * log(0.5))
        torch.testing.assert_close(torch.autograd.grad(half, anchor), torch.autograd.grad(one, anchor))


def test_eq_8_as_printed_repels_positives(make_views):
    anchor, *positives = make_views(3)
    before = torch.nn.functional.cosine_similarity(anchor, positives[0]).mean()
    anchor.requires_grad_()
    loss = multi_positive_info_nce(anchor, positives, 0.1, "inside_printed").total
    stepped = anchor - 1e-2 * torch.autograd.grad(loss, anchor)[0]
    after = torch.nn.functional.cosine_similarity(stepped, positives[0]).mean()
    assert after < before - 1e-6


def test_no_positives_are_refused(make_views):
    with pytest.raises(ValueError, match="positives is empty"):
        multi_positive_info_nce(make_views()[0], [], 0.05)
