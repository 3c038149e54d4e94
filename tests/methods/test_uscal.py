import torch

from cselab.losses import info_nce
from cselab.methods import USCAL


def input_vectors(encode, encoder, monkeypatch):
    """What each call of the encoder reads as `inputs_embeds`."""
    seen, pooled = [], encoder.pooled

    def spy(features):
        seen.append(features.get("inputs_embeds"))
        return pooled(features)

    monkeypatch.setattr(encoder, "pooled", spy)
    return seen


def test_every_sentence_s_input_moves_by_one_length(trainer, batch, monkeypatch):
    """Every sentence's input moves by one length to where the loss is higher."""
    method = USCAL(size=0.3)
    encode, encoder = trainer(method, dropout=0)
    seen = input_vectors(encode, encoder, monkeypatch)
    v = method.views(encode, batch)
    _, plain, moved = seen
    moves = (moved - plain).flatten(1)
    torch.testing.assert_close(moves.norm(dim=1), torch.full((12,), 0.3))
    hard = info_nce(v.anchor, v.adversarial, 0.05).total
    random = torch.randn(moves.shape, generator=torch.Generator().manual_seed(0))
    tokens = encode.tokens(batch)
    tokens.pop("input_ids")
    aside = plain + 0.3 * torch.nn.functional.normalize(random, dim=1).view_as(plain)
    at_random = info_nce(v.anchor, encode({"inputs_embeds": aside, **tokens}), 0.05).total
    assert hard > at_random + 0.05 and hard > info_nce(v.anchor, v.positive, 0.05).total


def test_finding_the_move_leaves_no_gradient_behind(trainer, batch):
    method = USCAL()
    encode, encoder = trainer(method)
    method.views(encode, batch)
    assert all(weight.grad is None for weight in encoder.parameters())
