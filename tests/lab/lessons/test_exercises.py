import math

import numpy as np
import pytest
import torch
from cselab_lab.lessons.checks.alignment_uniformity import ALIGNMENT
from cselab_lab.lessons.checks.dropout_noise import TWO_PAIRS
from cselab_lab.lessons.checks.focal_infonce import FOCAL, FOCAL_GRADIENT
from cselab_lab.lessons.checks.rank_bottleneck import CORRELATION
from cselab_lab.lessons.checks.simcse import LOSS
from cselab_lab.lessons.checks.tour import INFO_NCE
from cselab_lab.lessons.checks.whitening import ZCA
from cselab_lab.lessons.exercises import (
    AXIS,
    FEWER,
    LAST_PLACE,
    LENGTH,
    PARTLY,
    REORDERED,
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
NINE = Example("3 becomes 9", (3,), 9)


def last_line(answer, *stages, **mistakes):
    return diagnose(answer, Exercise(*stages, **mistakes)).lines[-1]


def unfinished(x):
    raise NotImplementedError


def fragile(x):
    return x**2 if x == 0 else x.square()


@pytest.mark.parametrize("answer", [None, ..., lambda x: ..., unfinished])
def test_a_placeholder_is_not_solved_yet_and_nothing_is_raised(answer, capsys):
    staged_check(answer, SQUARE)
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
            "`print` shows a value, `return` returns it.",
        ),
    ],
)
def test_the_first_stage_that_fails_gives_the_diagnosis(answer, passed, diagnosis):
    verdict = diagnose(answer, SQUARE)
    assert not verdict.solved
    assert verdict.lines == (*(f"passed: {check.what}" for check in CHECKS[:passed]), diagnosis)


def test_an_exception_in_the_answer_is_shown_with_the_hint_and_not_raised():
    assert "'int' object has no attribute 'square'. Hint: square before" in diagnose(fragile, SQUARE).lines[-1]


def test_a_value_can_be_checked_as_well_as_a_function_and_a_stage_may_say_what_is_wrong():
    prime = Check("it is the smallest prime", lambda number: "" if number == 2 else f"{number} is another.", "Less?")
    assert diagnose(2, Exercise(prime)).solved
    assert last_line(1, prime).endswith("1 is another. Less?")


def test_an_example_shows_what_came_and_what_was_expected_and_gives_no_hint_that_does_not_fit():
    def mine(x):
        return 7.25

    double = {"That is the double.": lambda x: 2 * x}
    said = last_line(lambda x: 2 * x, NINE, mistakes=double)
    assert said.endswith("Your function returned 6; expected 9. That is the double.")
    said = last_line(mine, NINE, mistakes=double)
    assert said.endswith("Your function returned 7.25; expected 9. Try it: mine(3)")


def test_a_mistake_is_named_where_it_explains_every_example():
    four = Example("4 becomes 16", (4,), 16)
    mistakes = {"That is the double.": lambda x: 2 * x, "That is 3 more.": lambda x: x + 3}
    assert "That is 3 more." in last_line(lambda x: x + 3, NINE, four, mistakes=mistakes)
    assert "9. That is the double." in last_line(lambda x: 2 * x, NINE, four, mistakes=mistakes)
    both = last_line(lambda x: 6, NINE, four, mistakes=mistakes)
    assert "double" not in both and "more" not in both  # 6 is both, and explains neither at 4
    assert "more" not in last_line(lambda x: 7, four, NINE, mistakes=mistakes)


def test_a_mistake_with_the_right_value_is_no_evidence():
    nearly = {"That is a hair too much.": lambda x: 9.0009}
    assert "hair" not in last_line(lambda x: 9.0015, NINE, mistakes=nearly)


def test_a_rounded_result_is_told_so_and_not_accused():
    third = Example("a third", (3,), 1 / 3)
    blamed = {"That is a share.": lambda x: 0.33}
    assert diagnose(lambda x: round(1 / x, 3), Exercise(third, mistakes=blamed)).solved
    assert "right, but rounded" in last_line(lambda x: round(1 / x, 2), third, mistakes=blamed)


def test_one_number_is_wanted_or_another_shape():
    assert "must be one number" in last_line(lambda x: [9, 9], NINE)
    assert diagnose(lambda x: [9], Exercise(NINE)).solved
    pairs = Example("both", (1,), [1.0, 2.0])
    assert diagnose(lambda x: (1, 2), Exercise(pairs)).solved
    assert "shape should be (2,), it is (3,)" in last_line(lambda x: [1, 2, 3], pairs)


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        (lambda x: torch.exp(100 * x) / torch.exp(100 * x), "exp of a large number"),
        (lambda x: np.exp(1000 * x.numpy()) / np.exp(1000 * x.numpy()), "exp of a large number"),
        (lambda x: ((0 * x).log() * 0).sum(), "the log of 0"),
        (lambda x: (x - x) / (x - x), "a division by 0"),
        (lambda x: (x - 5).sqrt(), "the root of a number below 0"),
        (lambda x: (x - 5) ** 0.5, "the root of a number below 0"),
        (lambda x: (x.numpy() - 5) ** 0.5, "the root of a number below 0"),
        (lambda x: (x - x) ** -0.5, "0 to a negative power"),
        (lambda x: x * float("nan"), "That is not a finite number"),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")  # the answers' own
def test_what_is_no_number_is_traced_to_where_it_came_from(answer, cause):
    one = Example("1 stays 1", (torch.tensor(1.0),), 1.0)
    assert cause in last_line(answer, one, mistakes={"An overflow.": lambda x: float("inf")})


def test_an_array_that_looks_right_is_told_by_its_first_wrong_number():
    wanted = [[0.0] * 4, [0.0, 1.0, 0.0, 0.0], [0.0] * 4]
    said = last_line(lambda x: [[0] * 4, [0] * 4, [0] * 4], Example("a one", (1,), wanted))
    assert "Your function returned 0 at [1, 1]; expected 1." in said


def test_no_message_is_long_whatever_is_given_or_raised():
    large = Example("the sum", (np.zeros((300, 300)), [1.0] * 900), 5.0)
    assert "called with an array of shape (300, 300), a list of 900." in last_line(lambda x, y: 17.0, large)

    def loud(x, y):
        raise ValueError("no\n" * 9_000)

    assert len(last_line(loud, large)) < 1_000 and "\n" not in last_line(loud, large)
    assert len(last_line("word " * 9_000, Check("short", lambda text: f"You said {text!r}"))) < 1_000


def test_a_notebook_shows_ticks_and_escapes_what_the_student_wrote():
    html = diagnose(lambda x: "<b>", Exercise(NINE))._repr_html_()
    assert "✗" in html and "&lt;b&gt;" in html and "<b>" not in html
    assert "✓" in diagnose(lambda x: x * x, SQUARE)._repr_html_()


def test_an_answer_that_writes_into_its_arguments_is_told_so_and_spoils_no_second_try():
    given = np.array([1.0, 2.0])

    def in_place(x):
        x -= 1
        return x

    one_less = Example("one less", (given,), given - 1)
    for _ in range(2):
        assert "right, but your function changes its arguments" in last_line(in_place, one_less)
    assert given.tolist() == [1.0, 2.0]
    first = Example("the first row", ([[1, 2], [3]], 0), [1, 2])
    assert "changes its arguments" in last_line(lambda rows, at: rows.pop(at), first)


def test_weights_may_change_in_a_function_that_trains():
    weights = [torch.ones(2, requires_grad=True)]

    def trains(weights):
        weights[0].data.zero_()
        return 3

    assert diagnose(trains, Exercise(Example("it trains", (weights,), 3))).solved


def test_zeros_are_no_evidence():
    four = Example("4 becomes 2", (4,), 2)
    wrong = {"That is 4 less.": lambda x: x - 4}
    assert "4 less" not in last_line(lambda x: 0, four, NINE, mistakes=wrong)
    assert "4 less" in last_line(lambda x: x - 4, four, NINE, mistakes=wrong)


@pytest.mark.parametrize(("base", "log"), [(2, math.log2), (10, math.log10)])
def test_another_logarithm_is_known_everywhere(base, log):
    said = last_line(lambda x: log(x), Example("log 5", (5,), math.log(5)), Example("log 7", (7,), math.log(7)))
    assert said.endswith(f"Use the natural logarithm, not base {base}.")


def test_functions_networks_and_tables_are_shown_without_addresses():
    def double(x):
        return 2 * x

    given = ("no repr " * 40, double, torch.nn.Linear(2, 2))
    said = last_line(lambda *given: 0.3, Example("called", given, 1))
    assert "the function double, a Linear" in said and "0x" not in said
    table = Example("a table", (1,), np.eye(2))
    assert "a tuple of 2 (shapes (2, 2), (30,))" in last_line(lambda x: (np.eye(2), np.arange(30) / 7), table)


def test_right_numbers_with_a_gradient_missing_are_solved_and_the_lesson_trains_with_the_solution():
    loss = LOSS.solution
    assert diagnose(lambda *views: loss(*views), LOSS).lines[-1] == "solved."
    for name, answer in {
        LOSS: lambda a, b, *t: loss(a.detach(), b, *t),
        CORRELATION: lambda a, b: CORRELATION.solution(a, b.detach()),
    }.items():
        verdict = diagnose(answer, name)
        assert verdict.solved and "trains with the solution" in verdict.lines[-1] and "gradient" in verdict.lines[-1]
    for number in (lambda *views: loss(*views).item(), lambda *views: loss(*views).detach()):
        verdict = diagnose(number, LOSS)
        assert verdict.solved and "trains with the solution" in verdict.lines[-1]


def test_an_answer_that_is_an_object_is_tried_as_it_is_even_where_it_can_be_called():
    class Encoder:
        def __call__(self, texts):
            return texts

        def encode(self, texts):
            return [len(text) for text in texts]

    encodes = Check("it encodes", lambda encoder: encoder.encode(["ab"]) == [2], "has it .encode?")
    assert diagnose(Encoder(), Exercise(encodes)).solved


def test_the_lesson_goes_on_with_the_solution_where_an_answer_is_wrong_or_cannot_be_trained(capsys):
    loss = LOSS.solution
    assert student_or_reference(mine := lambda *views: loss(*views), LOSS) is mine
    assert student_or_reference(lambda *views: 2 * loss(*views), LOSS) is loss
    assert student_or_reference(lambda *views: loss(*views).item(), LOSS) is loss
    assert student_or_reference(lambda *views: loss(*views).detach(), LOSS) is loss
    right, wrong, number, detached = capsys.readouterr().out.splitlines()
    assert "yours" in right and "not right yet: the solution is used" in wrong
    assert "does not return tensors" in number and "no gradient" in detached


def test_an_answer_that_is_not_trained_may_detach_but_gives_tensors(capsys):
    gradient = FOCAL_GRADIENT.solution
    assert student_or_reference(mine := lambda *table: gradient(*table).detach(), FOCAL_GRADIENT) is mine
    assert student_or_reference(lambda *table: gradient(*table).tolist(), FOCAL_GRADIENT) is gradient
    assert "tensors" in capsys.readouterr().out


@pytest.mark.parametrize("share", [0.8, 0.95])
def test_a_gradient_that_is_a_little_wrong_is_noticed(share):
    """The same numbers, with a part of one argument detached; an answer of any lesson would train differently."""

    def partly(x):
        return share * x + (1 - share) * x.detach()

    for exercise in (LOSS, TWO_PAIRS):
        verdict = diagnose(lambda *g, one=exercise: one.solution(partly(g[0]), *g[1:]), exercise)
        assert verdict.solved and "gets no gradient, or a wrong one" in verdict.lines[-1]
    assert "Yours is a different one" in diagnose(lambda c, *more: FOCAL.solution(partly(c), *more), FOCAL).lines[-1]


def test_a_gradient_is_checked_in_the_type_of_the_arguments():
    def filled(first, second, temperature=0.05):
        table = torch.zeros(len(first), len(second))
        table[:] = torch.nn.functional.normalize(first) @ torch.nn.functional.normalize(second).T
        return -(table / temperature).log_softmax(1).mul(torch.eye(len(first))).sum() / len(first)

    assert diagnose(filled, LOSS).lines[-1] == "solved."


def test_an_argument_is_unused_only_if_it_is_so_in_every_example():
    product = FOCAL.solution.source.replace("cosines * factors", "cosines @ factors")
    names = {}
    exec(product, names)
    said = diagnose(names["my_focal"], FOCAL).lines[-1]
    assert "changes nothing" not in said and "the matrix product" in said


def test_one_right_number_among_several_and_an_axis_are_told():
    half = Example("a half", (1.0,), 0.5)
    assert "return only it, without the other 1" in last_line(lambda x: (0.5, 0.02), half)
    assert "a mean or a sum missing" in last_line(lambda x: [0.5, 0.5], half)
    vector = Example("a vector", (torch.ones(3),), 0.5)
    assert "only the axis 0" in last_line(lambda x: torch.nn.functional.normalize(x).sum(), vector)
    narrow = Example("a table", (torch.eye(3)[:, :2],), 0.5)
    said = last_line(lambda x: torch.nn.functional.cross_entropy(x, torch.arange(3)), narrow)
    assert "fewer columns than rows" in said and LAST_PLACE not in said


def test_an_order_and_an_index_too_large_are_known_everywhere():
    two, three = Example("two ends", (1,), [1.0, 5.0]), Example("rows", (1,), [[1.0, 2.0], [3.0, 0.0], [3.0, 4.0]])
    assert REORDERED in last_line(lambda x: (5, 1), two)
    assert REORDERED in last_line(lambda x: [[3, 4], [1, 2], [3, 0]], three)
    assert REORDERED not in last_line(lambda x: [[1, 0], [3, 2], [3, 4]], three)  # numbers of different rows
    assert LAST_PLACE in last_line(lambda x: [1, 2][x + 1], two)


def test_a_sum_a_divisor_a_length_and_a_temperature_are_known_for_every_solution():
    for exercise, change, message in (
        (ALIGNMENT, ".mean() -> .sum()", "Compute the mean, not the sum."),
        (ALIGNMENT, ".sum(dim=1) -> .mean(dim=1)", "Compute the sum, not the mean."),
        (ZCA, "/ len(x) -> / (len(x) - 1)", FEWER),
        (ALIGNMENT, "torch.nn.functional.normalize(side, dim=1) -> side", LENGTH),
        (LOSS, "normalize(second, dim=1) -> second", LENGTH),
        (TWO_PAIRS, "positive) / temperature -> positive)", PARTLY),
    ):
        wrong = mutate_source(exercise.solution, change)
        assert diagnose(lambda *given, wrong=wrong: wrong(*given), exercise).lines[-1].endswith(message)


def test_an_argument_that_is_not_used_and_another_axis_are_known_for_every_solution():
    info_nce = INFO_NCE.solution
    assert "Divide every cosine by the temperature." in diagnose(lambda c, t=0.05: info_nce(c, 1), INFO_NCE).lines[-1]
    assert "do not multiply" in diagnose(lambda c, t=0.05: info_nce(c, 1 / t), INFO_NCE).lines[-1]
    assert "`temperature` changes nothing in your code" in diagnose(lambda c, t=0.05: info_nce(c), INFO_NCE).lines[-1]
    wrong = mutate_source(LOSS.solution, "dim=1 -> dim=0")
    assert AXIS in diagnose(lambda *views: wrong(*views), LOSS).lines[-1]
    with pytest.raises(ValueError, match="has no 'dim=7'"):
        mutate_source(info_nce, "dim=7 -> dim=0")
    with pytest.raises(ValueError, match="0 folded solutions that define my_nothing"):
        Solution("02_simcse", "my_nothing")(1)
