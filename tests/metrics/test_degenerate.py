"""Vectors of any scale and type give the directions of the same numbers as floats."""

import numpy as np
import pytest
import torch

from cselab.metrics import alignment, effective_rank, feature_correlation, mean_cosine, uniformity
from cselab.metrics.degenerate import require_sound, unit_rows
from cselab.metrics.geometry import rank

ROWS = np.random.default_rng(0).normal(size=(40, 6))
CLOSE = {"rtol": 1e-5, "atol": 1e-6}


@pytest.mark.parametrize("scale", [1e-37, 1e-30, 1e-20, 1e20, 1e30, 1e37])
@pytest.mark.parametrize("power", [1, 8])
def test_directions_do_not_depend_on_the_scale(scale, power):
    kind = np.float32 if power == 1 else np.float64
    rows = ROWS.astype(kind)
    far = (rows * kind(scale**power)).astype(kind)
    np.testing.assert_allclose(unit_rows(far), unit_rows(rows), **CLOSE)
    for measure in (mean_cosine, uniformity):
        assert measure(far) == pytest.approx(measure(rows), rel=1e-5)
    require_sound(far)


@pytest.mark.parametrize("kind", [np.int8, np.int64, np.float16, ">f4", ">f8", ">i2"])
def test_directions_do_not_depend_on_the_type(kind):
    rows = (20 * ROWS).round().astype(kind)
    floats = rows.astype(np.float64)
    rows[0] = floats[0] = 1
    turned = lambda x: alignment(x, x[list(range(40))[::-1]])  # noqa: E731
    for measure in (mean_cosine, uniformity, effective_rank, feature_correlation, rank, turned):
        assert measure(rows) == pytest.approx(measure(floats), rel=1e-4)
        if np.dtype(kind).isnative:
            tensor = torch.from_numpy(rows)
            tensor.requires_grad_(tensor.is_floating_point())
            assert measure(tensor) == pytest.approx(measure(rows), rel=1e-6)
