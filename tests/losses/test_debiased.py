from math import exp, log

import pytest
import torch

from cselab.losses import debiased_info_nce


@pytest.mark.parametrize(("temperature", "prior"), [(0.5, 0.1), (0.5, 0.6), (0.05, 0.01)])
def test_it_agrees_with_loops(make_views, cosine, temperature, prior):
    anchor, positive = make_views()
    rows, floors = [], 0
    for i in range(6):
        own = exp(cosine(anchor[i], positive[i]) / temperature)
        others = sum(exp(cosine(anchor[i], positive[j]) / temperature) for j in range(6) if j != i)
        left, least = (others - 5 * prior * own) / (1 - prior), 5 * exp(-1 / temperature)
        rows.append(-log(own / (own + max(left, least))))
        floors += left < least
    found = debiased_info_nce(anchor, positive, temperature, prior).floats()
    assert found == {"debiased_info_nce": pytest.approx(sum(rows) / 6)}
    assert 0 < floors < 6 or prior < 0.5


def test_it_is_finite_at_low_temperatures_in_single_precision(make_views):
    one, two = (view.float().requires_grad_() for view in make_views())
    for pair in ((one, two), (one, -one), (one, one)):
        loss = debiased_info_nce(*pair, 0.02, 0.1).total
        assert loss.isfinite() and torch.autograd.grad(loss, one, retain_graph=True)[0].isfinite().all()


@pytest.mark.parametrize("prior", [-0.1, 1.0, float("nan")])
def test_a_prior_that_is_no_share_is_refused(prior):
    with pytest.raises(ValueError, match=r"prior is .*; it is a probability of at least 0, below 1"):
        debiased_info_nce(torch.eye(3), torch.eye(3), 0.05, prior)
