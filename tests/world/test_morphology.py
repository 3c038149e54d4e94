"""Word forms: the forms of every verb that the world uses, and the rule of the article."""

import re

from cselab.world import morphology
from cselab.world.frames import read_frames
from cselab.world.lexicon import Lexicon

VERBS = Lexicon().verbs
SAYINGS = [saying for frame in read_frames().values() for saying in frame.sayings]
BASES = {verb.split("_")[0] for saying in SAYINGS for verb in saying.verbs}


FORMS = """
carry carries carried carried carrying
fix fixes fixed fixed fixing
write writes wrote written writing
admit admits admitted admitted admitting
have has had had having
be is was been being
"""


def test_the_forms_of_a_verb():
    for base, *forms in map(str.split, FORMS.strip().splitlines()):
        assert VERBS[base] == forms


def test_every_verb_of_a_saying_has_its_four_forms():
    """Every verb of a saying has its four forms and every verb is used."""
    assert BASES == VERBS.keys()
    for base, (third, _, _, ing) in VERBS.items():
        assert base == "be" or (third.endswith("s") and ing.endswith("ing") and third[0] == base[0]), base


PHRASES = """
an apple, a dog, an hour, an honest man, a university, an umbrella, a uniform, an unhappy cat, an unimportant task,
a useful app, an old one, a one-way street, an X-ray, a European, an unmarried king
"""


def test_a_or_an_goes_by_the_sound():
    for phrase in PHRASES.replace("\n", " ").strip().split(", "):
        assert morphology.indefinite(phrase.split(" ", 1)[1]) == phrase


def test_verbs_that_do_not_double_are_those_stressed():
    """ "forget", "forgetting", and "visit", "visiting"."""
    ending_short = {base for base in BASES if re.search(r"[^aeiou][aeiou][^aeiouwxy]$", base)}
    not_doubled = {base for base in ending_short if VERBS[base][3] == base + "ing"}
    assert not_doubled == set(UNSTRESSED.split())


UNSTRESSED = """
answer blossom cover deliver develop discover exhibit flower frighten gather inherit iron listen
lower open orbit order prohibit recover scatter season sharpen shatter suffer sweeten visit wander water
wither
"""
