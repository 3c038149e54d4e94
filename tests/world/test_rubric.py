"""Grades go by what meanings share: the same is 5, every further difference costs, topics decide between 0 and 1."""

import random
from dataclasses import replace
from itertools import pairwise

import pytest

from cselab.world import Meaning, Thing, World

WORLD = World()
GRADE = WORLD.rubric.grade
HUG = Meaning(
    "hug", (("A", Thing("Anna Keller")), ("B", Thing("boy"))), time="past/day.yesterday", place=Thing("garden")
)
PEEL = Meaning("peel", (("A", Thing("cook", "mood.happy")), ("O", Thing("carrot", quantity="number.three"))))
EXAM = Meaning("pass_exam", (("A", Thing("Tom Baker")), ("O", Thing("exam"))))
SOUP = Meaning("flavour", (("O", Thing("soup")), ("Q", Thing(quality="flavour.delicious"))))


def random_meanings(times=300):
    rng = random.Random(0)
    frames = list(WORLD.frames.values())
    return [WORLD.composer.compose(rng.choice(frames), rng) for _ in range(times)]


@pytest.mark.parametrize(
    ("one", "other", "grade"),
    [
        (HUG, HUG, 5),
        (HUG, replace(HUG, place=None), 4),
        (HUG, replace(HUG, time="past/day.at noon"), 4),
        (HUG, replace(HUG, tense="future", time="future/day.tomorrow"), 4),
        (HUG, HUG.filled(B=Thing("child")), 4),
        (HUG, HUG.filled(B=Thing("girl")), 3),
        (HUG, replace(HUG, place=None, time=""), 3),
        (HUG, replace(HUG, negated=True), 2),
        (HUG, HUG.filled(A=Thing("boy"), B=Thing("Anna Keller")), 2),
        (HUG, replace(HUG, place=None, negated=True), 1),
        (HUG, HUG.filled(A=Thing("bride"), B=Thing("baby")), 1),
        (PEEL, PEEL.filled(A=Thing("cook")), 4),
        (PEEL, PEEL.filled(O=Thing("carrot", quantity="number.five")), 3),
        (PEEL, PEEL.filled(O=Thing("carrot", quantity="number.several")), 4),
        (PEEL, PEEL.filled(O=Thing("carrot", quantity="some")), 4),
        (PEEL, PEEL.filled(O=Thing("vegetable", quantity="number.three")), 4),
        (EXAM, replace(EXAM, frame="fail_exam"), 2),
        (EXAM, replace(EXAM, negated=True), 2),
        (EXAM, replace(EXAM, frame="fail_exam", negated=True), 3),
        (SOUP, SOUP.filled(Q=Thing(quality="flavour.awful")), 2),
        (SOUP, SOUP.filled(Q=Thing(quality="flavour.bland")), 3),
        (PEEL, replace(PEEL, frame="chop"), 2),
        (PEEL, SOUP, 1),
        (PEEL, HUG, 0),
    ],
)
def test_graded_by_hand(one, other, grade):
    assert GRADE(one, other) == GRADE(other, one) == grade


def test_a_way_of_doing_something_is_close_to_doing_it():
    fry = Meaning("fry", (("A", Thing("Tom Baker")), ("O", Thing("salmon"))))
    assert GRADE(fry, replace(fry, frame="cook")) == 4


def test_who_marries_whom_does_not_matter():
    marry = Meaning("marry", (("A", Thing("Anna Keller")), ("B", Thing("Tom Baker"))))
    assert GRADE(marry, marry.filled(A=Thing("Tom Baker"), B=Thing("Anna Keller"))) == 5


def test_every_meaning_is_like_itself_and_grades_do_not_depend_on_the_order():
    meanings = random_meanings()
    for one, other in pairwise(meanings):
        assert GRADE(one, one) == 5
        assert GRADE(one, other) == GRADE(other, one) in range(6)


def test_the_more_roles_change_the_lower_the_grade():
    rng = random.Random(1)
    for meaning in random_meanings():
        donor, grades, changed = WORLD.composer.compose(WORLD.frames[meaning.frame], rng), [5], meaning
        for name, thing in donor.roles:
            if meaning[name].noun != thing.noun and not {thing.noun} & {other.noun for _, other in meaning.roles}:
                changed = changed.filled(**{name: thing})
                grades.append(GRADE(meaning, changed))
        assert all(after < before or after == 1 for before, after in pairwise(grades)), grades
