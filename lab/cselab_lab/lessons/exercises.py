"""Checks for the exercises of a notebook, tried in order, and a diagnosis if one fails.

A check is an `Example` (these arguments give this value) or a `Check` (anything else that must hold). An `Exercise` has
checks, the solution that is folded in its notebook, and mistakes: most are the solution with a piece of its source
changed.

A mistake is named only on evidence. The student's function must agree with the wrong one in every example, and the
wrong value must differ from the right one. Some mistakes are known for every exercise: a sign, a factor, another axis,
an argument that is not used, NaN, infinity, a wrong shape or type, a rounded result.
"""

from __future__ import annotations

import copy
import functools
import importlib
import inspect
import math
import re
import sys
import textwrap
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from types import FrameType, MappingProxyType
from typing import Any

import numpy as np

import cselab
from cselab._util.arguments import NO_NUMBERS
from cselab._util.reading import read_json
from cselab_lab.headless.record import ticked

LONGEST = 900  # characters of a message: fewer than ten lines
LONGEST_CALL = 250  # characters of a call that is shown in full; for a longer one only the shapes are shown

NOT_FINITE = {
    "exp": "exp of a large number, too large for a float: logsumexp, log_softmax and softmax do not overflow.",
    "log": "the log of 0 or less. In logsumexp nothing becomes 0; leave out a share of 0: xlogy(p, p) is 0.",
    "divide": "a division by 0 or nearly 0. What do you divide by, and along which axis was it computed?",
    "sqrt": "the root of a number below 0.",
    "power": "a power: 0 to a negative one, or a result too large for a float.",
    "std": "the spread of one number. Along which axis did you compute the spread?",
}
"""What a number that is not finite comes from, by the function that made the first one from finite numbers."""
SAME = {"truediv": "divide", "rtruediv": "divide", "div": "divide", "true_divide": "divide", "var": "std"} | {
    "log2": "log", "log10": "log", "rsqrt": "power", "pow": "power", "rpow": "power", "expm1": "exp"
}  # fmt: skip


RAISED = {
    "Dimension out of range": "That has fewer axes than the code takes: a vector has only the axis 0.",
    r"Target (\d+) is out of bounds": r"The table has no column \1: cross_entropy counts the columns from 0.",
    "class probabilities, got Long": "cross_entropy needs a table: a row for each right answer, not one number.",
    r"index (\d+) is out of bounds.* size \1\b": r"The last of \1 places has the number \1 - 1.",
}
"""What an exception of torch or NumPy means, by a pattern of its message."""

CHANGED = (
    "That is right, but your function changes its arguments: x = x - 1 makes a new x, "
    "x -= 1 and x.requires_grad_() do not."
)
NO_GRADIENT = "no gradient goes through the result (.item()? .detach()?)"
WRONG_GRADIENT = "one of the arguments gets no gradient, or a wrong one (.detach()? .data? torch.no_grad()?)"
NO_NUMBER = "0 / 0, inf - inf and the root of a number below 0 give NaN."
HALF = "That is right, but as float16, which has three digits: return float32 or float64."
LONG_ENOUGH = 10_000  # calls and returns of a student's function that are watched; the rest runs at full speed
LIBRARY = "That is right, but `{}` of cselab is not your code: write the steps yourself."
PACKAGE = str(Path(cselab.__file__).parent / "_")[:-1]  # with the separator, so that cselab_lab is outside
IN_PLACE = "a line changes a tensor in place, which the gradient needs as it was (x = x / y, not x /= y)"
FACTORS = {
    "The sign is reversed.": -1,
    "This is in per cent: leave the factor 100 out.": 100,
    "This is a hundredth of the value: is a factor of 100 missing?": 1 / 100,
    "This is twice as much: is something counted twice, or a division by 2 missing?": 2,
    "This is half as much: is a factor of 2 missing, or does something count twice that you counted once?": 1 / 2,
}
"""What may be off by a factor in any exercise."""
BASES = {f"Use the natural logarithm, not base {base}.": 1 / math.log(base) for base in (2, 10)}


@dataclass(frozen=True)
class Solution:
    """The function in the folded solution of a notebook; it is read when it is first needed.

    Args:
        lesson: name of the notebook.
        name: the name of the function.

    >>> Solution("01_anisotropy", "my_mean_cosine")(np.array([[1.0, 0.0], [2.0, 0.0]])).item()
    1.0
    """

    lesson: str
    name: str

    @property
    def __name__(self) -> str:
        return self.name

    @functools.cached_property
    def source(self) -> str:
        """The code of the folded solution.

        Raises:
            ValueError: the notebook has no solution that defines this function.
        """
        found = [code for code in _folded_solutions(self.lesson) if f"def {self.name}(" in code]
        if len(found) != 1:
            raise ValueError(f"{self.lesson} has {len(found)} folded solutions that define {self.name}; it needs one.")
        return found[0]

    @functools.cached_property
    def function(self) -> Callable:
        """The function itself."""
        return _compiled(self.source, self.name)

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return self.function(*arguments, **options)


@functools.cache
def _folded_solutions(lesson: str) -> list[str]:
    from cselab_lab.headless.notebook_folder import bundled_notebooks

    cells = read_json(bundled_notebooks() / f"{lesson}.ipynb")["cells"]
    texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    folded = [text for text in texts if text.startswith("<details><summary>Solution</summary>")]
    return ["\n".join(re.findall(r"```python\n(.+?)```", text, re.DOTALL)) for text in folded]


def _compiled(source: str, name: str) -> Callable:
    """A function from its source, which is a text of this package and nothing that was typed in a lesson."""
    namespace: dict[str, Any] = {}
    exec(compile(source, f"<{name}>", "exec"), namespace)
    return namespace[name]


@dataclass(frozen=True)
class Check:
    """One property that must hold, and the message if it does not.

    Args:
        what: the property, as a sentence: `"equal vectors are at distance 0"`.
        holds: gets the student's answer (a function or a value) and returns whether the property holds; or a
            sentence about the mistake, empty if there is none. Compute the expected value in a different way from the
            solution: by hand, with a loop, or from a symmetry.
        hint: the mistake that usually fails this check, and where to look.
        for_training: only the lesson's training needs it: an answer that fails here is right, and the lesson trains
            with the solution.
    """

    what: str
    holds: Callable[[Any], object]
    hint: str = ""
    for_training: bool = False

    def finding(self, answer: object) -> str:
        """The mistake as a sentence; empty if the check passes."""
        result = self.holds(answer)
        if isinstance(result, str):
            return f"{result} {self.hint}".strip() if result else ""
        return "" if result else f"Hint: {self.hint}"


@dataclass(frozen=True, eq=False)
class Example:
    """The student's function must give one value for some arguments.

    Args:
        what: the property, as a sentence: `"two opposite vectors have uniformity -8"`.
        arguments: the arguments of the call.
        expected: the number or array that it should return. Compute it in a different way from the solution.
        tolerance: how far a right value may lie from the expected one; results rounded to three digits are right.
    """

    what: str
    arguments: tuple
    expected: object
    tolerance: float = 1e-3

    def numbers_in(self, returned: object) -> Any:
        """The numbers that were returned, None if none; a list with one number is that number."""
        numbers = numbers_of(returned)
        is_scalar = numbers is not None and numbers.size == 1 and numbers_of(self.expected).ndim == 0
        return numbers.reshape(()) if is_scalar else numbers

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
        """The returned and the expected value; for arrays that look alike, the first wrong number."""
        expected = numbers_of(self.expected)
        if numbers.shape == expected.shape and numbers.ndim and _shown(numbers) == _shown(expected):
            place = tuple(np.argwhere(~np.isclose(numbers, expected, rtol=0, atol=self.tolerance))[0].tolist())
            where = f" at [{', '.join(map(str, place))}]"
            return f"Your function returned {numbers[place]:.4g}{where}; expected {expected[place]:.4g}."
        return f"Your function returned {_shown(numbers)}; expected {_shown(expected)}."

    def call(self, answer: Callable) -> str:
        """The call, to be copied into a cell; where that is too long, the shapes of its arguments."""
        shown = [" ".join(repr(argument).split()) for argument in self.arguments]
        if sum(map(len, shown)) > LONGEST_CALL:
            return f"It was called with {', '.join(map(kind_of, self.arguments))}."
        module = {"tensor": "torch.", "array": "np."}
        arguments = ", ".join(module.get(text.partition("(")[0], "") + text for text in shown)
        return f"Try it: {getattr(answer, '__name__', 'your_function')}({arguments})"


class Exercise:
    """The checks that an answer must pass, and the known mistakes.

    Args:
        checks: tried in this order.
        solution: the right function; the lesson uses it until the student's is right (`student_or_reference`).
        mistakes: message -> a change of the solution's source (`mutate_source`), or a function that makes this
            mistake, or a tuple of these. A function gets the arguments of the examples.
        trained: the lesson trains with it, so a gradient must go through what it returns.
        piece: the name of the answer in the notebook; by default that of the solution.
        given: names of functions and classes of cselab that an answer may use; any other is the work of the student.
    """

    def __init__(
        self,
        *checks: Check | Example,
        solution: Solution | None = None,
        mistakes: Mapping[str, str | Callable | tuple[str | Callable, ...]] = MappingProxyType({}),
        trained: bool = False,
        piece: str = "",
        given: tuple[str, ...] = (),
    ) -> None:
        self.checks, self.solution, self.trained, self.given = checks, solution, trained, given
        self.piece = piece or (solution.name if solution else "")
        self.declared = mistakes
        self._wrong: dict[Example, dict[tuple[str, int], Any]] = {}

    @functools.cached_property
    def mistakes(self) -> list[tuple[str, Callable]]:
        """A message and a function for each mistake: those of this exercise, then those of every exercise."""
        own = [
            (message, mutate_source(self.solution, change))
            for message, changes in self.declared.items()
            for change in (changes if isinstance(changes, tuple) else (changes,))
        ]
        return own + (list(shared_changes(self.solution)) if self.solution else [])

    @property
    def examples(self) -> list[Example]:
        """The checks that are examples."""
        return [check for check in self.checks if isinstance(check, Example)]

    def finding(self, check: Check | Example, answer: Any) -> str:
        """The mistake of an answer in one check, in a sentence or two; empty if the check passes."""
        if isinstance(check, Check):
            return check.finding(answer)
        returned = answer(*check.arguments)
        numbers = check.numbers_in(returned)
        if numbers is None:
            return f"Your function returned {kind_of(returned)}; expected {_shown(numbers_of(check.expected))}."
        if check.is_right(numbers):
            return ""
        return f"{check.comparison(numbers)} {self._reason(check, answer, numbers)}"

    def is_solved_by(self, answer: Any) -> bool:
        """Whether every check holds."""
        try:
            return not any(self.finding(check, answer) for check in self.checks)
        except Exception:
            return False

    def wrong_values(self, example: Example) -> dict[tuple[str, int], Any]:
        """The numbers that each mistake gives for an example; without those that fail or give no finite numbers.

        The key is a message, with the place in `mistakes`, or -1 for the wrong values of any example.
        """
        if example not in self._wrong:
            with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
                found = {(message, at): _tried(wrong, example) for at, (message, wrong) in enumerate(self.mistakes)}
                found |= {(message, -1): value for message, value in shared_values(example)}
            self._wrong[example] = {key: value for key, value in found.items() if value is not None}
        return self._wrong[example]

    def _reason(self, example: Example, answer: Callable, numbers: Any) -> str:
        expected = numbers_of(example.expected)
        if numbers.shape != expected.shape:
            if message := self._mistake(example, answer, numbers):
                return message
            if expected.ndim == 0 and np.isclose(numbers, expected, 0, example.tolerance).sum() == 1 < numbers.size:
                return f"The right number is one of these: return only it, without the other {numbers.size - 1}."
            if expected.ndim == 0:
                return "The result must be one number: is a mean or a sum missing at the end?"
            return f"The shape should be {expected.shape}, it is {numbers.shape}."
        square = expected.shape[1:] == expected.shape[:1] != ()
        full = square and len(np.flatnonzero(expected)) > len(expected)  # not only on the diagonal
        off = full and example.is_right(np.where(np.eye(len(expected)), expected, numbers))
        if not np.isfinite(numbers).all():
            return DIAGONAL if off else _why_not_finite(answer, example.arguments)
        if np.allclose(numbers, expected.round(2), rtol=1e-6, atol=1e-6):
            return "That is right, but rounded: return the exact value."
        message = self._mistake(example, answer, numbers)
        if not message or message.startswith("Your `"):  # an argument that is off by one, or is not used
            message = self._unused(example, answer) or message or DIAGONAL * off
        if not message and expected.ndim and _alike_once_sorted(numbers, expected, example.tolerance):
            return REORDERED
        return message or example.call(answer)

    def _mistake(self, example: Example, answer: Callable, numbers: Any) -> str:
        """The message of the nearest mistake that explains an answer in every example; empty if no mistake does.

        Mistakes of this exercise go first. Of two others that fit equally well both are named, of more than two none.
        """
        explains = [mistake for mistake, wrong in self.wrong_values(example).items()
                    if example.is_same(numbers, wrong) and not example.is_right(wrong)]  # fmt: skip
        for another in self.examples if explains else []:
            wrong, returned = self.wrong_values(another), _tried(answer, another)
            if returned is not None:
                explains = [m for m in explains if m not in wrong or another.is_same(returned, wrong[m])]

        def rank(mistake: tuple[str, int]) -> tuple[bool, float]:
            off = np.abs(numbers - self.wrong_values(example)[mistake]).max() / example.tolerance
            return mistake[0] == SIGN, round(float(off), 1)

        nearest = [mistake for mistake in explains if rank(mistake) == min(map(rank, explains))]
        if own := [message for message, _ in nearest if message in self.declared]:
            return own[0]
        messages = [*dict.fromkeys(message for message, _ in nearest)]
        return " Or: ".join(messages) if len(messages) < 3 else ""

    def _unused(self, example: Example, answer: Callable) -> str:
        """A sentence about the first argument that changes the right result, but not this answer's.

        The argument is a number, or the last row of a table. The answer must ignore it in every example that has it.

        >>> exercise = Exercise(Example("", (np.eye(3), 1), 0), solution=Solution("01_anisotropy", "my_removal"))
        >>> exercise._unused(exercise.examples[0], lambda vectors, k: vectors)
        '`k` changes nothing in your code.'
        """
        if self.solution is None:
            return ""
        names, row = inspect.signature(self.solution.function).parameters, ""
        for at, (name, value) in enumerate(zip(names, example.arguments, strict=False)):
            others = [one for one in self.examples if at < len(one.arguments)]
            is_number = isinstance(value, int | float)
            if not (is_number or getattr(value, "ndim", 0) > 1) or not all(_ignores(answer, one, at) for one in others):
                continue
            if all(_ignores(self.solution, one, at) for one in (others if is_number else [example])):
                continue
            if is_number:
                return f"`{name}` changes nothing in your code."
            row = row or f"The last row of `{name}` changes nothing in your code."
        return row


def _ignores(answer: Callable, example: Example, at: int) -> bool:
    """Whether an answer stays the same when a number is larger by 1, or a table has another last row."""
    changed = copy.deepcopy(example.arguments[at])
    if isinstance(changed, int | float):
        changed += 1
    else:
        changed[-1] = changed[0]
        changed[-1, 0] += 1  # in a table of equal rows, too
    arguments = (*example.arguments[:at], changed, *example.arguments[at + 1 :])
    before, after = _tried(answer, example), _tried(answer, replace(example, arguments=arguments))
    return before is not None and np.array_equal(before, after)


def pieces(lesson: str) -> dict[str, Exercise]:
    """The exercises of a lesson, by the name of the answer in its notebook.

    >>> sorted(pieces("00_tour"))
    ['fooled', 'my_info_nce']
    """
    found = vars(importlib.import_module(f"cselab_lab.lessons.checks.{lesson.partition('_')[2]}"))
    return {one.piece: one for one in found.values() if isinstance(one, Exercise)}


def mutate_source(solution: Solution | None, change: str | Callable) -> Callable:
    """The solution with a mistake: "a piece of its source -> its replacement".

    Several changes are separated by "; ". A piece is changed wherever it occurs. A function is returned as it is.

    >>> doubled = mutate_source(Solution("01_anisotropy", "my_mean_cosine"), "n * (n - 1) -> (n - 1)")
    >>> doubled(np.array([[1.0, 0.0], [2.0, 0.0]])).item()
    2.0

    Raises:
        ValueError: the source has no such piece.
    """
    if callable(change):
        return change
    assert solution is not None, f"{change}: no solution has this code"
    source = solution.source
    for edit in change.split("; "):
        piece, _, instead = edit.partition(" -> ")
        if piece not in source:
            raise ValueError(f"the solution {solution.name} has no {piece!r}, which was to be changed: {change}")
        source = source.replace(piece, instead)
    compiled = functools.cache(lambda: _compiled(source, solution.name))
    return lambda *arguments: compiled()(*arguments)


AXIS = "This is the wrong axis: 0 goes over the rows, 1 over the columns."
FEWER = "Divide by N, the number of rows, not by N - 1."
MEAN, SUM = "Compute the mean, not the sum.", "Compute the sum, not the mean."
LENGTH = "Scale to length 1 first: a division by a length is missing."
WHOLE = "That goes over the whole table: over the rows the axis is 0, over the columns 1."
SIGN = "One plus or minus is reversed."
UNSCALED = "Do not scale the rows to length 1."
PARTLY = "Divide every cosine by the temperature."
SLIPS: tuple[tuple[str, str, str | Callable[[re.Match], str]], ...] = (
    (AXIS, r"\b(dim|axis)=([01])\b", lambda match: f"{match[1]}={1 - int(match[2])}"),
    (FEWER, r"/ len\((\w+)\)", r"/ (len(\1) - 1)"),
    (MEAN, r"\.mean\(", ".sum("),
    (SUM, r"\.sum\(", ".mean("),
    (WHOLE, r"\b(dim|axis)=[01](, keepdims?=True)?|(?<=mean\()0(?=\))", ""),
    (WHOLE, r"(?:[\w.]*\.|\b)normalize\((\w+)[^()]*\)", r"(\1 / \1.norm())"),
    (AXIS, r"\.mean\((dim=|axis=)?0\)", r".mean(\g<1>1, keepdims=True)"),
    (LENGTH, r"(?:[\w.]*\.|\b)normalize\((\w+)[^()]*\)", r"\1"),
    (LENGTH, r" / [\w.]*\bnorm\([^()]*\)", ""),
    ("A length is the root of the sum of squares.", r"\bnorm\([^()]*\)", r"\g<0> ** 2"),
    (PARTLY, r" / temperature\b", ""),
    ("Divide by the temperature, do not multiply.", r" / temperature\b", " * temperature"),
    ("The temperature divides once.", r" / temperature\b", " / temperature**2"),
    (SIGN, r" - ", " + "),
    (SIGN, r" \+ ", " - "),
)
"""Changes of any solution's source, in one place or in all: a message, a pattern, and the text instead."""
DIAGONAL = "Only the diagonal is wrong."
TRANSPOSED = "Transpose it: rows and columns have changed places."
REORDERED = "These are the right values in a different order."


def shared_changes(solution: Solution) -> Iterator[tuple[str, Callable]]:
    """The mistakes of any solution: an argument that is off by one, another axis."""
    signature = inspect.signature(solution.function)

    def with_argument(name: str, change: Callable[[Any], Any]) -> Callable:
        def of(*arguments: Any) -> Any:
            bound = signature.bind(*arguments)
            bound.apply_defaults()
            bound.arguments[name] = change(bound.arguments[name])
            return solution(*bound.args)

        return of

    for at, name in enumerate(signature.parameters):
        if at:
            yield f"Your `{name}` is one too large.", with_argument(name, lambda n: n + 1)
            yield f"Your `{name}` is one too small.", with_argument(name, lambda n: n - 1)
        else:
            yield UNSCALED, with_argument(name, lambda x: x / (x**2).sum(1, keepdims=True) ** 0.5)
    for message, text in _slips(solution.source):
        yield message, lambda *arguments, text=text: _compiled(text, solution.name)(*arguments)


def _slips(source: str) -> Iterator[tuple[str, str]]:
    """Every message of `SLIPS` with a changed source: all places at once, then one at a time."""
    for message, pattern, instead in SLIPS:
        places = list(re.finditer(pattern, source))
        if len(places) > 1:
            yield message, re.sub(pattern, instead, source)
        for place in places:
            new = instead(place) if callable(instead) else place.expand(instead)
            yield message, source[: place.start()] + new + source[place.end() :]


def shared_values(example: Example) -> Iterator[tuple[str, Any]]:
    """The wrong values of any example, by their message: a sign, a factor, the transposed matrix."""
    right = numbers_of(example.expected)
    yield from ((message, factor * right) for message, factor in (FACTORS | BASES).items())
    if right.ndim == 0:
        yield "This is its square.", right**2
        yield "This is its square root.", np.sqrt(right)
        yield "This is 1 minus the right value.", 1 - right
    if right.ndim == 2:
        yield TRANSPOSED, right.T
        yield UNSCALED, np.nan_to_num(right / np.linalg.norm(right, axis=1, keepdims=True))
    first = numbers_of(example.arguments[0]) if example.arguments else None
    if first is not None and first.ndim == 2:
        rows = len(first)
        yield "Compute the mean over the rows, not the sum: divide by their number.", rows * right
        yield "This is divided by the number of rows once too often.", right / rows
        yield "Divide by n - 1, not by n.", right * (rows - 1) / rows
        yield "Divide by n, not by n - 1.", right * rows / (rows - 1)


@dataclass(frozen=True)
class Verdict:
    """The result: whether every check holds, the lines to show, and the requirement of training that is missing."""

    solved: bool
    lines: tuple[str, ...]
    missing: str = ""

    def __repr__(self) -> str:
        return "\n".join(self.lines)

    def _repr_html_(self) -> str:
        return ticked(((line.startswith(("passed: ", "solved")), line) for line in self.lines), "✗")


class _NothingReturned(Exception):
    """The student's function returned `None`, or still the placeholder."""

    def __init__(self, returned: object) -> None:
        super().__init__(returned)
        self.returned = returned


def diagnose(answer: Any, exercise: Exercise) -> Verdict:
    """Try the checks in order and stop at the first that does not hold.

    An answer that is `None` or `...`, or a function that returns `...` or raises `NotImplementedError`, is not
    solved yet. An exception in the answer is a failed check that names the exception, never an error.

    >>> square = Exercise(
    ...     Example("0 stays 0", (0,), 0),
    ...     Example("3 becomes 9", (3,), 9),
    ...     mistakes={"square, do not double": lambda x: 2 * x},
    ... )
    >>> diagnose(lambda x: x + x, square)
    passed: 0 stays 0
    not yet (1 of 2): 3 becomes 9. Your function returned 6; expected 9. square, do not double
    >>> diagnose(lambda x: ..., square).lines
    ('not solved yet: replace the placeholder; the first goal is: 0 stays 0',)
    """
    checks = exercise.checks
    unsolved = f"not solved yet: replace the placeholder; the first goal is: {checks[0].what}"
    if answer is None or answer is Ellipsis:
        return Verdict(False, (unsolved,))
    answer = _by_place(answer)
    tried = _Watched(answer, exercise.given)
    lines: list[str] = []
    for check in checks:
        tried.of_no_number = None
        try:
            finding = exercise.finding(check, tried.answer)
            if finding and isinstance(check, Check):
                finding = tried.reason(exercise) or finding
            finding = finding or tried.objection
        except (_NothingReturned, NotImplementedError) as error:
            if not lines and getattr(error, "returned", ...) is Ellipsis:
                return Verdict(False, (unsolved,))
            finding = "Your function returned None: is `return` missing? `print` shows a value, `return` returns it."
        except Exception as error:
            finding = tried.after(error, check, exercise)
        if finding and isinstance(check, Check) and check.for_training:
            return _solved(lines, IN_PLACE if "inplace operation" in finding else check.hint or NO_GRADIENT)
        if finding:
            reason = textwrap.shorten(f"{check.what}. {finding}", LONGEST, placeholder=" ...")
            return Verdict(False, (*lines, f"not yet ({len(lines)} of {len(checks)}): {reason}"))
        lines.append(f"passed: {check.what}")
    missing = _missing_in(answer, exercise.solution, exercise) if exercise.trained and exercise.solution else ""
    return _solved(lines, missing)


def _by_place(answer: Any) -> Any:
    """A function that takes its keyword-only arguments by place as well, as checks and lessons give them."""
    if isinstance(answer, type):
        return answer
    try:
        parameters = inspect.signature(answer).parameters.values()
    except (TypeError, ValueError):  # no function, or one of C
        return answer
    named = [one.name for one in parameters if one.kind is one.KEYWORD_ONLY]
    places = len(parameters) - len(named)
    if not named or any(one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD) for one in parameters):
        return answer

    @functools.wraps(answer)
    def call(*args: Any, **kwargs: Any) -> Any:
        return answer(*args[:places], **dict(zip(named, args[places:], strict=False)), **kwargs)

    return call


def _solved(lines: list[str], missing: str = "") -> Verdict:
    said = f"solved, as numbers. The lesson trains with the solution, because {missing}" if missing else "solved."
    return Verdict(True, (*lines, said), missing)


def staged_check(answer: object, exercise: Exercise) -> None:
    """Show the result of `diagnose`; the last line of an exercise cell. Never raises an error for a wrong answer."""
    from IPython.display import display

    display(diagnose(answer, exercise))


def student_or_reference(answer: Callable, exercise: Exercise, solution: Solution | None = None) -> Any:
    """The student's function if it is right and the lesson can use it; otherwise the solution of the notebook.

    Give the solution if the exercise has none: its mistakes may be no changes of it, because it is slow. A printed line
    names the chosen one. A loss that returns Python's numbers is right, but cannot be trained.

    >>> from cselab_lab.lessons.checks.simcse import POOLED
    >>> pooled = student_or_reference(lambda layer, mask, kind: ..., POOLED)
    <lambda> is not right yet: the solution is used
    """
    solution = solution or exercise.solution
    if solution is None:
        raise ValueError("this exercise has no solution to use; give Exercise(..., solution=Solution(...)).")
    answer = _by_place(answer)
    name, verdict = getattr(answer, "__name__", "your answer"), diagnose(answer, exercise)
    if not verdict.solved:
        print(f"{name} is not right yet: the solution is used")
        return solution
    if missing := verdict.missing or _missing_in(answer, solution, exercise):
        print(f"{name} is right, but {missing}: the solution is used")
        return solution
    print(f"{name}: yours")
    return answer


def _missing_in(answer: Callable, right: Callable, exercise: Exercise) -> str:
    """The reason why the lesson cannot train with a right answer; empty if it can."""
    for example in exercise.examples:
        results, right_results = (_returned(function, example, exercise.trained) for function in (answer, right))
        if any(hasattr(r, "detach") for r in right_results) and not all(hasattr(r, "detach") for r in results):
            return "it does not return tensors, which the lesson needs"
        if len(right_results) == 1 and len(results) > 1:
            return "it returns several tensors, and the lesson needs one"
        if exercise.trained and not all(result.requires_grad for result in results):
            return NO_GRADIENT
    return ""


def _returned(function: Callable, example: Example, trained: bool) -> Any:
    """The values that a function returns for an example; if trained, its arguments require a gradient."""
    arguments = copy.deepcopy(example.arguments)
    for argument in arguments:
        if trained and getattr(argument, "is_floating_point", bool)():
            argument.requires_grad_()
    try:
        with warnings.catch_warnings(action="ignore"):
            result = function(*arguments)
    except RuntimeError:  # NumPy refuses tensors with a gradient
        result = None
    return result if isinstance(result, list | tuple) else [result]


def numbers_of(value: Any) -> Any:
    """The numbers of a number, list, array or tensor in float64; None where it holds no numbers."""
    if getattr(getattr(value, "dtype", None), "kind", "") in {*NO_NUMBERS}:  # text in an array is no number either
        value = value.tolist()
    if isinstance(value, str | bytes):
        return None
    if hasattr(value, "detach"):
        value = value.detach().cpu().double()
    if isinstance(value, list | tuple):
        parts = [numbers_of(part) for part in value]
        value = None if any(part is None for part in parts) else parts
    try:
        return None if value is None else np.asarray(value, dtype=np.float64).copy()  # torch takes no [::-1]
    except (TypeError, ValueError):
        return None


class _Watched:
    """A student's answer while it is tried: what its function last returned, and what it raised.

    `answer` is the function, which gets copies and refuses a placeholder; a value or an encoder is as it was. Its
    `objection` is the reason to refuse an answer whose numbers are right.
    """

    def __init__(self, answer: Any, given: tuple[str, ...]) -> None:
        self.is_function = callable(answer) and not isinstance(answer, type) and not hasattr(answer, "encode")
        self.given, self.objection = given, ""
        self.answer: Any = self._watching(answer) if self.is_function else answer
        self.result: Any = None if self.is_function else answer
        self.raised: Exception | None = None
        self.of_no_number: tuple | None = None  # the arguments for which it first gave NaN or infinity

    def _watching(self, function: Callable) -> Callable:
        @functools.wraps(function)
        def your_function(*args: object) -> object:
            copied, before, self.events = _copied(args), sys.getprofile(), 0
            sys.setprofile(before or self._note_library)
            try:
                self.result = function(*copied)
            except Exception as error:
                self.raised = error
                raise
            finally:
                sys.setprofile(before)
            if self.result is None or self.result is Ellipsis:
                raise _NothingReturned(self.result)
            if self.of_no_number is None and not all(np.isfinite(leaf).all() for leaf in _leaves(self.result)):
                self.of_no_number = args
            if not all(np.array_equal(*both, equal_nan=True) for both in zip_longest(_leaves(args), _leaves(copied))):
                self.objection = CHANGED
            parts = self.result if isinstance(self.result, list | tuple) else [self.result]
            if any("float16" in str(getattr(part, "dtype", "")) for part in parts):
                self.objection = HALF
            return self.result

        return your_function

    def _note_library(self, frame: FrameType, event: str, _: object) -> None:
        """Object to a function of cselab that is called from outside cselab and was not given."""
        self.events += 1
        if self.events > LONG_ENOUGH:
            sys.setprofile(None)
        name = frame.f_code.co_qualname
        if event != "call" or not _is_library(frame) or name.startswith(("<", "_", *self.given)):
            return
        if not any(_is_library(outer) for outer, _ in traceback.walk_stack(frame.f_back)):
            self.objection = self.objection or LIBRARY.format(name)

    def reason(self, exercise: Exercise) -> str:
        """The reason why a check fails, if it is NaN or a factor in the result; else empty."""
        if self.of_no_number is not None:
            return _why_not_finite(self.answer, self.of_no_number)
        if self.is_function:
            tries = FACTORS
        elif not all(np.isfinite(leaf).all() for leaf in _leaves(self.answer)):
            return f"The result has NaN or infinity: {NO_NUMBER}"
        else:  # two numbers with a factor of two are no evidence
            has_numbers = numbers_of(self.answer) is not None
            tries = {m: by for m, by in FACTORS.items() if has_numbers and by not in (2, 0.5)}
        return next((m for m, by in tries.items() if exercise.is_solved_by(_divided(self.answer, by))), "")

    def after(self, error: Exception, check: Check | Example, exercise: Exercise) -> str:
        """The message for an exception: it is the student's only where the student's function raised it."""
        raised = f"{type(error).__name__}: {str(error).rstrip('.')}."
        kind, numbers = kind_of(self.result), numbers_of(self.result)
        hint = check.call(self.answer) if isinstance(check, Example) else f"Hint: {check.hint}" if check.hint else ""
        if error is self.raised:
            return f"Your code raised {raised} {_meaning(raised)} {hint}"
        if reason := self.reason(exercise):
            return reason
        if not self.is_function or self.result is None:  # a function that no check calls
            return f"It is {kind_of(self.answer)}; trying it raised {raised} {hint}"
        why = "." if numbers is None else f"; checking that raised {raised}"
        return f"Your function returned {kind}{why} {hint}"


def _meaning(raised: str) -> str:
    """What the message of an exception means; empty where it may mean several things."""
    found = ((re.search(pattern, raised), meaning) for pattern, meaning in RAISED.items())
    return next((match.expand(meaning) for match, meaning in found if match), "")


def _leaves(value: object) -> Iterator[Any]:
    """The numbers in a value, part by part."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if (numbers := numbers_of(value)) is not None:
        yield numbers
        yield getattr(value, "requires_grad", 0)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _leaves(part)


def _divided(answer: Any, factor: float) -> Any:
    """The function or the numbers, divided by a factor; other values do not change."""
    if inspect.isroutine(answer):
        return functools.wraps(answer)(lambda *args, **kwargs: _divided(answer(*args, **kwargs), factor))
    if isinstance(answer, list | tuple):
        return [_divided(part, factor) for part in answer]
    return answer / factor if isinstance(answer, int | float) or hasattr(answer, "shape") else answer


def _is_library(frame: FrameType) -> bool:
    file = frame.f_code.co_filename
    return file.startswith(PACKAGE) and "_util" not in file


def _copied(arguments: tuple) -> tuple:
    try:
        return copy.deepcopy(arguments)
    except RuntimeError:  # torch copies no tensor that is in the middle of a computation
        return arguments


def _tried(answer: Callable, example: Example) -> Any:
    """The finite numbers that an answer gives for an example; None where it gives none."""
    try:
        numbers = example.numbers_in(answer(*example.arguments))
    except Exception:  # it may fail at a check that was not reached
        return None
    return numbers if numbers is not None and np.isfinite(numbers).all() else None


def _why_not_finite(answer: Callable, arguments: tuple) -> str:
    """Which function made the first number that is not finite, and what that means."""
    import torch
    from torch.overrides import TorchFunctionMode

    class FirstNotFinite(TorchFunctionMode):
        name = ""

        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            returned = function(*args, **(kwargs or {}))
            name = _cause(getattr(function, "__name__", ""))
            infinite = [one for one in (*args, returned) if torch.is_tensor(one) and not one.isfinite().all()]
            if not self.name and name and infinite and infinite[0] is returned:
                self.name = "sqrt" if name == "power" and returned.isnan().any() else name
            return returned

    watch = FirstNotFinite()
    try:
        with (
            warnings.catch_warnings(action="ignore"),
            watch,
            np.errstate(over="raise", divide="raise", invalid="raise"),
        ):
            answer(*arguments)
    except FloatingPointError as error:  # "overflow encountered in exp"
        name = _cause(str(error).split()[-1])
        watch.name = watch.name or ("sqrt" if name == "power" and "invalid" in str(error) else name)
    except Exception:  # a result that came from NaN may now come from an exception
        pass
    if watch.name:
        return f"The first number that is not finite comes from {NOT_FINITE[watch.name]}"
    return f"That is not a finite number: {NO_NUMBER}"


def _alike_once_sorted(numbers: Any, expected: Any, tolerance: float) -> bool:
    """Whether these are the expected rows, or the expected numbers of a list, once both are sorted."""
    one, other = (rows[np.lexsort(rows.reshape(len(rows), -1).T)] for rows in (numbers, expected))
    return np.allclose(one, other, rtol=0, atol=tolerance)


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


def kind_of(value: Any) -> str:
    """The type of a value, with its shape or its text where that is short: `"a Tensor of shape (8, 2)"`."""
    name = type(value).__name__.removeprefix("nd")
    kind = f"an {name}" if name[0] in "aeioAEIO" else f"a {name}"
    shape = tuple(getattr(value, "shape", ()))
    if callable(value):  # repr would show an address, or a network of many lines
        named = "class" if isinstance(value, type) else "function" if inspect.isroutine(value) else ""
        return f"the {named} {value.__name__}" if named else kind
    text = " ".join(repr(value).split())
    if shape:
        return f"{kind} of shape {shape}"
    if " at 0x" in text:
        return kind
    if len(text) > 60 and isinstance(value, list | tuple):
        shapes = [str(tuple(part.shape)) for part in value[:4] if hasattr(part, "shape")]
        return f"{kind} of {len(value)}" + (f" (shapes {', '.join(shapes)})" if shapes else "")
    return f"{kind}, {text if len(text) <= 60 else text[:60] + ' ...'}"
