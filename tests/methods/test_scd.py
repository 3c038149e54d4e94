"""SCD: two rates of dropout, one term that pushes the views apart and one that holds their dimensions together."""

import pytest
import torch
from tiny import make_encoder, make_sentences, seeded
from torch import nn

from cselab.methods import SCD, Setup, Views

BATCH = make_sentences(8)


def rates(encoder):
    return {part.p for part in encoder.backbone.modules() if isinstance(part, nn.Dropout)}


def test_each_view_has_its_own_rate_of_dropout_in_every_layer(trainer):
    """Each view has its own rate of dropout in every layer and attention."""
    method = SCD(low=0.0, high=0.6, projection=16)
    encode, encoder = trainer(method, dropout=0.1)
    seen = []
    encoder.backbone.register_forward_pre_hook(lambda *_: seen.append(rates(encoder)))
    v = method.views(encode, BATCH)
    assert seen == [{0.0}, {0.6}] and rates(encoder) == {0.1}
    clean = encode(BATCH, dropout=False)
    torch.testing.assert_close(v.anchor, clean)
    assert (torch.cosine_similarity(v.positive, clean) < 0.999).all()


def test_the_loss_agrees_with_the_formula():
    method = SCD(projection=5, redundancy=0.3, weight=0.7, temperature=0.2)
    method.build(Setup(make_encoder(layers=1), BATCH))
    one, other = torch.randn(2, 9, 8, generator=seeded(1))
    p, q = (method.projector(x).detach() for x in (one, other))
    correlations = torch.corrcoef(torch.cat([p, q], dim=1).T)[:5, 5:]
    own = torch.eye(5, dtype=torch.bool)
    assert method.loss(Views(one, other)).floats() == pytest.approx(
        {
            "self_contrast": float(torch.cosine_similarity(one, other).mean()) / 0.2,
            "invariance": 0.7 * float((1 - correlations[own]).square().sum()),
            "redundancy": 0.7 * 0.3 * float(correlations[~own].square().sum()),
        },
        rel=1e-4,
    )
