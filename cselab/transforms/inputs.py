"""The requirements of transforms for the users' arrays."""

import numpy as np
from jaxtyping import Float

Rows = Float[np.ndarray, "n d"]
"""Embeddings, a row a sentence."""


def check_fitted(transform: object, attribute: str) -> None:
    """Raise ValueError unless the transform has this attribute, which `fit` sets."""
    if not hasattr(transform, attribute):
        raise ValueError(f"this {type(transform).__name__} is not fitted yet: call fit(embeddings) first")


def checked(embeddings: np.ndarray, at_least: int = 0, width: int | None = None) -> np.ndarray:
    """The embeddings as an array [n, d] of finite numbers.

    Raises:
        ValueError: a wrong shape or width, fewer rows than `at_least`, NaN or infinite entries.
    """
    x = np.asarray(embeddings)
    if x.ndim != 2:
        raise ValueError(f"embeddings must be an array [n, d] with a row a sentence, got shape {x.shape}")
    if len(x) < at_least:
        raise ValueError(f"fitting needs at least {at_least} embeddings, got {len(x)}")
    if width is not None and x.shape[1] != width:
        raise ValueError(f"fitted on embeddings of {width} dimensions, got {x.shape[1]}")
    damaged = ~np.isfinite(x).all(axis=1)
    if damaged.any():
        raise ValueError(f"embedding {damaged.argmax()} of {len(x)} holds NaN or infinite entries")
    return x
