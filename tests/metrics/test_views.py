import pytest
import torch

from cselab.metrics.geometry import diversity

X = torch.tensor([[3.0, 0.0], [0.0, 4.0]])


def test_views_that_point_the_same_way_have_no_diversity():
    """Views that point the same way have no diversity and unrelated ones two."""
    turned = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
    assert diversity([X, 5 * X]) == 0
    assert diversity([X, turned]) == pytest.approx(2)
    assert diversity([X, -X]) == pytest.approx(4)


def test_diversity_is_the_mean_over_all_pairs_of_views():
    turned = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
    assert diversity([X, X, turned]) == pytest.approx((0 + 2 + 2) / 3)
