"""Shared by the tests of the losses: views to try them on, and the cosine written out."""

import math

import jaxtyping
import pytest
import torch


@pytest.fixture
def make_views():
    """Views of the same sentences: one signal, and noise of its own in each view; float64."""

    def make(count=2, rows=6, width=5, noise=0.6, seed=0):
        generator = torch.Generator().manual_seed(seed)
        signal = torch.randn(rows, width, generator=generator, dtype=torch.float64)
        return [
            signal + noise * torch.randn(rows, width, generator=generator, dtype=torch.float64) for _ in range(count)
        ]

    return make


@pytest.fixture
def cosine():
    """The cosine of two rows, on Python numbers."""

    def of(u, v):
        u, v = u.tolist(), v.tolist()
        dot = sum(a * b for a, b in zip(u, v, strict=True))
        return dot / math.sqrt(sum(a * a for a in u) * sum(b * b for b in v))

    return of


@pytest.fixture
def unchecked_annotations():
    """Switch off the checking of annotations, to see the messages that a user sees."""
    before = jaxtyping.config.jaxtyping_disable
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", before)
