"""The mean, and the largest principal components, removed from finished embeddings."""

from typing import Annotated, Any

import numpy as np
from jaxtyping import Float
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from cselab._util.arguments import Satisfies, check_argument
from cselab.metrics.significance import near_one

from .whitening import FLOATS


class ComponentsRemoved(TransformerMixin, BaseEstimator):
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
        self.k = k

    def fit(self, X: Any, y: Any = None) -> "ComponentsRemoved":
        """Compute mean and components from these rows; pipelines pass `y`.

        Raises:
            ValueError: fewer than two rows, NaN or infinite entries, a `k` below 0 or above the number of dimensions.
        """
        x = validate_data(self, X, dtype=FLOATS, ensure_min_samples=2)
        fits = Satisfies(
            f"a whole number from 0 to {x.shape[1]}, the dimensions of the embeddings", lambda k: 0 <= k <= x.shape[1]
        )
        check_argument("k", self.k, Annotated[int, fits])
        scaled, exponent = near_one(x)
        centred = scaled - scaled[0]  # exactly zero for rows that are the same
        self.mean_ = np.ldexp(scaled[0] + centred.mean(axis=0), exponent).astype(x.dtype)
        _, axes = np.linalg.eigh(np.atleast_2d(np.cov(centred, rowvar=False)))
        self.components_ = axes[:, ::-1][:, : self.k].astype(x.dtype)
        return self

    def transform(self, X: Any) -> Float[np.ndarray, "n d"]:
        """Remove them from rows.

        Raises:
            ValueError: not fitted yet, a different width than fitted, NaN or infinite entries.
        """
        check_is_fitted(self)
        centred = validate_data(self, X, dtype=FLOATS, reset=False) - self.mean_
        return centred - centred @ self.components_ @ self.components_.T
