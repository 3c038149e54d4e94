"""CLINE: which tokens were replaced and by what, and the sentence with antonyms as the only negative."""

from math import exp, log

import pytest
import torch

from cselab.losses import Loss
from cselab.methods import CLINE, Views

BATCH = ["the old dog sees a small cat", "a bird follows the train", "this house likes a quiet river"]


@pytest.fixture
def method(tmp_path):
    same, opposite = tmp_path / "same.tsv", tmp_path / "opposite.tsv"
    same.write_text("word\tsynonym\ndog\tteacher\nlikes\tpaints\n", encoding="utf-8")
    opposite.write_text("word\tantonym\nold\tred\nsmall\tnew\n", encoding="utf-8")
    return CLINE(share=1.0, synonyms=str(same), antonyms=str(opposite), head="none")


def test_three_texts_are_encoded_and_every_replaced_token_is_labelled(spied, method):
    encode, _ = spied(method)
    views = method.views(encode, BATCH)
    original, same, opposite = encode.calls[-1][0]
    assert original == BATCH
    assert same == ["the old teacher sees a small cat", BATCH[1], "this house paints a quiet river"]
    assert opposite == ["the red dog sees a new cat", *BATCH[1:]]
    assert views.known.tolist() == [True, False, False]
    labels = method._labels(encode, [("the old teacher sees a small cat", [(8, 15)])], 1)
    assert labels.tolist() == [0, 0, 0, 1, 0, 0, 0, 0, 0]
    pieces = method._labels(encode, [("a new cat", [(2, 5)])], 2)  # "new" is spelled in three pieces
    assert pieces.tolist() == [0, 0, 2, 2, 2, 0, 0]


def test_the_contrast_has_one_negative_and_leaves_out_sentences_without_an_antonym(method):
    anchor, same, opposite = torch.randn(3, 3, 4, generator=torch.Generator().manual_seed(0))
    known, zero = torch.tensor([True, False, True]), torch.tensor(0.0)
    views = Views(anchor, same, negative=opposite, known=known, replaced=zero, words=Loss({"masked_words": zero}))
    rows = []
    for i in (0, 2):
        one, two = float(anchor[i] @ same[i]), float(anchor[i] @ opposite[i])
        rows.append(-log(exp(one) / (exp(one) + exp(two))))
    assert method.loss(views).floats()["apart"] == pytest.approx(sum(rows) / 2, rel=1e-5)
    views.known = torch.zeros(3, dtype=torch.bool)
    assert method.loss(views).floats()["apart"] == 0


def test_a_few_steps_bring_the_synonyms_nearer_than_the_antonyms(trainer, method):
    encode, encoder = trainer(method, dropout=0.1)
    optimizer = torch.optim.Adam([w for g in method.groups(encoder) for w in g["params"]], lr=0.01)
    losses = []
    for _ in range(30):
        loss = method.loss(method.views(encode, BATCH))
        losses.append(loss.floats())
        optimizer.zero_grad()
        loss.total.backward()
        optimizer.step()
    assert all(losses[-1][name] < losses[0][name] for name in ("masked_words", "replaced", "apart"))
    assert losses[-1]["apart"] < log(2)


def test_the_released_code_learns_how_much_each_term_weighs(spied):
    method = CLINE(variant="released")
    encode, _ = spied(method)
    views = method.views(encode, BATCH)
    with torch.no_grad():
        method.uncertainty.copy_(torch.tensor([1.0, -1.0, 0.0]))
    weighed, plain = method.loss(views).floats(), CLINE().loss(views).floats()
    assert weighed.pop("uncertainty") == 1.0
    assert weighed == pytest.approx({
        "masked_words": plain["masked_words"] / exp(1), "replaced": plain["replaced"] * exp(1), "apart": plain["apart"]
    })  # fmt: skip
