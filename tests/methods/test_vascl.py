from math import exp, log

import pytest
import torch
from torch.nn.functional import cosine_similarity

from cselab.losses import nt_xent
from cselab.methods import VaSCL


def test_neighbours_are_the_others_of_the_largest_inner_product():
    e = torch.tensor([[1.0, 0.0], [2.0, 1.0], [0.0, 3.0], [-1.0, 0.0]])
    near = VaSCL(neighbours=1).nearest(e)
    assert near.nonzero().tolist() == [[0, 1], [1, 2], [2, 1], [3, 2]]
    assert VaSCL(neighbours=16).nearest(e).sum(1).tolist() == [3] * 4


def test_the_moved_view_is_told_from_neighbours_only(table, batch):
    method = VaSCL(neighbours=3, temperature=0.5)
    v = method.views(table(method), batch)

    def e(x, y):
        return exp(float(cosine_similarity(x, y, dim=0)) / 0.5)

    both, total = (v.still.detach(), v.moved.detach()), 0.0
    for one, two in (both, both[::-1]):
        for i in range(12):
            near = v.near[i].nonzero().flatten().tolist()
            negatives = sum(e(one[i], one[j]) + e(one[i], two[j]) for j in near)
            total -= log(e(one[i], two[i]) / (e(one[i], two[i]) + negatives)) / 24
    assert method.loss(v).floats() == {
        "nt_xent": pytest.approx(nt_xent(v.anchor, v.positive, 0.5).total.item()),
        "neighbourhood": pytest.approx(total, rel=1e-5),
    }


def test_the_direction_is_harder_than_one_at_random(table, batch):
    method = VaSCL(reach=1.0)
    encode = table(method)
    hard = method.loss(method.views(encode, batch)).floats()["neighbourhood"]
    method.direction = lambda head, e, near: torch.nn.functional.normalize(torch.randn(e.shape), dim=1)
    torch.manual_seed(0)
    at_random = [method.loss(method.views(encode, batch)).floats()["neighbourhood"] for _ in range(5)]
    assert hard > max(at_random)


@pytest.mark.parametrize("variant", ["paper", "released"])
def test_the_released_second_term_trains_the_head_alone(variant, table, batch):
    method = VaSCL(variant=variant)
    encode = table(method)
    term = method.loss(method.views(encode, batch)).terms["neighbourhood"]
    sentences, *head = torch.autograd.grad(term, [encode.vectors, *encode.head.parameters()], allow_unused=True)
    assert (sentences is None) == (variant == "released")
    assert all(gradient.abs().max() > 0 for gradient in head)


def test_the_released_second_term_holds_what_is_not_moved(table, batch):
    """The released second term holds what is not moved constant."""
    method = VaSCL(variant="released", neighbours=3, temperature=0.5)
    encode = table(method)
    d = torch.nn.functional.normalize(torch.randn(12, 8, generator=torch.Generator().manual_seed(2)), dim=1)
    method.direction = lambda head, e, near: d
    v = method.views(encode, batch)
    term = method.loss(v).terms["neighbourhood"]
    encode.replay()
    e = encode(batch, head=False).detach()
    still, moved = encode.head(e).detach(), encode.head(e + 15 * d)
    total = 0
    for one, two in ((still, moved), (moved, still)):
        for i in range(12):
            columns = torch.stack([two[i], *(side[j] for j in v.near[i].nonzero().flatten() for side in (one, two))])
            total -= (cosine_similarity(one[i], columns) / 0.5).log_softmax(0)[0] / 24
    weights = list(encode.head.parameters())
    for ours, slow in zip(torch.autograd.grad(term, weights), torch.autograd.grad(total, weights), strict=True):
        torch.testing.assert_close(ours, slow, rtol=1e-4, atol=1e-7)


def test_the_head_projects_and_has_a_rate_of_its_own(trainer):
    method = VaSCL(width=5)
    encode, encoder = trainer(method)
    assert method.views(encode, ["a cat", "the dog", "a bird"]).anchor.shape == (3, 5)
    backbone, head = method.groups(encoder)
    assert "lr" not in backbone and head["lr"] == 5e-4
    assert sum(map(len, (backbone["params"], head["params"]))) == len(list(encoder.parameters()))
