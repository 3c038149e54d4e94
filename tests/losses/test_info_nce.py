from math import exp, log

import pytest
import torch

from cselab.losses import decoupled_info_nce, info_nce, off_dropout_info_nce


def test_info_nce_agrees_with_loops(make_views, cosine):
    anchor, positive = make_views()
    rows = []
    for i in range(6):
        similarities = [cosine(anchor[i], positive[j]) / 0.3 for j in range(6)]
        rows.append(-log(exp(similarities[i]) / sum(exp(s) for s in similarities)))
    assert info_nce(anchor, positive, 0.3).floats() == {"info_nce": pytest.approx(sum(rows) / 6, abs=1e-10)}


@pytest.mark.parametrize("m_on", ["negatives", "positive"])
def test_decoupled_info_nce_agrees_with_loops(make_views, cosine, m_on):
    p1, p2, n1, n2 = make_views(4)
    m, rows = 0.7, []
    for i in range(6):
        positive = cosine(p1[i], p2[i]) / 0.3
        negatives = sum(exp(cosine(n1[i], n2[j]) / 0.3) for j in range(6) if j != i)
        if m_on == "negatives":
            rows.append(-log(exp(positive) / (exp(positive) + m * negatives)))
        else:
            rows.append(-log(exp(m * positive) / (exp(m * positive) + negatives)))
    loss = decoupled_info_nce((p1, p2), (n1, n2), 0.3, m, m_on)
    assert loss.floats() == {"decoupled_info_nce": pytest.approx(sum(rows) / 6, abs=1e-10)}


def test_orthogonal_sentences_with_equal_views_have_a_closed_form():
    views = torch.eye(5, 8, dtype=torch.float64)
    assert info_nce(views, views, 0.5).total.item() == pytest.approx(log(1 + 4 * exp(-2)))
    off = off_dropout_info_nce(views, views, views, 0.5, m=0.9)
    assert off.floats() == {"off_dropout_info_nce": pytest.approx(log(1 + 0.9 * 4 * exp(-2)))}
    off = off_dropout_info_nce(views, views, views, 0.5, m=0.9, m_on="positive")
    assert off.total.item() == pytest.approx(log(1 + 4 * exp(-0.9 * 2)))


def test_sentences_that_are_all_the_same_cost_log_n():
    views = torch.ones(7, 3)
    assert info_nce(views, views, 0.05).total.item() == pytest.approx(log(7))


def test_info_nce_reaches_its_upper_end_when_positives_are_opposite_and_negatives_the_same():
    anchor = torch.tensor([[1.0, 0.0], [-1.0, 0.0]])
    assert info_nce(anchor, -anchor, 0.5).total.item() == pytest.approx(log(1 + exp(2 / 0.5)))


def test_with_both_pairs_the_same_the_decoupled_loss_is_info_nce(make_views):
    anchor, positive = make_views()
    both = decoupled_info_nce((anchor, positive), (anchor, positive), 0.05)
    torch.testing.assert_close(both.total, info_nce(anchor, positive, 0.05).total, rtol=0, atol=1e-12)


def test_off_dropout_takes_both_sides_of_a_negative_from_the_clean_view(make_views):
    view1, view2, clean = make_views(3)
    for m_on in ("negatives", "positive"):
        off = off_dropout_info_nce(view1, view2, clean, 0.1, 0.9, m_on)
        assert off.total == decoupled_info_nce((view1, view2), (clean, clean), 0.1, 0.9, m_on).total


def test_m_of_one_is_the_same_in_both_places_and_other_values_are_not(make_views):
    view1, view2, clean = make_views(3)
    ones = [off_dropout_info_nce(view1, view2, clean, 0.05, 1.0, on).total for on in ("negatives", "positive")]
    assert ones[0] == ones[1]
    halves = [off_dropout_info_nce(view1, view2, clean, 0.05, 0.5, on).total for on in ("negatives", "positive")]
    assert halves[0] < ones[0] < halves[1]  # fewer negatives; a weaker positive


def test_only_own_pairs_count_among_positives(make_views):
    p1, p2, n1, n2 = make_views(4)
    turns = torch.linalg.qr(torch.randn(6, 5, 5, generator=torch.Generator().manual_seed(1)).double())[0]
    turned1, turned2 = (torch.einsum("nd,nde->ne", p, turns) for p in (p1, p2))  # each sentence its own rotation
    before, after = (decoupled_info_nce(pair, (n1, n2), 0.1).total for pair in ((p1, p2), (turned1, turned2)))
    torch.testing.assert_close(after, before)


def test_only_other_pairs_count_among_negatives(make_views):
    p1, p2, n1, n2 = make_views(4)
    n1.requires_grad_()
    changed2 = n2.clone()
    changed2[0] += 1.0  # a negative for every row but row 0
    before, after = (
        torch.autograd.grad(decoupled_info_nce((p1, p2), (n1, view), 0.1).total, n1)[0] for view in (n2, changed2)
    )
    torch.testing.assert_close(after[0], before[0])
    assert all(not torch.allclose(after[i], before[i]) for i in range(1, 6))


def test_the_gradient_of_off_dropout_reaches_all_three_views(make_views):
    views = [view.requires_grad_() for view in make_views(3)]
    gradients = torch.autograd.grad(off_dropout_info_nce(*views, 0.1, 0.9).total, views)
    assert all(gradient.norm() > 1e-3 for gradient in gradients)
