"""The reader's predictions, as values in code, and their comparison with the results."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cselab_lab.headless.record import GUESS_TYPE, NO_GUESS, ticked

CLOSE = 0.15  # a guess is close if it differs from the result by less than this share
GOOD = "right", "close"
NOTHING = 0.1  # and a guess of 0 is close to anything smaller than this


def guess(*, unit: str = "", **values: object) -> Guesses:
    """Write down your expectation before you run the cell with the result; `...` is not a guess yet.

    >>> cosines = guess(cooks=0.9, parliament=..., unit="cosine")
    >>> cosines.compare(cooks=0.84, parliament=0.66)
    cooks (cosine): your guess 0.9, the result 0.84: close
    parliament (cosine): no guess yet; write one above to see the answer, or "show"

    `"show"` instead of a guess gives up and shows the answer. A guess is a number or a word. A share or a score may
    be a percentage in quotes.

    >>> guess(solved="50%", unit="share").compare(solved=0.52)
    solved (share): your guess 50%, the result 0.52: close

    Args:
        unit: of all values, `"points"`, or of each in order: `"share, points"`. Only a `share` (from 0 to 1) and a
            `score` (from 0 to 100) may be mistaken for each other.
        values: the guesses.

    Raises:
        ValueError: neither one unit nor one for each value.
    """
    units = [one.strip() for one in unit.split(",")]
    if len(units) not in (1, len(values)):
        raise ValueError(f"unit {unit!r} has {len(units)} parts; expected 1, or {len(values)}: one for each guess.")
    return Guesses(dict(values), dict(zip(values, units * len(values), strict=False)))


@dataclass
class Guesses:
    """The guesses of one call of `guess`, kept until the results are known."""

    values: Mapping[str, object]
    units: Mapping[str, str]

    def __repr__(self) -> str:
        guessed = [f"{name} = {_words(value)}" for name, value in self.values.items() if value is not ...]
        return f"you guessed: {', '.join(guessed)}" if guessed else NO_GUESS

    def compare(self, sentence: str = "", /, **measured: object) -> Outcome:
        """Each guess next to the result. A result without a guess is not shown.

        Args:
            sentence: the results in words, for a page whose reader did not guess: "The cooks have {cooks:.2f}."
            measured: the results by the names of the guesses.

        Raises:
            ValueError: a name that was not among the guesses; lists them.
        """
        unknown = [name for name in measured if name not in self.values]
        if unknown:
            raise ValueError(f"no guess is called {unknown[0]!r}; expected one of {', '.join(self.values)}.")
        pairs = {name: (_plain(self.values[name]), _plain(value)) for name, value in measured.items()}
        told = sentence.format(**{name: found for name, (_, found) in pairs.items()})
        return Outcome(pairs, [_compared(name, *pair, self.units[name]) for name, pair in pairs.items()], told)


@dataclass(frozen=True)
class Outcome:
    """The comparison of guesses with results: text in a terminal, coloured in a notebook.

    Without a guess, the page of the notebook shows the answers: see `cselab_lab.headless.page`.
    """

    pairs: Mapping[str, tuple[Any, Any]]  # by name, the guess and the result
    lines: Sequence[tuple[str, str]]  # a sentence for each, and its verdict
    sentence: str = ""  # the results in words

    def __repr__(self) -> str:
        return "\n".join(line for line, _ in self.lines)

    def _repr_html_(self) -> str:
        return ticked((verdict in GOOD, line) for line, verdict in self.lines)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """The comparison for a page and for `cselab notebooks collect`."""
        rows = [
            {
                "name": name,
                "guess": "" if mine is None or mine is ... else _words(mine),
                "value": found if isinstance(found, str) or math.isfinite(found) else _words(found),
                "words": _words(found),
                "verdict": verdict or line.partition(": ")[2],
            }
            for (name, (mine, found)), (line, verdict) in zip(self.pairs.items(), self.lines, strict=True)
        ]
        made = any(verdict for _, verdict in self.lines)
        return {GUESS_TYPE: {"made": made, "found": rows, "sentence": self.sentence}}


def _compared(name: str, mine: Any, measured: Any, unit: str) -> tuple[str, str]:
    """A line about a guess, and its verdict."""
    name = f"{name} ({unit})" if unit else name
    if mine is None or mine is ... or mine == "":
        return f'{name}: no guess yet; write one above to see the answer, or "show"', ""
    if isinstance(mine, str) and _letters(mine) == "show":
        return f"{name}: it is {_words(measured)}", "shown"
    try:
        if isinstance(measured, str):
            verdict = "right" if _letters(mine) == _letters(measured) else "wrong"
        else:
            verdict = _verdict(mine, measured, unit)
    except (ValueError, TypeError, AttributeError, OverflowError):
        wanted = "one word in quotes" if isinstance(measured, str) else 'one finite number; write 0.5 or "50%"'
        return f"{name}: {mine!r:.42} is not {wanted}", ""
    return f"{name}: your guess {_words(mine)}, the result {_words(measured)}: {verdict}", verdict


def _verdict(mine: Any, measured: float, unit: str) -> str:
    """The verdict on a number.

    Raises:
        ValueError, TypeError, OverflowError: the guess is not a finite number.
    """
    if isinstance(mine, str) and mine.strip().endswith("%"):
        mine = float(mine.strip().removesuffix("%")) / (100 if unit == "share" else 1)
    if isinstance(mine, bool) or not math.isfinite(mine := float(mine)):
        raise ValueError(mine)
    if _words(mine) == _words(float(measured)):
        return "right"
    if _is_close(mine, measured) or (mine == 0 and abs(measured) < NOTHING):
        return "close"
    if mine * measured < 0:
        return "wrong sign"
    if unit == "share" and 1 < mine <= 100:
        return f"too high; if you meant {mine:g} %, write {mine / 100:g}"
    if unit == "score" and 0 < mine <= 1 and _is_close(100 * mine, measured):
        return f"too low; if you meant {100 * mine:g} %, write {100 * mine:g}"
    return "too high" if mine > measured else "too low"


def _is_close(one: float, other: float) -> bool:
    return abs(one - other) <= CLOSE * max(abs(one), abs(other))


def _letters(text: str) -> str:
    """A word without what nobody means by it: capitals, hyphens, spaces."""
    return "".join(letter for letter in text.lower() if letter.isalnum())


def _plain(value: Any) -> Any:
    """Numbers and arrays of numpy and torch as Python's; one value in a list as that value."""
    plain = value.tolist() if hasattr(value, "tolist") else value
    return plain[0] if isinstance(plain, list | tuple) and len(plain) == 1 else plain


def _words(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
