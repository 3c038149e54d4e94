"""The allowed values of a method's annotated hyper-parameters: types, choices, ranges, and the error message."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, isfinite
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin


@dataclass(frozen=True)
class Range:
    """Which numbers are allowed, in words and as a test."""

    words: str
    allows: Callable[[float], bool]


PositiveFloat = Annotated[float, Range("a number above 0", lambda x: 0 < x < inf)]
NonNegativeFloat = Annotated[float, Range("a number of at least 0", lambda x: 0 <= x < inf)]
UnitInterval = Annotated[float, Range("a number from 0 to 1", lambda x: 0 <= x <= 1)]
Momentum = Annotated[float, Range("a number of at least 0, below 1", lambda x: 0 <= x < 1)]
PositiveInt = Annotated[int, Range("a whole number of at least 1", lambda x: x >= 1)]
AtLeastTwo = Annotated[int, Range("a whole number of at least 2", lambda x: x >= 2)]
NonNegativeInt = Annotated[int, Range("a whole number of at least 0", lambda x: x >= 0)]

PLAIN = {float: "a number", int: "a whole number", bool: "True or False", str: "text"}


def plain(annotation: Any) -> Any:
    """The annotation without its ranges, for a signature.

    >>> plain(PositiveFloat), plain(PositiveFloat | None)
    (<class 'float'>, float | None)
    """
    if get_origin(annotation) is Annotated:
        return get_args(annotation)[0]
    if get_origin(annotation) in (Union, UnionType):
        first, *others = (plain(part) for part in get_args(annotation))
        for other in others:
            first = first | other
        return first
    return annotation


def allowed(annotation: Any) -> str:
    """The allowed values, in words.

    >>> allowed(PositiveFloat | None), allowed(Literal["mlp", "none"])
    ('a number above 0, or None', "one of 'mlp', 'none'")
    """
    if get_origin(annotation) is Annotated:
        return get_args(annotation)[1].words
    if get_origin(annotation) is Literal:
        return f"one of {', '.join(map(repr, get_args(annotation)))}"
    if get_origin(annotation) in (Union, UnionType):
        return ", or ".join("None" if part is NoneType else allowed(part) for part in get_args(annotation))
    return PLAIN.get(annotation, str(annotation))


def accepts(annotation: Any, value: Any) -> bool:
    """Whether the annotation allows the value; an int is a float, a bool is neither, NaN and infinity are nothing.

    >>> accepts(PositiveFloat, 1), accepts(PositiveFloat, 0.0), accepts(PositiveInt | None, None), accepts(float, True)
    (True, False, True, False)
    """
    origin = get_origin(annotation)
    if origin is Annotated:
        kind, limits = get_args(annotation)
        return accepts(kind, value) and limits.allows(value)
    if origin is Literal:
        return value in get_args(annotation)
    if origin in (Union, UnionType):
        return any(accepts(part, value) for part in get_args(annotation))
    if annotation is NoneType:
        return value is None
    if annotation is float:
        return isinstance(value, float | int) and not isinstance(value, bool) and isfinite(value)
    if annotation is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, annotation) if annotation in PLAIN else True
