"""Word forms: the forms of every verb that the world uses, and the rule of the article."""

import re

import pytest

from cselab.world import morphology
from cselab.world.frames import read_frames
from cselab.world.lexicon import Lexicon

VERBS = Lexicon().verbs
SAYINGS = [saying for frame in read_frames().values() for saying in frame.sayings]
BASES = {verb.split("_")[0] for saying in SAYINGS for verb in saying.verbs}


@pytest.mark.parametrize(
    ("base", "forms"),
    [
        ("carry", "carries carried carried carrying"),
        ("fix", "fixes fixed fixed fixing"),
        ("write", "writes wrote written writing"),
        ("admit", "admits admitted admitted admitting"),
        ("have", "has had had having"),
        ("be", "is was been being"),
    ],
)
def test_the_forms_of_a_verb(base, forms):
    assert VERBS[base] == forms.split()


def test_every_verb_of_a_saying_has_its_four_forms_and_every_verb_is_used():
    assert BASES == VERBS.keys()
    for base, (third, _, _, ing) in VERBS.items():
        assert base == "be" or (third.endswith("s") and ing.endswith("ing") and third[0] == base[0]), base


@pytest.mark.parametrize(
    ("word", "phrase"),
    [
        ("apple", "an apple"),
        ("dog", "a dog"),
        ("hour", "an hour"),
        ("honest man", "an honest man"),
        ("university", "a university"),
        ("umbrella", "an umbrella"),
        ("uniform", "a uniform"),
        ("unhappy cat", "an unhappy cat"),
        ("unimportant task", "an unimportant task"),
        ("useful app", "a useful app"),
        ("old one", "an old one"),
        ("one-way street", "a one-way street"),
        ("X-ray", "an X-ray"),
        ("European", "a European"),
        ("unmarried king", "an unmarried king"),
    ],
)
def test_a_or_an_goes_by_the_sound(word, phrase):
    assert morphology.indefinite(word) == phrase


def test_verbs_that_do_not_double_are_those_stressed_on_another_syllable():
    """ "forget", "forgetting", and "visit", "visiting"."""
    ending_short = {base for base in BASES if re.search(r"[^aeiou][aeiou][^aeiouwxy]$", base)}
    not_doubled = {base for base in ending_short if VERBS[base][3] == base + "ing"}
    assert not_doubled == set(UNSTRESSED.split())


UNSTRESSED = """
answer blossom cover deliver develop discover exhibit flower frighten gather inherit iron listen
lower open orbit order prohibit recover scatter season sharpen shatter suffer sweeten visit wander water
wither
"""
