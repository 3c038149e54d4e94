from math import exp, log

import pytest
import torch
from tiny import make_rows
from torch.nn.functional import cosine_similarity

from cselab.methods import SupervisedSimCSE

COLUMNS = ("sentence", "entailment", "contradiction")


@pytest.mark.parametrize("weight", [0.0, 0.7])
def test_every_contradiction_is_a_negative_of_every_sentence_and_its_own_weighs_as_told(trainer, weight):
    method = SupervisedSimCSE(temperature=0.5, hard_negative_weight=weight)
    encode, _ = trainer(method, dropout=0)
    rows = make_rows(COLUMNS, 5)
    loss = method.loss(method.views(encode, rows)).total.item()
    with torch.no_grad():
        a, p, n = (encode([row[place] for row in rows]) for place in range(3))

    def e(x, y):
        return exp(float(cosine_similarity(x, y, dim=0)) / 0.5)

    expected = 0.0
    for i in range(5):
        hard = sum(e(a[i], n[j]) * (exp(weight) if i == j else 1) for j in range(5))
        expected -= log(e(a[i], p[i]) / (sum(e(a[i], p[j]) for j in range(5)) + hard)) / 5
    assert loss == pytest.approx(expected, rel=1e-4)


def test_the_vector_after_the_head_is_evaluated():
    assert SupervisedSimCSE().representation == "head"
