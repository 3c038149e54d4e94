"""Checks for the exercises of a notebook: in stages, and with a diagnosis where one fails.

A stage is an `Example` (these arguments give this value) or a `Stage` (anything else that must hold). An `Exercise` is
its stages, and the mistakes that it knows: functions that are wrong in one way, most of them a right one in which a
piece is written otherwise.

A mistake is told only on evidence. The student's function must agree with the wrong one in every example, and the
wrong value must differ from the right one. A factor or a sign that is off is known for every exercise
(`FACTORS`), and so are NaN, infinity, a wrong shape, a wrong type and a rounded result. What the check itself raises is
not said to be the student's.
"""

from __future__ import annotations

import copy
import functools
import inspect
import math
import textwrap
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from html import escape
from types import MappingProxyType
from typing import Any

import numpy as np

Mistakes = dict[str, str | Callable]
"""What is said, and of what: see `Exercise`."""

LONGEST = 900  # characters of a message: fewer than ten lines
LONGEST_CALL = 250  # characters of a call that is shown to be tried; longer ones are told by their shapes

NOT_FINITE = {
    "exp": "exp of a large number, too large for a float: logsumexp, log_softmax and softmax do not overflow.",
    "log": "the log of 0. In logsumexp nothing becomes 0; where a share is 0, leave it out: xlogy(p, p) is 0 there.",
    "divide": "a division by 0. What do you divide by, and along which axis was it computed?",
    "sqrt": "the root of a number below 0.",
    "power": "0 to a negative power.",
    "std": "one number has no spread. Along which axis did you take it?",
}
"""What a number that is not finite comes from, by the function that gave the first one."""
SAME = {"truediv": "divide", "rtruediv": "divide", "div": "divide", "true_divide": "divide", "var": "std"} | {
    "log2": "log", "log10": "log", "rsqrt": "power", "pow": "power", "rpow": "power", "expm1": "exp"
}  # fmt: skip


CHANGED = "That is right, but your function changes what it is given: x = x - 1 makes a new x, x -= 1 does not."
NO_GRADIENT = "no gradient goes through what it returns (.item()? .detach()?)"
WRONG_GRADIENT = "the numbers are right, but one of the arguments gets no gradient (.detach()? .data? torch.no_grad()?)"
CONSTANT = "It returns the same whatever it is given."
NO_NUMBER = "0 / 0, inf - inf and the root of a number below 0 give NaN."
FACTORS = {
    "The sign is the other way round.": -1,
    "This is in per cent: leave the factor 100 out.": 100,
    "This is a hundredth of it: is a factor of 100 missing?": 1 / 100,
    "This is twice as much: is something counted twice, or a division by 2 missing?": 2,
    "This is half as much: is a factor of 2 missing, or something counted once that counts twice?": 1 / 2,
}
"""What may be off by a factor in any exercise."""
BASES = {f"Use the natural logarithm, not the one to base {base}.": 1 / math.log(base) for base in (2, 10)}


@dataclass(frozen=True)
class Stage:
    """One thing that must hold, and what to say when it does not.

    Args:
        what: the property, as a sentence: `"equal vectors are at distance 0"`.
        holds: takes the student's answer (a function or a value) and says whether the property holds; or gives a
            sentence that says what is wrong, empty where nothing is. Compute what you expect by another path than the
            solution does: by hand, with a loop, from a symmetry.
        hint: the mistake that usually fails this stage, and where to look.
        for_training: only the lesson's training needs it: an answer that fails here is right, and cselab's stands in.
    """

    what: str
    holds: Callable[[Any], object]
    hint: str = ""
    for_training: bool = False

    def finding(self, answer: object) -> str:
        """What is wrong, in a sentence; empty where nothing is."""
        said = self.holds(answer)
        if isinstance(said, str):
            return f"{said} {self.hint}".strip() if said else ""
        return "" if said else f"Hint: {self.hint}"


@dataclass(frozen=True, eq=False)
class Example:
    """The student's function must give one value for some arguments.

    Args:
        what: the property, as a sentence: `"two opposite vectors have uniformity -8"`.
        arguments: what the function is called with.
        expected: the number or array that it should return. Find it by another path than the solution does.
        tolerance: how far a right value may lie from the expected one; results rounded to three digits are right.
    """

    what: str
    arguments: tuple
    expected: object
    tolerance: float = 1e-3

    def returned_by(self, function: Callable) -> Any:
        """What a function returns; who writes into its arguments spoils no later stage."""
        return function(*copy.deepcopy(self.arguments))

    def is_left_as_given(self, function: Callable) -> bool:
        """Whether the numbers in the arguments are the same after the call."""
        given = copy.deepcopy(self.arguments)
        function(*given)
        return _are_the_same(self.arguments, given)

    def numbers_in(self, returned: object) -> Any:
        """The numbers that were returned, None where there are none; a list with one number is that number."""
        numbers = numbers_of(returned)
        one = numbers is not None and numbers.size == 1 and numbers_of(self.expected).ndim == 0
        return numbers.reshape(()) if one else numbers

    def is_right(self, numbers: Any) -> bool:
        """Whether these are the expected numbers."""
        expected = numbers_of(self.expected)
        return numbers.shape == expected.shape and np.allclose(numbers, expected, rtol=0, atol=self.tolerance)

    def is_same(self, numbers: Any, wrong: Any) -> bool:
        """Whether these are the numbers that a mistake gives; where they are large, they may be off by more."""
        if numbers.shape != wrong.shape or wrong.size == 0:
            return False
        factor = np.abs(wrong).max() / max(np.abs(numbers_of(self.expected)).max(), 1e-9)
        off = max(min(self.tolerance, 1e-3), self.tolerance * factor)
        return np.allclose(numbers, wrong, rtol=1e-3, atol=off)

    def comparison(self, numbers: Any) -> str:
        """What was returned beside what was expected; of arrays that look alike the first wrong number."""
        expected = numbers_of(self.expected)
        if numbers.shape == expected.shape and numbers.ndim and _shown(numbers) == _shown(expected):
            place = tuple(np.argwhere(~np.isclose(numbers, expected, rtol=0, atol=self.tolerance))[0].tolist())
            where = f" at [{', '.join(map(str, place))}]"
            return f"Your function returned {numbers[place]:.4g}{where}; expected is {expected[place]:.4g}."
        return f"Your function returned {_shown(numbers)}; expected is {_shown(expected)}."

    def call(self, answer: Callable) -> str:
        """The call, to be copied into a cell; where that is too long, the shapes of its arguments."""
        shown = [" ".join(repr(argument).split()) for argument in self.arguments]
        if sum(map(len, shown)) > LONGEST_CALL:
            return f"It was called with {', '.join(map(_kind_of, self.arguments))}."
        module = {"tensor": "torch.", "array": "np."}
        arguments = ", ".join(module.get(text.partition("(")[0], "") + text for text in shown)
        return f"Try it: {getattr(answer, '__name__', 'your_function')}({arguments})"


class Exercise:
    """What an answer must fulfil, stage by stage, and the mistakes that are known.

    Args:
        stages: tried in this order.
        right: a right function; with it the lesson goes on until the student's is right (`yours`).
        mistakes: diagnosis -> what is written otherwise in the right function (`otherwise`), or a function that makes
            this mistake. It takes the arguments of the examples.
        trained: the lesson trains through it, so `yours` asks that a gradient goes through what it returns.
        in_place: the function may write into what it is given, as an optimiser does.
    """

    def __init__(
        self,
        *stages: Stage | Example,
        right: Callable | None = None,
        mistakes: Mapping[str, str | Callable] = MappingProxyType({}),
        trained: bool = False,
        in_place: bool = False,
    ) -> None:
        self.stages, self.right, self.trained, self.in_place = stages, right, trained, in_place
        self.mistakes = {said: otherwise(right, wrong) for said, wrong in mistakes.items()}
        self._wrong: dict[Example, dict[str, Any]] = {}

    @property
    def examples(self) -> list[Example]:
        """The stages that are examples."""
        return [stage for stage in self.stages if isinstance(stage, Example)]

    def finding(self, stage: Stage | Example, answer: Any) -> str:
        """What is wrong with an answer in one stage, in a sentence or two; empty where nothing is."""
        if isinstance(stage, Stage):
            return stage.finding(answer)
        returned = stage.returned_by(answer)
        numbers = stage.numbers_in(returned)
        if numbers is None:
            rows = " Its rows are not of one length." if _is_ragged(returned) else ""
            return (
                f"Your function returned {_kind_of(returned)}; expected is {_shown(numbers_of(stage.expected))}.{rows}"
            )
        if stage.is_right(numbers):
            return "" if self.in_place or stage.is_left_as_given(answer) else CHANGED
        return f"{stage.comparison(numbers)} {self._reason(stage, answer, numbers)}"

    def is_solved_by(self, answer: Any) -> bool:
        """Whether every stage holds."""
        try:
            return not any(self.finding(stage, answer) for stage in self.stages)
        except Exception:
            return False

    def wrong_values(self, example: Example) -> dict[str, Any]:
        """The numbers that each mistake gives for an example; without those that fail or give no finite numbers."""
        if example in self._wrong:
            return self._wrong[example]
        values = {}
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for said, wrong in self.mistakes.items():
                try:
                    values[said] = numbers_of(wrong(*copy.deepcopy(example.arguments)))
                except Exception:  # a wrong function may fail where the answer does not
                    continue
            values |= dict(shared_mistakes(example))
        kept = {said: value for said, value in values.items() if value is not None and np.isfinite(value).all()}
        return self._wrong.setdefault(example, kept)

    def _reason(self, example: Example, answer: Callable, numbers: Any) -> str:
        expected = numbers_of(example.expected)
        if numbers.shape == expected.shape and not np.isfinite(numbers).all():
            return _why_not_finite(answer, example.arguments)
        if numbers.shape == expected.shape and np.allclose(numbers, expected.round(2), rtol=1e-6, atol=1e-6):
            return "That is right, but rounded: return it as it is."
        if told := self._mistake(example, answer, numbers):
            return told
        if numbers.shape == expected.shape:
            same = f"{CONSTANT} " if self._is_constant(answer, numbers) else ""
            return f"{same}{example.call(answer)}"
        if expected.ndim == 0:
            return "One number is wanted: is a mean or a sum missing at the end?"
        return f"The shape should be {expected.shape}, it is {numbers.shape}."

    def _is_constant(self, answer: Callable, numbers: Any) -> bool:
        """Whether all examples give these numbers, although not all expect the same."""
        expected = [numbers_of(example.expected) for example in self.examples]
        given = [_tried(answer, example) for example in self.examples]
        alike = all(one is not None and np.array_equal(one, numbers) for one in given)
        return alike and not all(np.array_equal(one, expected[0]) for one in expected)

    def _mistake(self, example: Example, answer: Callable, numbers: Any) -> str:
        """The mistake that explains an answer in every example; else, as a guess, the only one that does in this."""
        fits = [said for said, wrong in self.wrong_values(example).items()
                if example.is_same(numbers, wrong) and not example.is_right(wrong)]  # fmt: skip
        explains = fits
        for other in self.examples if fits else []:
            wrong, given = self.wrong_values(other), _tried(answer, other)
            if given is not None:
                explains = [said for said in explains if said not in wrong or other.is_same(given, wrong[said])]
        if explains:
            return explains[0]
        alone = len(fits) == 1 and fits[0] in self.mistakes and numbers.any()  # zeros come from anything
        return f"This would fit here, but not in the other examples: {fits[0]}" if alone else ""


def otherwise(right: Callable | None, change: str | Callable) -> Callable:
    """A right function with a mistake: its source, with "a piece of it -> what stands there instead".

    Several changes are parted by "; ". A piece is changed wherever it stands. A function is a mistake as it is.

    >>> def double(x):
    ...     return 2 * x
    >>> otherwise(double, "2 * -> 3 *")(4)
    12

    Raises:
        ValueError: there is no such piece.
    """
    if callable(change):
        return change
    assert right is not None, f"{change}: there is no right function in which this could be written otherwise"
    source = inspect.getsource(right)
    for one in change.split("; "):
        piece, _, instead = one.partition(" -> ")
        if piece not in source:
            raise ValueError(f"{right.__name__} has no {piece!r}, which was to be changed: {change}")
        source = source.replace(piece, instead)
    # Both are text of this package, never a student's: nothing that is typed in a lesson comes here.
    code = compile(source, f"<{right.__name__}: {change}>", "exec")

    @functools.cache
    def written() -> Callable:
        made: dict[str, Any] = {}
        exec(code, right.__globals__, made)
        return made[right.__name__]

    return lambda *given: written()(*given)


def shared_mistakes(example: Example) -> Iterator[tuple[str, Any]]:
    """What is off by a sign or a factor in any exercise: diagnosis and the numbers that it gives."""
    right = numbers_of(example.expected)
    yield from ((said, factor * right) for said, factor in (FACTORS | BASES).items())
    if right.ndim == 0:
        yield "This is its square.", right**2
        yield "This is its square root.", np.sqrt(right)
        yield "This is 1 minus what is wanted.", 1 - right
    if right.ndim == 2:
        yield "Transpose it: rows and columns have changed places.", right.T
    given = numbers_of(example.arguments[0]) if example.arguments else None
    if given is not None and given.ndim == 2:
        rows, columns = given.shape
        yield "Take the mean over the rows, not the sum: divide by their number.", rows * right
        yield "Do not divide by the number of rows.", right / rows
        yield "Divide by n - 1, not by n.", right * (rows - 1) / rows
        yield "Divide by n, not by n - 1.", right * rows / (rows - 1)
        if rows > 3:  # of three rows there are three pairs, of two only one
            yield "This is the sum over the pairs i < j: divide by their number.", right * rows * (rows - 1) / 2
            yield "This is the sum over n (n - 1) ordered pairs: divide by their number.", right * rows * (rows - 1)
        if columns not in (2, rows):
            yield "Take the mean over the columns, not the sum: divide by their number.", columns * right
            yield "Do not divide by the number of columns.", right / columns


@dataclass(frozen=True)
class Verdict:
    """What a check found: whether every stage holds, the lines to show, and what training would miss in the answer."""

    solved: bool
    lines: tuple[str, ...]
    missing: str = ""

    def __repr__(self) -> str:
        return "\n".join(self.lines)

    def _repr_html_(self) -> str:
        """The same lines with a tick for what holds; the last one green when all is solved, amber until then."""
        rows = []
        for line in self.lines:
            good = line.startswith(("passed: ", "solved"))
            mark, colour = ("✓", "#1a7f37") if good else ("✗", "#b35900")
            weight = "bold" if line == self.lines[-1] else "normal"
            rows.append(
                f'<div style="font-weight: {weight}"><span style="color: {colour}">{mark}</span> {escape(line)}</div>'
            )
        return "\n".join(rows)


class _NothingReturned(Exception):
    """The student's function gave `None`, or still the placeholder."""

    def __init__(self, given: object) -> None:
        super().__init__(given)
        self.given = given


def diagnose(answer: Any, exercise: Exercise) -> Verdict:
    """Try the stages in order and stop at the first that does not hold.

    An answer that is `None` or `...`, or a function that returns `...` or raises `NotImplementedError`, is not
    solved yet. An exception in the answer is a failed stage that names the exception, never an error.

    >>> square = Exercise(
    ...     Example("0 stays 0", (0,), 0),
    ...     Example("3 becomes 9", (3,), 9),
    ...     mistakes={"square, do not double": lambda x: 2 * x},
    ... )
    >>> diagnose(lambda x: x + x, square)
    passed: 0 stays 0
    not yet (1 of 2): 3 becomes 9. Your function returned 6; expected is 9. square, do not double
    >>> diagnose(lambda x: ..., square).lines
    ('not solved yet: replace the placeholder; the first goal is: 0 stays 0',)
    """
    stages = exercise.stages
    unsolved = f"not solved yet: replace the placeholder; the first goal is: {stages[0].what}"
    if answer is None or answer is Ellipsis:
        return Verdict(False, (unsolved,))
    tried = _Watched(answer)
    lines: list[str] = []
    for stage in stages:
        tried.of_no_number = None
        try:
            finding = exercise.finding(stage, tried.answer)
            if finding and isinstance(stage, Stage):
                finding = tried.reason(exercise) or finding
        except (_NothingReturned, NotImplementedError) as error:
            if not lines and getattr(error, "given", ...) is Ellipsis:
                return Verdict(False, (unsolved,))
            finding = "Your function returned None: is `return` missing? `print` shows a value, `return` gives it."
        except Exception as error:
            finding = tried.after(error, stage, exercise)
        if finding and getattr(stage, "for_training", False):
            return _solved(lines, NO_GRADIENT)
        if finding:
            said = textwrap.shorten(f"{stage.what}. {finding}", LONGEST, placeholder=" ...")
            return Verdict(False, (*lines, f"not yet ({len(lines)} of {len(stages)}): {said}"))
        lines.append(f"passed: {stage.what}")
    missing = _missing_in(answer, exercise.right, exercise) if exercise.trained and exercise.right else ""
    if missing == WRONG_GRADIENT:
        return Verdict(False, (*lines, f"not yet: {missing}"))
    return _solved(lines, missing)


def _solved(lines: list[str], missing: str = "") -> Verdict:
    return Verdict(
        True, (*lines, f"solved. But the lesson trains with cselab's: {missing}" if missing else "solved."), missing
    )


def staged_check(answer: object, exercise: Exercise) -> None:
    """Show what `diagnose` finds; the last line of an exercise cell. Never raises for a wrong answer."""
    from IPython.display import display

    display(diagnose(answer, exercise))


def yours(answer: Callable, exercise: Exercise) -> Any:
    """The student's function where it is right and the lesson can go on with it, else the one that stands in.

    It says which of the two it is. A loss of Python's numbers is right, but cannot be trained.

    >>> from cselab_lab.lessons.checks.simcse import POOLED
    >>> pooled = yours(lambda layer, mask, kind: ..., POOLED)
    <lambda> is not right yet: cselab's stands in
    """
    ours = exercise.right
    if ours is None:
        raise ValueError("nothing stands in for this exercise; give Exercise(..., right=...).")
    name, told = getattr(answer, "__name__", "your answer"), diagnose(answer, exercise)
    missing = (told.missing or _missing_in(answer, ours, exercise)) if told.solved else "is not right yet"
    missing = f"is right, but {missing}" if told.solved and missing else missing
    print(f"{name} {missing}: cselab's stands in" if missing else f"{name}: yours")
    return ours if missing else answer


def _missing_in(answer: Callable, right: Callable, exercise: Exercise) -> str:
    """What keeps the lesson from going on with a right answer; empty where nothing does."""
    for example in exercise.examples:
        mine, of_mine = _traced(answer, example, exercise.trained)
        ours, of_ours = _traced(right, example, exercise.trained)
        if any(hasattr(one, "detach") for one in ours) and not all(hasattr(one, "detach") for one in mine):
            return "gives no tensors, with which the lesson goes on"
        if exercise.trained and not all(one.requires_grad for one in mine):
            return NO_GRADIENT
        if of_mine and any(
            not one.any() and abs(other).max() > 1e-4 for one, other in zip(of_mine, of_ours, strict=True)
        ):
            return WRONG_GRADIENT
    return ""


def _traced(function: Callable, example: Example, trained: bool) -> tuple[Any, list[Any]]:
    """What a function returns for an example, in a list; and the gradient of its sum by each argument, if trained."""
    given = copy.deepcopy(example.arguments)
    weights = [one.requires_grad_() for one in given if trained and getattr(one, "is_floating_point", bool)()]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = function(*given)
    except RuntimeError:  # NumPy refuses what has a gradient
        result = None
    results = result if isinstance(result, list | tuple) else [result]
    if not weights or not all(getattr(one, "requires_grad", False) for one in results):
        return results, []
    sum(one.sum() for one in results).backward()
    return results, [np.zeros(()) if weight.grad is None else numbers_of(weight.grad) for weight in weights]


def numbers_of(value: object) -> Any:
    """The numbers of a number, list, array or tensor in float64; None where it holds no numbers."""
    if isinstance(value, str | bytes):
        return None
    if hasattr(value, "detach"):
        value = value.detach().cpu().double()
    if isinstance(value, list | tuple):
        parts = [numbers_of(part) for part in value]
        value = None if any(part is None for part in parts) else parts
    try:
        return None if value is None else np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        return None


class _Watched:
    """A student's answer while it is tried: what its function last returned, and what it raised.

    `answer` is the function, which refuses a placeholder; a value or an encoder, which may be called, is as it was.
    """

    def __init__(self, answer: Any) -> None:
        self.is_function = inspect.isroutine(answer)
        self.answer: Any = self._watching(answer) if self.is_function else answer
        self.result: Any = None if self.is_function else answer
        self.raised: Exception | None = None
        self.of_no_number: tuple | None = None  # the arguments for which it first gave NaN or infinity

    def _watching(self, function: Callable) -> Callable:
        @functools.wraps(function)
        def call(*args: object, **kwargs: object) -> object:
            try:
                self.result = function(*args, **kwargs)
            except Exception as error:
                self.raised = error
                raise
            if self.result is None or self.result is Ellipsis:
                raise _NothingReturned(self.result)
            if self.of_no_number is None and not _is_finite(self.result):
                self.of_no_number = args
            return self.result

        return call

    def reason(self, exercise: Exercise) -> str:
        """Why a stage does not hold, where that is NaN or a factor in whatever was returned; else empty."""
        if self.of_no_number is not None:
            return _why_not_finite(self.answer, self.of_no_number)
        if self.is_function:
            tries = FACTORS
        elif not _is_finite(self.answer):
            return f"There is NaN or infinity in it: {NO_NUMBER}"
        else:  # that one number is twice another says nothing
            tries = (
                {} if numbers_of(self.answer) is None else {s: by for s, by in FACTORS.items() if by not in (2, 0.5)}
            )
        return next((said for said, by in tries.items() if exercise.is_solved_by(_divided(self.answer, by))), "")

    def after(self, error: Exception, stage: Stage | Example, exercise: Exercise) -> str:
        """What is said of an exception: it is the student's only where the student's function raised it."""
        raised = f"{type(error).__name__}: {str(error).rstrip('.')}."
        kind, numbers = _kind_of(self.result), numbers_of(self.result)
        hint = stage.call(self.answer) if isinstance(stage, Example) else f"Hint: {stage.hint}" if stage.hint else ""
        if error is self.raised:
            return f"Your code raised {raised} {hint}"
        if told := self.reason(exercise):
            return told
        if not self.is_function:
            return f"It is {kind}; trying it raised {raised} {hint}"
        why = "." if numbers is None else f"; checking that raised {raised}"
        return f"Your function returned {kind}{why} {hint}"


def _is_finite(value: object) -> bool:
    """Whether no number in it is NaN or infinite, wherever it stands."""
    import numpy as np

    if isinstance(value, Mapping):
        return all(map(_is_finite, value.values()))
    numbers = numbers_of(value)
    if numbers is None and isinstance(value, list | tuple):
        return all(map(_is_finite, value))
    return numbers is None or bool(np.isfinite(numbers).all())


def _divided(answer: Any, factor: float) -> Any:
    """A function whose numbers are divided by a factor, or numbers that are; anything else as it is."""
    if inspect.isroutine(answer):
        return functools.wraps(answer)(lambda *args, **kwargs: _divided(answer(*args, **kwargs), factor))
    if isinstance(answer, list | tuple):
        return [_divided(one, factor) for one in answer]
    return answer / factor if isinstance(answer, int | float) or hasattr(answer, "shape") else answer


def _are_the_same(one: Any, other: Any) -> bool:
    """Whether two values hold the same numbers. What holds none is the same, and so are weights, which may change."""
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(_are_the_same, one, other))
    numbers = None if getattr(one, "requires_grad", False) else numbers_of(one)
    return numbers is None or np.array_equal(numbers, numbers_of(other), equal_nan=True)


def _is_ragged(value: object) -> bool:
    """Whether this is a list of rows, or has one in it, that are lists of unequal length."""
    if not isinstance(value, list | tuple):
        return False
    rows = [len(row) for row in value if isinstance(row, list | tuple)]
    return len(set(rows)) > 1 or any(map(_is_ragged, value))


def _tried(answer: Callable, example: Example) -> Any:
    """The finite numbers that an answer gives for an example; None where it gives none."""
    try:
        given = example.numbers_in(example.returned_by(answer))
    except Exception:  # it may fail at a stage that it has not come to
        return None
    return given if given is not None and np.isfinite(given).all() else None


def _why_not_finite(answer: Callable, arguments: tuple) -> str:
    """Which function made the first number that is not finite, and what that means."""
    import torch
    from torch.overrides import TorchFunctionMode

    class FirstNotFinite(TorchFunctionMode):
        name = ""

        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            returned = function(*args, **(kwargs or {}))
            name = _cause(getattr(function, "__name__", ""))
            if not self.name and name and torch.is_tensor(returned) and not returned.isfinite().all():
                self.name = name
            return returned

    watch = FirstNotFinite()
    try:
        with warnings.catch_warnings(), watch, np.errstate(over="raise", divide="raise", invalid="raise"):
            warnings.simplefilter("ignore")
            answer(*copy.deepcopy(arguments))
    except FloatingPointError as error:  # "overflow encountered in exp"
        watch.name = watch.name or _cause(str(error).split()[-1])
    except Exception:  # what was made of a NaN before may be made of an exception now
        pass
    if watch.name:
        return f"The first number that is not finite comes from {NOT_FINITE[watch.name]}"
    return f"That is no finite number: {NO_NUMBER}"


def _cause(function: str) -> str:
    name = function.strip("_")
    name = SAME.get(name, name)
    return name if name in NOT_FINITE else ""


def _shown(numbers: Any) -> str:
    if numbers.ndim == 0:
        return f"{float(numbers):.4g}"
    if numbers.ndim == 2 and numbers.size <= 9:
        return f"[{', '.join('[' + ', '.join(f'{number:.4g}' for number in row) + ']' for row in numbers)}]"
    inside = ", ".join(f"{number:.4g}" for number in numbers.ravel()[:6])
    dots = ", ..." if numbers.size > 6 else ""
    return f"{numbers.size} numbers [{inside}{dots}]" if numbers.ndim == 1 else f"an array of shape {numbers.shape}"


def _kind_of(value: object) -> str:
    name = type(value).__name__.removeprefix("nd")
    kind = f"an {name}" if name[0] in "aeio" else f"a {name}"
    shape = tuple(getattr(value, "shape", ()))
    if callable(value):  # repr would show an address, or a network of many lines
        return f"the function {value.__name__}" if inspect.isroutine(value) else kind
    text = " ".join(repr(value).split())
    if shape:
        return f"{kind} of shape {shape}"
    if len(text) > 60 and isinstance(value, list | tuple):
        shapes = [str(tuple(one.shape)) for one in value[:4] if hasattr(one, "shape")]
        return f"{kind} of {len(value)}" + (f" (shapes {', '.join(shapes)})" if shapes else "")
    return f"{kind}, {text if len(text) <= 60 else text[:60] + ' ...'}"
