"""Lesson 11: what is said of wrong answers."""

from cselab_lab.lessons.checks import survey
from cselab_lab.lessons.exercises import diagnose
from right_answers import SAID, STAGES, OneWay
from spellings import wrong_answers

from cselab.methods import METHODS, Contrastive, MixCSE, SNCSEDropout


class Forgetful(MixCSE, SNCSEDropout):
    """Views without `super()`: the denials are lost before the loss asks for them."""

    def views(self, encode, batch):
        return Contrastive.views(self, encode, batch)


WRONG = {
    "METHOD_STAGES": [
        ("no others: bt_bert, sr_bert", {**STAGES, "simcse": "loss"}),
        ("no others: bt_bert, sr_bert", {name: stage for name, stage in STAGES.items() if name != "focal"}),
        ("a dictionary", list(STAGES.values())),
        ("a dictionary", "data"),
        ("write one of data, view, encoder, head, loss", {**STAGES, "focal": "negatives"}),
        ("write one of data, view, encoder, head, loss", {**STAGES, "focal": "losses"}),
        ("write one of data, view, encoder, head, loss", {**STAGES, "focal": ...}),
        ("a sentence that the corpus brought along", {**STAGES, "bt_bert": "view"}),
        ("Its rows hold a sentence and nothing else", {**STAGES, "sr_bert": "data"}),
        ("what goes into the encoder, not the encoder itself", {**STAGES, "consert": "encoder"}),
        ("Its loss is plain InfoNCE", {**STAGES, "dcpcse": "loss"}),
        ("Linear + tanh stands there, as in SimCSE", {**STAGES, "mixcse": "head"}),
        ("You said 'view'. The same vectors are contrasted", {**STAGES, "focal": "view"}),
    ],
    "COMPOSED_METHOD": [
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
    ],
}


def test_the_six_are_methods_that_touch_one_stage_and_cover_what_one_can_touch_alone():
    assert set(survey.SIX) <= set(METHODS)
    cards = survey.method_cards(survey.SIX)
    assert {card.name: len(card.stages) for card in cards} == dict.fromkeys(survey.SIX, 1)


@wrong_answers(survey, WRONG)
def test_a_wrong_answer_is_named(exercise, said, answer):
    verdict = diagnose(answer, exercise)
    assert not verdict.solved and said in verdict.lines[-1], verdict
