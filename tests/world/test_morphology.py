"""Word forms: the rules, their exceptions, and every verb the world uses."""

import re

import pytest

from cselab.world import morphology
from cselab.world.frames import read_frames
from cselab.world.lexicon import Lexicon


@pytest.mark.parametrize(
    ("one", "several"),
    [
        ("cat", "cats"),
        ("box", "boxes"),
        ("church", "churches"),
        ("berry", "berries"),
        ("day", "days"),
        ("bus", "buses"),
    ],
)
def test_regular_plurals(one, several):
    assert morphology.plural(one) == several


@pytest.mark.parametrize(
    ("base", "past", "ing", "third"),
    [
        ("peel", "peeled", "peeling", "peels"),
        ("bake", "baked", "baking", "bakes"),
        ("carry", "carried", "carrying", "carries"),
        ("play", "played", "playing", "plays"),
        ("stop", "stopped", "stopping", "stops"),
        ("wash", "washed", "washing", "washes"),
        ("fix", "fixed", "fixing", "fixes"),
        ("cook", "cooked", "cooking", "cooks"),
        ("visit", "visited", "visiting", "visits"),
        ("die", "died", "dying", "dies"),
        ("dye", "dyed", "dyeing", "dyes"),
        ("agree", "agreed", "agreeing", "agrees"),
    ],
)
def test_regular_verbs(base, past, ing, third):
    forms = morphology.past(base), morphology.progressive(base), morphology.third_person(base)
    assert forms == (past, ing, third)


@pytest.mark.parametrize(
    ("base", "past", "participle", "ing"),
    [
        ("write", "wrote", "written", "writing"),
        ("steal", "stole", "stolen", "stealing"),
        ("swim", "swam", "swum", "swimming"),
        ("admit", "admitted", "admitted", "admitting"),
        ("undergo", "underwent", "undergone", "undergoing"),
        ("have", "had", "had", "having"),
    ],
)
def test_irregular_verbs(base, past, participle, ing):
    assert Lexicon().verb(base) == (past, participle, ing)


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


def test_third_person_of_the_four_odd_verbs():
    assert [morphology.third_person(verb) for verb in ("be", "have", "do", "go")] == ["is", "has", "does", "goes"]


def test_verbs_that_do_not_double_are_those_stressed_on_another_syllable():
    """A verb of two syllables such as "forget" must stand in verbs.txt, or it becomes "forgeted"."""
    lexicon, bases = Lexicon(), set()
    for frame in read_frames().values():
        bases |= {verb.split("_")[0] for saying in frame.sayings for verb in saying.verbs}
    ending_short = {base for base in bases if re.search(r"[^aeiou][aeiou][^aeiouwxy]$", base)}
    not_doubled = {base for base in ending_short if lexicon.verb(base)[2] == base + "ing"}
    assert not_doubled == set(UNSTRESSED.split())


UNSTRESSED = """
answer blossom cover deliver develop discover exhibit flower frighten gather inherit iron listen
lower open orbit order prohibit recover scatter season sharpen shatter suffer sweeten visit wander water
wither
"""
