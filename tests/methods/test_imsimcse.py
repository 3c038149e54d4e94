import torch

from cselab.methods import ImSimCSE


def test_the_clean_view_has_no_dropout(trainer, forward_rows, batch):
    """The clean view has no dropout and dropout is back on for the next."""
    method = ImSimCSE()
    encode, encoder = trainer(method)
    passes = forward_rows(encoder)
    views, again = method.views(encode, batch), method.views(encode, batch)
    assert passes == [(24, True), (12, False)] * 2
    assert torch.equal(views.clean, again.clean)
    assert (views.anchor - again.anchor).abs().max() > 0.01
    with torch.no_grad():
        expected = encoder.head(encoder.encode(batch, convert_to_tensor=True))
    torch.testing.assert_close(views.clean, expected, atol=1e-6, rtol=1e-5)
    assert ImSimCSE(off_dropout=False).views(encode, batch).clean is None  # no pass is made for nothing


def test_the_clean_view_passes_gradients_to_the_encoder(trainer, batch):
    method = ImSimCSE()
    encode, encoder = trainer(method)
    method.views(encode, batch).clean.square().sum().backward()
    assert encoder.backbone.embeddings.word_embeddings.weight.grad.abs().max() > 0
