"""The numbers of a notebook, kept in its outputs so that a run can be compared with the record."""

import math
from collections.abc import Iterable
from html import escape
from numbers import Integral, Real

MIME_TYPE = "application/vnd.cselab.record+json"
GUESS_TYPE = "application/vnd.cselab.guess+json"
NO_GUESS = "you guessed: nothing yet"


def record(name: str, value: object, tolerance: float = 1e-6, beside: str = "") -> None:
    """Show a number of this notebook and keep it for the headless run.

    `cselab notebooks run` collects every record into `records.json` and compares it with
    `notebooks/recorded/<notebook>.<profile>.json`: the run fails where `abs(value - recorded) > tolerance`.

    Args:
        name: description of the number, unique in the notebook: `"simcse STS-B dev"`.
        value: an int, a finite float, a bool or a str; numpy and torch scalars too.
        tolerance: absolute, in the unit of `value`: the largest difference between machines.
            The default is equality up to rounding. Text and truth values are compared for equality.
        beside: text after the value, for example the recorded number, which `Lesson.record` adds.

    Raises:
        TypeError: `value` is not one number, truth value or text.
        ValueError: an empty name, a value that is not finite, a negative tolerance.
    """
    if not isinstance(name, str) or not name.strip():
        raise ValueError(f"record() needs a name that is not empty; got {name!r}.")
    plain = _plain(name, value)
    if not tolerance >= 0:
        raise ValueError(f"record({name!r}): tolerance must be 0 or more; got {tolerance!r}.")

    from IPython.display import display

    bundle = {MIME_TYPE: {"name": name, "value": plain, "tolerance": float(tolerance)}}
    text = f"{name} = {shown(plain)}" + (f"  ({beside})" if beside else "")
    display({**bundle, "text/plain": text}, raw=True)


def shown(value: bool | int | float | str) -> str:
    """A recorded value as text: floats with six significant digits."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _plain(name: str, value: object) -> bool | int | float | str:
    if hasattr(value, "item") and getattr(value, "size", None) != 0:  # a numpy or torch scalar
        try:
            value = value.item()
        except (ValueError, RuntimeError):
            pass  # more than one element: refused below
    if isinstance(value, bool | str):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        if not math.isfinite(value):
            raise ValueError(f"record({name!r}): the value is {value}; a failed measurement is not a result.")
        return float(value)
    raise TypeError(f"record({name!r}): the value must be one number, bool or str; got {type(value).__name__}.")


def ticked(lines: Iterable[tuple[bool, str]], otherwise: str = "•") -> str:
    """Lines as HTML, each with a green tick if it is good, else with a mark in amber."""
    marks = {True: ("✓", "#1a7f37"), False: (otherwise, "#b35900")}
    rows = ((*marks[good], escape(line)) for good, line in lines)
    return "\n".join(f'<div><span style="color: {colour}">{mark}</span> {line}</div>' for mark, colour, line in rows)
