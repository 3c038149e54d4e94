"""The check of the tangled sentences: any pair that is tangled passes with its K, each mistake is named."""

from math import ceil

import pytest
from cselab_lab.lessons.checks import dropout_clouds
from cselab_lab.lessons.checks.dropout_clouds import distance, radius
from cselab_lab.lessons.exercises import diagnose

CARS = ("He bought a red car.", "He sold a red car.")
COOKS = ("A cook is peeling an onion.", "The chef peels some onions.")
HUGS = ("The girl hugs the boy.", "The boy hugs the girl.")


def smallest(first, second):
    return next(k for k in range(1, 61) if radius(first, k) <= distance(first, second) / 2)


def by_law(first, second):
    """The variance of a mean of K passes is that of one over K."""
    return ceil((2 * radius(first) / distance(first, second)) ** 2)


@pytest.mark.parametrize("pair", [CARS, HUGS, CARS[::-1]])
@pytest.mark.parametrize("found", [smallest, by_law])
def test_a_right_answer_is_solved_however_it_was_found(pair, found):
    assert diagnose((*pair, found(*pair)), dropout_clouds.STAGES).solved


WRONG = [
    ("Write three things", CARS),
    ("Write three things", 8),
    ("in quotation marks", (1, 2, 8)),
    ("in quotation marks", ("", "He sold a red car.", 8)),
    ("whole number", (*CARS, 7.7)),
    ("whole number", (*CARS, True)),
    ("whole number", (*CARS, "8")),
    ("the check can try 1 to 60", (*CARS, 0)),
    ("the check can try 1 to 60", (*CARS, 1000)),
    ("not how it is written", ("He bought a red car.", "he bought a red car", 8)),
    ("Come nearer", (*COOKS, 2)),
    ("root of K", (*CARS, ceil(2 * radius(CARS[0]) / distance(*CARS)))),
    ("not the whole", (*CARS, ceil((radius(CARS[0]) / distance(*CARS)) ** 2))),
    ("More passes", (*CARS, 1)),
    ("already have radius", (*CARS, 20)),
    (
        "more than 60 passes",
        ("The cat sees the dog and the dog sees the cat.", "The dog sees the cat and the cat sees the dog.", 60),
    ),
]


@pytest.mark.parametrize(("diagnosis", "answer"), WRONG)
def test_a_wrong_answer_is_named(diagnosis, answer):
    verdict = diagnose(answer, dropout_clouds.STAGES)
    assert not verdict.solved and diagnosis in verdict.lines[-1]


def test_the_radius_falls_with_the_root_of_k_and_is_the_same_each_time():
    assert radius(CARS[0], 16) == pytest.approx(radius(CARS[0]) / 4, rel=0.05)
    dropout_clouds._passes.cache_clear()
    assert radius(CARS[0]) == radius(CARS[0])
    with pytest.raises(ValueError, match="means of 1 to 60"):
        radius(CARS[0], 61)
