"""Two methods in one class, and what a step of it was predicted to do."""

import pytest
from cselab_lab.lessons.checks import composed_method
from cselab_lab.lessons.exercises import diagnose

from cselab.methods import Contrastive, MixCSE, SNCSEDropout

SAID = {"columns": ("sentence", "negation"), "texts": 24, "candidates": 9}


class OneWay(MixCSE, SNCSEDropout):
    """The mixed negatives come after the denials."""


class OtherWay(SNCSEDropout, MixCSE):
    """The denials come after the mixed negatives."""


class ByHand(SNCSEDropout):
    """The same written out."""

    def views(self, encode, batch):
        v, mix = super().views(encode, batch), MixCSE()
        own = v.anchor.new_full((len(v.anchor),) * 2, float("-inf")).fill_diagonal_(0)
        return v.against(mix.mixed(v.positive), own)


class Forgetful(MixCSE, SNCSEDropout):
    """Views without `super()`: the denials are lost before the loss asks for them."""

    def views(self, encode, batch):
        return Contrastive.views(self, encode, batch)


WRONG = [
    ("give the class itself", (OneWay(), SAID)),
    ("give the class itself", ("MixCSE", SAID)),
    ("give the class itself", (dict, SAID)),
    ("inherit from both", (MixCSE, SAID)),
    ("inherit from both", (SNCSEDropout, SAID)),
    ("inherit from both", (Forgetful, SAID)),
    ("reads more than a sentence", (OneWay, {**SAID, "columns": ("sentence",)})),
    ("one denial", (OneWay, {**SAID, "columns": ["sentence", "entailment", "contradiction"]})),
    ("The denials are encoded, too", (OneWay, {**SAID, "texts": 16})),
    ("nothing is encoded for them", (OneWay, {**SAID, "texts": 32})),
    ("two dropout masks", (OneWay, {**SAID, "texts": 8})),
    ("stands in the denominator as well", (OneWay, {**SAID, "candidates": 8})),
    ("it is no negative of the InfoNCE", (OneWay, {**SAID, "candidates": 10})),
    ("only its own counts", (OneWay, {**SAID, "candidates": 16})),
    ("Count again", (OneWay, {**SAID, "candidates": 3})),
    ("The prediction is a dictionary", (OneWay, 24)),
    ("The prediction is a dictionary", (OneWay, {"columns": ("sentence", "negation")})),
]


@pytest.mark.parametrize("method", [OneWay, OtherWay, ByHand])
def test_a_right_answer_is_solved(method):
    assert diagnose((method, SAID), composed_method.STAGES).solved


@pytest.mark.parametrize(("diagnosis", "answer"), WRONG)
def test_a_wrong_answer_is_named(diagnosis, answer):
    verdict = diagnose(answer, composed_method.STAGES)
    assert not verdict.solved and diagnosis in verdict.lines[-1]
