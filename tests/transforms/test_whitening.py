import numpy as np
import pytest
from drawn import cone
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.utils.estimator_checks import parametrize_with_checks

from cselab.transforms import BertWhitening


def fitted(whitening, x):
    return whitening.fit(x).transform(x)


@parametrize_with_checks(
    [BertWhitening(), BertWhitening(n_components=1)],
    expected_failed_checks=lambda _: {
        "check_do_not_raise_errors_in_init_or_set_params": "these tests check types",
        "check_array_api_input": "is skipped without SCIPY_ARRAY_API, which pytest 9.0 counts as a failure",
    },
)
def test_whitening_passes_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


def test_whitening_is_the_papers_kernel():
    """Whitening is the papers kernel from a singular value decomposition."""
    x = cone(60, 8)
    axes, values, _ = np.linalg.svd(np.cov(x.T))
    expected = (x - x.mean(axis=0)) @ (axes @ np.diag(1 / np.sqrt(values)))
    whitened = fitted(BertWhitening(), x)
    signs = np.sign((whitened * expected).sum(axis=0))
    assert_allclose(whitened, signs * expected, atol=1e-10)


def test_reduced_whitening_keeps_the_directions():
    """Reduced whitening keeps the directions of the largest variance."""
    x = cone(60, 8)
    full, reduced = BertWhitening().fit(x), BertWhitening(n_components=3).fit(x)
    assert_array_equal(reduced.transform(x), full.transform(x)[:, :3])
    assert np.all(np.diff(reduced.variances_) < 0)
    # the columns of the kernel, unscaled, see the variances they claim
    directions = reduced.kernel_ / np.linalg.norm(reduced.kernel_, axis=0)
    assert_allclose(np.var(x @ directions, axis=0, ddof=1), reduced.variances_[:3])
    assert reduced.variances_[:3].sum() == pytest.approx(np.linalg.norm(np.cov(x.T) @ directions, axis=0).sum())


def test_other_sentences_are_whitened_with_the_statistics():
    """Other sentences are whitened with the statistics of the fitted ones."""
    x, other = cone(60, 4), cone(5, 4, seed=1)
    whitening = BertWhitening().fit(x)
    assert_allclose(whitening.transform(other), (other - x.mean(axis=0)) @ whitening.kernel_)
    assert_allclose(whitening.transform(other[:1]), whitening.transform(other)[:1])


def test_fewer_sentences_than_dimensions_can_be_whitened():
    """Fewer sentences than dimensions can be whitened in what they span."""
    x = cone(6, 20)
    for n_components in (5, None):
        whitened = fitted(BertWhitening(n_components), x)
        assert_allclose(np.cov(whitened, rowvar=False), np.eye(5), atol=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_the_signs_of_the_directions_are_fixed(seed):
    """LAPACK may return either sign of an axis; the largest entry of a direction is positive."""
    x = np.random.default_rng(seed).normal(size=(60, 7)) * np.arange(1, 8)
    whitening = BertWhitening().fit(x)
    largest = np.abs(whitening.kernel_).argmax(axis=0)
    assert (whitening.kernel_[largest, np.arange(7)] > 0).all()
    mirrored = BertWhitening().fit(-x)
    assert_allclose(mirrored.kernel_, whitening.kernel_, atol=1e-9)
    assert_allclose(mirrored.transform(-x), -whitening.transform(x), atol=1e-9)
