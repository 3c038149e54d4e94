"""The queue: first in, first out, without gradients, and the same after a checkpoint."""

import torch

from cselab.methods.components import Queue


def rows(*numbers):
    return torch.tensor([[float(number)] * 2 for number in numbers])


def test_it_fills_and_then_forgets_the_oldest():
    queue, seen = Queue(5, 2), []
    for batch in (rows(1, 2), rows(3, 4), rows(5, 6), rows(*range(10, 17))):
        queue.put(batch)
        seen.append(queue.vectors[:, 0].tolist())
    assert seen == [[1, 2], [3, 4, 1, 2], [5, 6, 3, 4, 1], [10, 11, 12, 13, 14]]


def test_it_starts_empty_or_full_of_random_directions():
    assert Queue(5, 2).vectors.shape == (0, 2)
    full = Queue(5, 3, torch.Generator().manual_seed(0)).vectors
    torch.testing.assert_close(full.norm(dim=1), torch.ones(5))


def test_vectors_taken_before_are_not_touched():
    """Vectors taken before are not touched and carry no gradient."""
    queue = Queue(4, 2)
    queue.put(rows(1, 2).requires_grad_())
    taken = queue.vectors
    queue.put(rows(3, 4))
    assert taken[:, 0].tolist() == [1, 2] and not queue.vectors.requires_grad
