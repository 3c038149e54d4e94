"""Checks for the exercises of a notebook: in stages, and with a diagnosis where one fails."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass


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
    holds: Callable[[object], object]
    hint: str


@dataclass(frozen=True)
class Verdict:
    """What a check found: whether every stage holds, and the lines to show."""

    solved: bool
    lines: tuple[str, ...]


class _NothingReturned(Exception):
    """The student's function is still the placeholder."""


def diagnose(answer: object, stages: Sequence[Stage]) -> Verdict:
    """Try the stages in order and stop at the first that does not hold.

    An answer that is `None` or `...`, or a function that returns either or raises `NotImplementedError`, is
    not solved yet. An exception in the answer is a failed stage that names the exception, never an error.

    >>> stages = [Stage("0 stays 0", lambda f: f(0) == 0, "is something added?"),
    ...           Stage("signs do not matter", lambda f: f(-3) == f(3), "square before you add")]
    >>> diagnose(lambda x: x + x, stages).lines
    ('passed: 0 stays 0', 'not yet: signs do not matter. Hint: square before you add')
    >>> diagnose(lambda x: ..., stages).lines
    ('not solved yet: replace the placeholder; the first goal is: 0 stays 0',)
    """
    unsolved = f"not solved yet: replace the placeholder; the first goal is: {stages[0].what}"
    if answer is None or answer is Ellipsis:
        return Verdict(False, (unsolved,))
    tried = _refusing_placeholders(answer) if callable(answer) else answer
    lines: list[str] = []
    for stage in stages:
        try:
            finding = "" if stage.holds(tried) else f"Hint: {stage.hint}"
        except (_NothingReturned, NotImplementedError):
            if not lines:
                return Verdict(False, (unsolved,))
            finding = "Your function returned nothing here."
        except Exception as error:
            finding = f"Your code raised {type(error).__name__}: {error}. Hint: {stage.hint}"
        if finding:
            return Verdict(False, (*lines, f"not yet: {stage.what}. {finding}"))
        lines.append(f"passed: {stage.what}")
    return Verdict(True, (*lines, "solved."))


def staged_check(answer: object, stages: Sequence[Stage]) -> None:
    """Print what `diagnose` finds; the last line of an exercise cell. Never raises for a wrong answer."""
    print("\n".join(diagnose(answer, stages).lines))


def _refusing_placeholders(function: Callable) -> Callable:
    @functools.wraps(function)
    def call(*args: object, **kwargs: object) -> object:
        result = function(*args, **kwargs)
        if result is None or result is Ellipsis:
            raise _NothingReturned
        return result

    return call
