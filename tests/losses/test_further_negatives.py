"""Columns beyond the batch, and a weight for each cell: what queues, mined negatives and masks are made of."""

from math import exp, inf, log

import pytest
import torch
from tiny import seeded
from torch.testing import assert_close

from cselab.losses import decoupled_info_nce, focal_info_nce, info_nce, off_dropout_info_nce

T, M = 0.3, 0.8


def focal(anchor, positive, clean, *further):
    return focal_info_nce(anchor, positive, T, M, False, *further)


def decoupled(anchor, positive, clean, *further):
    return decoupled_info_nce((anchor, positive), (positive, clean), T, M, "negatives", *further)


def decoupled_positive(anchor, positive, clean, *further):
    return decoupled_info_nce((anchor, positive), (positive, clean), T, M, "positive", *further)


def off_dropout(anchor, positive, clean, *further):
    return off_dropout_info_nce(anchor, positive, clean, T, M, "negatives", *further)


def plain(anchor, positive, clean, *further):
    return info_nce(anchor, positive, T, *further)


def same(s):
    return s


POSITIVE = {
    focal: lambda s: s * s,
    decoupled: same,
    off_dropout: same,
    plain: same,
    decoupled_positive: lambda s: M * s,
}
NEGATIVE = dict.fromkeys(POSITIVE, same) | {focal: lambda s: s * (s + M)}

every_loss = pytest.mark.parametrize("loss", POSITIVE, ids=lambda loss: loss.__name__)


@every_loss
def test_a_cell_counts_exp_of_its_log_weight_times(loss, make_views, cosine):
    anchor, positive, clean, more = make_views(4)
    more = more[:4]
    weights = torch.randn(6, 10, generator=seeded(5)).double()
    apart = {off_dropout: (clean, clean)} | dict.fromkeys([decoupled, decoupled_positive], (positive, clean))
    left, right = apart.get(loss, (anchor, positive))
    share = M if loss in (decoupled, off_dropout) else 1.0
    rows = []
    for i in range(6):
        own = exp(POSITIVE[loss](cosine(anchor[i], positive[i])) / T + weights[i, i])
        others = sum(
            share * exp(NEGATIVE[loss](cosine(left[i], column)) / T + weights[i, j])
            for j, column in enumerate([*right, *more])
            if j != i
        )
        rows.append(-log(own / (own + others)))
    assert loss(anchor, positive, clean, more, weights).total.item() == pytest.approx(sum(rows) / 6, abs=1e-10)


@every_loss
def test_a_weight_of_minus_infinity_takes_a_negative(loss, make_views):
    """A weight of minus infinity takes a negative out for one anchor."""
    *views, more = make_views(4)
    mute = torch.zeros(6, 12).double()
    mute[:, 6:] = -inf
    without, muted = loss(*views), loss(*views, more, mute)
    assert_close(muted.total, without.total)
    mute[2, 7] = 0
    assert loss(*views, more, mute).total > without.total
    views[0].requires_grad_()
    loss(*views, more, mute).total.backward()
    assert views[0].grad.isfinite().all()


@every_loss
def test_negatives_of_an_anchors_own_are_no_negatives_of_others(loss, make_views):
    *views, more = make_views(4)
    own = torch.stack([more, more.roll(1, 0)], dim=1)  # [6, 2, 5]: two of each sentence
    own.requires_grad_()
    shared, muted = torch.cat([more, more.roll(1, 0)]), torch.full((6, 18), -inf).double()
    muted[:, :6] = 0
    muted[torch.arange(6), torch.arange(6, 12)] = muted[torch.arange(6), torch.arange(12, 18)] = 0
    total = loss(*views, own).total
    assert_close(total, loss(*views, shared, muted).total)
    weights = torch.randn(6, 8, generator=seeded(5)).double()
    muted[:, :6] = weights[:, :6]
    muted[torch.arange(6), torch.arange(6, 12)], muted[torch.arange(6), torch.arange(12, 18)] = weights[:, 6:].T
    assert_close(loss(*views, own, weights).total, loss(*views, shared, muted).total)
    (slope,) = torch.autograd.grad(total, own)
    assert slope.isfinite().all() and (slope.abs().sum(2) > 0).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_own_negatives_are_computed_on_in_single_precision(make_views, dtype):
    anchor, positive, more = (view.float() for view in make_views(3))
    own = more[:, None].to(dtype)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        under_autocast = info_nce(anchor, positive, T, own).total
    assert under_autocast.dtype == torch.float32
    assert_close(under_autocast, info_nce(anchor, positive, T, own.float()).total)


@every_loss
def test_negatives_of_double_precision_are_widened_to(loss, make_views):
    """A queue in float64 beside an encoder in float32."""
    views = [view.float() for view in make_views(3)]
    for more in (torch.eye(5)[:4].double(), torch.eye(5)[:4].double().expand(6, 4, 5)):
        assert_close(loss(*views, more).total.float(), loss(*views, more.float()).total)
