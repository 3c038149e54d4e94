from math import exp, log

import pytest
import torch

from cselab.losses import info_nce, off_dropout_info_nce


def test_orthogonal_sentences_with_equal_views():
    """Orthogonal sentences with equal views have a closed form."""
    views = torch.eye(5, 8, dtype=torch.float64)
    assert info_nce(views, views, 0.5).total.item() == pytest.approx(log(1 + 4 * exp(-2)))
    off = off_dropout_info_nce(views, views, views, 0.5, m=0.9)
    assert off.floats() == {"off_dropout_info_nce": pytest.approx(log(1 + 0.9 * 4 * exp(-2)))}
    off = off_dropout_info_nce(views, views, views, 0.5, m=0.9, m_on="positive")
    assert off.total.item() == pytest.approx(log(1 + 4 * exp(-0.9 * 2)))
