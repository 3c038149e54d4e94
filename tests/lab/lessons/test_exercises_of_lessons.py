"""Every exercise: its solution passes, each of its mistakes is named, and so is what goes wrong anywhere."""

import inspect
from inspect import isroutine

import numpy as np
import pytest
import torch
from cselab_lab.lessons.checks.answers import CHOICES
from cselab_lab.lessons.exercises import FACTORS, LONGEST, diagnose, numbers_of
from spellings import every_exercise, solution_of, spellings_of

EXERCISES = every_exercise()
FUNCTIONS = {name: exercise for name, exercise in EXERCISES.items() if exercise.examples}
LINE = 120  # characters
AS_IT_IS = {  # a check there asks for a gradient; or it is slow
    "benchmarks.PAIRED_BOOTSTRAP",
    "simcse.VIEWS",
    "focal_infonce.CONSTANT",
}


def last_line(answer, name):
    verdict = diagnose(answer, EXERCISES[name])
    assert not verdict.solved, verdict
    assert len(verdict.lines[-1]) <= 10 * LINE and "\n" not in verdict.lines[-1]
    return verdict.lines[-1]


@pytest.mark.parametrize("name", EXERCISES)
def test_the_solution_passes_however_it_is_returned(name):
    answer = solution_of(name)
    answers = {"as it is": answer} | (spellings_of(answer) if name not in AS_IT_IS else {})
    verdicts = {how: diagnose(answer, EXERCISES[name]) for how, answer in answers.items()}
    assert {how: verdict for how, verdict in verdicts.items() if not verdict.solved} == {}
    assert verdicts["as it is"].lines[-1] == "solved."


@pytest.mark.parametrize(
    ("name", "message", "at"),
    [(n, m, at) for n, one in FUNCTIONS.items() for at, (m, _) in enumerate(one.mistakes) if m in one.declared],
)
def test_each_mistake_is_named_by_its_own_message(name, message, at):
    wrong = EXERCISES[name].mistakes[at][1]
    assert last_line(lambda *arguments: wrong(*arguments), name).endswith(f" {message}")


def test_an_exercise_knows_few_mistakes_of_its_own():
    own = {name: len(exercise.declared.keys() - CHOICES) for name, exercise in EXERCISES.items()}
    assert {name: count for name, count in own.items() if count > 13} == {}


def arguments_of(name):
    """By parameter of a solution, its arguments in all examples."""
    parameters = inspect.signature(solution_of(name)).parameters.values()
    defaults = [one.default for one in parameters]
    called = [(*example.arguments, *defaults[len(example.arguments) :]) for example in FUNCTIONS[name].examples]
    return {one.name: values for one, values in zip(parameters, zip(*called, strict=True), strict=True)}


def shapes_of(value):
    if isinstance(value, list | tuple):
        return (len(value), *(shapes_of(part) for part in value))
    return tuple(getattr(value, "shape", ()))


ONE_SHAPE = {
    ("embedding_maps.PRESERVATION", "points", 1): "a map has two axes",
    **{("benchmarks.PAIRED_BOOTSTRAP", side, 0): "its checks have a second" for side in ("first", "second", "gold")},
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_answer_can_count_on_one_shape(name):
    for parameter, values in arguments_of(name).items():
        if all(hasattr(value, "shape") for value in values):
            for axis, sizes in enumerate(zip(*(value.shape for value in values), strict=True)):
                assert len({*sizes}) > 1 or (name, parameter, axis) in ONE_SHAPE, (parameter, axis)
        elif all(isinstance(value, list | tuple) for value in values):
            assert len({*map(shapes_of, values)}) > 1, parameter


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name != "benchmarks.PAIRED_BOOTSTRAP"])
def test_an_answer_that_ignores_an_argument_is_refused(name):
    right = solution_of(name)
    for at, (parameter, values) in enumerate(arguments_of(name).items()):
        for fixed in values if at else ():

            def ignoring(*given, at=at, fixed=fixed):
                given += tuple(one.default for one in list(inspect.signature(right).parameters.values())[len(given) :])
                return right(*given[:at], fixed, *given[at + 1 :])

            assert not diagnose(ignoring, EXERCISES[name]).solved, (parameter, fixed)


@pytest.mark.parametrize("name", EXERCISES)
def test_whatever_is_asked_numbers_as_text_and_changed_arguments_are_refused(name):
    right = solution_of(name)

    def changing(*given):
        returned = numbers_of(right(*given))  # a copy
        for value in given:
            if hasattr(value, "shape"):
                value[...] = value + 1
        return returned

    if isroutine(right):
        assert name == "simcse.VIEWS" or "changes its arguments" in last_line(changing, name)
        assert "returned" in last_line(lambda *given: str(right(*given)), name)


ANYWHERE = {
    "The sign is reversed": lambda right, *arguments: -numbers_of(right(*arguments)),
    "per cent": lambda right, *arguments: 100 * numbers_of(right(*arguments)),
    "That is not a finite number": lambda right, *arguments: float("nan") * numbers_of(right(*arguments)),
    "Your function returned a str, 'text'": lambda right, *arguments: "text",
    "Your function returned a dict": lambda right, *arguments: {"answer": right(*arguments)},
    "is `return` missing?": lambda right, *arguments: print(right(*arguments)),
    "must be one number|shape should be": lambda right, *arguments: [numbers_of(right(*arguments))] * 7,
    "raised ZeroDivisionError": lambda right, *arguments: 1 / 0,
    "Try it: <lambda>(|It was called with a": lambda right, *arguments: numbers_of(right(*arguments)) + 17.3,
    "rounded|Hint|solved": lambda right, *arguments: numbers_of(right(*arguments)).round(2),
}


@pytest.mark.parametrize("messages", ANYWHERE)
@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name != "benchmarks.PAIRED_BOOTSTRAP"])
def test_what_goes_wrong_anywhere_is_named_everywhere(name, messages):
    right = solution_of(name)
    line = diagnose(lambda *arguments: ANYWHERE[messages](right, *arguments), EXERCISES[name]).lines[-1]
    assert any(message in line for message in messages.split("|")), line
    assert len(line) <= LONGEST + LINE


WITHOUT_EXAMPLES = [n for n in EXERCISES if n not in FUNCTIONS and isroutine(solution_of(n))]


def multiplied(returned, factor):
    if isinstance(returned, list | tuple):
        return [multiplied(value, factor) for value in returned]
    return returned * factor


@pytest.mark.parametrize("name", WITHOUT_EXAMPLES)
def test_nan_and_a_factor_are_named_where_there_are_no_examples_too(name):
    right = solution_of(name)
    nan = last_line(lambda *arguments: multiplied(right(*arguments), float("nan")), name)
    assert "NaN" in nan or "not finite" in nan
    for message, factor in FACTORS.items():
        verdict = diagnose(lambda *arguments, by=factor: multiplied(right(*arguments), by), EXERCISES[name])
        assert verdict.solved or verdict.lines[-1].endswith(message)


@pytest.mark.parametrize("name", EXERCISES)
def test_strange_answers_are_refused_in_a_few_lines_and_no_error_of_the_check_is_theirs(name):
    long = "x" * 50_000
    values = long, [long], {long: long}, 3, np.zeros((300, 300)), torch.zeros(2), object(), {}, [[None]]
    for strange in (*values, *(lambda *_, it=value: it for value in values)):
        assert "Your code raised" not in last_line(strange, name)  # what the check itself raises is not the student's
