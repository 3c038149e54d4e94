"""The check of the sentences that fool the encoder: a difference of form alone does not pass; the cosine is told."""

import pytest
from cselab_lab.lessons.checks import fooled
from cselab_lab.lessons.exercises import diagnose

RIGHT = {
    "roles exchanged": ("The girl hugs the boy.", "The boy hugs the girl."),
    "a negation": ["A cook is peeling an onion.", "A cook is not peeling an onion."],
    "another number": ("Two men ride a horse.", "Five men ride a horse."),
}

WRONG = [
    ("in brackets", "The girl hugs the boy. The boy hugs the girl."),
    ("in brackets", ("The girl hugs the boy.", "The boy hugs the girl.", "The dog sleeps.")),
    ("in brackets", (0.9, 0.8)),
    ("in brackets", {"first": "The girl hugs the boy.", "second": "The boy hugs the girl."}),
    ("in brackets", lambda: ("The girl hugs the boy.", "The boy hugs the girl.")),
    ("no word in it", ("The girl hugs the boy.", "")),
    ("no word in it", ("...", "...")),
    ("Change what is said", ("The girl hugs the boy.", "The girl hugs the boy.")),
    ("Change what is said", ("The girl hugs the boy.", "the girl hugs the boy !")),
    ("Change what is said", ("The girl hugs the boy.", "A girl is hugging a boy.")),
    ("Change what is said", ("A dog barks.", "The dogs barked.")),
    ("Keep most words", ("A cook is peeling an onion.", "Parliament rejected the new tax.")),
    ("Keep most words", fooled.COOKS),
]


@pytest.mark.parametrize("answer", RIGHT.values(), ids=RIGHT)
def test_a_pair_that_fools_the_encoder_is_accepted(answer):
    assert diagnose(answer, fooled.STAGES).solved


@pytest.mark.parametrize(("diagnosis", "answer"), WRONG)
def test_a_wrong_answer_is_named(diagnosis, answer):
    verdict = diagnose(answer, fooled.STAGES)
    assert not verdict.solved and diagnosis in verdict.lines[-1]


def test_a_pair_too_far_apart_is_told_its_cosine_and_the_one_to_beat():
    found = fooled.cosine(("A dog barks.", "The tax rises."))
    said = diagnose(("A dog barks.", "The tax rises."), fooled.STAGES).lines[-1]
    assert f"{found:.3f}" in said and f"{fooled.cosine(fooled.COOKS):.3f}" in said
