"""The reader's predictions, as values in code, and their comparison with the results."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cselab_lab.headless.record import GUESS_TYPE, NO_GUESS, ticked

CLOSE = 0.15  # a guess is close if it differs from the result by less than this share
NOTHING = 0.1  # and a guess of 0 is close to anything smaller than this
LARGEST = sys.float_info.max


def guess(**values: object) -> Guesses:
    """Write down your expectation before you run the cell with the result; `...` is not a guess yet.

    >>> mine = guess(cooks=0.9, parliament=...)
    >>> mine.compare(cooks=0.84, parliament=0.66)
    cooks: your guess 0.9, the result 0.84: close
    parliament: no guess yet; write one above to see the answer, or "show"

    `"show"` instead of a guess gives up and shows the answer. A guess is a number, a word, or a list of names in the
    order that you expect. A number may be a percentage in quotes, and a list a text with commas.

    >>> guess(order=["random", "plain"]).compare(order=["random", "plain"])
    order: your guess random, plain, the result random, plain: right
    >>> guess(share="50%").compare(share=0.52)
    share: your guess 50%, the result 0.52: close
    """
    return Guesses(dict(values))


class Guesses:
    """The guesses of one call of `guess`, kept until the results are known."""

    def __init__(self, values: Mapping[str, object]) -> None:
        self.values = values

    def __repr__(self) -> str:
        guessed = [f"{name} = {_words(value)}" for name, value in self.values.items() if value is not ...]
        return f"you guessed: {', '.join(guessed)}" if guessed else NO_GUESS

    def compare(self, **measured: object) -> Outcome:
        """Each guess next to the result. A result without a guess is not shown.

        Raises:
            ValueError: a name that was not among the guesses; lists them.
        """
        unknown = [name for name in measured if name not in self.values]
        if unknown:
            raise ValueError(f"no guess is called {unknown[0]!r}; expected one of {', '.join(self.values)}.")
        pairs = {name: (_plain(self.values[name]), _plain(value)) for name, value in measured.items()}
        return Outcome(pairs, [_compared(name, *pair) for name, pair in pairs.items()])


@dataclass(frozen=True)
class Outcome:
    """The comparison of guesses with results: text in a terminal, coloured in a notebook.

    Where nothing was guessed, a page made of the notebook shows the answers: see `cselab_lab.headless.page`.
    """

    pairs: Mapping[str, tuple[Any, Any]]  # by name, the guess and the result
    lines: Sequence[tuple[str, str]]  # a sentence for each, and its verdict

    def __repr__(self) -> str:
        return "\n".join(line for line, _ in self.lines)

    def _repr_html_(self) -> str:
        return ticked((verdict in ("right", "close"), line) for line, verdict in self.lines)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """The comparison for a page and for `cselab notebooks collect`."""
        rows = [
            {
                "name": name,
                "guess": "" if mine is None or mine is ... else _words(mine),
                "value": found if _is_json(found) else _words(found),
                "words": _words(found),
                "verdict": verdict or line.partition(": ")[2],
            }
            for (name, (mine, found)), (line, verdict) in zip(self.pairs.items(), self.lines, strict=True)
        ]
        return {GUESS_TYPE: {"made": any(verdict for _, verdict in self.lines), "found": rows}}


def number(text: str) -> float:
    """The number in a text.

    >>> number("0.5"), number("50 %")
    (0.5, 0.5)

    Raises:
        ValueError: the text is not a number.
    """
    try:
        return float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        raise ValueError(f'{text!r:.42} is not a number; write 0.5 or "50%"') from None


def _compared(name: str, mine: Any, measured: Any) -> tuple[str, str]:
    """A line about a guess, and its verdict."""
    if mine is None or mine is ...:
        return f'{name}: no guess yet; write one above to see the answer, or "show"', ""
    if isinstance(mine, str) and _letters(mine) == "show":
        return f"{name}: it is {_words(measured)}", "shown"
    guessed = _words(mine)
    if _is_number(measured) and isinstance(mine, str):
        try:
            mine = number(mine.strip())
        except ValueError as error:
            return f"{name}: {error}", ""
    if isinstance(measured, list) and isinstance(mine, str):
        mine = mine.split(",")
    if _is_number(mine) and not abs(mine) <= LARGEST:
        return f"{name}: your guess {guessed} is NaN or too large; write a number to see the answer", ""
    verdict = _verdict(mine, measured)
    return f"{name}: your guess {guessed}, the result {_words(measured)}: {verdict}", verdict


def _verdict(mine: Any, measured: Any) -> str:
    if isinstance(mine, str) and isinstance(measured, str):
        return "right" if _letters(mine) == _letters(measured) else "wrong"
    if isinstance(mine, list) and isinstance(measured, list):
        return (
            "right" if [_letters(str(part)) for part in mine] == [_letters(str(part)) for part in measured] else "wrong"
        )
    if not _is_number(mine) or not _is_number(measured):
        return "right" if mine == measured else "wrong"
    if mine == measured or _words(float(mine)) == _words(float(measured)):
        return "right"
    if abs(mine - measured) <= CLOSE * max(abs(measured), abs(mine)) or (mine == 0 and abs(measured) < NOTHING):
        return "close"
    if 0 <= measured <= 1 and 10 <= mine <= 100:
        return f"too high; if you meant {mine:g} %, write {mine / 100:g}"
    if mine * measured < 0:
        return "wrong sign"
    return "too high" if mine > measured else "too low"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_json(value: Any) -> bool:
    if isinstance(value, list):
        return all(map(_is_json, value))
    return isinstance(value, str | bool | int) or (isinstance(value, float) and math.isfinite(value))


def _letters(text: str) -> str:
    """A word without what nobody means by it: capitals, hyphens, spaces."""
    return "".join(letter for letter in text.lower() if letter.isalnum())


def _plain(value: Any) -> Any:
    """Numbers and arrays of numpy and torch as Python's, tuples as lists; one number in a list as that number."""
    plain = value.tolist() if hasattr(value, "tolist") else list(value) if isinstance(value, tuple) else value
    return plain[0] if isinstance(plain, list) and len(plain) == 1 and _is_number(plain[0]) else plain


def _words(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_words, value))
    return f"{value:.3g}" if isinstance(value, float) else str(value)
