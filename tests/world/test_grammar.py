"""From meaning to English: every frame in every form, and sentences known in full."""

import random
import re
from dataclasses import replace

import pytest

from cselab.world import Meaning, Thing, World
from cselab.world.grammar import QUESTION_KINDS, SENTENCE_FORMS

WORLD = World()
GRAMMAR, FRAMES = WORLD.grammar, WORLD.frames
PEEL = Meaning("peel", (("A", Thing("Anna Keller")), ("O", Thing("carrot", quantity="number.three"))))
HUG = Meaning("hug", (("A", Thing("father")), ("B", Thing("child"))))


def texts(meaning, form=None, times=200):
    """What is said for a meaning, in one form or in any."""
    rng = random.Random(0)
    forms = [choice for choice in GRAMMAR.forms(meaning) if form in (None, choice[1])]
    return {GRAMMAR.say(meaning, rng, rng.choice(forms)) for _ in range(times)}


@pytest.mark.parametrize("topic", WORLD.topics)
def test_every_frame_is_said_in_every_form_it_allows(topic):
    """Whatever its tense, details and polarity, in clean text that names every participant."""
    for frame in (frame for frame in FRAMES.values() if frame.topic == topic):
        rng = random.Random(frame.name)
        said = {choice for _ in range(15) for choice in said_in_each_form(frame, rng)}
        shapes = {form for _, form in said}
        assert {saying for saying, _ in said} == set(frame.sayings), frame.name
        assert "plain" in shapes <= SENTENCE_FORMS.keys(), frame.name
        passive = not frame.lasting and any(saying.passive for saying in frame.sayings)
        assert ("passive" in shapes) == passive, frame.name


def said_in_each_form(frame, rng):
    """A meaning of the frame in each of its forms, looked at; which those are."""
    meaning = WORLD.composer.compose(frame, rng)
    forms = GRAMMAR.forms(meaning)
    assert forms, meaning
    for choice in forms:
        text = GRAMMAR.say(meaning, rng, choice)
        assert re.fullmatch(r"[A-Z0-9][\w',-]*( [\w',-]+)*\.", text), text
        unclean = r"_|\b[A-Z]\b(?<!A)(?!-ray)|\ba [aeio]|\ban [b-df-gj-np-tv-z]|(?<!-)\b(\w+) \1\b"
        assert not re.search(unclean, text), text
        for _, thing in meaning.roles:
            words = [word for pair in WORLD.lexicon.nouns[thing.noun].words for word in pair] if thing.noun else []
            assert not words or any(word.lower() in text.lower() for word in words), (text, thing)
    return forms


def test_the_forms_of_one_meaning():
    assert "Anna peeled three carrots." in texts(PEEL, "plain")
    assert "Three carrots were peeled by Anna." in texts(PEEL, "passive")
    assert {form for _, form in GRAMMAR.forms(PEEL)} == {"plain", "passive"}  # not "it was three carrots that"
    one = Meaning("peel", (("A", Thing("Anna Keller")), ("O", Thing("carrot"))))
    assert "It was Anna who peeled the carrot." in texts(one, "subject cleft")
    assert "It was the carrot that Anna peeled." in texts(one, "object cleft")
    placed = replace(PEEL, place=Thing("kitchen"), time="past/day.yesterday")
    assert "In the kitchen, Anna peeled three carrots yesterday." in texts(placed, "fronted", 2000)
    assert "Yesterday, three carrots were peeled by Anna in the kitchen." in texts(placed, "passive fronted", 2000)


def test_names_numbers_and_verbs_have_their_synonyms():
    plain = texts(PEEL, "plain", 500)
    assert {"Ms Keller peeled 3 carrots.", "Anna Keller pared three carrots."} <= plain
    assert any("took the skin off" in text for text in plain)


TENSES = """
past: My father hugged the child. / The child was hugged by my father.
now: My father is hugging the child. / The child is being hugged by my father.
habit: My father hugs the child. / The child is hugged by my father.
future: My father will hug the child. / The child will be hugged by my father.
future: My father is going to hug the child. / The child will be hugged by my father.
past, denied: My father did not hug the child. / The child was not hugged by my father.
past, denied: My father didn't hug the child. / The child wasn't hugged by my father.
now, denied: My father isn't hugging the child. / The child is not being hugged by my father.
habit, denied: My father doesn't hug the child. / The child isn't hugged by my father.
future, denied: My father won't hug the child. / The child won't be hugged by my father.
"""


@pytest.mark.parametrize("line", TENSES.strip().splitlines())
def test_tenses_voices_and_denials(line):
    how, said = line.split(": ")
    tense, *negated = how.split(", ")
    meaning = replace(HUG, tense=tense, negated=bool(negated))
    for voice, text in zip(("plain", "passive"), said.split(" / "), strict=True):
        assert text in texts(meaning, voice, 2000)


def test_verbs_agree_with_the_number_of_their_subject():
    bakers = Meaning("protest", (("A", Thing("nurse", quantity="some")), ("O", Thing("law"))), tense="now")
    for text in texts(bakers, "plain"):
        assert " are " in text and " is " not in text
    for text in texts(replace(bakers, tense="habit"), "plain"):
        assert re.search(r"protest |demonstrate ", text)
    trousers = Meaning("iron", (("A", Thing("Tom Baker")), ("O", Thing("trousers"))))
    assert all(" were " in text for text in texts(trousers, "passive"))


def test_their_goes_with_the_subject():
    for noun, pronoun in (("Anna Keller", "her"), ("Tom Baker", "his"), ("skier", "their")):
        assert all(
            pronoun in text.split() for text in texts(Meaning("break_leg", (("A", Thing(noun)), ("O", Thing("leg")))))
        )


def test_a_manner_is_said_only_of_who_acts():
    """Lending gladly is not borrowing gladly."""
    roles = (("A", Thing("bank")), ("M", Thing("money")), ("B", Thing("student")))
    lend = Meaning("lend", roles, way="spirit.gladly")
    assert not any("borrow" in text for text in texts(lend))
    assert any("borrow" in text for text in texts(replace(lend, way="")))


def test_lasting_states_are_not_in_progress():
    love = Meaning("love_person", (("A", Thing("father")), ("B", Thing("Anna Keller"))), tense="now")
    assert not any("ing " in text for text in texts(love))


ASKED = """
person: Who peeled three carrots in the kitchen yesterday?
thing: What did Anna peel in the kitchen yesterday?
thing: Which vegetable did Anna peel in the kitchen yesterday?
place: Where did Anna peel three carrots yesterday?
time: When did Anna peel three carrots in the kitchen?
number: How many carrots did Anna peel in the kitchen yesterday?
yes-no: Did Anna peel three carrots in the kitchen yesterday?
"""


@pytest.mark.parametrize("line", ASKED.strip().splitlines())
def test_questions(line):
    kind, question = line.split(": ")
    meaning = replace(PEEL, place=Thing("kitchen"), time="past/day.yesterday")
    assert question in {GRAMMAR.ask(meaning, kind, random.Random(seed)) for seed in range(2000)}


def test_there_is_no_question_without_an_answer():
    unplaced = [GRAMMAR.ask(HUG, kind, random.Random(0)) for kind in ("place", "time", "number")]
    assert unplaced == [None, None, None]
    assert all(GRAMMAR.ask(replace(HUG, negated=True), kind, random.Random(0)) is None for kind in QUESTION_KINDS)
