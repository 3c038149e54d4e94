"""DeCLUTR: anchors, the mean of their spans, and masked words."""

import pytest
import torch
from tiny import make_encoder, make_rows

from cselab.losses import nt_xent
from cselab.methods import DeCLUTR

ROWS = make_rows(("document",), 6)


def test_anchors_of_all_documents_against_the_mean_of_their_spans(spied):
    method = DeCLUTR(anchors=2, positives=3, weight=0.5, head="none")
    encode, encoder = spied(method, dropout=0.0)
    views = method.views(encode, ROWS)
    anchors, *spans = encode.calls[0][0]
    assert len(anchors) == 12 and len(spans) == 3
    for row, anchor in enumerate(anchors):
        document = ROWS[row // 2]
        assert all(text in document for text in (anchor, *(span[row] for span in spans)))
    expected = torch.stack([encoder.pooled(encoder.tokenize(span, 32)) for span in spans]).mean(0)
    torch.testing.assert_close(views.positive, expected, atol=1e-5, rtol=1e-4)
    loss = method.loss(views)
    assert loss.terms["nt_xent"] == nt_xent(views.anchor, views.positive, 0.05).total
    assert set(loss.terms) == {"nt_xent", "masked_words"}


def test_shortest_comes_before_longest():
    with pytest.raises(ValueError, match=r"shortest is 0\.5 and longest 0\.25"):
        DeCLUTR(shortest=0.5).prepare(make_encoder(layers=1))
