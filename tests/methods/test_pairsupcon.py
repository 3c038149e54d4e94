from math import exp, log

import pytest
import torch
from tiny import make_rows
from torch.nn.functional import cosine_similarity

from cselab.losses import nt_xent
from cselab.methods import PairSupCon, Views


def test_each_negative_weighs_as_its_own_exponential(trainer):
    method = PairSupCon(temperature=0.5)
    encode, _ = trainer(method, dropout=0)
    v = method.views(encode, make_rows(method.columns, 6))

    def e(x, y):
        return exp(float(cosine_similarity(x, y, dim=0)) / 0.5)

    total, views = 0.0, (v.anchor.detach().double(), v.positive.detach().double())
    for one, two in (views, views[::-1]):
        for i in range(6):
            others = [e(one[i], z[j]) for z in (one, two) for j in range(6) if j != i]
            weighed = sum(other * other for other in others) / (sum(others) / len(others))
            total -= log(e(one[i], two[i]) / (e(one[i], two[i]) + weighed)) / 12
    assert method.loss(v).floats()["importance_info_nce"] == pytest.approx(total, rel=1e-5)


def test_where_all_negatives_are_alike_no_weight_differs_from_one():
    method, z = PairSupCon(temperature=0.5), torch.eye(5)
    assert method.importance(z, z)[~torch.eye(5, 10).bool() & ~torch.eye(5, 10).bool().roll(5, 1)].abs().max() < 1e-6
    method.classifier = torch.nn.Linear(15, 2)

    v = Views(z, z, pairs=torch.zeros(10, 15))
    assert method.loss(v).terms["importance_info_nce"] == pytest.approx(float(nt_xent(z, z, 0.5).total))


@pytest.mark.slow
def test_the_classifier_learns_what_follows_and_what_contradicts(trainer):
    method = PairSupCon()
    encode, encoder = trainer(method, dropout=0)
    rows = make_rows(method.columns, 12)
    optimizer = torch.optim.Adam([*encoder.parameters(), *method.parameters()], lr=0.01)
    for _ in range(150):
        optimizer.zero_grad()
        method.loss(method.views(encode, rows)).total.backward()
        optimizer.step()
    v = method.views(encode, rows)
    said = method.classifier(v.pairs).argmax(1)
    assert (said == torch.tensor([0] * 12 + [1] * 12)).float().mean() > 0.9


def test_the_classifier_sees_both_vectors_before_the_head_and_their_distance(trainer):
    method = PairSupCon()
    encode, _ = trainer(method, dropout=0)
    rows = make_rows(method.columns, 3)
    pairs = method.views(encode, rows).pairs
    u, follows, denied = (encode([row[place] for row in rows], head=False) for place in range(3))
    expected = [torch.cat([u, other, (u - other).abs()], dim=1) for other in (denied, follows)]
    torch.testing.assert_close(pairs, torch.cat(expected), atol=1e-6, rtol=1e-5)
