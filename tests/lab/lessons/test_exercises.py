import numpy as np
import pytest
from cselab_lab.lessons.exercises import Example, Stage, diagnose, staged_check

STAGES = [
    Stage("0 stays 0", lambda square: square(0) == 0, "is something added?"),
    Stage("signs do not matter", lambda square: square(-3) == square(3), "square before you add"),
    Stage("3 becomes 9", lambda square: square(3) == 9, "is it a cube, or a double?"),
]


def unfinished(x):
    raise NotImplementedError


def fragile(x):
    return x**2 if x == 0 else x.square()


@pytest.mark.parametrize("answer", [None, ..., lambda x: ..., unfinished])
def test_a_placeholder_is_not_solved_yet_and_nothing_is_raised(answer, capsys):
    staged_check(answer, STAGES)
    printed = capsys.readouterr().out
    assert printed == "not solved yet: replace the placeholder; the first goal is: 0 stays 0\n"


@pytest.mark.parametrize(
    ("answer", "passed", "diagnosis"),
    [
        (lambda x: x + 1, 0, "not yet (0 of 3): 0 stays 0. Hint: is something added?"),
        (lambda x: 2 * x, 1, "not yet (1 of 3): signs do not matter. Hint: square before you add"),
        (lambda x: abs(x), 2, "not yet (2 of 3): 3 becomes 9. Hint: is it a cube, or a double?"),
        (
            lambda x: x if x == 0 else None,
            1,
            "not yet (1 of 3): signs do not matter. Your function returned None: is `return` missing? "
            "`print` shows a value, `return` gives it.",
        ),
    ],
)
def test_the_first_stage_that_fails_gives_the_diagnosis(answer, passed, diagnosis):
    verdict = diagnose(answer, STAGES)
    assert not verdict.solved
    assert verdict.lines == (*(f"passed: {stage.what}" for stage in STAGES[:passed]), diagnosis)


def test_an_exception_in_the_answer_is_shown_with_the_hint_and_not_raised():
    assert "'int' object has no attribute 'square'. Hint: square before" in diagnose(fragile, STAGES).lines[-1]


def test_a_right_answer_is_solved_and_says_so():
    verdict = diagnose(lambda x: x * x, STAGES)
    assert verdict.solved and verdict.lines[-1] == "solved."


def test_a_value_can_be_checked_as_well_as_a_function():
    stages = [Stage("it is the smallest prime", lambda number: number == 2, "1 is not prime")]
    assert diagnose(2, stages).solved
    assert not diagnose(1, stages).solved


def test_an_example_shows_what_came_and_what_was_expected_and_gives_no_hint_that_does_not_fit():
    stages = [Example("3 becomes 9", (3,), 9, {"That is the double.": lambda x: 2 * x})]
    said = diagnose(lambda x: 2 * x, stages).lines[-1]
    assert said.endswith("Your function returned 6; expected is 9. That is the double.")

    def mine(x):
        return 7.25

    said = diagnose(mine, stages).lines[-1]
    assert said.endswith("Your function returned 7.25; expected is 9. Try it: mine(3)")


def test_an_example_knows_mistakes_that_raise_and_those_of_shape():
    stages = [Example("3 becomes 9", (3,), 9, {"3 is a number already.": AttributeError})]
    assert "3 is a number already." in diagnose(lambda x: x.square(), stages).lines[-1]
    assert "One number is wanted" in diagnose(lambda x: [9, 9], stages).lines[-1]
    pairs = [Example("both", (1,), [1.0, 2.0])]
    assert diagnose(lambda x: (1, 2), pairs).solved
    assert "shape should be (2,), it is (3,)" in diagnose(lambda x: [1, 2, 3], pairs).lines[-1]


def test_an_array_that_looks_right_is_told_by_its_first_wrong_number():
    wanted = [[0.0] * 4, [0.0, 1.0, 0.0, 0.0], [0.0] * 4]
    said = diagnose(lambda x: [[0] * 4, [0] * 4, [0] * 4], [Example("a one", (1,), wanted)]).lines[-1]
    assert "Your function returned 0 at [1, 1]; expected is 1." in said


def test_a_notebook_shows_ticks_and_escapes_what_the_student_wrote():
    html = diagnose(lambda x: "<b>", [Example("3 becomes 9", (3,), 9)])._repr_html_()
    assert "✗" in html and "&lt;b&gt;" in html and "<b>" not in html
    assert "✓" in diagnose(lambda x: x * x, STAGES)._repr_html_()


def test_an_answer_that_writes_into_its_arguments_spoils_no_later_stage_and_no_second_try():
    given = np.array([1.0, 2.0])

    def in_place(x):
        x -= 1
        return x

    stages = [Example("one less", (given,), given - 1)]
    assert diagnose(in_place, stages).solved and diagnose(in_place, stages).solved
    assert given.tolist() == [1.0, 2.0]


def test_an_answer_that_is_an_object_is_tried_as_it_is_even_where_it_can_be_called():
    class Encoder:
        def __call__(self, texts):
            return texts

        def encode(self, texts):
            return [len(text) for text in texts]

    stages = [Stage("it encodes", lambda encoder: encoder.encode(["ab"]) == [2], "has it .encode?")]
    assert diagnose(Encoder(), stages).solved
