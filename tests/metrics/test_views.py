import pytest
import torch

from cselab.metrics.degenerate import DegenerateEmbeddings
from cselab.metrics.views import diversity, perturbation_size

X = torch.tensor([[3.0, 0.0], [0.0, 4.0]])


def test_the_perturbation_is_measured_in_lengths_of_the_row():
    assert perturbation_size(X, X) == 0
    assert perturbation_size(X, 2 * X) == 1
    assert perturbation_size(X, X + torch.tensor([[0.0, 3.0], [0.0, 0.0]])) == pytest.approx(0.5)


def test_a_perturbation_is_the_same_in_any_unit():
    changed = X + 0.3
    assert perturbation_size(100 * X, 100 * changed) == pytest.approx(perturbation_size(X, changed))


def test_a_row_of_zeros_has_no_relative_perturbation():
    with pytest.raises(ValueError, match="row 1 of x is all zeros"):
        perturbation_size(torch.tensor([[1.0, 0.0], [0.0, 0.0]]), X)
    with pytest.raises(ValueError, match=r"x is \(2, 2\), changed is \(1, 2\)"):
        perturbation_size(X, X[:1])


def test_views_that_point_the_same_way_have_no_diversity_and_unrelated_ones_two():
    turned = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
    assert diversity([X, 5 * X]) == 0
    assert diversity([X, turned]) == pytest.approx(2)
    assert diversity([X, -X]) == pytest.approx(4)


def test_diversity_is_the_mean_over_all_pairs_of_views():
    turned = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
    assert diversity([X, X, turned]) == pytest.approx((0 + 2 + 2) / 3)


def test_one_view_alone_is_refused_and_so_is_a_zero_vector():
    with pytest.raises(ValueError, match="1 given, 2 needed"):
        diversity([X])
    with pytest.raises(DegenerateEmbeddings):
        diversity([X, 0 * X])
