"""Transforms of finished vectors by name: the controls that every gain is seen beside."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float


class ComponentsRemoved:
    """The mean and the first `k` principal components removed (Mu and Viswanath 2018, "All-but-the-top").

        y = (x - mean) - U U^T (x - mean),    U the k directions of the largest variance

    With k = 0 only the mean is subtracted.

    >>> x = np.array([[3.0, 1.0], [-3.0, 1.0], [0.0, 2.0]])
    >>> np.round(ComponentsRemoved(1).fit(x).transform(x), 6) + 0.0
    array([[ 0.      , -0.333333],
           [ 0.      , -0.333333],
           [ 0.      ,  0.666667]])
    """

    def __init__(self, k: int = 0) -> None:
        self.k = k

    def fit(self, x: Float[np.ndarray, "n d"]) -> ComponentsRemoved:
        """Take mean and components from these rows."""
        self.mean_ = x.mean(axis=0)
        _, axes = np.linalg.eigh(np.cov(x.astype(np.float64), rowvar=False))
        self.components_ = axes[:, ::-1][:, : self.k].astype(x.dtype)
        return self

    def transform(self, x: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
        """Remove them from rows."""
        centred = x - self.mean_
        return centred - centred @ self.components_ @ self.components_.T


def fit(name: str, vectors: Float[np.ndarray, "n d"]) -> Any:
    """The transform of that name, fitted: "centred", "without K" components, "whitening", "flow".

    Raises:
        ValueError: an unknown name.
    """
    from cselab.evaluators import rank
    from cselab.transforms.whitening import BertFlow, BertWhitening

    kind, _, number = name.partition(" ")
    if name == "centred":
        return ComponentsRemoved(0).fit(vectors)
    if kind == "without" and number.isdigit():
        return ComponentsRemoved(int(number)).fit(vectors)
    if name == "whitening":
        spanned = min(rank(vectors), len(vectors) - 1)
        return BertWhitening(n_components=spanned).fit(vectors)
    if name == "flow":
        return BertFlow().fit(vectors)
    raise ValueError(f"unknown transform {name!r}; choose centred, without K, whitening or flow")
