from math import log

import pytest
import torch
from tiny import make_encoder, seeded

from cselab.methods import RetrievedNegatives, Setup, retrieved_negatives
from cselab.methods.retrieved_negatives import nearest_others


def test_the_nearest_others_are_those_of_a_full_search(monkeypatch):
    """The nearest others are those of a full search whatever the blocks."""
    vectors = torch.randn(23, 6, generator=seeded())
    unit = torch.nn.functional.normalize(vectors, dim=1)
    others = [[j for j in range(23) if j != i] for i in range(23)]
    expected = [sorted(others[i], key=lambda j: -float(unit[i] @ unit[j]))[:4] for i in range(23)]
    for block in (5, 2048):
        monkeypatch.setattr(retrieved_negatives, "QUERIES_AT_ONCE", block)
        assert nearest_others(vectors, 4).tolist() == expected


def test_a_sentence_is_contrasted_with_one_of_its_neighbours(viewed, batch):
    method = RetrievedNegatives(nearest=1)
    v, _, encoder = viewed(method, batch)
    vectors = make_encoder(layers=1, dropout=0).encode(batch, convert_to_tensor=True, normalize_embeddings=True)
    nearest = (vectors @ vectors.T).fill_diagonal_(-2).argmax(1).tolist()
    with torch.no_grad():
        expected = encoder.head(encoder.encode([batch[row] for row in nearest], convert_to_tensor=True))
    torch.testing.assert_close(v.negatives, expected, atol=1e-6, rtol=1e-5)
    assert v.negatives.requires_grad


def test_neighbours_are_drawn_from_the_nearest(spied, batch):
    """Neighbours are drawn from the nearest and a sentence is never its own."""
    method = RetrievedNegatives(nearest=3)
    encode, encoder = spied(method)
    method.build(Setup(encoder, [*batch, *batch[:4]]))
    assert method.neighbours.shape == (12, 3) and not (method.neighbours == torch.arange(12)[:, None]).any()
    for _ in range(40):
        method.views(encode, batch[:1])
    found = {batch.index(text) for views, _ in encode.calls[1::2] for text in views[0]}
    assert found == set(method.neighbours[0].tolist())


def test_a_retrieved_sentence_is_no_negative_of_itself(viewed, batch):
    """A sentence that was retrieved for another is no negative of itself."""
    method = RetrievedNegatives(nearest=11, temperature=0.5)  # all others of the batch: some are anchors, too
    v, _, encoder = viewed(method, batch)
    with torch.no_grad():
        z = torch.nn.functional.normalize(encoder.head(encoder.encode(batch, convert_to_tensor=True)), dim=1).double()
        drawn = [int((torch.nn.functional.normalize(row, dim=0) @ z.float().T).argmax()) for row in v.negatives]
    assert all(j != own for own, j in enumerate(drawn)) and len(drawn) == 12
    e = (z @ z.T / 0.5).exp().tolist()
    total = 0.0
    for i in range(12):
        total -= log(e[i][i] / (sum(e[i]) + sum(e[i][j] for j in drawn if j != i))) / 12
    assert method.loss(v).total.item() == pytest.approx(total, rel=1e-5)
