import numpy as np
import pytest
from cells import cells_in
from cselab_lab.lessons.checks.focal_infonce import FOCAL_GRADIENT
from cselab_lab.lessons.checks.simcse import LOSS
from cselab_lab.lessons.checks.tour import INFO_NCE
from cselab_lab.lessons.exercises import (
    LONGEST,
    Check,
    Example,
    Exercise,
    Solution,
    diagnose,
    mutate_source,
    staged_check,
    student_or_reference,
)

CHECKS = [
    Check("0 stays 0", lambda square: square(0) == 0, "is something added?"),
    Check("signs do not matter", lambda square: square(-3) == square(3), "square before you add"),
    Check("3 becomes 9", lambda square: square(3) == 9, "is it a cube, or a double?"),
]
SQUARE = Exercise(*CHECKS)
FIRST_CELL, VERDICTS = cells_in("lab/lessons/verdicts.md")


def unfinished(x):
    raise NotImplementedError


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")  # the answers' own
@pytest.mark.parametrize("words, cell", [one for answers in VERDICTS.values() for one in answers])
def test_an_answer_is_told_what_is_wrong_and_nothing_else(words, cell, kernel):
    """By cell the words that are said, and after "not:" those that are not; capitals are names of messages."""
    verdict = diagnose(*kernel(cell))
    line = verdict.lines[-1]
    assert verdict.solved == any(word.startswith("solved") for word in words), verdict
    assert len(line) < LONGEST + 100 and "\n" not in line
    for word in words:
        denied, name = word.startswith("not: "), word.removeprefix("not: ")
        assert ((kernel(name) if name.isupper() else name) in line) is not denied, verdict


@pytest.mark.parametrize("answer", [None, ..., lambda x: ..., unfinished])
def test_a_placeholder_is_not_solved_yet_and_nothing_is_raised(answer, capsys):
    staged_check(answer, SQUARE)
    printed = capsys.readouterr().out
    assert printed == "not solved yet: replace the placeholder; the first goal is: 0 stays 0\n"


@pytest.mark.parametrize("answer, passed", [(lambda x: x + 1, 0), (lambda x: 2 * x, 1), (lambda x: abs(x), 2)])
def test_the_stages_that_passed_are_listed_before_the_diagnosis(answer, passed):
    *before, last = diagnose(answer, SQUARE).lines
    assert before == [f"passed: {check.what}" for check in CHECKS[:passed]] and last.startswith("not yet")


def test_a_notebook_shows_ticks_and_escapes_answers():
    html = diagnose(lambda x: "<b>", SQUARE)._repr_html_()
    html += diagnose(lambda x: "<b>", Exercise(Example("3 becomes 9", (3,), 9)))._repr_html_()
    assert "✗" in html and "&lt;b&gt;" in html and "<b>" not in html
    assert "✓" in diagnose(lambda x: x * x, SQUARE)._repr_html_()


def test_an_answer_that_writes_into_its_arguments_spoils_none():
    given = np.array([1.0, 2.0])

    def in_place(x):
        x -= 1
        return x

    one_less = Exercise(Example("one less", (given,), given - 1))
    for _ in range(2):
        assert "right, but your function changes its arguments" in diagnose(in_place, one_less).lines[-1]
    assert given.tolist() == [1.0, 2.0]


def test_the_lesson_uses_the_solution_for_a_wrong_answer(capsys):
    loss, gradient = LOSS.solution, FOCAL_GRADIENT.solution
    for answer, exercise, used, said in (
        (lambda *views: loss(*views), LOSS, None, "yours"),
        (lambda *views: 2 * loss(*views), LOSS, loss, "not right yet: the solution is used"),
        (lambda *views: loss(*views).item(), LOSS, loss, "does not return tensors"),
        (lambda *views: loss(*views).detach(), LOSS, loss, "no gradient"),
        (lambda *table: gradient(*table).detach(), FOCAL_GRADIENT, None, ""),  # it is not trained
        (lambda *table: gradient(*table).tolist(), FOCAL_GRADIENT, gradient, "it does not return tensors"),
        (lambda *table: list(gradient(*table)), FOCAL_GRADIENT, gradient, "it returns several tensors"),
    ):
        assert student_or_reference(answer, exercise) is (used or answer)
        assert said in capsys.readouterr().out


def test_a_change_that_a_solution_does_not_have_is_refused():
    with pytest.raises(ValueError, match="has no 'dim=7'"):
        mutate_source(INFO_NCE.solution, "dim=7 -> dim=0")
    with pytest.raises(ValueError, match="0 folded solutions that define my_nothing"):
        Solution("02_simcse", "my_nothing")(1)
