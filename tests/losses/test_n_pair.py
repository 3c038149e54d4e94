from math import exp, log

import pytest
import torch
from torch.nn.functional import normalize

from cselab.losses import info_nce, n_pair


def test_n_pair_agrees_with_loops(make_views):
    anchor, positive = make_views()
    dots = (anchor @ positive.T).tolist()
    rows = [-log(exp(dots[i][i]) / sum(exp(dot) for dot in dots[i])) for i in range(6)]
    assert n_pair(anchor, positive).floats() == {"n_pair": pytest.approx(sum(rows) / 6)}


def test_of_unit_vectors_it_is_info_nce_and_longer_ones_lower_it(make_views):
    one, two = make_views(noise=0.2)
    unit = normalize(one, dim=1), normalize(two, dim=1)
    torch.testing.assert_close(n_pair(*unit).total, info_nce(one, two, 1.0).total)
    root = 0.05**0.5
    torch.testing.assert_close(n_pair(unit[0] / root, unit[1] / root).total, info_nce(one, two, 0.05).total)
    assert n_pair(10 * unit[0], 10 * unit[1]).total < n_pair(*unit).total < log(6)
    assert torch.isfinite(n_pair(1e3 * one, 1e3 * two).total)
