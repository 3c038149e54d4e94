"""BERT-whitening: mean 0 and covariance 1, by the principal components of finished embeddings.

See also: `cselab.sgw` for whitening inside a training step.
"""

import numpy as np
from jaxtyping import Float

from cselab.transforms.inputs import Rows, check_fitted, checked


class BertWhitening:
    """y = (x - mean) W with W = U L^{-1/2}, for cov(x) = U L U^T (BERT-whitening, Su et al. 2021).

    PCA whitening of the covariance with divisor n - 1. Keeping the first `n_components` columns of W keeps
    the directions of the largest variance (256 of 768 in the paper), which makes retrieval cheaper too. The
    paper compares rows of y by their cosine.

    Args:
        n_components: width of y; None keeps all.
        eps: added to the eigenvalues. With 0, a direction without variance among those to keep is an error.

    After `fit`: `mean_` [d], `kernel_` (W) [d, n_components], `variances_` (L, all of it, largest first) [d].

    >>> x = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 3.0], [0.0, -3.0]])
    >>> y = BertWhitening().fit(x).transform(x)
    >>> np.allclose(np.cov(y, rowvar=False), np.eye(2))
    True
    """

    def __init__(self, n_components: int | None = None, eps: float = 0.0) -> None:
        if n_components is not None and n_components < 1:
            raise ValueError(f"n_components must be at least 1, or None to keep all, got {n_components}")
        if not (eps >= 0 and np.isfinite(eps)):
            raise ValueError(f"eps must be a number of at least 0, got {eps}")
        self.n_components = n_components
        self.eps = eps

    def fit(self, embeddings: Rows) -> "BertWhitening":
        """Estimate mean and kernel, in float64.

        Raises:
            ValueError: fewer than two rows, NaN or infinite entries, more components than the embeddings have
                or span.
        """
        x = checked(embeddings, at_least=2).astype(np.float64)
        n, width = x.shape
        kept = width if self.n_components is None else self.n_components
        if kept > width:
            raise ValueError(f"n_components={kept} is more than the {width} dimensions of the embeddings")
        variances, axes = np.linalg.eigh(np.atleast_2d(np.cov(x, rowvar=False)))
        variances, axes = variances[::-1].clip(min=0), axes[:, ::-1]
        spanned = int((variances > width * np.finfo(np.float64).eps * variances[0]).sum())
        if not spanned:
            raise ValueError(f"all {n} embeddings are the same, there is nothing to whiten")
        if kept > spanned and self.eps == 0:
            raise ValueError(
                f"{n} embeddings vary in {spanned} of their {width} dimensions, too few to whiten {kept}: "
                f"use n_components <= {spanned}, more sentences, or eps > 0"
            )
        signs = np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(width)])
        self.mean_ = x.mean(axis=0)
        self.variances_ = variances
        self.kernel_ = (axes * signs)[:, :kept] / np.sqrt(variances[:kept] + self.eps)
        return self

    def transform(self, embeddings: Rows) -> Float[np.ndarray, "n k"]:
        """Whiten rows with the fitted mean and kernel; the precision is that of the input, at least float32.

        Raises:
            ValueError: not fitted yet, a different width than fitted, NaN or infinite entries.
        """
        check_fitted(self, "kernel_")
        x = checked(embeddings, width=len(self.mean_))
        return ((x - self.mean_) @ self.kernel_).astype(np.result_type(x.dtype, np.float32))
