import numpy as np
import pytest
import torch

from cselab.transforms.whitening import BertFlow, BertWhitening, _embeddings


def cone(n, d, seed=0):
    """Correlated embeddings of falling variance, far from the origin."""
    rng = np.random.default_rng(seed)
    axes, _ = np.linalg.qr(rng.normal(size=(d, d)))
    return rng.normal(size=(n, d)) * np.geomspace(3, 0.1, d) @ axes.T + 5


# BERT-whitening


def test_whitening_is_the_papers_kernel_from_a_singular_value_decomposition():
    x = cone(60, 8)
    axes, values, _ = np.linalg.svd(np.cov(x.T))
    expected = (x - x.mean(axis=0)) @ (axes @ np.diag(1 / np.sqrt(values)))
    whitened = BertWhitening().fit_transform(x)
    signs = np.sign((whitened * expected).sum(axis=0))
    np.testing.assert_allclose(whitened, signs * expected, atol=1e-10)


def test_whitened_embeddings_are_centred_and_uncorrelated_with_unit_variance():
    whitened = BertWhitening().fit_transform(cone(60, 8))
    np.testing.assert_allclose(np.cov(whitened, rowvar=False), np.eye(8), atol=1e-10)
    np.testing.assert_allclose(whitened.mean(axis=0), np.zeros(8), atol=1e-12)


def test_reduced_whitening_keeps_the_directions_of_the_largest_variance():
    x = cone(60, 8)
    full, reduced = BertWhitening().fit(x), BertWhitening(n_components=3).fit(x)
    np.testing.assert_array_equal(reduced.transform(x), full.transform(x)[:, :3])
    assert np.all(np.diff(reduced.variances_) < 0)
    # the columns of the kernel, unscaled, see the variances they claim
    directions = reduced.kernel_ / np.linalg.norm(reduced.kernel_, axis=0)
    np.testing.assert_allclose(np.var(x @ directions, axis=0, ddof=1), reduced.variances_[:3])
    assert reduced.variances_[:3].sum() == pytest.approx(np.linalg.norm(np.cov(x.T) @ directions, axis=0).sum())


def test_other_sentences_are_whitened_with_the_statistics_of_the_fitted_ones():
    x, other = cone(60, 4), cone(5, 4, seed=1)
    whitening = BertWhitening().fit(x)
    np.testing.assert_allclose(whitening.transform(other), (other - x.mean(axis=0)) @ whitening.kernel_)
    np.testing.assert_allclose(whitening.transform(other[:1]), whitening.transform(other)[:1])


def test_eps_is_added_to_the_variances():
    x = cone(60, 4)
    whitening = BertWhitening(eps=0.5).fit(x)
    spread = np.cov(whitening.transform(x), rowvar=False)
    np.testing.assert_allclose(spread, np.diag(whitening.variances_ / (whitening.variances_ + 0.5)), atol=1e-12)


def test_precision_is_that_of_the_embeddings_but_at_least_float32():
    x = cone(60, 4)
    for dtype, expected in [(np.float64, np.float64), (np.float32, np.float32), (np.float16, np.float32)]:
        assert BertWhitening().fit_transform(x.astype(dtype)).dtype == expected


def test_the_transform_is_a_linear_layer():
    x = cone(60, 8).astype(np.float32)
    whitening = BertWhitening(n_components=5).fit(x)
    with torch.no_grad():
        from_the_layer = whitening.as_linear()(torch.from_numpy(x)).numpy()
    np.testing.assert_allclose(from_the_layer, whitening.transform(x), atol=1e-4)


def test_fewer_sentences_than_dimensions_can_be_whitened_in_what_they_span():
    x = cone(6, 20)
    with pytest.raises(ValueError, match="6 embeddings vary in 5 of their 20 dimensions, too few to whiten 20"):
        BertWhitening().fit(x)
    whitened = BertWhitening(n_components=5).fit_transform(x)
    np.testing.assert_allclose(np.cov(whitened, rowvar=False), np.eye(5), atol=1e-9)
    assert np.isfinite(BertWhitening(eps=1e-6).fit_transform(x)).all()


def test_damaged_or_unfit_embeddings_are_refused_with_their_numbers():
    x = cone(20, 4)
    x[7, 2] = np.nan
    for make in (BertWhitening, BertFlow):
        with pytest.raises(ValueError, match="embedding 7 of 20 holds NaN or infinite entries"):
            make().fit(x)
        with pytest.raises(ValueError, match=f"this {make.__name__} is not fitted yet"):
            make().transform(cone(3, 4))
        with pytest.raises(ValueError, match="at least 2 embeddings, got 1"):
            make().fit(cone(1, 8))
    with pytest.raises(ValueError, match=r"\[n, d\] with a row a sentence, got shape \(8,\)"):
        _embeddings(np.zeros(8))
    with pytest.raises(ValueError, match="all 20 embeddings are the same"):
        BertWhitening(n_components=1, eps=1e-3).fit(np.ones((20, 4)))
    with pytest.raises(ValueError, match="n_components=5 is more than the 4 dimensions"):
        BertWhitening(n_components=5).fit(cone(20, 4))
    with pytest.raises(ValueError, match="n_components must be at least 1"):
        BertWhitening(n_components=0)
    with pytest.raises(ValueError, match="eps must be a number of at least 0"):
        BertWhitening(eps=-1.0)
    with pytest.raises(ValueError, match="fitted on embeddings of 4 dimensions, got 5"):
        BertWhitening().fit(cone(20, 4)).transform(cone(3, 5))
    with pytest.raises(ValueError, match="not fitted yet"):
        BertWhitening().as_linear()


# BERT-flow


@pytest.fixture(scope="module")
def fitted():
    return BertFlow(epochs=3, batch_size=16, learning_rate=3e-3).fit(bent(512, 16))


def bent(n, d, seed=0):
    """A cone with a curved dependency that no linear map removes."""
    x = cone(n, d, seed)
    x[:, 1] += (x[:, 0] - 5) ** 2
    return x.astype(np.float32)


def test_the_flow_can_be_undone(fitted):
    x = bent(50, 16, seed=1)
    np.testing.assert_allclose(fitted.inverse_transform(fitted.transform(x)), x, atol=1e-4)


def test_fitting_raises_the_likelihood_of_new_embeddings_above_that_of_the_start(fitted):
    test = bent(200, 16, seed=0)[100:]
    start = BertFlow(batch_size=16, learning_rate=0.0).fit(bent(512, 16))
    assert fitted.log_likelihood(test).mean() > start.log_likelihood(test).mean() + 1


def test_transformed_embeddings_leave_the_cone(fitted):
    def mean_cosine(rows):
        rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return (rows @ rows.T)[~np.eye(len(rows), dtype=bool)].mean()

    x = bent(512, 16)
    assert mean_cosine(x) > 0.5
    assert abs(mean_cosine(fitted.transform(x))) < 0.05


def test_the_same_seed_fits_the_same_flow_and_another_seed_another():
    x = bent(64, 8)
    global_state = torch.get_rng_state()
    first, again, other = (BertFlow(seed=seed).fit(x) for seed in (0, 0, 1))
    assert first.history_ == again.history_
    np.testing.assert_array_equal(first.transform(x), again.transform(x))
    assert not np.array_equal(first.transform(x), other.transform(x))
    assert torch.equal(torch.get_rng_state(), global_state)


def test_the_fit_starts_from_standardised_embeddings():
    x = bent(64, 8)
    untrained = BertFlow(learning_rate=0.0).fit(x).transform(x)
    np.testing.assert_allclose(untrained.mean(axis=0), np.zeros(8), atol=1e-4)
    np.testing.assert_allclose(untrained.std(axis=0), np.ones(8), atol=1e-4)


def test_the_history_has_one_loss_for_each_full_batch():
    x = bent(70, 8)
    flow = BertFlow(epochs=2, batch_size=32, learning_rate=0.0).fit(x)
    assert len(flow.history_) == 4
    assert np.mean(flow.history_) == pytest.approx(-flow.log_likelihood(x).mean() / 8, rel=0.1)
    assert flow.transform(x).dtype == np.float32


def test_a_flow_that_does_not_fit_says_why():
    x = cone(20, 6)
    with pytest.raises(ValueError, match="20 embeddings are fewer than one batch of 32: lower batch_size"):
        BertFlow().fit(x)
    with pytest.raises(ValueError, match="at least 8 channels, the embeddings have 6: use levels <= 2"):
        BertFlow(batch_size=4).fit(x)
    with pytest.raises(ValueError, match="epochs must be at least 1, got 0"):
        BertFlow(epochs=0)
    with pytest.raises(ValueError, match="depth must be at least 1, got 0"):
        BertFlow(depth=0, batch_size=4).fit(x)
    with pytest.raises(FloatingPointError, match=r"at step \d+: lower the learning rate"):
        BertFlow(levels=1, batch_size=4, learning_rate=1e4, epochs=5).fit(x)
