import math

import pytest
import torch
from tiny import seeded
from torch.testing import assert_close

from cselab.transforms.glow import Glow


def small_glow(width, levels=3, depth=3, seed=0):
    """In float64, with every parameter away from its start."""
    generator = seeded(seed)
    glow = Glow(width, levels, depth, hidden=8, generator=generator).double()
    with torch.no_grad():
        for parameter in glow.parameters():
            parameter += 0.3 * torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
    return glow


def rows(n, d, seed=1):
    return torch.randn(n, d, generator=seeded(seed), dtype=torch.float64)


SHAPES = [(8, 3), (11, 3), (16, 2), (5, 1)]


@pytest.mark.parametrize("width, levels", SHAPES)
def test_the_log_determinant_is_that_of_the_jacobian_everywhere(width, levels):
    glow = small_glow(width, levels)
    for x in rows(3, width):
        jacobian = torch.autograd.functional.jacobian(lambda row: glow(row[None])[0], x)
        assert_close(torch.linalg.slogdet(jacobian).logabsdet, glow.log_determinant())


def test_the_jacobian_is_not_constant_so_the_flow_is_not_linear():
    glow = small_glow(8)
    first, second = (torch.autograd.functional.jacobian(lambda row: glow(row[None])[0], x) for x in 3 * rows(2, 8))
    assert (first - second).abs().max() > 1e-3


def test_the_likelihood_is_the_normal_density_changed():
    """The likelihood is the normal density changed by the volume."""
    glow, x = small_glow(8), rows(5, 8)
    normal = torch.distributions.MultivariateNormal(torch.zeros(8).double(), torch.eye(8).double())
    expected = normal.log_prob(glow(x)) + glow.log_determinant()
    assert_close(glow.log_likelihood(x), expected)


def test_the_density_integrates_to_one():
    glow = small_glow(2, levels=1, depth=2)
    axis = torch.linspace(-25, 25, 501, dtype=torch.float64)
    density = glow.log_likelihood(torch.cartesian_prod(axis, axis)).exp()
    assert density.sum().item() * (50 / 500) ** 2 == pytest.approx(1, abs=1e-3)


def test_at_its_start_the_flow_standardises_each_channel():
    glow = Glow(8, 3, 3, hidden=8, generator=seeded()).double()
    x = 4 * rows(200, 8) @ rows(8, 8, seed=2) + 7
    glow.begin_at(x)
    z = glow(x)
    assert_close(z.mean(0), torch.zeros(8, dtype=torch.float64), atol=1e-4, rtol=0)
    assert_close(z.std(0, correction=0), torch.ones(8, dtype=torch.float64), atol=1e-4, rtol=0)
    assert_close(-x.std(0, correction=0).log().sum(), glow.log_determinant(), atol=1e-3, rtol=0)


def test_a_constant_channel_stays_finite():
    glow = Glow(4, 1, 3, hidden=8, generator=seeded())
    x = rows(50, 4).float()
    x[:, 0] = 2
    glow.begin_at(x)
    assert glow.log_likelihood(x).isfinite().all()
    assert math.isfinite(glow.log_determinant().item())
