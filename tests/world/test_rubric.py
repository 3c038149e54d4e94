"""Grades go by what meanings share: the same is 5, every further difference costs, topics decide between 0 and 1."""

import random
from dataclasses import replace
from itertools import pairwise

import pytest
from cells import cells_in

from cselab.world import Meaning, Thing, World

WORLD = World()
GRADE = WORLD.rubric.grade
FIRST_CELL, PAIRS = cells_in("world/grades.md")


def random_meanings(times=300):
    rng = random.Random(0)
    frames = list(WORLD.frames.values())
    return [WORLD.composer.compose(rng.choice(frames), rng) for _ in range(times)]


@pytest.mark.parametrize("grade, pair", PAIRS["pairs"])
def test_graded_by_hand(grade, pair):
    exec(f"{FIRST_CELL}\none, other = {pair}", names := {})
    one, other = names["one"], names["other"]
    assert GRADE(one, other) == GRADE(other, one) == int(*grade)


def test_a_way_of_doing_something_is_close_to_doing_it():
    fry = Meaning("fry", (("A", Thing("Tom Baker")), ("O", Thing("salmon"))))
    assert GRADE(fry, replace(fry, frame="cook")) == 4


def test_who_marries_whom_does_not_matter():
    marry = Meaning("marry", (("A", Thing("Anna Keller")), ("B", Thing("Tom Baker"))))
    assert GRADE(marry, marry.filled(A=Thing("Tom Baker"), B=Thing("Anna Keller"))) == 5


def test_every_meaning_is_like_itself_and_grades_do_not_depend():
    """Every meaning is like itself and grades do not depend on the order."""
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
