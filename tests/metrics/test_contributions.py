"""Parts of a cosine: their sum, their symmetry, hand-made vectors."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from cselab.metrics import token_contributions


def drawn(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape) + 0.5


@pytest.mark.parametrize("n, m", [(1, 1), (3, 7), (12, 2)])
def test_the_parts_are_those_of_a_slow_loop(n, m):
    """The parts are those of a slow loop and sum to the cosine of the means."""
    first, second = drawn(n, 5), drawn(m, 5, seed=1)
    a, b = first.mean(axis=0), second.mean(axis=0)
    lengths = np.linalg.norm(a) * np.linalg.norm(b)
    slow = [[float(np.dot(t, u)) / (n * m * lengths) for u in second] for t in first]
    parts = token_contributions(first, torch.tensor(second)).numpy()
    assert_allclose(parts, slow, atol=1e-12)
    assert parts.sum() == pytest.approx(a @ b / lengths, abs=1e-12)
    assert_allclose(token_contributions(second, first).numpy(), parts.T, atol=1e-12)
    bound = np.outer(np.linalg.norm(first, axis=1), np.linalg.norm(second, axis=1)) / (n * m * lengths)
    assert (np.abs(parts) <= bound + 1e-12).all()


def test_a_token_across_the_other_sentence():
    """A token across the other sentence has no part and one against it a negative one."""
    first, second = np.array([[0.0, 3.0], [2.0, 0.0], [-1.0, 0.0]]), np.array([[5.0, 0.0]])
    parts = token_contributions(first, second).numpy()[:, 0]
    assert parts[0] == 0 and parts[1] == pytest.approx(-2 * parts[2]) and parts[2] < 0
