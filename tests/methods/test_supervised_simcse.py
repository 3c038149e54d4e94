import torch
from tiny import make_rows

from cselab.methods import SupervisedSimCSE

COLUMNS = ("sentence", "entailment", "contradiction")


def test_every_contradiction_is_a_negative_of_every_sentence(trainer):
    """Every contradiction is a negative of every sentence and its own weighs as told."""
    method = SupervisedSimCSE(hard_negative_weight=0.7)
    encode, _ = trainer(method, dropout=0)
    rows = make_rows(COLUMNS, 5)
    v = method.views(encode, rows)
    for found, texts in zip((v.anchor, v.positive, v.negatives), zip(*rows, strict=True), strict=True):
        torch.testing.assert_close(found, encode(list(texts)))
    assert torch.equal(v.log_weights, torch.cat([torch.zeros(5, 5), 0.7 * torch.eye(5)], dim=1))


def test_the_vector_after_the_head_is_evaluated():
    assert SupervisedSimCSE().representation == "head"
