from math import inf, log

import pytest
import torch
from tiny import make_encoder
from torch.nn.functional import cosine_similarity

from cselab.losses import info_nce
from cselab.methods import DCLR


def test_sentences_that_the_guide_finds_similar_are_no_negatives(table, batch):
    """Sentences that the guide finds similar are no negatives of each other."""
    method = DCLR(noise=0.0, phi=0.95)
    encode = table(method)
    with torch.no_grad():
        encode.vectors[3] = 1.01 * encode.vectors[7]
    v = method.views(encode, batch)
    cosines = torch.stack([cosine_similarity(encode.vectors, row[None]) for row in encode.vectors])
    expected = (cosines > 0.95) & ~torch.eye(12, dtype=torch.bool)
    assert expected[3, 7] and torch.equal(v.log_weights == -inf, expected)
    assert method.loss(v).total < info_nce(v.anchor, v.positive, 0.05).total


@pytest.mark.parametrize("noise, rows", [(1.0, 12), (2.5, 30), (0.0, None)])
def test_there_are_as_many_noise_vectors_a_sentence_as_told(noise, rows, table, batch):
    method = DCLR(noise=noise)
    v = method.views(table(method), batch)
    assert v.negatives is None if rows is None else len(v.negatives) == rows


def test_the_noise_climbs_the_loss(table, batch):
    """The noise climbs the loss and no gradient goes back through it."""
    still, moved = DCLR(ascent_steps=0), DCLR(ascent_steps=50, step=0.05)
    losses = {}
    for method in (still, moved):
        v = method.views(table(method), batch)
        assert not v.negatives.requires_grad
        losses[method.ascent_steps] = method.loss(v).total
    assert losses[50] > losses[0] + 0.01


def test_the_released_loss_is_a_mean_over_all_cells(table, batch):
    method = DCLR(variant="released", temperature=0.5, phi=0.5)
    v = method.views(table(method), batch)
    with torch.no_grad():
        columns = torch.cat([v.positive, v.negatives])
        total, cells = 0.0, 0
        for i in range(12):
            logits = torch.stack([cosine_similarity(v.anchor[i], c, dim=0) / 0.5 for c in columns])
            logits[:12][v.false[i]] = 0
            for j, share in enumerate(logits.softmax(0).tolist()):
                total -= log(share if i == j else 1 - share)
                cells += 1
    assert v.false.any() and cells == 12 * 24
    assert method.loss(v).floats() == {"cross_entropy": pytest.approx(total / cells, rel=1e-5)}


def test_a_guide_of_one_s_own_is_opened_frozen_and_kept(tmp_path, viewed, batch):
    make_encoder(layers=1, seed=5).save_pretrained(tmp_path / "guide")
    method = DCLR(guide=str(tmp_path / "guide"), phi=0.0)
    v, *_ = viewed(method, batch, dropout=0.5)
    vectors = make_encoder(layers=1, seed=5).encode(batch, convert_to_tensor=True)
    cosines = torch.stack([cosine_similarity(vectors, row[None]) for row in vectors])
    expected = (cosines > 0) & ~torch.eye(12, dtype=torch.bool)
    assert torch.equal(v.false, expected)
    assert not any(weight.requires_grad for weight in method.parameters())
    assert any(name.startswith("opened.") for name in method.state_dict())
