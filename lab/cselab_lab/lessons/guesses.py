"""The reader's predictions, as values in code, and what came of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

from cselab_lab.headless.record import shown

CLOSE = 0.15  # a guess is close when it is off by less than this share of what was found
NOTHING = 0.1  # and a guess of 0 is close to anything smaller than this


def guess(**values: object) -> Guesses:
    """Write down what you expect, before you run the cell that finds out; `...` is no guess yet.

    >>> mine = guess(cooks=0.9, parliament=...)
    >>> mine.compare(cooks=0.84, parliament=0.66)
    cooks: you said 0.9, it is 0.84: close
    parliament: no guess yet, it is 0.66

    A guess is a number, a word, or a list of names in the order that you expect.

    >>> guess(order=["random", "plain"]).compare(order=["random", "plain"])
    order: you said random, plain, it is random, plain: right
    """
    return Guesses(dict(values))


class Guesses:
    """What `guess` keeps until it is known."""

    def __init__(self, values: Mapping[str, object]) -> None:
        self.values = values

    def __repr__(self) -> str:
        said = (f"{name} = {_words(value)}" for name, value in self.values.items() if value is not ...)
        return f"you said: {', '.join(said) or 'nothing yet'}"

    def compare(self, **found: object) -> Outcome:
        """Each guess beside what was found.

        Raises:
            ValueError: a name that was not among the guesses; lists them.
        """
        unknown = [name for name in found if name not in self.values]
        if unknown:
            raise ValueError(f"no guess is called {unknown[0]!r}; there are: {', '.join(self.values)}.")
        lines = []
        for name, value in found.items():
            value, mine = _plain(value), _plain(self.values[name])
            if mine is None or mine is ...:
                lines.append((f"{name}: no guess yet, it is {_words(value)}", ""))
            else:
                verdict = _verdict(mine, value)
                lines.append((f"{name}: you said {_words(mine)}, it is {_words(value)}: {verdict}", verdict))
        return Outcome(tuple(lines))


@dataclass(frozen=True)
class Outcome:
    """The comparison of guesses with what was found: text in a terminal, coloured in a notebook."""

    lines: tuple[tuple[str, str], ...]  # a sentence, and its verdict

    def __repr__(self) -> str:
        return "\n".join(line for line, _ in self.lines)

    def _repr_html_(self) -> str:
        rows = []
        for line, verdict in self.lines:
            mark, colour = ("✓", "#1a7f37") if verdict in ("right", "close") else ("•", "#b35900")
            rows.append(f'<div><span style="color: {colour}">{mark}</span> {escape(line)}</div>')
        return "\n".join(rows)


def _verdict(mine: object, found: object) -> str:
    if isinstance(mine, str) and isinstance(found, str):
        return "right" if _letters(mine) == _letters(found) else "not so"
    if not isinstance(mine, int | float) or not isinstance(found, int | float) or bool in (type(mine), type(found)):
        return "right" if mine == found else "not so"
    if shown(float(mine)) == shown(float(found)):
        return "right"
    if abs(mine - found) <= CLOSE * max(abs(found), abs(mine)) or (mine == 0 and abs(found) < NOTHING):
        return "close"
    if 0 <= found <= 1 and 10 <= mine <= 100:
        return f"you said too much; a share of {mine:g} % is written {mine / 100:g}"
    if mine * found < 0:
        return "the other sign"
    return "you said too much" if mine > found else "you said too little"


def _letters(text: str) -> str:
    """A word without what nobody means by it: capitals, hyphens, spaces."""
    return "".join(letter for letter in text.lower() if letter.isalnum())


def _plain(value: object) -> object:
    """Numbers of numpy and torch as Python's."""
    return value.item() if hasattr(value, "item") and getattr(value, "ndim", 0) == 0 else value


def _words(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_words, value))
    return f"{value:.3g}" if isinstance(value, float) else str(value)
