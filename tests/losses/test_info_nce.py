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


def test_off_dropout_takes_both_sides_of_a_negative_from_the_clean_view(make_views):
    view1, view2, clean = make_views(3)
    for m_on in ("negatives", "positive"):
        off = off_dropout_info_nce(view1, view2, clean, 0.1, 0.9, m_on)
        assert off.total == decoupled_info_nce((view1, view2), (clean, clean), 0.1, 0.9, m_on).total
