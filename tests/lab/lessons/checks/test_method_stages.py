"""Six methods to their stages: each wrong place is answered with what gives the method away."""

import pytest
from cselab_lab.lessons.checks import method_stages
from cselab_lab.lessons.exercises import diagnose

from cselab.methods import METHODS

RIGHT = dict(bt_bert="data", sr_bert="view", consert="view", dcpcse="encoder", mixcse="loss", focal="loss")

WRONG = [
    ("no others: bt_bert, sr_bert", {**RIGHT, "simcse": "loss"}),
    ("no others: bt_bert, sr_bert", {name: stage for name, stage in RIGHT.items() if name != "focal"}),
    ("a dictionary", list(RIGHT.values())),
    ("a dictionary", "data"),
    ("write one of data, view, encoder, head, loss", {**RIGHT, "focal": "negatives"}),
    ("write one of data, view, encoder, head, loss", {**RIGHT, "focal": "Loss"}),
    ("write one of data, view, encoder, head, loss", {**RIGHT, "focal": ...}),
    ("a sentence that the corpus brought along", {**RIGHT, "bt_bert": "view"}),
    ("Its rows hold a sentence and nothing else", {**RIGHT, "sr_bert": "data"}),
    ("what goes into the encoder, not the encoder itself", {**RIGHT, "consert": "encoder"}),
    ("Its loss is plain InfoNCE", {**RIGHT, "dcpcse": "loss"}),
    ("Linear + tanh stands there, as in SimCSE", {**RIGHT, "mixcse": "head"}),
    ("You said 'view'. The same vectors are contrasted", {**RIGHT, "focal": "view"}),
]


@pytest.mark.parametrize("answer", [RIGHT, dict(reversed(RIGHT.items()))])
def test_a_right_answer_is_solved(answer):
    assert diagnose(answer, method_stages.STAGES).solved


@pytest.mark.parametrize(("diagnosis", "answer"), WRONG)
def test_a_wrong_answer_is_named(diagnosis, answer):
    verdict = diagnose(answer, method_stages.STAGES)
    assert not verdict.solved and diagnosis in verdict.lines[-1]


def test_the_six_are_methods_that_touch_one_stage_and_cover_what_one_can_touch_alone():
    assert set(method_stages.SIX) <= set(METHODS)
    assert {card.name: len(card.stages) for card in method_stages.method_cards(method_stages.SIX)} == dict.fromkeys(
        method_stages.SIX, 1
    )
