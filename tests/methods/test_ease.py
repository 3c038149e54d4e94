from math import exp, log

import pytest
import torch
from tiny import make_encoder, make_rows
from torch.nn.functional import cosine_similarity

from cselab.methods import EASE, Setup
from cselab.methods.components import entity_contexts
from cselab.world import World

COLUMNS = ("sentence", "entity", "other_entity")


def test_a_sentence_is_contrasted_with_its_entity(trainer):
    """A sentence is contrasted with its entity and the other of its kind weighs more."""
    method = EASE(weight=1.0, entity_temperature=0.5, hard_negative_weight=0.7)
    encode, _ = trainer(method)
    rows = make_rows(COLUMNS, 6)
    v = method.views(encode, rows)

    def e(x, y):
        return exp(float(cosine_similarity(x, y, dim=0)) / 0.5)

    with torch.no_grad():
        g, other = (method.embedded([row[place] for row in rows]) for place in (1, 2))
        total = 0.0
        for i in range(6):
            among = sum(e(v.anchor[i], g[j]) + e(v.anchor[i], other[j]) * (exp(0.7) if i == j else 1) for j in range(6))
            total -= log(e(v.anchor[i], g[i]) / among) / 6
    assert method.loss(v).floats()["entity"] == pytest.approx(total, rel=1e-5)


def test_vectors_of_entities_are_read_from_a_file(tmp_path):
    rows = [("Ann sleeps", "Ann", "Bo Lee"), ("Bo eats", "Bo Lee", "Ann")]
    file = tmp_path / "vectors.tsv"
    file.write_text("vector\tentity\n1 0 2\tBo Lee\n3 4 5\tAnn\n9 9 9\tZoe\n")
    method = EASE(vectors=str(file))
    method.build(Setup(make_encoder(layers=1), rows))
    assert method.table.weight.tolist() == [[3, 4, 5], [1, 0, 2]] and method.numbers == {"Ann": 0, "Bo Lee": 1}
    assert method.embedded(["Ann"]).shape == (1, 8)


def test_vectors_start_from_the_words_around_an_entity():
    """Vectors start from the words around an entity and else from random numbers."""
    rows = [("Ann sleeps well", "Ann", "Cy"), ("Bo eats", "Bo", "Ann")]
    learnt, drawn = EASE(), EASE(vectors=None)
    for method in (learnt, drawn):
        method.build(Setup(make_encoder(layers=1), rows))
    told = entity_contexts(["Ann sleeps well", "Bo eats"], ["Ann", "Bo"], 8)
    found = {name: learnt.table.weight[number] for name, number in learnt.numbers.items()}
    assert found["Ann"].tolist() == told["Ann"].tolist() and found["Bo"].tolist() == told["Bo"].tolist()
    assert found["Cy"].abs().sum() > 0 and drawn.table.weight.shape == (3, 8)
    assert all(method.embedded(["Ann", "Cy"]).shape == (2, 8) for method in (learnt, drawn))


def test_the_world_s_other_entity_is_of_the_same_kind():
    """The world's other entity is of the same kind and not in the sentence."""
    world = World(seed=0)
    kinds = {noun.name: noun.parent.name for noun in world.lexicon.names}
    rows = world.rows(COLUMNS, 60)
    assert all(kinds[one] == kinds[other] and one != other for _, one, other in rows)
    assert all(other not in sentence for sentence, _, other in rows)
