"""Contrastive Tension: two encoders that start equal and are both trained."""

from math import exp, log

import pytest
import torch
from tiny import make_sentences, seeded

from cselab.methods import CT, Views

BATCH = make_sentences(10)


def test_the_two_encoders_start_equal_and_read_without_dropout(viewed):
    method = CT()
    views, encode, _ = viewed(method, BATCH, dropout=0.5)
    torch.testing.assert_close(views.anchor, views.positive)
    assert [options["dropout"] for _, options in encode.calls] == [False, False]


@pytest.mark.parametrize("negatives", [3, 7, 50])
def test_the_loss_agrees_with_loops(negatives):
    one, two = (torch.randn(10, 4, generator=seeded(seed)) for seed in (0, 1))
    rows = []
    for i in range(10):
        for shift in range(min(negatives, 9) + 1):
            dot = float(one[i] @ two[(i + shift) % 10])
            rows.append(log(1 + exp(-dot if shift == 0 else dot)))
    found = CT(negatives=negatives).loss(Views(one, two)).floats()
    assert found == {"tension": pytest.approx(sum(rows) / len(rows), rel=1e-5)}
