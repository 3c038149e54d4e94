"""What a pooling makes of padding, of rows without tokens and of half precision; `test_encoder.py` has them by hand."""

import pytest
import torch

from cselab.encoders.pooling import get_pooling, mean_tokens


@pytest.fixture
def layers():
    """Hidden states of three sentences after no, one, two and three layers: [n, t, d]."""
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(3, 5, 4, generator=generator, dtype=torch.float64) for _ in range(4)]


def test_a_row_that_counts_nothing_gives_zeros(layers):
    assert torch.equal(mean_tokens(layers[0], torch.zeros(3, 5, dtype=torch.long)), torch.zeros(3, 4).double())


def test_half_precision_stays_half_and_is_close(layers):
    attention = torch.ones(3, 5, dtype=torch.long)
    halves = [layer.bfloat16() for layer in layers]
    pooled = get_pooling("mean")(halves, attention)
    assert pooled.dtype == torch.bfloat16
    torch.testing.assert_close(pooled.double(), get_pooling("mean")(layers, attention), atol=0.02, rtol=0.02)
