from math import exp, log

import pytest
import torch
from tiny import make_rows
from torch.nn.functional import cosine_similarity
from torch.testing import assert_close

from cselab.methods import PairSupCon


def test_each_negative_weighs_as_its_own_exponential(viewed):
    method = PairSupCon(temperature=0.5)
    v, *_ = viewed(method, make_rows(method.columns, 6))

    def e(x, y):
        return exp(float(cosine_similarity(x, y, dim=0)) / 0.5)

    total, views = 0.0, (v.anchor.detach().double(), v.positive.detach().double())
    for one, two in (views, views[::-1]):
        for i in range(6):
            others = [e(one[i], z[j]) for z in (one, two) for j in range(6) if j != i]
            weighed = sum(other * other for other in others) / (sum(others) / len(others))
            total -= log(e(one[i], two[i]) / (e(one[i], two[i]) + weighed)) / 12
    assert method.loss(v).floats()["importance_info_nce"] == pytest.approx(total, rel=1e-5)


def test_the_classifier_sees_both_vectors_before_the_head(trainer):
    """The classifier sees both vectors before the head and their distance."""
    method = PairSupCon()
    encode, _ = trainer(method, dropout=0)
    rows = make_rows(method.columns, 3)
    v = method.views(encode, rows)
    u, follows, denied = (encode([row[place] for row in rows], head=False) for place in range(3))
    expected = [torch.cat([u, other, (u - other).abs()], dim=1) for other in (denied, follows)]
    assert_close(v.pairs, torch.cat(expected), atol=1e-6, rtol=1e-5)
    guesses = method.classifier(v.pairs).log_softmax(1)
    relation = -(guesses[:3, 0].mean() + guesses[3:, 1].mean()) / 2
    assert_close(method.loss(v).terms["relation"], relation)
