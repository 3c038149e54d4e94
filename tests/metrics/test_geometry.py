import math

import numpy as np
import pytest

from cselab.metrics import geometry
from cselab.metrics.geometry import (
    alignment,
    effective_rank,
    feature_correlation,
    mean_cosine,
    rank,
    sampled_uniformity,
    spectrum,
    uniformity,
)

MEASURES = [uniformity, mean_cosine, feature_correlation, effective_rank]


def cloud(n=60, d=7, seed=0, dtype=np.float64):
    """Vectors of different lengths about a common direction."""
    generator = np.random.default_rng(seed)
    return (generator.normal(size=(n, d)) * generator.uniform(0.1, 3, size=(n, 1)) + 0.7).astype(dtype)


def unit(vector):
    return vector / math.sqrt(sum(float(value) ** 2 for value in vector))


def squared_distance(a, b):
    return sum((float(p) - float(q)) ** 2 for p, q in zip(unit(a), unit(b), strict=True))


# ------------------------------------------------------------------------------ against slow references


def test_alignment_equals_a_loop_over_pairs():
    x, y = cloud(seed=1), cloud(seed=2)
    loop = sum(squared_distance(a, b) for a, b in zip(x, y, strict=True)) / len(x)
    assert alignment(x, y) == pytest.approx(loop, rel=1e-12)


def test_uniformity_equals_a_double_loop_over_pairs():
    x = cloud()
    potentials = [math.exp(-2 * squared_distance(x[i], x[j])) for i in range(len(x)) for j in range(i)]
    assert uniformity(x) == pytest.approx(math.log(sum(potentials) / len(potentials)), rel=1e-12)


def test_mean_cosine_equals_a_double_loop_over_pairs():
    x = cloud()
    cosines = [float(unit(x[i]) @ unit(x[j])) for i in range(len(x)) for j in range(len(x)) if i != j]
    assert mean_cosine(x) == pytest.approx(sum(cosines) / len(cosines), rel=1e-12)


def test_feature_correlation_equals_numpys_matrix():
    x = cloud()
    matrix = np.abs(np.corrcoef(x.T))
    loop = [matrix[c, d] for c in range(7) for d in range(7) if c != d]
    assert feature_correlation(x) == pytest.approx(np.mean(loop), rel=1e-12)


@pytest.mark.parametrize("shape", [(60, 7), (5, 40)])
def test_the_spectrum_is_that_of_the_covariance(shape):
    x = cloud(*shape)
    covariance = np.cov(x.T, bias=True)
    expected = np.sort(np.linalg.eigvalsh(covariance))[::-1][: min(shape)]
    assert spectrum(x) == pytest.approx(expected, abs=1e-12)
    assert spectrum(x).sum() == pytest.approx(x.var(axis=0).sum(), rel=1e-12)


def test_effective_rank_equals_the_formula():
    """Effective rank equals the formula on numpys singular values."""
    x = cloud()
    sigma = np.linalg.svd(x - x.mean(axis=0), compute_uv=False)
    p = sigma / sigma.sum()
    assert effective_rank(x) == pytest.approx(math.exp(-sum(q * math.log(q) for q in p)), rel=1e-12)


# ------------------------------------------------------------------------------------------ closed forms


def test_a_cross_in_k_directions_has_effective_rank_k():
    for k in (1, 2, 5):
        axes = np.eye(5)[:k]
        assert effective_rank(np.concatenate([axes, -axes])) == pytest.approx(k)
        assert rank(np.concatenate([axes, -axes])) == k


def test_constant_dimensions_are_left_out_of_the_correlation():
    """Dimensions that never change are left out of the correlation."""
    x = cloud()
    with_constant = np.concatenate([x, np.full((len(x), 2), 0.1)], axis=1)
    assert feature_correlation(with_constant) == pytest.approx(feature_correlation(x))


def test_n_vectors_have_at_most_rank_n_minus_one():
    assert rank(cloud(n=5, d=20)) == 4
    assert rank(cloud(n=5, d=20).astype(np.float32)) == 4
    assert effective_rank(cloud(n=5, d=20)) <= 4


def test_rank_ignores_what_the_type_cannot_resolve():
    low = cloud(n=300, d=3) @ cloud(n=3, d=20, seed=1)
    assert rank(low) == 3
    assert rank(low.astype(np.float32)) == 3


# ----------------------------------------------------------------------------------------- invariances


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("rows", [1, 7, 59, 60, 61])
def test_the_blocks_change_nothing(measure, rows, monkeypatch):
    whole = measure(cloud())
    blocks = geometry._unit_blocks
    monkeypatch.setattr(geometry, "ROWS_AT_ONCE", rows)
    monkeypatch.setattr(geometry, "_unit_blocks", lambda x, block=0: blocks(x, rows))
    assert measure(cloud()) == pytest.approx(whole, rel=1e-12)


# -------------------------------------------------------------------------------------------- sampling


def test_the_sampled_uniformity_lies_within_its_error():
    """The sampled uniformity lies within its error and the error is honest."""
    x = cloud(n=400)
    exact = uniformity(x)
    estimates = [sampled_uniformity(x, samples=2000, seed=seed) for seed in range(200)]
    deviations = np.array([estimate.value - exact for estimate in estimates])
    errors = np.array([estimate.standard_error for estimate in estimates])
    assert np.mean(np.abs(deviations) < 2 * errors) > 0.9
    assert deviations.std() == pytest.approx(errors.mean(), rel=0.2)


def test_the_sampled_uniformity_never_pairs_a_row_with_itself():
    two = np.array([[1.0, 0.0], [-1.0, 0.0]])
    assert sampled_uniformity(two, samples=100).value == pytest.approx(-8)


def test_the_sample_is_drawn_from_the_seed():
    x = cloud()
    assert sampled_uniformity(x, samples=50, seed=1) == sampled_uniformity(x, samples=50, seed=1)
    assert sampled_uniformity(x, samples=50, seed=1) != sampled_uniformity(x, samples=50, seed=2)


# ----------------------------------------------------------------------------------- a million rows


def test_rows_of_a_file_that_is_mapped_into_memory_are_measured(tmp_path):
    """Rows of a file that is mapped into memory are measured as they are."""
    x = cloud(dtype=np.float32)
    np.save(tmp_path / "v.npy", x)
    mapped = np.load(tmp_path / "v.npy", mmap_mode="r")  # as `encode_to_file` returns it, read-only
    for measure in (*MEASURES, rank, sampled_uniformity):
        assert measure(mapped) == measure(x)
    assert alignment(mapped, mapped) == 0


def test_rows_in_reverse_are_measured_as_they_are():
    """Torch does not accept the negative stride."""
    x = cloud()
    for measure in MEASURES:
        assert measure(x[::-1]) == pytest.approx(measure(x[::-1].copy()))


class Watched(np.ndarray):
    """Notes how many rows are taken at once."""

    most = 0

    def __getitem__(self, rows):
        taken = super().__getitem__(rows)
        Watched.most = max(Watched.most, len(taken)) if taken.ndim == 2 else Watched.most
        return taken


@pytest.mark.parametrize("measure", [mean_cosine, feature_correlation, effective_rank, rank, sampled_uniformity])
def test_no_more_than_a_block_of_rows_is_held_at_a_time(measure, monkeypatch):
    monkeypatch.setattr(Watched, "most", 0)
    measure(cloud(n=geometry.ROWS_AT_ONCE + 900).view(Watched))
    assert Watched.most == geometry.ROWS_AT_ONCE


# ------------------------------------------------------------------------------- what cannot be measured
