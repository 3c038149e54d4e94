from math import exp, log

import pytest
import torch

from cselab.losses import nt_xent, sup_con


def test_it_agrees_with_loops(make_views, cosine):
    anchor, positive = make_views()
    labels = torch.tensor([7, -3, 7, 5, -3, 7])
    views, classes = [*anchor, *positive], [*labels.tolist()] * 2
    rows = []
    for i in range(12):
        others = [j for j in range(12) if j != i]
        below = sum(exp(cosine(views[i], views[a]) / 0.3) for a in others)
        together = [p for p in others if classes[p] == classes[i]]
        terms = [log(exp(cosine(views[i], views[p]) / 0.3) / below) for p in together]
        rows.append(-sum(terms) / len(terms))
    assert sup_con(anchor, positive, labels, 0.3).floats() == {"sup_con": pytest.approx(sum(rows) / 12)}


def test_with_every_sentence_a_class_of_its_own_it_is_nt_xent(make_views):
    views = make_views()
    torch.testing.assert_close(sup_con(*views, torch.arange(6), 0.05).total, nt_xent(*views, 0.05).total)
