import pytest
import torch
from cselab_lab.lessons.cosine_batch import batch_with_cosines
from torch.testing import assert_close


@pytest.mark.parametrize(
    "positive, negative, others",
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
    "arguments, message",
    [
        ((5, 0.8, 0.5, 0.1), "n must be an even number"),
        ((4, 0.8, 0.5, 1.0), "others must be at least 0 and below 1"),
        ((4, 0.8, -0.9, 0.4), "no 4 sentences have cosines of 0.80 to their positive, -0.90"),
    ],
)
def test_batches_that_cannot_be_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        batch_with_cosines(*arguments)
