"""Clouds of vectors for the transforms."""

import numpy as np


def cone(n, d, seed=0):
    """Correlated embeddings of falling variance, far from the origin."""
    rng = np.random.default_rng(seed)
    axes, _ = np.linalg.qr(rng.normal(size=(d, d)))
    return rng.normal(size=(n, d)) * np.geomspace(3, 0.1, d) @ axes.T + 5
