"""The values that an annotation allows, and one error message for all others."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, wraps
from inspect import signature
from math import inf
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

F = TypeVar("F", bound=Callable)


@dataclass(frozen=True)
class Range:
    """Which numbers are allowed, in words and as a test."""

    words: str
    allows: Callable[[float], bool]


PositiveFloat = Annotated[float, Range("a number above 0", lambda x: x > 0)]
NonNegativeFloat = Annotated[float, Range("a number of at least 0", lambda x: x >= 0)]
UnitInterval = Annotated[float, Range("a number from 0 to 1", lambda x: 0 <= x <= 1)]
Momentum = Annotated[float, Range("a number of at least 0, below 1", lambda x: 0 <= x < 1)]
PositiveInt = Annotated[int, Range("a whole number of at least 1", lambda x: x >= 1)]
AtLeastTwo = Annotated[int, Range("a whole number of at least 2", lambda x: x >= 2)]
ViewCount = Annotated[int, Range("a whole number from 2 to 1,000", lambda x: 2 <= x <= 1000)]
NonNegativeInt = Annotated[int, Range("a whole number of at least 0", lambda x: x >= 0)]


class ArgumentError(TypeError, ValueError):
    """An argument of a type or value that its function does not accept; the message names function and argument."""


PLAIN: dict[Any, str] = {
    float: "a number", int: "a whole number", bool: "True or False", str: "text", NoneType: "None", Path: "a path",
    Callable: "a function", Mapping: "a dictionary", Iterable: "a list", Sequence: "a list",
    "ndarray": "an array", "Tensor": "a tensor",
}  # fmt: skip
"""The types that `accepts` tells apart, in words."""


def allowed(annotation: Any) -> str:
    """The allowed values, in words.

    >>> allowed(float | None), allowed(Literal["mlp", "none"]), allowed(Sequence[str] | Path)
    ('a number, or None', "one of 'mlp', 'none'", 'a list, or a path')
    """
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return parts[1].words
    if origin is Literal:
        return f"one of {', '.join(map(repr, parts))}"
    if origin in (Union, UnionType):
        return ", or ".join(dict.fromkeys(map(allowed, parts)))
    if hasattr(annotation, "array_type"):
        return f"{allowed(annotation.array_type)} of numbers [{annotation.dim_str.replace('_', '')}]"
    name = getattr(annotation, "__name__", annotation)
    return PLAIN.get(origin or annotation, PLAIN.get(name, f"a {name}"))


def accepts(annotation: Any, value: Any) -> bool:
    """Whether the annotation allows the value; an int counts as a float, a bool does not; NaN and infinity fail.

    A list is anything with elements but text; the elements of a list or tuple are checked unless they are text, which
    `cselab.data.rows` checks by index. Of an array the class, the number of dimensions and equal names are checked, and
    that it has numbers. An annotation that says more than a
    class (a protocol, a type variable) allows everything.

    >>> accepts(float, 1), accepts(int | None, None), accepts(float, True), accepts(int, 10**400)
    (True, True, False, True)
    >>> accepts(Sequence[str], "text"), accepts(Sequence[int], (1, 2)), accepts(Sequence[int], [None])
    (False, True, False)
    """
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return accepts(parts[0], value) and parts[1].allows(value)
    if origin is Literal:
        return isinstance(value, str | int) and value in parts
    if origin in (Union, UnionType):
        return any(accepts(part, value) for part in parts) and not (Path in parts and str(value) == "")
    if annotation in (int, float):
        kinds = int if annotation is int else float | int
        return isinstance(value, kinds) and not isinstance(value, bool) and abs(value) < inf
    if origin in (Iterable, Sequence):
        if isinstance(value, list | tuple):
            return parts[0] is str or all(accepts(parts[0], as_number(part)) for part in value)
        return isinstance(value, Iterable) and not isinstance(value, str | bytes)
    if hasattr(annotation, "array_type"):
        numbers = isinstance(value, annotation.array_type) and getattr(value.dtype, "kind", "f") not in NO_NUMBERS
        return numbers and has_shape(annotation.dim_str, value.shape)
    kind: Any = origin or annotation
    says_more = kind is Any or not isinstance(kind, type) or getattr(kind, "_is_protocol", False)
    return says_more or isinstance(value, kind)


def has_shape(dimensions: str, shape: Sequence[int]) -> bool:
    """Whether an array of this shape has these dimensions; names in an array that are equal have the same size.

    >>> has_shape("n d", (3, 4)), has_shape("n d", (3,)), has_shape("*groups w w", (5, 2, 2)), has_shape("d d", (3, 4))
    (True, False, True, False)
    """
    names = dimensions.split()
    fixed = [name for name in names if not name.startswith(("*", "..."))]
    sizes: dict[str, int] = {}
    pairs = zip(reversed(fixed), reversed(shape), strict=False)
    same = all(sizes.setdefault(name, size) == size for name, size in pairs if name[:1] != "_")
    return same and (len(shape) == len(names) if fixed == names else len(shape) >= len(fixed))


def as_number(value: Any) -> Any:
    """A number of numpy or torch as Python's; anything else unchanged."""
    return value.item() if getattr(value, "shape", None) == () else value


def check_argument(name: str, value: Any, annotation: Any) -> Any:
    """The value, a number of numpy or torch as Python's; raises ArgumentError unless the annotation accepts it."""
    if not accepts(annotation, value := as_number(value)):
        shape = getattr(value, "shape", None)
        given = f"{value!r:.60}" if shape is None else f"a {type(value).__name__} {tuple(shape)} of {value.dtype}"
        raise ArgumentError(f"{name} is {given}; expected {allowed(annotation)}")
    return value


NO_NUMBERS = "OSUVmMc"
"""Kinds of numpy's types that are no real numbers."""


@cache
def hints(of: Any) -> dict[str, Any]:
    """The annotations of a function or class, with their ranges."""
    return get_type_hints(of, include_extras=True)


def check_arguments(function: Callable, given: Mapping[str, Any]) -> None:
    """Raise ArgumentError unless the annotations of the function accept its arguments, as `locals()` has them."""
    for name, annotation in hints(function).items():
        if name in given:
            check_argument(name, given[name], annotation)


def checked(function: F) -> F:
    """The function, which raises ArgumentError before it runs unless its annotations accept the arguments."""
    names = signature(function).parameters

    @wraps(function)
    def run(*args: Any, **options: Any) -> Any:
        check_arguments(function, dict(zip(names, args, strict=False)) | options)
        return function(*args, **options)

    return run  # type: ignore[return-value]
