"""The mean, and the largest principal components, removed from finished embeddings."""

import numpy as np

from cselab.transforms.inputs import Rows, check_fitted, checked


class ComponentsRemoved:
    """The mean and the first `k` principal components removed (Mu and Viswanath 2018, "All-but-the-top").

        y = (x - mean) - U U^T (x - mean),    U the k directions of the largest variance

    With k = 0 only the mean is subtracted: "centring", the baseline for every gain in isotropy.

    >>> x = np.array([[3.0, 1.0], [-3.0, 1.0], [0.0, 2.0]])
    >>> np.round(ComponentsRemoved(1).fit(x).transform(x), 6) + 0.0
    array([[ 0.      , -0.333333],
           [ 0.      , -0.333333],
           [ 0.      ,  0.666667]])
    """

    def __init__(self, k: int = 0) -> None:
        if k < 0:
            raise ValueError(f"k must be at least 0, got {k}")
        self.k = k

    def fit(self, x: Rows) -> "ComponentsRemoved":
        """Compute mean and components from these rows.

        Raises:
            ValueError: fewer than two rows, NaN or infinite entries, fewer dimensions than `k`.
        """
        x = checked(x, at_least=2)
        if self.k > x.shape[1]:
            raise ValueError(f"k={self.k} is more than the {x.shape[1]} dimensions of the embeddings")
        self.mean_ = x.mean(axis=0)
        _, axes = np.linalg.eigh(np.cov(x.astype(np.float64), rowvar=False))
        self.components_ = axes[:, ::-1][:, : self.k].astype(x.dtype)
        return self

    def transform(self, x: Rows) -> Rows:
        """Remove them from rows.

        Raises:
            ValueError: not fitted yet, a different width than fitted, NaN or infinite entries.
        """
        check_fitted(self, "mean_")
        centred = checked(x, width=len(self.mean_)) - self.mean_
        return centred - centred @ self.components_ @ self.components_.T
