from math import exp, log

import pytest
import torch
from torch.nn.functional import cosine_similarity

from cselab.methods import MixCSE


def e(x, y, kept=1.0):
    return exp(kept * float(cosine_similarity(x, y, dim=0)) / 0.5)


def by_hand(z1, z2, appended, share):
    """The loss sentence by sentence; row i of a mix is of sentences i and i + 1."""
    n, total = len(z1), 0.0
    mixes = [[share * z[i] + (1 - share) * z[(i + 1) % n] for i in range(n)] for z in (z1, z2)]
    for i in range(n):
        among = sum(e(z1[i], z2[j]) for j in range(n))
        for j in range(n):
            mostly_i = (j + 1) % n == i
            if appended == "own":
                among += e(z1[i], mixes[1][j]) if j == i else 0
            elif appended == "all":
                among += 0 if mostly_i else e(z1[i], mixes[1][j])
            else:
                among += e(z1[i], mixes[1][j], kept=0 if mostly_i else 1)
                among += e(mixes[0][i], z2[j], kept=0 if j == (i + 1) % n else 1)
        total -= log(e(z1[i], z2[i]) / among) / n
    return total


@pytest.mark.parametrize("appended", ["own", "all", "both_ways"])
def test_the_mixed_vectors_are_further_negatives(appended, table, batch):
    method = MixCSE(temperature=0.5, share=0.3, appended=appended)
    v = method.views(table(method), batch)
    z1, z2 = v.anchor.detach().double(), v.positive.detach().double()
    assert method.loss(v).total.item() == pytest.approx(by_hand(z1, z2, appended, 0.3), rel=1e-5)


def test_no_gradient_flows_through_a_mix():
    method = MixCSE()
    z = torch.randn(4, 3, requires_grad=True)
    assert not method.mixed(z).requires_grad
