"""The classifiers that are trained as one batch; test_transfer.py holds them against one at a time."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from drawn import folds_of, overlapping_classes

from cselab.metrics.linear_probes import ConvergedProbes, Fold, MinibatchProbes

ADAM = MinibatchProbes("Adam", 1e-2, batch_size=8, tenacity=2, epoch_size=2, max_epochs=12)


def test_global_randomness_is_neither_used_nor_changed():
    x, y = overlapping_classes(60, 3, 2)
    before = torch.get_rng_state(), np.random.get_state()[1].tolist()
    ADAM.fit(x, y, 2, folds_of(60, 3), np.full((3, 1), 1e-3))
    assert torch.equal(torch.get_rng_state(), before[0])
    assert np.random.get_state()[1].tolist() == before[1]


def test_classes_that_a_line_parts_are_learnt():
    random = np.random.default_rng(0)
    y = random.integers(2, size=200)
    x = random.normal(size=(200, 3)) + 10 * (y[:, None] - 0.5)
    for probes in (replace(ADAM, max_epochs=100, tenacity=100), ConvergedProbes()):
        fitted = probes.fit(x, y, 2, folds_of(200, 4), np.full((4, 1), 1e-4))
        assert fitted.dev_accuracy.min() == 1.0


def test_too_few_rows_to_set_some_aside_are_refused():
    x, y = overlapping_classes(12, 3, 2)
    fold = Fold(np.arange(10), None, np.arange(10, 12))
    with pytest.raises(ValueError, match="10 rows to train on are too few: 5% of them are set aside"):
        ADAM.fit(x, y, 2, [fold], np.full((1, 1), 1e-3))
