import pytest
import torch
from torch.testing import assert_close

from cselab.losses import arc_con, decoupled_info_nce, info_nce
from cselab.losses.contrast import cosine_matrix, diagonal_cross_entropy
from cselab.metrics.cosine_gradients import cosine_gradients


@pytest.fixture
def views():
    return torch.randn(3, 6, 9, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def by_hand(logits_of, views):
    """The derivative by the cosine matrix itself, where the loss is written as a function of it."""
    cosines = cosine_matrix(views[0], views[1]).requires_grad_()
    (gradient,) = torch.autograd.grad(diagonal_cross_entropy(logits_of(cosines)).mean(), cosines)
    return gradient


def test_the_gradient_of_info_nce_is_softmax_minus_one_hot(views):
    found = cosine_gradients(lambda a, b: info_nce(a, b, 0.2).total, views[0], views[1])
    softmax = (cosine_matrix(views[0], views[1]) / 0.2).softmax(1)
    assert_close(found, (softmax - torch.eye(6)) / 0.2 / 6)


def test_the_gradient_of_arc_con(views):
    """The gradient of arc con on the diagonal is that of the widened angle."""
    found = cosine_gradients(lambda a, b: arc_con(a, b, 0.2, 0.3).total, views[0], views[1])

    def widened(cosines):
        diagonal = (cosines.diagonal().arccos() + 0.3).cos()
        return cosines.diagonal_scatter(diagonal) / 0.2

    assert_close(found, by_hand(widened, views), rtol=1e-6, atol=1e-9)


def test_positives_and_negatives_may_be_asked_for_apart(views):
    first, second, clean = views
    temperature = 0.2

    def negatives(a, b, one, two):
        return decoupled_info_nce((one, two), (a, b), temperature, m=0.9).total

    found = cosine_gradients(negatives, clean, clean, first, second)
    assert (found.diagonal() == 0).all()
    assert (found.fill_diagonal_(1) > 0).all()


def test_views_of_different_shapes_are_refused(views):
    with pytest.raises(ValueError, match=r"rows are \(6, 9\) but columns \(5, 9\)"):
        cosine_gradients(lambda a, b: info_nce(a, b, 1.0).total, views[0], views[1][:5])
