"""Vectors of entities from the words around them."""

from math import log

import pytest
import torch
from torch.nn.functional import normalize

from cselab.methods.components import entity_contexts
from cselab.world import World

TOLD = ["Ann sings", "Ann Lee sings now", "Bo sings", "Bo runs", "Rome lies there"]
NAMED = ["Ann Lee", "Ann Lee", "Bo", "Bo", "Rome"]


def test_the_dot_products_are_those_of_the_information_s_square_root():
    """V V' = U S U': squared it is M M', and M is counted by hand here, without the words of the names."""
    words = {"Ann Lee": {"sings": 2, "now": 1}, "Bo": {"sings": 1, "runs": 1}, "Rome": {"lies": 1, "there": 1}}
    all_words, total = sorted({word for of in words.values() for word in of}), 7
    m = torch.zeros(3, len(all_words), dtype=torch.float64)
    for row, of in enumerate(words.values()):
        for word, count in of.items():
            by_chance = sum(of.values()) * sum(other.get(word, 0) for other in words.values()) / total
            m[row, all_words.index(word)] = max(0.0, log(count / by_chance))
    vectors = torch.stack(list(entity_contexts(TOLD, NAMED, 8).values())).double()
    assert torch.allclose((vectors @ vectors.T) @ (vectors @ vectors.T), m @ m.T, atol=1e-6)


def test_of_whom_nothing_but_the_name_is_said_has_no_vector_and_the_width_is_a_limit():
    found = entity_contexts([*TOLD, "Oslo"], [*NAMED, "Oslo"], 2)
    assert list(found) == ["Ann Lee", "Bo", "Rome"] and all(len(vector) == 2 for vector in found.values())
    assert entity_contexts(["Oslo"], ["Oslo"], 8) == {}


@pytest.mark.slow
def test_most_of_the_world_s_entities_are_nearest_to_one_of_their_kind():
    world = World(seed=0)
    rows = world.rows(("sentence", "entity"), 4000)
    found = entity_contexts([text for text, _ in rows], [name for _, name in rows], 256)
    kinds = {entity.name: entity.kind for entity in world.entities()}
    vectors, names = normalize(torch.stack(list(found.values())), dim=1), list(found)
    nearest = (vectors @ vectors.T).fill_diagonal_(-1).argmax(1)
    same = [kinds[name] == kinds[names[other]] for name, other in zip(names, nearest, strict=True)]
    assert sum(same) / len(same) == pytest.approx(0.8, abs=0.15)
