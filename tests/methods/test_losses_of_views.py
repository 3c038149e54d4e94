"""The loss of a method by its views: terms and gradient are those of the losses that its paper names."""

from math import pi

import pytest
import torch

from cselab import losses as l
from cselab.losses import Loss
from cselab.methods import Views, create_method

T = 0.2
NAMES = ("clean", "adversarial", "near", "far", "negatives")


def pair(v):
    return v.anchor, v.positive


def further(v):
    return v.negatives, v.log_weights


def plain(v):
    return l.info_nce(*pair(v), T, *further(v))


def focal(v):
    return l.focal_info_nce(*pair(v), T, 0.3, False, *further(v))


def off_dropout(v, m=0.9, m_on="negatives"):
    return l.off_dropout_info_nce(*pair(v), v.clean, T, m, m_on, *further(v))


def dimensions(v, temperature=5.0, reduction="mean"):
    return l.dimension_contrastive(*pair(v), temperature, reduction)


def several(v, *options):
    return l.multi_positive_info_nce(v.anchor, list(v.positives), T, *options)


CASES = [
    ("simcse", {}, lambda v: l.info_nce(*pair(v), T)),
    ("simcse", {"symmetric": True}, lambda v: 0.5 * (l.info_nce(*pair(v), T) + l.info_nce(*pair(v)[::-1], T))),
    ("simcse", {"num_views": 3}, several),
    ("whitenedcse", {"reduction": "inside", "weight": 0.5}, lambda v: several(v, "inside", 0.5)),
    ("esimcse", {}, plain),
    ("sr_bert", {}, plain),
    ("dclr", {}, plain),
    ("focal", {}, focal),
    ("focal", {"m": 0.2, "detach": True}, lambda v: l.focal_info_nce(*pair(v), T, 0.2, True, *further(v))),
    ("focal_dclr", {}, focal),
    ("imsimcse", {}, lambda v: off_dropout(v) + 0.1 * dimensions(v)),
    ("imsimcse", {"variant": "paper"}, lambda v: off_dropout(v) + 0.1 * dimensions(v, 5.0, "sum")),
    ("imsimcse", {"variant": "released"}, lambda v: off_dropout(v, 1.0, "positive") + 0.1 * dimensions(v)),
    ("imsimcse", {"off_dropout": False}, lambda v: plain(v) + 0.1 * dimensions(v)),
    ("imsimcse_dclr", {"weight": 0}, off_dropout),
    ("dimension_wise", {"dimension_temperature": 2.0}, lambda v: dimensions(v, 2.0)),
    ("dimension_wise", {"variant": "paper"}, lambda v: dimensions(v, 0.05, "sum")),
    ("barlow_twins", {"weight": 0.3}, lambda v: plain(v) + 0.3 * l.barlow_twins(*pair(v), 0.012)),
    ("matryoshka", {"halvings": 1}, lambda v: l.matryoshka_info_nce(*pair(v), T, (8, 4), *further(v))),
    ("matryoshka", {}, lambda v: l.matryoshka_info_nce(*pair(v), T, (8, 4, 2), *further(v))),
    ("spread", {"weight": 0.5}, lambda v: plain(v) + 0.5 * sum(l.spread_out(z, 0.0) for z in pair(v))),
    ("spread", {"variant": "descriptors"}, lambda v: plain(v) + sum(l.spread_out(z, 1.0) for z in pair(v))),
    ("ct", {"variant": "in_batch"}, lambda v: 0.5 * (plain(v) + l.info_nce(*pair(v)[::-1], T))),
    ("simclr", {}, lambda v: l.nt_xent(*pair(v), T)),
    ("clear", {"weight": 0}, lambda v: l.nt_xent(*pair(v), T)),
    ("consert", {"weight": 0.3}, lambda v: 0.3 * plain(v)),
    ("consert", {"variant": "released"}, lambda v: 0.3 * l.nt_xent(*pair(v), T)),
    (
        "arccse",
        {"margin": 20.0, "weight": 0.5, "triplet_margin": 0.3},
        lambda v: l.arc_con(*pair(v), T, pi / 9) + 0.5 * l.triplet(v.anchor, v.near, v.far, 0.3),
    ),
    (
        "uscal",
        {"weight": 0.5},
        lambda v: plain(v) + 0.5 * Loss({"adversarial": l.info_nce(v.anchor, v.adversarial, T).total}),
    ),
]


@pytest.mark.parametrize(("name", "options", "expected"), CASES, ids=lambda value: str(value).partition(" at ")[0])
def test_terms_and_gradient_are_those_of_the_losses(name, options, expected):
    drawn = torch.randn(8, 6, 8, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    views = [view.requires_grad_() for view in drawn]
    positives = views[1:3] if expected is several or "reduction" in options else views[1:2]
    v = Views(views[0], *positives, **dict(zip(NAMES, views[3:], strict=True)))
    v.log_weights = torch.linspace(-1, 1, 72, dtype=torch.float64).view(6, 12)
    method = create_method(name, **({} if name == "dimension_wise" else {"temperature": T}) | options)
    found, wanted = method.loss(v), expected(v)
    assert found.floats() == pytest.approx(wanted.floats())
    slopes, by_hand = (torch.autograd.grad(loss.total, views, allow_unused=True) for loss in (found, wanted))
    torch.testing.assert_close(slopes, by_hand)
