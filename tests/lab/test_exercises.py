import pytest

from cselab.lab.exercises import Stage, diagnose, staged_check

STAGES = [
    Stage("0 stays 0", lambda square: square(0) == 0, "is something added?"),
    Stage("signs do not matter", lambda square: square(-3) == square(3), "square before you add"),
    Stage("3 becomes 9", lambda square: square(3) == 9, "is it a cube, or a double?"),
]


def unfinished(x):
    raise NotImplementedError


def fragile(x):
    return x**2 if x == 0 else x.square()


@pytest.mark.parametrize("answer", [None, ..., lambda x: None, lambda x: ..., unfinished])
def test_a_placeholder_is_not_solved_yet_and_nothing_is_raised(answer, capsys):
    staged_check(answer, STAGES)
    printed = capsys.readouterr().out
    assert printed == "not solved yet: replace the placeholder; the first goal is: 0 stays 0\n"


@pytest.mark.parametrize(
    ("answer", "passed", "diagnosis"),
    [
        (lambda x: x + 1, 0, "not yet: 0 stays 0. Hint: is something added?"),
        (lambda x: 2 * x, 1, "not yet: signs do not matter. Hint: square before you add"),
        (lambda x: abs(x), 2, "not yet: 3 becomes 9. Hint: is it a cube, or a double?"),
        (
            lambda x: x if x == 0 else None,
            1,
            "not yet: signs do not matter. Your function returned nothing here.",
        ),
    ],
)
def test_the_first_stage_that_fails_gives_the_diagnosis(answer, passed, diagnosis):
    verdict = diagnose(answer, STAGES)
    assert not verdict.solved
    assert verdict.lines == (*(f"passed: {stage.what}" for stage in STAGES[:passed]), diagnosis)


def test_an_exception_in_the_answer_is_shown_with_the_hint_and_not_raised():
    assert (
        "'int' object has no attribute 'square'. Hint: square before" in diagnose(fragile, STAGES).lines[-1]
    )


def test_a_right_answer_is_solved_and_says_so():
    verdict = diagnose(lambda x: x * x, STAGES)
    assert verdict.solved and verdict.lines[-1] == "solved."


def test_a_value_can_be_checked_as_well_as_a_function():
    stages = [Stage("it is the smallest prime", lambda number: number == 2, "1 is not prime")]
    assert diagnose(2, stages).solved
    assert not diagnose(1, stages).solved
