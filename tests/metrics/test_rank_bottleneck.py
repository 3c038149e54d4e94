import pytest
import torch
from tiny import seeded

from cselab.losses import dimension_contrastive
from cselab.metrics.rank_bottleneck import barlow_twins_floor, dimension_contrastive_floor


def loss_of_matrix(matrix, weight):
    diagonal = matrix.diagonal()
    return (1 - diagonal).square().sum() + weight * (matrix.square().sum() - diagonal.square().sum())


@pytest.mark.parametrize("weight", [0.012, 0.3, 1.0])
def test_no_matrix_of_the_rank_goes_below_the_floor(weight):
    """No matrix of the rank goes below the floor and the best one comes to it."""
    generator = seeded()
    left, right = torch.randn(2, 12, 3, generator=generator, dtype=torch.float64).mul(0.5)
    left.requires_grad_(), right.requires_grad_()
    optimizer = torch.optim.LBFGS([left, right], max_iter=2000, line_search_fn="strong_wolfe", tolerance_change=1e-14)

    def closure():
        optimizer.zero_grad()
        loss = loss_of_matrix(left @ right.T, weight)
        loss.backward()
        return loss

    optimizer.step(closure)
    reached = loss_of_matrix(left @ right.T, weight).item()
    floor = barlow_twins_floor(12, 3, weight)
    assert floor <= reached + 1e-9
    assert reached == pytest.approx(floor, rel=1e-3)
    assert barlow_twins_floor(12, 20, weight) == 0


def test_a_simplex_of_dimensions_reaches_the_floor():
    """A simplex of dimensions reaches the floor of the dimension wise loss."""
    dimensions = 4
    centre = torch.eye(dimensions, dtype=torch.float64) - 1 / dimensions
    view = torch.cat([centre, -centre])  # columns have mean 0, and cosines of -1/3 to each other
    view = 1e3 * view / view.std(0, correction=0)
    reached = float(dimension_contrastive(view, view, temperature=0.7).total)
    assert reached == pytest.approx(dimension_contrastive_floor(dimensions, 0.7), rel=1e-6)


def test_random_views_stay_above_the_floor():
    """Random views stay above the floor of the dimension wise loss."""
    generator = seeded(1)
    for _ in range(20):
        views = torch.randn(2, 6, 9, generator=generator, dtype=torch.float64)
        assert float(dimension_contrastive(*views, temperature=0.5).total) > dimension_contrastive_floor(9, 0.5)
