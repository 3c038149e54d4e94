import numpy as np
import pytest

from cselab.transforms import ComponentsRemoved


def test_components_are_removed_from_the_largest_on():
    generator = np.random.default_rng(0)
    x = generator.normal(size=(500, 6)) * [9.0, 5.0, 1.0, 1.0, 1.0, 1.0] + 3.0
    y = ComponentsRemoved(2).fit(x).transform(x)
    assert np.abs(y.mean(0)).max() < 1e-9 and np.linalg.matrix_rank(y) == 4
    assert np.allclose(ComponentsRemoved(0).fit(x).transform(x), x - x.mean(0))
    assert y[:, :2].std() < 0.2 < 0.8 < y[:, 2:].std()


def test_no_more_components_than_dimensions_are_removed():
    for k in (4, -1):
        with pytest.raises(ValueError, match=f"k must be from 0 to the 3 dimensions of the embeddings, got {k}"):
            ComponentsRemoved(k).fit(np.eye(3))
