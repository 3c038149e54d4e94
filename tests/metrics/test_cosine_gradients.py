import pytest
import torch
from torch.testing import assert_close

from cselab.losses import arc_con, decoupled_info_nce, info_nce
from cselab.losses.contrast import contrast, cosine_matrix
from cselab.metrics.cosine_gradients import batch_with_cosines, cosine_gradients


@pytest.fixture
def views():
    return torch.randn(3, 6, 9, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def by_hand(logits_of, views):
    """The derivative by the cosine matrix itself, where the loss is written as a function of it."""
    cosines = cosine_matrix(views[0], views[1]).requires_grad_()
    (gradient,) = torch.autograd.grad(contrast(logits_of(cosines)).mean(), cosines)
    return gradient


def test_the_gradient_of_info_nce_is_softmax_minus_one_hot(views):
    found = cosine_gradients(lambda a, b: info_nce(a, b, 0.2).total, views[0], views[1])
    softmax = (cosine_matrix(views[0], views[1]) / 0.2).softmax(1)
    assert_close(found, (softmax - torch.eye(6)) / 0.2 / 6)


def test_the_gradient_of_arc_con_on_the_diagonal_is_that_of_the_widened_angle(views):
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


@pytest.mark.parametrize(
    ("positive", "negative", "others"),
    [(0.85, 0.3, 0.2), (0.2, 0.9, 0.2), (1, -0.5, 0.1), (-1, -1, 0), (0.4, 0.4, 0.4), (0.9, 0.3, 0.6)],
)
def test_a_batch_made_to_measure_has_the_cosines_asked_for(positive, negative, others):
    rows, columns = batch_with_cosines(6, positive, negative, others)
    assert_close(rows.norm(dim=1), torch.ones(6, dtype=torch.float64))
    assert_close(columns.norm(dim=1), torch.ones(6, dtype=torch.float64))
    wanted = torch.full((6, 6), others, dtype=torch.float64)
    for i in range(6):
        wanted[i, i], wanted[i, i ^ 1] = positive, negative
    assert_close(rows @ columns.T, wanted)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((5, 0.8, 0.5, 0.1), "n must be an even number"),
        ((4, 0.8, 0.5, 1.0), "others must be at least 0 and below 1"),
        ((4, 0.8, -0.9, 0.4), "no 4 sentences have cosines of 0.80 to their positive, -0.90"),
    ],
)
def test_batches_that_cannot_be_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        batch_with_cosines(*arguments)
