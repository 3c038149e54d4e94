"""How well predicted classes, or clusters without names, agree with the true classes. All in per cent."""

import numpy as np
from jaxtyping import Bool, Int

from cselab._util.arguments import checked

Classes = Int[np.ndarray, " n"]
"""The number of a class, or of a cluster, for each row."""


def matched(clusters: Classes, labels: Classes) -> Bool[np.ndarray, " n"]:
    """The correct rows under the best assignment of clusters to distinct classes (Hungarian).

        max over one-to-one maps m of   sum_i [ m(clusters_i) = labels_i ]

    The accuracy is the mean over the rows. With more clusters than classes the rows of the clusters left over are
    wrong.

    Raises:
        ValueError: no rows, or not one cluster for each label.

    See also: `normalized_mutual_information`, which needs no names.

    >>> matched(np.array([1, 1, 0, 0]), np.array([0, 0, 1, 2])).tolist()
    [True, True, True, False]
    """
    from scipy.optimize import linear_sum_assignment

    together = _contingency(clusters, labels)
    pairs = zip(*linear_sum_assignment(together, maximize=True), strict=True)
    names, kinds = np.unique(clusters), np.unique(labels)
    right = np.zeros(len(labels), dtype=bool)
    for cluster, kind in pairs:
        right |= (clusters == names[cluster]) & (labels == kinds[kind])
    return right


def normalized_mutual_information(clusters: Classes, labels: Classes) -> float:
    """Mutual information over the arithmetic mean of the entropies: 0 independent, 100 the same partition.

    Equal to the V-measure with beta = 1 (Rosenberg & Hirschberg 2007); papers use either name. (Before 2019
    scikit-learn divided by the geometric mean.)

    Raises:
        ValueError: no rows, or not one cluster for each label.
    """
    from sklearn.metrics import normalized_mutual_info_score

    _contingency(clusters, labels)
    return 100 * float(normalized_mutual_info_score(labels, clusters, average_method="arithmetic"))


def f1(predicted: Classes, labels: Classes) -> float:
    """Harmonic mean of precision and recall of class 1."""
    from sklearn.metrics import f1_score

    return 100 * float(f1_score(labels, predicted))


def share_interval(right: int, rows: int) -> tuple[float, float]:
    """95 % interval of a share (Wilson 1927): the chance of the rows, not of training or clustering.

    >>> low, high = share_interval(50, 100)
    >>> round(low, 2), round(high, 2)
    (40.38, 59.62)
    """
    from scipy.stats import binomtest

    interval = binomtest(right, rows).proportion_ci(0.95, method="wilson")
    return 100 * float(interval.low), 100 * float(interval.high)


@checked
def _contingency(clusters: Classes, labels: Classes) -> Int[np.ndarray, "k c"]:
    """How many rows of each class are in each cluster."""
    from sklearn.metrics.cluster import contingency_matrix

    if not len(labels):
        raise ValueError("no rows: nothing to compare")
    return contingency_matrix(clusters, labels)
