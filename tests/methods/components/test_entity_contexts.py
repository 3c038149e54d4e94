"""Vectors of entities from the words around them."""

from math import log

import torch

from cselab.methods.components import entity_contexts

TOLD = ["Ann sings", "Ann Lee sings now", "Bo sings", "Bo runs", "Rome lies there"]
NAMED = ["Ann Lee", "Ann Lee", "Bo", "Bo", "Rome"]


def test_the_dot_products_are_those_of_the_information_s_square():
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


def test_of_whom_nothing_but_the_name_is_said_has_no_vector():
    """Of whom nothing but the name is said has no vector and the width is a limit."""
    found = entity_contexts([*TOLD, "Oslo"], [*NAMED, "Oslo"], 2)
    assert list(found) == ["Ann Lee", "Bo", "Rome"] and all(len(vector) == 2 for vector in found.values())
    assert entity_contexts(["Oslo"], ["Oslo"], 8) == {}
