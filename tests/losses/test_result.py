import numpy as np
import pytest
import torch

from cselab.losses import Loss


def scalar(value):
    return torch.tensor(value, dtype=torch.float64, requires_grad=True)


@pytest.fixture
def two():
    return Loss({"pull": scalar(2.0), "push": scalar(-0.5)}), Loss({"push": scalar(3.0), "spread": scalar(7.0)})


def test_the_total_is_the_sum_of_the_terms(two):
    a, b = two
    for loss in (a, b, a + b, 0.1 * b, a + 0.1 * b, sum([a, b, a])):
        assert loss.total.item() == pytest.approx(sum(loss.floats().values()))
    assert a.total.item() == 1.5


def test_adding_joins_terms_and_adds_up_those_of_the_same_name(two):
    a, b = two
    assert (a + b).floats() == sum([a, b]).floats() == {"pull": 2.0, "push": 2.5, "spread": 7.0}
    assert a.floats() == {"pull": 2.0, "push": -0.5}  # unchanged


@pytest.mark.parametrize("factor", [2, 2.0, np.float64(2.0), torch.tensor(2.0)])
def test_scaling_scales_the_terms_from_either_side(two, factor):
    a, _ = two
    assert (factor * a).floats() == (a * factor).floats() == {"pull": 4.0, "push": -1.0}


def test_gradients_flow_through_sums_and_scales():
    x, y = scalar(1.0), scalar(1.0)
    (Loss({"x": x**2}) + 0.5 * Loss({"x": 3 * x, "y": 4 * y})).total.backward()
    assert (x.grad.item(), y.grad.item()) == (3.5, 2.0)


def test_a_loss_is_not_added_to_a_number(two):
    """A loss is not added to a number nor multiplied by a loss."""
    a, b = two
    for combine in (lambda: a + 1.0, lambda: 1.0 + a, lambda: a * b):
        with pytest.raises(TypeError):
            combine()
