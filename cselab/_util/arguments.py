"""What the annotation of an argument or a setting allows, and one message about anything else."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin


@dataclass(frozen=True)
class Range:
    """Which numbers are allowed, in words and as a test."""

    words: str
    allows: Callable[[float], bool]


class ArgumentError(TypeError, ValueError):
    """An argument of a type or value that its function does not accept; the message names function and argument."""


PLAIN: dict[Any, str] = {
    float: "a number", int: "a whole number", bool: "True or False", str: "text", NoneType: "None"
}  # fmt: skip
"""The types that `accepts` tells apart, in words."""


def allowed(annotation: Any) -> str:
    """What may be given, in words.

    >>> allowed(float | None), allowed(Literal["mlp", "none"])
    ('a number, or None', "one of 'mlp', 'none'")
    """
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return parts[1].words
    if origin is Literal:
        return f"one of {', '.join(map(repr, parts))}"
    if origin in (Union, UnionType):
        return ", or ".join(map(allowed, parts))
    return PLAIN.get(annotation, str(annotation))


def accepts(annotation: Any, value: Any) -> bool:
    """Whether the annotation allows the value; an int counts as a float, a bool does not; NaN and infinity fail.

    >>> accepts(float, 1), accepts(int | None, None), accepts(float, True), accepts(int, 10**400)
    (True, True, False, True)
    """
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return accepts(parts[0], value) and parts[1].allows(value)
    if origin is Literal:
        return isinstance(value, str | int) and value in parts
    if origin in (Union, UnionType):
        return any(accepts(part, value) for part in parts)
    if annotation in (int, float):
        kinds = int if annotation is int else float | int
        return isinstance(value, kinds) and not isinstance(value, bool) and abs(value) < inf
    return isinstance(value, annotation) if annotation in PLAIN else True


def check_argument(name: str, value: Any, annotation: Any) -> None:
    """Raise ArgumentError unless the annotation accepts the value."""
    if not accepts(annotation, value):
        raise ArgumentError(f"{name} is {value!r:.60}; expected {allowed(annotation)}")
