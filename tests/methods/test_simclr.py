"""SimCLR: NT-Xent of two projected dropout views; the vector before the projection is the encoder's."""

import torch
from tiny import make_sentences

from cselab.methods import SimCLR


def test_it_is_nt_xent_of_the_projected_views(spied):
    method = SimCLR(width=3)
    encode, encoder = spied(method, dropout=0.1)
    batch = make_sentences(6)
    views = method.views(encode, batch)
    assert views.anchor.shape == (6, 3) and not torch.equal(views.anchor, views.positive)

    (first, relu), (last, _) = encoder.head.dense_layers()
    h = encode(batch, head=False)
    torch.testing.assert_close(encoder.head(h), relu(h @ first.weight.T) @ last.weight.T)
    assert encode.calls[0][0] == (batch, batch) and method.representation == "backbone"
