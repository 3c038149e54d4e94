"""What a method does otherwise than SimCSE is seen, not looked up."""

import re

import families
import pytest
import torch
from cells import table
from cselab_lab.lessons.pipeline_diff import STAGES, method_cards, pipeline_diff

from cselab import SentenceEncoder
from cselab.losses import info_nce
from cselab.methods import METHODS, Method, Views, create_method

TOUCHED = """
bt_bert | data
sr_bert | view
consert | view
dcpcse | encoder
focal | loss
mixcse | loss
whitenedcse | view head loss
adcse | encoder loss
diffcse | encoder head loss
sncse | data view encoder loss
"""


@pytest.fixture(scope="module")
def cards():
    return {card.name: card for card in method_cards()}


@pytest.mark.parametrize("name, stages", table(TOUCHED))
def test_a_method_is_seen_at_the_stages_that_it_changes(name, stages, cards):
    assert set(cards[name].stages) == {*stages.split()}


def test_every_method_but_the_baseline_is_seen_somewhere(cards):
    assert cards.keys() == METHODS.keys()
    assert [name for name, card in cards.items() if not card.stages] == ["simcse"]
    assert all(re.fullmatch(r"20\d\d", card.year) for card in cards.values())
    assert all(list(card.stages) == [stage for stage in STAGES if stage in card.stages] for card in cards.values())


def test_a_methods_family_is_among_what_is_seen_of_it(cards):
    """What a method says of itself agrees with what it does."""
    wanted = {
        "loss": lambda stages: "loss" in stages,
        "text": lambda stages: "view" in stages,
        "negatives": lambda stages: "negatives" in stages["loss"],
        "momentum": lambda stages: "second network" in stages["encoder"],
        "extra network": lambda stages: "encoder" in stages,
        "extra data": lambda stages: stages["data"].startswith("rows of"),
    }
    for card in cards.values():
        assert card.family not in wanted or wanted[card.family](card.stages), card


def test_a_refusal_is_said_and_the_rest_is_seen(cards):
    assert cards["cards"].stages == {
        "data": "sentences retrieved from the corpus",
        "view": "changed texts",
        "encoder": "needs a model with upper and lower case",
        "loss": "further negatives; weighted negatives",
    }


class Mine(Method):
    """Four views, one of them without dropout, and no head."""

    name = title = "mine"

    def build(self, setup):
        return None

    def views(self, encode, batch):
        return Views(*encode(batch, batch, batch), clean=encode(batch, dropout=False))

    def loss(self, v):
        return info_nce(v.anchor, v.positive, 0.05)


def test_a_method_of_ones_own_is_watched_like_all_others():
    assert pipeline_diff(Mine()) == {"view": "without dropout; 3 views", "head": "none"}


def test_watching_leaves_the_encoder_and_random_numbers():
    encoder = SentenceEncoder.from_pretrained("micro", pooling="mean")
    before = encoder.weights_hash(), encoder.pooling, encoder.training, torch.random.get_rng_state()
    pipeline_diff(create_method("promptbert"), encoder)
    assert (encoder.weights_hash(), encoder.pooling, encoder.training) == before[:3]
    assert encoder.head is None and torch.equal(torch.random.get_rng_state(), before[3])


def test_another_rate_is_seen_in_attention():
    encoder = SentenceEncoder(families.make_backbone("qwen3"), families.make_tokenizer("qwen3"), "mean")
    encoder.dropout = 0.1
    assert "a different rate of dropout" in pipeline_diff(create_method("scd"), encoder)["view"]
