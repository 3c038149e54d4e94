"""CLINE: which tokens were replaced and by what, and the sentence with antonyms as the only negative."""

from math import exp, log

import pytest
import torch

from cselab.losses import Loss
from cselab.methods import CLINE, Views
from cselab.methods.components import replaced_tokens

BATCH = ["the old dog sees a small cat", "a bird follows the train", "this house likes a quiet river"]


@pytest.fixture
def method(tmp_path):
    same, opposite = tmp_path / "same.tsv", tmp_path / "opposite.tsv"
    same.write_text("word\tsynonym\ndog\tteacher\nlikes\tpaints\n", encoding="utf-8")
    opposite.write_text("word\tantonym\nold\tred\nsmall\tnew\n", encoding="utf-8")
    return CLINE(share=1.0, synonyms=str(same), antonyms=str(opposite), head="none")


def test_three_texts_are_encoded(viewed, method):
    """Three texts are encoded and every replaced token is labelled."""
    views, encode, _ = viewed(method, BATCH, dropout=0.1)
    original, same, opposite = encode.calls[-1][0]
    assert original == BATCH
    assert same == ["the old teacher sees a small cat", BATCH[1], "this house paints a quiet river"]
    assert opposite == ["the red dog sees a new cat", *BATCH[1:]]
    assert views.known.tolist() == [True, False, False]
    sentence, pieces = ("the old teacher sees a small cat", [(8, 15)]), ("a new cat", [(2, 5)])
    assert replaced_tokens(encode, [sentence]).int().tolist() == [0, 0, 0, 1, 0, 0, 0, 0, 0]
    both = replaced_tokens(encode, [pieces, sentence]).int().tolist()  # "new" is spelled in three pieces
    assert both == [0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0]


def three_views():
    """Of three sentences, the second without an antonym."""
    anchor, same, opposite = 3 * torch.randn(3, 3, 4, generator=torch.Generator().manual_seed(0))
    known, zero = torch.tensor([True, False, True]), torch.tensor(0.0)
    views = Views(anchor, same, negative=opposite, known=known, replaced=zero, words=Loss({"masked_words": zero}))
    return views, anchor, same, opposite


def test_the_contrast_has_one_negative_and_leaves_out_sentences(method):
    """The contrast has one negative and leaves out sentences without an antonym."""
    views, anchor, same, opposite = three_views()
    rows = []
    for i in (0, 2):
        one, two = float(anchor[i] @ same[i]), float(anchor[i] @ opposite[i])
        rows.append(-log(exp(one) / (exp(one) + exp(two))))
    assert method.loss(views).floats()["apart"] == pytest.approx(sum(rows) / 2, rel=1e-5)
    views.known = torch.zeros(3, dtype=torch.bool)
    assert method.loss(views).floats()["apart"] == 0


def test_tokens_are_sorted_by_what_replaced_them(viewed, method):
    views, encode, encoder = viewed(method, BATCH)
    changed = [*encode.calls[-1][0][1], *encode.calls[-1][0][2]]
    kinds = {"teacher": 1, "paints": 1, "red": 2, "new": 2}
    rows = []
    with torch.no_grad():
        for text in changed:
            tokens = encoder.tokenize([text])
            guesses = method.kind(encoder.backbone(**tokens).last_hidden_state[0]).log_softmax(1)
            own = [(word, encoder.tokenizer.tokenize(word)) for word in text.split()]
            right = [0, *(kinds.get(word, 0) for word, pieces in own for _ in pieces), 0]
            rows += [-float(guess[kind]) for guess, kind in zip(guesses, right, strict=True)]
    assert float(views.replaced.detach()) == pytest.approx(sum(rows) / len(rows), rel=1e-4)


def test_the_released_code_learns_how_much_each_term_weighs(viewed):
    method = CLINE(variant="released")
    views, *_ = viewed(method, BATCH, dropout=0.1)
    with torch.no_grad():
        method.uncertainty.copy_(torch.tensor([1.0, -1.0, 0.0]))
    weighed, plain = method.loss(views).floats(), CLINE(contrast="sigmoid").loss(views).floats()
    assert weighed.pop("uncertainty") == 1.0
    assert weighed == pytest.approx({
        "masked_words": plain["masked_words"] / exp(1), "replaced": plain["replaced"] * exp(1), "apart": plain["apart"]
    })  # fmt: skip


def test_the_released_code_judges_each_pair_alone():
    views, anchor, same, opposite = three_views()
    rows = [-log(1 / (1 + exp(-float((anchor[i] * same[i]).mean())))) for i in range(3)]
    rows += [-log(1 - 1 / (1 + exp(-float((anchor[i] * opposite[i]).mean())))) for i in (0, 2)]
    assert CLINE(contrast="sigmoid").loss(views).floats()["apart"] == pytest.approx(sum(rows) / 5, rel=1e-5)


def test_the_released_code_contrasts_the_masked_sentence(viewed):
    method = CLINE(variant="released", masked=1.0, head="none")
    views, encode, encoder = viewed(method, BATCH)
    masked = encode.calls[-1][0][0]
    assert (masked["input_ids"] == encoder.tokenizer.mask_token_id).sum() > len(BATCH)
    torch.testing.assert_close(views.anchor, encoder.pooled(masked), atol=1e-5, rtol=1e-4)
