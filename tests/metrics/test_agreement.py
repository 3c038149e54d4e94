"""Agreement of clusters with classes, against brute force and closed forms."""

from itertools import permutations

import numpy as np
import pytest
from sklearn.metrics import v_measure_score

from cselab.metrics.agreement import f1, matched, normalized_mutual_information, share_interval


def accuracy(clusters, labels):
    return 100 * matched(clusters, labels).mean()


def brute_force_accuracy(clusters, labels, k):
    """The best over all names that k clusters can be given."""
    return max(
        100 * np.mean([names[cluster] == label for cluster, label in zip(clusters, labels, strict=True)])
        for names in permutations(range(k))
    )


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 6])
def test_accuracy_equals_brute_force_over_permutations(k):
    for seed in range(5):
        random = np.random.default_rng(seed)
        clusters, labels = random.integers(k, size=40), random.integers(k, size=40)
        assert accuracy(clusters, labels) == pytest.approx(brute_force_accuracy(clusters, labels, k))


def test_fewer_clusters_than_classes_leave_classes_without():
    """Fewer clusters than classes leave classes without a cluster."""
    assert accuracy(np.zeros(10, dtype=int), np.arange(10) % 2) == 50.0


def test_more_clusters_than_classes_leave_clusters_wrong():
    assert accuracy(np.arange(10), np.arange(10) % 2) == 20.0


@pytest.mark.parametrize("measure", [accuracy, normalized_mutual_information])
def test_the_names_of_clusters_do_not_matter(measure):
    random = np.random.default_rng(0)
    labels = random.integers(5, size=100)
    clusters = np.where(random.random(100) < 0.7, labels, random.integers(5, size=100))
    renamed = np.array([30, 7, 12, 99, 1])[clusters]
    assert measure(renamed, labels) == pytest.approx(measure(clusters, labels))
    assert measure(renamed, renamed) == pytest.approx(100)


def test_the_arithmetic_normalised_mutual_information():
    """The arithmetic normalised mutual information is the v measure."""
    random = np.random.default_rng(1)
    clusters, labels = random.integers(6, size=80), random.integers(4, size=80)
    assert normalized_mutual_information(clusters, labels) == pytest.approx(100 * v_measure_score(labels, clusters))


def test_f1_is_of_class_one():
    predicted, labels = np.array([1, 1, 1, 0, 0]), np.array([1, 1, 0, 1, 0])
    assert f1(predicted, labels) == pytest.approx(100 * 2 / 3)


def test_the_interval_of_a_share_holds_the_share():
    """The interval of a share holds the share and shrinks with the rows."""
    for rows in (10, 1000):
        low, high = share_interval(rows // 2, rows)
        # Wilson's closed form at one half
        half_width = 100 * 0.5 * 1.959964 / np.sqrt(rows + 1.959964**2)
        assert (low, high) == pytest.approx((50 - half_width, 50 + half_width), abs=1e-4)
    assert share_interval(10, 10)[1] == pytest.approx(100)
