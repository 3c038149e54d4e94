"""Methods whose views are changed texts or rows: what is encoded beside the sentence."""

import torch
from tiny import make_encoder, make_rows, make_sentences

from cselab.methods import BTBERT, CLEAR, SRBERT, Setup, SwitchCase

BATCH = make_sentences(8)


def table(tmp_path, rows):
    path = tmp_path / "table.tsv"
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def test_sr_bert_encodes_the_sentence_and_a_copy_with_synonyms(spied, tmp_path):
    """Sr bert encodes the sentence and a copy with synonyms with dropout."""
    pairs = [("word", "synonym"), ("dog", "hound"), ("sees", "beholds"), ("the", "that")]
    method = SRBERT(share=1.0, table=table(tmp_path, pairs))
    encode, _ = spied(method)
    method.views(encode, BATCH)
    sentences, changed = encode.calls[0][0]
    assert sentences == BATCH
    expected = [
        " ".join({"dog": "hound", "sees": "beholds", "the": "that"}.get(word, word) for word in text.split())
        for text in BATCH
    ]
    assert changed == expected != BATCH


def test_sr_bert_knows_the_synonyms_of_the_world():
    method = SRBERT()
    method.build(Setup(make_encoder(layers=1), []))
    assert "movie" in method.synonyms.table["film"]


def test_bt_bert_contrasts_the_two_columns_of_its_rows(spied):
    method, rows = BTBERT(), make_rows(("sentence", "paraphrase"), 6)
    encode, _ = spied(method)
    method.views(encode, rows)
    assert encode.calls[0][0] == ([row[0] for row in rows], [row[1] for row in rows])


def test_the_case_switch_changes_case_only(spied):
    method = SwitchCase(share=0.5)
    encode, _ = spied(method)
    method.views(encode, BATCH)
    ((sentences, switched), _) = encode.calls[0]
    assert sentences == BATCH != switched
    assert [text.lower() for text in switched] == BATCH


def test_clear_changes_both_views_and_adds_masked_words(viewed):
    method = CLEAR(weight=0.5)
    views, encode, encoder = viewed(method, BATCH, dropout=0.1)
    substituted, shorter = encode.calls[0][0]
    assert all(len(cut.split()) < len(text.split()) for cut, text in zip(shorter, BATCH, strict=True))
    assert [len(text.split()) for text in substituted] == [len(text.split()) for text in BATCH]
    words = torch.tensor(float(len(encoder.tokenizer))).log()  # a fresh head guesses among all tokens
    torch.testing.assert_close(method.loss(views).terms["masked_words"] / 0.5, words, atol=1.5, rtol=0)
