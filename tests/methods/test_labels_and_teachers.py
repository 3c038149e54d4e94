"""Contrast by labels (SupCL-Seq) and with a teacher (DisCo)."""

import pytest
import torch
from tiny import make_encoder, make_rows
from torch.nn.functional import normalize
from torch.testing import assert_close

from cselab.methods import create_method


def test_supcl_seq_contrasts_three_dropout_rates_by_class(trainer):
    method = create_method("supcl_seq", high=0.5)
    encode, _ = trainer(method, dropout=0.1)
    rows = make_rows(method.columns, 6)
    rows = [(sentence, "ab"[i % 2]) for i, (sentence, _) in enumerate(rows)]
    method.classes = ["a", "b"]
    v = method.views(encode, rows)
    assert v.labels.tolist() == [0, 1] * 3 and len(v.positives) == 2
    clean = encode([sentence for sentence, _ in rows], dropout=False)
    far = [(view - clean).norm().item() for view in (v.anchor, *v.positives)]
    assert far[0] < 1e-5 < far[1] < far[2]
    z = normalize(torch.cat([v.anchor, *v.positives]).double(), dim=1)
    labels, losses = v.labels.repeat(3), []
    for i in range(len(z)):
        others = [a for a in range(len(z)) if a != i]
        total = sum(torch.exp(z[i] @ z[a] / 0.05) for a in others)
        same = [p for p in others if labels[p] == labels[i]]
        losses.append(-sum(torch.log(torch.exp(z[i] @ z[p] / 0.05) / total) for p in same) / len(same))
    assert_close(method.loss(v).total.double(), torch.stack(losses).mean(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("width", [8, 12])
def test_disco_pulls_a_sentence_to_its_vector(trainer, tmp_path, width):
    """Disco pulls a sentence to its vector by a frozen teacher."""
    make_encoder(width=width).save_pretrained(tmp_path / "teacher")
    method = create_method("disco", teacher=str(tmp_path / "teacher"))
    encode, _ = trainer(method, dropout=0.1)
    sentences = make_rows(("sentence",), 6)
    v = method.views(encode, sentences)
    taught = torch.from_numpy(method.frozen.encode(sentences))
    assert_close(v.positive, taught, rtol=1e-4, atol=1e-5)
    assert v.anchor.shape == (6, width) and not v.positive.requires_grad
    cosines = normalize(v.anchor, dim=1) @ normalize(taught, dim=1).T / 0.05
    assert_close(method.loss(v).total, -cosines.log_softmax(1).diagonal().mean())
    method.loss(v).total.backward()
    assert all(weight.grad is None for weight in method.frozen.parameters())
