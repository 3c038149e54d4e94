"""The check of the sentence far out: found by its property, and what is typical is told so."""

import pytest
from cselab_lab.lessons.checks import far_sentence
from cselab_lab.lessons.exercises import diagnose


@pytest.mark.parametrize("sentence", ["Why, why, why?", "no no no no no", "one two three four five six seven"])
def test_what_the_world_never_says_lies_far_out(sentence):
    assert diagnose(sentence, far_sentence.STAGES).solved


@pytest.mark.parametrize(
    ("sentence", "diagnosis"),
    [
        ("A cook peels an onion.", "times as long as a typical one"),
        ("Der Koch schneidet Zwiebeln.", "times as long as a typical one"),
        ("1 2 3 4 5 6 7 8 9", "use words"),
        ("Why?", "three words or more"),
        (17, "it is a text"),
        (["Why", "why", "why?"], "it is a text"),
    ],
)
def test_what_is_not_far_out_or_no_sentence_is_told_so(sentence, diagnosis):
    verdict = diagnose(sentence, far_sentence.STAGES)
    assert not verdict.solved and diagnosis in verdict.lines[-1]


def test_a_typical_sentence_has_length_1():
    assert 0.7 < far_sentence.length("A cook peels an onion.") < 1.2
