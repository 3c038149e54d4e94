import numpy as np
import pytest
import torch
from drawn import cone
from numpy.testing import assert_allclose, assert_array_equal

from cselab.transforms import BertFlow


@pytest.fixture(scope="module")
def fitted():
    return BertFlow(epochs=3, batch_size=16, learning_rate=3e-3).fit(bent(512, 16))


def bent(n, d, seed=0):
    """A cone with a curved dependency that no linear map removes."""
    x = cone(n, d, seed)
    x[:, 1] += (x[:, 0] - 5) ** 2
    return x.astype(np.float32)


def test_fitting_raises_the_likelihood_of_new_embeddings_above(fitted):
    """Fitting raises the likelihood of new embeddings above that of the start."""
    test = bent(200, 16, seed=0)[100:]
    start = BertFlow(batch_size=16, learning_rate=0.0).fit(bent(512, 16))
    test = torch.from_numpy(test)
    assert fitted.flow_.log_likelihood(test).mean() > start.flow_.log_likelihood(test).mean() + 1


def test_transformed_embeddings_leave_the_cone(fitted):
    def mean_cosine(rows):
        rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return (rows @ rows.T)[~np.eye(len(rows), dtype=bool)].mean()

    x = bent(512, 16)
    assert mean_cosine(x) > 0.5
    assert abs(mean_cosine(fitted.transform(x))) < 0.05


def test_the_same_seed_fits_the_same_flow():
    """The same seed fits the same flow and another seed another."""
    x = bent(64, 8)
    global_state = torch.get_rng_state()
    first, again, other = (BertFlow(seed=seed).fit(x) for seed in (0, 0, 1))
    assert first.history_ == again.history_
    assert_array_equal(first.transform(x), again.transform(x))
    assert not np.array_equal(first.transform(x), other.transform(x))
    assert torch.equal(torch.get_rng_state(), global_state)


def test_the_fit_starts_from_standardised_embeddings():
    x = bent(64, 8)
    untrained = BertFlow(learning_rate=0.0).fit(x).transform(x)
    assert_allclose(untrained.mean(axis=0), np.zeros(8), atol=1e-4)
    assert_allclose(untrained.std(axis=0), np.ones(8), atol=1e-4)


def test_the_history_has_one_loss_for_each_full_batch():
    """The history has one loss for each full batch and every epoch its own order."""
    x = bent(70, 8)
    flow = BertFlow(epochs=2, batch_size=32, learning_rate=0.0).fit(x)
    assert len({*flow.history_}) == 4
    likelihood = flow.flow_.log_likelihood(torch.from_numpy(x)).mean().item()
    assert np.mean(flow.history_) == pytest.approx(-likelihood / 8, rel=0.1)
    assert flow.transform(x).dtype == np.float32
