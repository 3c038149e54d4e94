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


@pytest.mark.slow
def test_it_learns_to_find_its_key_among_those_of_other_batches(trainer):
    method = MoCo(queue=24, head="none", momentum=0.99, temperature=0.3)
    encode, encoder = trainer(method, dropout=0.1)
    rows = make_rows(method.columns, 48)
    batches = [rows[start : start + 12] for start in range(0, 48, 12)]
    optimizer = torch.optim.Adam([w for g in method.groups(encoder) for w in g["params"]], lr=5e-3)
    margins = []
    for step in range(80):
        views = method.views(encode, batches[step % 4])
        one, two = (normalize(z.detach(), dim=1) for z in (views.anchor, views.positive))
        margins.append(float((one * two).sum(1).mean() - (one @ two.T).mean()))
        optimizer.zero_grad()
        method.loss(views).total.backward()
        optimizer.step()
    assert sum(margins[-4:]) / 4 > sum(margins[:4]) / 4 + 0.05
