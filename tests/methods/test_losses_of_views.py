"""The loss of a method by its views: terms and gradient are those of the losses that its paper names."""

import pytest
import torch
from cells import cells_in
from tiny import seeded
from torch.testing import assert_close

from cselab.methods import Views, create_method

NAMES = ("clean", "adversarial", "near", "far", "negatives")
FIRST_CELL, LOSSES = cells_in("methods/losses_of_views.md")


@pytest.mark.parametrize("words, by_hand", LOSSES["losses"])
def test_terms_and_gradient_are_those_of_the_losses(words, by_hand):
    exec(f"{FIRST_CELL}\noptions = dict({', '.join(words[1:])})", names := {})
    name, options = words[0], names["options"]
    drawn = torch.randn(8, 6, 8, generator=seeded(), dtype=torch.float64)
    views = [view.requires_grad_() for view in drawn]
    positives = views[1:3] if "several" in by_hand else views[1:2]
    v = names["v"] = Views(views[0], *positives, **dict(zip(NAMES, views[3:], strict=True)))
    v.log_weights = torch.linspace(-1, 1, 72, dtype=torch.float64).view(6, 12)
    method = create_method(name, **({} if name == "dimension_wise" else {"temperature": 0.2}) | options)
    exec(f"wanted = {by_hand}", names)
    found, wanted = method.loss(v), names["wanted"]
    assert found.floats() == pytest.approx(wanted.floats())
    assert_close(*(torch.autograd.grad(loss.total, views, allow_unused=True) for loss in (found, wanted)))
