"""CARDS is the sum of its two parts."""

from math import inf

import torch
from tiny import make_sentences

from cselab.methods import CARDS, RetrievedNegatives

BATCH = make_sentences(12)


def test_the_positive_is_switched_the_negatives_are_neighbours(viewed):
    """The positive is switched the negatives are neighbours as they stand."""
    method = CARDS(share=0.5, nearest=3)
    v, encode, _ = viewed(method, BATCH)
    (sentences, switched), _ = encode.calls[0]
    (near,), _ = encode.calls[1]
    assert sentences == BATCH != switched and [text.lower() for text in switched] == BATCH
    for row, text in enumerate(near):
        assert BATCH.index(text) in method.neighbours[row].tolist()
    assert v.negatives.shape == (12, 8)
    itself = [[text == anchor for text in near] for anchor in BATCH]
    assert (v.log_weights[:, 12:] == -inf).tolist() == itself and not v.log_weights[:, :12].any()


def test_without_switching_it_is_the_retrieved_negatives(spied):
    method, retrieved = CARDS(share=0.0), RetrievedNegatives()
    encode, _ = spied(method, dropout=0.0)
    other, _ = spied(retrieved, "roberta", dropout=0.0)
    method.generator.manual_seed(0)
    torch.manual_seed(0)
    method.views(encode, BATCH)
    assert encode.calls[0][0] == (BATCH, BATCH)
    retrieved.views(other, BATCH)
    assert torch.equal(method.neighbours, retrieved.neighbours)
