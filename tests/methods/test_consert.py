"""ConSERT: which input vectors and positions change, and that dropout is off."""

import torch
from tiny import make_sentences

from cselab.augmentations import inner_tokens
from cselab.methods import ConSERT

BATCH = make_sentences(8)


def test_one_view_lacks_features(spied):
    """One view lacks features the other has its positions shuffled and nothing drops out."""
    method = ConSERT(share=0.25)
    encode, encoder = spied(method, dropout=0.5)
    method.views(encode, BATCH)
    ((cut, shuffled), options) = encode.calls[0]
    assert options == {"dropout": False}
    assert ((cut["embedding_mask"] == 0).sum(2) == encoder.hidden_size // 4).all()
    assert torch.equal(cut["input_ids"], encode.tokens(BATCH)["input_ids"])
    inner = inner_tokens(shuffled)
    assert not torch.equal(shuffled["position_ids"][inner], inner.nonzero()[:, 1])
    assert torch.equal(shuffled["position_ids"][~inner], (~inner).nonzero()[:, 1])


def test_without_a_change_the_vector_is_the_one_without_dropout(viewed):
    method = ConSERT(second="none", head="none")
    views, _, encoder = viewed(method, BATCH, dropout=0.5)
    encoder.eval()
    plain = encoder.pooled(encoder.tokenize(BATCH, 32))
    torch.testing.assert_close(views.positive, plain)
    assert not torch.allclose(views.anchor, plain)


def test_token_cutoff_leaves_the_ends(spied):
    method = ConSERT(first="token_cutoff", second="none", share=0.5)
    encode, _ = spied(method)
    method.views(encode, BATCH)
    cut = encode.calls[0][0][0]
    gone = (cut["embedding_mask"] == 0)[..., 0]
    inner = inner_tokens(cut)
    assert torch.equal(gone.sum(1), inner.sum(1) // 2) and not (gone & ~inner).any()
