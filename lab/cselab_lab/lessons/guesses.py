"""The reader's predictions, as values in code, and what came of them."""

from __future__ import annotations

import ast
import math
import operator
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any

from cselab_lab.headless.record import GUESS_TYPE, NO_GUESS

CLOSE = 0.15  # a guess is close when it is off by less than this share of what was found
NOTHING = 0.1  # and a guess of 0 is close to anything smaller than this
LARGEST = sys.float_info.max

CONSTANTS = {"pi": math.pi, "e": math.e}
FUNCTIONS: Mapping[str, Callable[[float], float]] = {
    "log": math.log, "ln": math.log, "log2": math.log2, "log10": math.log10, "sqrt": math.sqrt, "exp": math.exp
}  # fmt: skip
OPERATIONS: Mapping[type, Callable[..., float]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.Pow: math.pow, ast.USub: operator.neg, ast.UAdd: operator.pos,
}  # fmt: skip


def guess(**values: object) -> Guesses:
    """Write down what you expect, before you run the cell that finds out; `...` is no guess yet.

    >>> mine = guess(cooks=0.9, parliament=...)
    >>> mine.compare(cooks=0.84, parliament=0.66)
    cooks: you said 0.9, it is 0.84: close
    parliament: no guess yet; write one above to see the answer, or "show"

    `"show"` in place of a guess gives up and shows the answer. A guess is a number, a word, or a list of names in the
    order that you expect. A number may be written as a text, a list too: its names with commas between them.

    >>> guess(order=["random", "plain"]).compare(order=["random", "plain"])
    order: you said random, plain, it is random, plain: right
    >>> guess(share="50%", loss="log 64").compare(share=0.52, loss=math.log(64))
    share: you said 50%, it is 0.52: close
    loss: you said log 64, it is 4.16: right
    """
    return Guesses(dict(values))


class Guesses:
    """What `guess` keeps until it is known."""

    def __init__(self, values: Mapping[str, object]) -> None:
        self.values = values

    def __repr__(self) -> str:
        guessed = [f"{name} = {_words(value)}" for name, value in self.values.items() if value is not ...]
        return f"you said: {', '.join(guessed)}" if guessed else NO_GUESS

    def compare(self, **measured: object) -> Outcome:
        """Each guess beside what was found. What was not guessed is not told.

        Raises:
            ValueError: a name that was not among the guesses; lists them.
        """
        unknown = [name for name in measured if name not in self.values]
        if unknown:
            raise ValueError(f"no guess is called {unknown[0]!r}; there are: {', '.join(self.values)}.")
        plain = {name: _plain(value) for name, value in measured.items()}
        lines = tuple(_compared(name, _plain(self.values[name]), value) for name, value in plain.items())
        return Outcome(lines, {} if any(verdict for _, verdict in lines) else plain)


@dataclass(frozen=True)
class Outcome:
    """The comparison of guesses with what was found: text in a terminal, coloured in a notebook.

    Where nothing was guessed, a page made of the notebook shows the answer: see `cselab_lab.headless.page`.
    """

    lines: tuple[tuple[str, str], ...]  # a sentence, and its verdict
    unguessed: Mapping[str, object] = field(default_factory=dict)  # what was found, where nothing was guessed

    def __repr__(self) -> str:
        return "\n".join(line for line, _ in self.lines)

    def _repr_html_(self) -> str:
        rows = []
        for line, verdict in self.lines:
            mark, colour = ("✓", "#1a7f37") if verdict in ("right", "close") else ("•", "#b35900")
            rows.append(f'<div><span style="color: {colour}">{mark}</span> {escape(line)}</div>')
        return "\n".join(rows)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """The answers for a page made of the notebook; the text and the HTML do not show them."""
        answers = [
            {"name": name, "value": value if _is_json(value) else _words(value), "words": _words(value)}
            for name, value in self.unguessed.items()
        ]
        return {GUESS_TYPE: {"found": answers}} if answers else {}


def number(text: str) -> float:
    """The number that a text says: "0.5", "50%", "1/3", "log 64", "sqrt(2) * pi".

    Only arithmetic is read: `+ - * / **`, brackets, pi, e, and log (natural), ln, log2, log10, sqrt, exp; in capitals,
    too, and with the name of a module before it: "math.log(64)", "np.log(64)".

    >>> number("50%"), number("LOG 64") == math.log(64)
    (0.5, True)

    Raises:
        ValueError: it is not arithmetic, or has no value: "log 0".
    """
    share = text.strip().removesuffix("%")
    plain = re.sub(r"\b(?:math|numpy|np|torch)\.(?=[a-z])", "", share.strip().lower())
    written = re.sub(r"\b([a-z]+\d*)\s+(\d[\d.]*)", r"\1(\2)", plain).replace("^", "**")
    try:
        if (ends := re.fullmatch(r"(\d[\d.]*)\s*-\s*(\d[\d.]*)", written)) and float(ends[1]) < float(ends[2]):
            raise ValueError  # from 0.5 to 0.7, not 0.5 less 0.7
        value = _value(ast.parse(written, mode="eval").body)
    except (ValueError, TypeError, SyntaxError, ArithmeticError, RecursionError, MemoryError):
        short = text if len(text) <= 40 else f"{text[:40]} ..."
        raise ValueError(f'{short!r} is no number; write 0.5, "50%", "1/3", "log 64" or "sqrt(2)"') from None
    return value / 100 if text.strip().endswith("%") else value


def _value(node: ast.AST) -> float:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return float(value)
        case ast.Name(id=name) if name in CONSTANTS:
            return CONSTANTS[name]
        case ast.Call(func=ast.Name(id=name), args=[inside], keywords=[]) if name in FUNCTIONS:
            return FUNCTIONS[name](_value(inside))
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in OPERATIONS:
            return OPERATIONS[type(sign)](_value(left), _value(right))
        case ast.UnaryOp(op=sign, operand=inside) if type(sign) in OPERATIONS:
            return OPERATIONS[type(sign)](_value(inside))
    raise ValueError


def _compared(name: str, mine: Any, measured: Any) -> tuple[str, str]:
    """A line about a guess, and its verdict."""
    if mine is None or mine is ...:
        return f'{name}: no guess yet; write one above to see the answer, or "show"', ""
    if isinstance(mine, str) and _letters(mine) == "show":
        return f"{name}: it is {_words(measured)}", "shown"
    guessed = _words(mine)
    if _is_number(measured) and isinstance(mine, str):
        try:
            mine = number(mine)
        except ValueError as error:
            return f"{name}: {error}", ""
    if isinstance(measured, list) and isinstance(mine, str):
        mine = mine.split(",")
    if isinstance(mine, float) and math.isnan(mine):
        return f"{name}: you said NaN, which is what 0 / 0 gives and no number; write one to see the answer", ""
    if _is_number(mine) and abs(mine) > LARGEST:
        return f"{name}: you said {guessed}, which is too large to compare; write a number to see the answer", ""
    verdict = _verdict(mine, measured)
    return f"{name}: you said {guessed}, it is {_words(measured)}: {verdict}", verdict


def _verdict(mine: Any, measured: Any) -> str:
    if isinstance(mine, str) and isinstance(measured, str):
        return "right" if _letters(mine) == _letters(measured) else "not so"
    if isinstance(mine, list) and isinstance(measured, list):
        return (
            "right"
            if [_letters(str(part)) for part in mine] == [_letters(str(part)) for part in measured]
            else "not so"
        )
    if not _is_number(mine) or not _is_number(measured):
        return "right" if mine == measured else "not so"
    if mine == measured or _words(float(mine)) == _words(float(measured)):
        return "right"
    if abs(mine - measured) <= CLOSE * max(abs(measured), abs(mine)) or (mine == 0 and abs(measured) < NOTHING):
        return "close"
    if 0 <= measured <= 1 and 10 <= mine <= 100:
        return f"you said too much; if you meant {mine:g} %, write {mine / 100:g}"
    if mine * measured < 0:
        return "the other sign"
    return "you said too much" if mine > measured else "you said too little"


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
