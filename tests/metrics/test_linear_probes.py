"""The classifiers that are trained as one batch; test_transfer.py holds them against one at a time."""

import numpy as np
import pytest
import torch
from drawn import folds_of, overlapping_classes

from cselab.metrics.linear_probes import Fold, MinibatchProbes, _Best

ADAM = MinibatchProbes("Adam", 1e-2, batch_size=8, tenacity=2, epoch_size=2, max_epochs=12)


def test_a_fold_does_not_depend_on_the_folds_beside_it():
    x, y = overlapping_classes(83, 4, 2)
    folds = folds_of(83, 4)
    together = ADAM.fit(x, y, 2, folds, np.full((4, 1), 1e-3))
    for f, fold in enumerate(folds):
        alone = ADAM.fit(x, y, 2, [fold], np.full((1, 1), 1e-3))
        assert alone.dev_accuracy[0, 0] == together.dev_accuracy[f, 0]
        np.testing.assert_array_equal(alone.predicted[0], together.predicted[f])


def test_global_randomness_is_neither_used_nor_changed():
    x, y = overlapping_classes(60, 3, 2)
    before = torch.get_rng_state(), np.random.get_state()[1].tolist()
    ADAM.fit(x, y, 2, folds_of(60, 3), np.full((3, 1), 1e-3))
    assert torch.equal(torch.get_rng_state(), before[0])
    assert np.random.get_state()[1].tolist() == before[1]


def test_misses_are_counted_over_the_whole_run():
    """Misses are counted over the whole run and an improvement does not reset them."""
    best = _Best(1, 1, torch.zeros(2, 3))
    seen = []
    for correct in (5, 4, 6, 6, 7, 1, 9):
        weights = torch.full((1, 1, 2, 3), float(correct))
        best.update(torch.tensor([[correct]]), weights, tenacity=2)
        seen.append(bool(best.running.all()))
    # the misses are 4, the second 6 and 1: the third is one more than the tenacity, so 9 comes too late
    assert seen == [True, True, True, True, True, False, False]
    assert best.correct.item() == 7
    assert best.weights.unique().item() == 7


def test_too_few_rows_to_set_some_aside_are_refused():
    x, y = overlapping_classes(12, 3, 2)
    fold = Fold(np.arange(10), None, np.arange(10, 12))
    with pytest.raises(ValueError, match="10 training rows are too few: 5% of them are set aside"):
        ADAM.fit(x, y, 2, [fold], np.full((1, 1), 1e-3))
