import numpy as np
import pytest
from numpy.testing import assert_allclose

from cselab.transforms import BertWhitening, ComponentsRemoved


def test_components_are_removed_from_the_largest_on():
    generator = np.random.default_rng(0)
    x = generator.normal(size=(500, 6)) * [9.0, 5.0, 1.0, 1.0, 1.0, 1.0] + 3.0
    y = ComponentsRemoved(2).fit(x).transform(x)
    assert np.abs(y.mean(0)).max() < 1e-9 and np.linalg.matrix_rank(y) == 4
    assert np.allclose(ComponentsRemoved(0).fit(x).transform(x), x - x.mean(0))
    assert y[:, :2].std() < 0.2 < 0.8 < y[:, 2:].std()


@pytest.mark.parametrize("kind", [np.int8, np.int64, np.uint8, bool, np.float16, np.float32, ">f4", list])
def test_vectors_of_any_type_give_the_floats_answer(kind):
    rows = np.random.default_rng(2).normal(size=(200, 5)) * [30.0, 3, 2, 1, 1]
    if kind is bool:
        rows = rows > 1
    if kind is np.uint8:
        rows = rows - rows.min()
    given = rows.round().astype(int).tolist() if kind is list else rows.astype(kind)
    floats = np.asarray(given).astype(np.float64)
    for transform in (ComponentsRemoved(1), BertWhitening(2)):
        found, expected = (transform.fit(one).transform(one) for one in (given, floats))
        assert_allclose(found, expected, atol=1e-4)


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e-40, 1e-12, 1e12, 1e200, 1e300])
def test_the_scale_of_the_vectors_changes_no_direction(scale):
    rows = np.random.default_rng(2).normal(size=(60, 4)) + 1
    removed, whitened = (make.fit(rows).transform(rows) for make in (ComponentsRemoved(2), BertWhitening()))
    assert_allclose(ComponentsRemoved(2).fit_transform(scale * rows) / scale, removed, atol=1e-9)
    assert_allclose(BertWhitening().fit_transform(scale * rows), whitened, atol=1e-9)


@pytest.mark.parametrize("value", [0.0, 0.1, -1 / 3, 1e-300, 1e300, 1e8])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_constant_vectors_are_not_whitened(value, kind):
    rows = (
        np.full((77, 5), value, dtype=kind)
        if kind is np.float64
        else np.full((77, 5), np.clip(value, -1e38, 1e38), kind)
    )
    with pytest.raises(ValueError, match="all 77 embeddings are the same, nothing to whiten"):
        BertWhitening().fit(rows)
    assert not ComponentsRemoved(1).fit_transform(rows).any()
