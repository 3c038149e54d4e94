"""Checks for the exercises of a notebook: in stages, and with a diagnosis where one fails.

A stage is an `Example` (these arguments give this value, and these wrong values come from these mistakes) or a `Stage`
(anything else that must hold).
"""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any


@dataclass(frozen=True)
class Stage:
    """One thing that must hold, and what to say when it does not.

    Args:
        what: the property, as a sentence: `"equal vectors are at distance 0"`.
        holds: takes the student's answer (a function or a value) and says whether the property holds. Compute
            what you expect by another path than the solution does: by hand, with a loop, from a symmetry.
        hint: the mistake that usually fails this stage, and where to look.
    """

    what: str
    holds: Callable[[Any], object]
    hint: str

    def finding(self, answer: object) -> str:
        """What is wrong, in a sentence; empty where nothing is."""
        return "" if self.holds(answer) else f"Hint: {self.hint}"

    def after_error(self, answer: object, error: Exception) -> str:
        return f"Your code raised {type(error).__name__}: {error}. Hint: {self.hint}"


@dataclass(frozen=True)
class Example:
    """The student's function must give one value for some arguments; common mistakes are known by what they give.

    Args:
        what: the property, as a sentence: `"two opposite vectors have uniformity -8"`.
        arguments: what the function is called with.
        expected: the number or array that it should return. Find it by another path than the solution does.
        mistakes: diagnosis -> the wrong value, or a wrong function that gives it for the same arguments, or the class
            of an exception. The first that fits is told; a value that fits none gets no hint.
        tolerance: how far a right value may lie from the expected one.
    """

    what: str
    arguments: tuple
    expected: object
    mistakes: Mapping[str, object] = field(default_factory=dict)
    tolerance: float = 1e-3

    def finding(self, answer: Callable) -> str:
        import numpy as np

        found = answer(*copy.deepcopy(self.arguments))  # an answer that writes into them spoils no later stage
        numbers, expected = _as_array(found), _as_array(self.expected)
        if numbers is None:
            return f"Your function returned {_kind_of(found)}; expected is {_shown(expected)}."
        if numbers.shape == expected.shape and np.allclose(
            numbers, expected, rtol=0, atol=self.tolerance, equal_nan=True
        ):
            return ""
        told = f"Your function returned {_shown(numbers)}; expected is {_shown(expected)}."
        if numbers.shape == expected.shape and numbers.ndim and _shown(numbers) == _shown(expected):
            told = self._first_difference(numbers, expected)
        diagnosis = next((said for said, wrong in self.mistakes.items() if self._fits(wrong, numbers)), "")
        if diagnosis:
            return f"{told} {diagnosis}"
        if numbers.shape != expected.shape and expected.shape == ():
            return f"{told} One number is wanted: is a mean or a sum missing at the end?"
        if numbers.shape != expected.shape:
            return f"{told} The shape should be {expected.shape}, it is {numbers.shape}."
        return f"{told} Try it: {self._call(answer)}"

    def _first_difference(self, numbers: Any, expected: Any) -> str:
        """Which number of an array is the first wrong one, where the two look alike as they are shown."""
        import numpy as np

        same = np.isclose(numbers, expected, rtol=0, atol=self.tolerance, equal_nan=True)
        place = tuple(map(int, np.argwhere(~same)[0]))
        where = ", ".join(map(str, place))
        return f"Your function returned {numbers[place]:.4g} at [{where}]; expected is {expected[place]:.4g}."

    def after_error(self, answer: Callable, error: Exception) -> str:
        kinds = ((said, kind) for said, kind in self.mistakes.items() if isinstance(kind, type))
        diagnosis = next((said for said, kind in kinds if isinstance(error, kind)), "")
        return " ".join(filter(None, [f"Your code raised {type(error).__name__}: {error}.", diagnosis])) + (
            "" if diagnosis else f" Try it: {self._call(answer)}"
        )

    def _fits(self, wrong: object, numbers: Any) -> bool:
        import numpy as np

        if isinstance(wrong, type):
            return False
        try:
            value = _as_array(wrong(*self.arguments) if callable(wrong) else wrong)
        except Exception:  # a wrong function may fail where the answer does not
            return False
        if value is None or value.shape != numbers.shape:
            return False
        if callable(wrong) and not np.isfinite(value).all():
            return False  # an overflow, which fits many mistakes
        return bool(np.allclose(numbers, value, rtol=1e-3, atol=self.tolerance, equal_nan=True))

    def _call(self, answer: Callable) -> str:
        shown = (" ".join(repr(argument).split()) for argument in self.arguments)
        module = {"tensor": "torch.", "array": "np."}
        arguments = ", ".join(module.get(text.partition("(")[0], "") + text for text in shown)
        return f"{getattr(answer, '__name__', 'your_function')}({arguments})"


@dataclass(frozen=True)
class Verdict:
    """What a check found: whether every stage holds, and the lines to show."""

    solved: bool
    lines: tuple[str, ...]

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


def diagnose(answer: Any, stages: Sequence[Stage | Example]) -> Verdict:
    """Try the stages in order and stop at the first that does not hold.

    An answer that is `None` or `...`, or a function that returns `...` or raises `NotImplementedError`, is not
    solved yet. An exception in the answer is a failed stage that names the exception, never an error.

    >>> stages = [Example("0 stays 0", (0,), 0), Example("3 becomes 9", (3,), 9, {"square, do not double": 6})]
    >>> diagnose(lambda x: x + x, stages)
    passed: 0 stays 0
    not yet (1 of 2): 3 becomes 9. Your function returned 6; expected is 9. square, do not double
    >>> diagnose(lambda x: ..., stages).lines
    ('not solved yet: replace the placeholder; the first goal is: 0 stays 0',)
    """
    unsolved = f"not solved yet: replace the placeholder; the first goal is: {stages[0].what}"
    if answer is None or answer is Ellipsis:
        return Verdict(False, (unsolved,))
    tried = _refusing_placeholders(answer) if inspect.isroutine(answer) else answer  # an encoder is callable, too
    lines: list[str] = []
    for stage in stages:
        try:
            finding = stage.finding(tried)
        except (_NothingReturned, NotImplementedError) as error:
            if not lines and getattr(error, "given", ...) is Ellipsis:
                return Verdict(False, (unsolved,))
            finding = "Your function returned None: is `return` missing? `print` shows a value, `return` gives it."
        except Exception as error:
            finding = stage.after_error(tried, error)
        if finding:
            progress = f"not yet ({len(lines)} of {len(stages)})"
            return Verdict(False, (*lines, f"{progress}: {stage.what}. {finding}"))
        lines.append(f"passed: {stage.what}")
    return Verdict(True, (*lines, "solved."))


def staged_check(answer: object, stages: Sequence[Stage | Example]) -> None:
    """Show what `diagnose` finds; the last line of an exercise cell. Never raises for a wrong answer."""
    from IPython.display import display

    display(diagnose(answer, stages))


def _refusing_placeholders(function: Callable) -> Callable:
    @functools.wraps(function)
    def call(*args: object, **kwargs: object) -> object:
        result = function(*args, **kwargs)
        if result is None or result is Ellipsis:
            raise _NothingReturned(result)
        return result

    return call


def _as_array(value: object) -> Any:
    """The numbers of a number, list, array or tensor in float64; None where it holds no numbers."""
    import numpy as np

    if hasattr(value, "detach"):
        value = value.detach().cpu()
    if isinstance(value, str | bytes):
        return None
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        return None


def _shown(numbers: Any) -> str:
    if numbers.ndim == 0:
        return f"{float(numbers):.4g}"
    if numbers.ndim == 2 and numbers.size <= 9:
        return f"[{', '.join('[' + ', '.join(f'{number:.4g}' for number in row) + ']' for row in numbers)}]"
    inside = ", ".join(f"{number:.4g}" for number in numbers.ravel()[:6])
    dots = ", ..." if numbers.size > 6 else ""
    return f"{numbers.size} numbers [{inside}{dots}]" if numbers.ndim == 1 else f"an array of shape {numbers.shape}"


def _kind_of(value: object) -> str:
    text = " ".join(repr(value).split())
    return f"a {type(value).__name__}, {text[:60]}"
