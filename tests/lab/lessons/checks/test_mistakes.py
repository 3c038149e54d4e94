"""Every exercise knows its mistakes apart: no two share their values, each is told by its own words, none is long."""

import itertools
from inspect import isroutine

import numpy as np
import pytest
import torch
from cselab_lab.lessons.exercises import FACTORS, LONGEST, Example, diagnose, numbers_of
from right_answers import right_answers
from spellings import every_exercise

FUNCTIONS = {name: exercise for name, exercise in every_exercise().items() if exercise.examples}
KNOWN = [(name, said) for name, exercise in FUNCTIONS.items() for said in exercise.mistakes]
LINE = 120  # characters


def last_line(answer, name):
    verdict = diagnose(answer, FUNCTIONS[name])
    assert not verdict.solved
    assert len(verdict.lines[-1]) <= 10 * LINE and "\n" not in verdict.lines[-1]
    return verdict.lines[-1]


@pytest.mark.parametrize(("name", "said"), KNOWN)
def test_each_mistake_is_told_by_its_own_words(name, said):
    wrong = FUNCTIONS[name].mistakes[said]
    assert last_line(lambda *arguments: wrong(*arguments), name).endswith(f" {said}")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_two_mistakes_share_their_values(name):
    exercise, alike = FUNCTIONS[name], []
    values = [(example, exercise.wrong_values(example)) for example in exercise.examples]
    for one, other in itertools.combinations(dict.fromkeys(said for _, wrong in values for said in wrong), 2):
        both = [(example, wrong[one], wrong[other]) for example, wrong in values if {one, other} <= set(wrong)]
        if all(example.is_same(a, b) for example, a, b in both):
            alike += [(one, other)] if any(not example.is_right(a) for example, a, _ in both) else []
    assert alike == []


TYPICAL = {
    "The sign is the other way round": lambda right, *given: -numbers_of(right(*given)),
    "per cent": lambda right, *given: 100 * numbers_of(right(*given)),
    "That is no finite number": lambda right, *given: float("nan") * numbers_of(right(*given)),
    "Your function returned a str, 'text'": lambda right, *given: "text",
    "Your function returned a dict": lambda right, *given: {"answer": right(*given)},
    "is `return` missing?": lambda right, *given: print(right(*given)),
    "wanted|shape should be": lambda right, *given: [numbers_of(right(*given))] * 7,
    "raised ZeroDivisionError": lambda right, *given: 1 / 0,
}
OWN = {  # where a sign or a share has words of its own
    "benchmarks.PAIRED_BOOTSTRAP": {"The sign is the other way round": "The sign is the other way round|lower bound"}
}


@pytest.mark.parametrize("said", TYPICAL)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_goes_wrong_anywhere_is_told_everywhere(name, said):
    right = right_answers(name)[0]
    line = last_line(lambda *given: TYPICAL[said](right, *given), name)
    wanted = OWN.get(name, {}).get(said, said)
    assert any(part in line for part in wanted.split("|")), line


def changed(returned, factor):
    """The same with every number multiplied, wherever it stands."""
    if isinstance(returned, dict):
        return {name: changed(value, factor) for name, value in returned.items()}
    if isinstance(returned, list | tuple):
        return [changed(value, factor) for value in returned]
    return returned * factor if isinstance(returned, int | float) or hasattr(returned, "shape") else returned


def lines_without_examples(name, factors):
    """What is said of a right answer whose numbers are multiplied; "" where nothing is."""
    right = right_answers(name)[0]
    for factor in factors:
        wrong = (lambda *given, by=factor: changed(right(*given), by)) if isroutine(right) else changed(right, factor)
        verdict = diagnose(wrong, OTHERS[name])
        yield "" if verdict.solved else verdict.lines[-1]


OTHERS = {name: exercise for name, exercise in every_exercise().items() if not exercise.examples}
TEXTS = {"FOOLED", "METHOD_STAGES", "BEAT_CONTROL"}  # or an encoder
OF_NUMBERS = [name for name in OTHERS if name.partition(".")[2] not in TEXTS]
IN_PARTS = {"ISLANDS_IN_NOISE", "COMPOSED_METHOD"}  # each part its own
FREE = {"CONE", "PASSES", "UNSEEN_CHANGE"}  # a factor there is not wrong, or changes no cosine


@pytest.mark.parametrize("name", OF_NUMBERS)
def test_nan_is_told_where_there_are_no_examples_too(name):
    (line,) = lines_without_examples(name, [float("nan")])
    assert "NaN" in line or "not finite" in line


@pytest.mark.parametrize("name", [name for name in OF_NUMBERS if name.partition(".")[2] not in IN_PARTS])
def test_a_factor_is_told_where_there_are_no_examples_too_and_each_by_its_own_words(name):
    lines = dict(zip(FACTORS, lines_without_examples(name, FACTORS.values()), strict=True))
    if name.partition(".")[2] in FREE:
        lines = {said: line for said, line in lines.items() if line}
    if not isroutine(right_answers(name)[0]):  # that one number is twice another says nothing
        lines = {said: line for said, line in lines.items() if "much" not in said and "hundredth" not in said}
    assert [said for said, line in lines.items() if not line.endswith(said)] == []


AVERAGED = ["tour.INFO_NCE", "focal_infonce.FOCAL", "embedding_maps.PRESERVATION"]


@pytest.mark.parametrize("name", AVERAGED)
def test_a_missing_division_by_the_number_of_rows_is_told(name):
    right = right_answers(name)[0]
    assert "not the sum" in last_line(lambda rows, *given: len(rows) * right(rows, *given), name)
    assert "Do not divide by the number of rows" in last_line(
        lambda rows, *given: right(rows, *given) / len(rows), name
    )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_who_rounds_too_much_is_told_so_and_accused_of_nothing(name):
    right = right_answers(name)[0]
    verdict = diagnose(lambda *given: numbers_of(right(*given)).round(2), FUNCTIONS[name])
    assert verdict.solved or "rounded" in verdict.lines[-1] or "Hint" in verdict.lines[-1], verdict


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_answer_that_is_wrong_in_no_known_way_is_told_what_it_was_called_with(name):
    first = FUNCTIONS[name].examples[0]
    line = last_line(lambda *given: numbers_of(first.expected) + np.float64(17.3), name)
    assert "Try it: <lambda>(" in line or "It was called with a" in line
    assert len(line) <= LONGEST + LINE


@pytest.mark.parametrize("name", every_exercise())
def test_strange_answers_are_refused_in_a_few_lines_and_no_error_of_the_check_is_theirs(name):
    long = "x" * 50_000
    values = long, [long], {long: long}, 3, np.zeros((300, 300)), torch.zeros(2), object(), {}, [[None]]
    for strange in (*values, *(lambda *given, it=value: it for value in values)):
        verdict = diagnose(strange, every_exercise()[name])
        assert not verdict.solved
        assert len(verdict.lines[-1]) <= 10 * LINE
        assert "Your code raised" not in verdict.lines[-1]  # what the check itself raises is not the student's


def test_every_exercise_has_a_first_stage_that_says_what_is_wanted():
    for name, exercise in every_exercise().items():
        assert exercise.stages[0].what, name
        assert isinstance(exercise.stages[0], Example) or exercise.stages[0].hint or name.endswith("BATCH")
