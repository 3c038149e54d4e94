"""DeCLUTR: masked anchors, the mean of their spans, and masked words."""

import pytest
import torch
from tiny import make_rows
from torch.nn.functional import gelu
from torch.testing import assert_close

from cselab.augmentations import draw_spans
from cselab.losses import nt_xent
from cselab.methods import DeCLUTR

ROWS = make_rows(("document",), 6)


def drawn_again(method, encoder):
    """The anchors and the spans that the method drew first, and the anchors' tokens."""
    method.seed(0)
    sizes = method.anchors, method.positives, method.shortest, method.longest
    drawn = [draw_spans(document, *sizes, method.generator) for document in ROWS]
    anchors = [anchor for found, _ in drawn for anchor in found]
    return anchors, [spans for _, found in drawn for spans in found], encoder.tokenize(anchors, 32)


def test_anchors_of_all_documents_against_the_mean(viewed):
    """Anchors of all documents against the mean of their spans."""
    method = DeCLUTR(anchors=2, positives=3, weight=0.0)
    views, encode, encoder = viewed(method, ROWS)
    assert encoder.head is None
    tokens, *spans = encode.calls[0][0]
    anchors, near, unmasked = drawn_again(method, encoder)
    assert torch.equal(tokens["input_ids"], unmasked["input_ids"])
    assert len(anchors) == 12 and [list(each) for each in zip(*spans, strict=True)] == near
    assert all(text in ROWS[row // 2] for row in range(12) for text in (anchors[row], *near[row]))
    expected = torch.stack([encoder.pooled(encoder.tokenize(span, 32)) for span in spans]).mean(0)
    assert_close(views.positive, expected, atol=1e-5, rtol=1e-4)
    assert method.loss(views).floats() == {"nt_xent": nt_xent(views.anchor, views.positive, 0.05).total.item()}


@torch.no_grad()
def test_the_anchors_that_are_contrasted_are_those_whose_masked(viewed):
    """The anchors that are contrasted are those whose masked words are guessed."""
    method = DeCLUTR(weight=0.5, masked=1.0)  # every word is to be guessed, eight in ten are masked
    views, encode, encoder = viewed(method, ROWS)
    masked, (_, _, right) = encode.calls[0][0][0], drawn_again(method, encoder)
    assert_close(views.anchor, encoder.pooled(masked), atol=1e-5, rtol=1e-4)
    states, words = encoder.backbone(**masked).last_hidden_state, encoder.backbone.embeddings.word_embeddings.weight
    surprise = []
    for row, length in enumerate(right["attention_mask"].sum(1).tolist()):
        for place in range(1, length - 1):
            hidden = method.guess.norm(gelu(method.guess.dense(states[row, place])))
            surprise.append(-(words @ hidden + method.guess.bias).log_softmax(0)[right["input_ids"][row, place]])
    share = (masked["input_ids"] == encoder.tokenizer.mask_token_id).sum() / len(surprise)
    assert 0.6 < share < 0.95
    loss = method.loss(views).floats()
    assert loss["masked_words"] == pytest.approx(0.5 * float(sum(surprise)) / len(surprise), rel=1e-5)
    assert loss["nt_xent"] == nt_xent(views.anchor, views.positive, 0.05).total
