"""BERT-whitening: mean 0 and covariance 1, by the principal components of finished embeddings.

See also: `cselab.sgw` for whitening inside a training step.
"""

from typing import Annotated, Any

import numpy as np
from annotated_types import Interval
from jaxtyping import Float
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from cselab._util.arguments import check_argument
from cselab.metrics.geometry import rank
from cselab.metrics.significance import near_one

FLOATS = [np.float64, np.float32]


class BertWhitening(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """y = (x - mean) W with W = U L^{-1/2}, for cov(x) = U L U^T (BERT-whitening, Su et al. 2021).

    PCA whitening of the covariance with divisor n - 1. Keeping the first `n_components` columns of W keeps
    the directions of the largest variance (256 of 768 in the paper), which also makes retrieval cheaper. The
    paper compares rows of y by their cosine. It is an estimator of scikit-learn.

    Args:
        n_components: width of y; None keeps all directions in which the rows vary. A direction without variance among
            those to keep is an error.

    After `fit`: `mean_` [d], `kernel_` (W) [d, n_components], `variances_` (L, all of it, largest first) [d].

    >>> x = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 3.0], [0.0, -3.0]])
    >>> y = BertWhitening().fit(x).transform(x)
    >>> np.allclose(np.cov(y, rowvar=False), np.eye(2))
    True
    """

    def __init__(self, n_components: int | None = None) -> None:
        self.n_components = n_components

    def fit(self, X: Any, y: Any = None) -> "BertWhitening":
        """Estimate mean and kernel, in float64; pipelines pass `y`.

        Raises:
            ValueError: fewer than two rows, NaN or infinite entries, more components than the rows have dimensions
                or vary in.
        """
        X = validate_data(self, X, dtype=FLOATS, ensure_min_samples=2)
        n, width = X.shape
        check_argument("n_components", self.n_components, Annotated[int, Interval(ge=1, le=width)] | None)
        x, exponent = near_one(X)
        centred = x - x[0]  # exactly zero for rows that are the same
        variances, axes = np.linalg.eigh(np.atleast_2d(np.cov(centred, rowvar=False)))
        variances, axes = variances[::-1].clip(min=0), axes[:, ::-1]
        rounding = np.finfo(np.float64).eps
        spanned = int((variances > max(width * rounding * variances[0], (8 * rounding) ** 2)).sum())
        if not spanned:
            raise ValueError(f"all {n} embeddings are the same, nothing to whiten")
        kept = self.n_components or max(1, min(rank(X), n - 1))
        if kept > spanned:
            raise ValueError(
                f"{n} embeddings vary in {spanned} of their {width} dimensions, too few to whiten {kept}: "
                f"use n_components <= {spanned}, or more sentences"
            )
        signs = np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(width)])
        self.mean_ = np.ldexp(x[0] + centred.mean(axis=0), exponent)
        with np.errstate(over="ignore"):  # infinite for vectors above 1e154
            self.variances_ = np.ldexp(variances, 2 * exponent)
        self.kernel_ = np.ldexp((axes * signs)[:, :kept] / np.sqrt(variances[:kept]), -exponent)
        return self

    def transform(self, X: Any) -> Float[np.ndarray, "n k"]:
        """Whiten rows with the fitted mean and kernel, in the precision of the rows.

        Raises:
            ValueError: not fitted yet, a different width than fitted, NaN or infinite entries.
        """
        check_is_fitted(self)
        x = validate_data(self, X, dtype=FLOATS, reset=False)
        return ((x - self.mean_) @ self.kernel_).astype(x.dtype)

    @property
    def _n_features_out(self) -> int:
        return self.kernel_.shape[1]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
