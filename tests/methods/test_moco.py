"""MoCo, and CERT, which is MoCo on paraphrases: the queue is what a key is told from."""

from math import exp, log

import pytest
import torch
from tiny import make_rows
from torch.nn.functional import normalize

from cselab.methods import CERT, MoCo

both = pytest.mark.parametrize("cls", [MoCo, CERT], ids=["moco", "cert"])


@both
def test_a_query_is_told_from_the_queue_and_not_from_the_batch(spied, cls):
    method = cls(queue=4, width=3)
    encode, _ = spied(method)
    rows = make_rows(method.columns, 6)
    before = method.earlier.vectors.clone()
    views = method.views(encode, rows)
    unit = [normalize(z.detach(), dim=1) for z in (views.anchor, views.positive)]
    expected = []
    for q, k in zip(*unit, strict=True):
        own, below = exp(float(q @ k) / 0.07), sum(exp(float(q @ b) / 0.07) for b in before)
        expected.append(-log(own / (own + below)))
    assert method.loss(views).total.item() == pytest.approx(sum(expected) / 6, rel=1e-4)
    columns = [list(column) for column in zip(*rows, strict=True)] if cls is CERT else [rows, rows]
    assert [(view[0], options.get("by")) for view, options in encode.calls] == [
        (columns[1], method.slow.encoder),
        (columns[0], None),
    ]
    torch.testing.assert_close(method.earlier.vectors, unit[1][:4])
    assert not views.positive.requires_grad and views.anchor.shape == (6, 3)
