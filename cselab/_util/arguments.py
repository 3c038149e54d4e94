"""What the annotation of an argument or a setting allows, and one message about anything else."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, wraps
from math import isfinite
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints


@dataclass(frozen=True)
class Range:
    """Which numbers are allowed, in words and as a test."""

    words: str
    allows: Callable[[float], bool]


class ArgumentError(TypeError, ValueError):
    """An argument of a type or value that its function does not accept; the message names function and argument."""


PLAIN: dict[Any, str] = {
    float: "a number",
    int: "a whole number",
    bool: "True or False",
    str: "text",
    Callable: "a function",
    Mapping: "a dictionary",
    dict: "a dictionary",
    Sequence: "a list",
    Iterable: "a list",
    list: "a list",
    tuple: "a tuple",
}
"""The types that `accepts` tells apart, in words; classes of cselab, torch and others are known, too."""


def allowed(annotation: Any) -> str:
    """What may be given, in words.

    >>> allowed(float | None), allowed(Literal["mlp", "none"]), allowed(Sequence[int])
    ('a number, or None', "one of 'mlp', 'none'", 'a list (each: a whole number)')
    """
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return parts[1].words
    if origin is Literal:
        return f"one of {', '.join(map(repr, parts))}"
    if origin in (Union, UnionType):
        return ", or ".join("None" if part is NoneType else allowed(part) for part in parts)
    if origin in (list, Sequence, Iterable) and parts[0] is not Any:
        return f"a list (each: {allowed(parts[0])})"
    kind = getattr(annotation, "array_type", origin or annotation)
    return PLAIN.get(kind) or f"a {getattr(kind, '__name__', kind)}"


def accepts(annotation: Any, value: Any) -> bool:
    """Whether the annotation allows the value; an int is a float, a bool is neither, NaN and infinity are nothing.

    The members of a list are looked at, those of another iterable are not. Arrays are told by their class alone.

    >>> accepts(float, 1), accepts(int | None, None), accepts(float, True), accepts(list[int], [1, "2"])
    (True, True, False, False)
    """
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return accepts(parts[0], value) and parts[1].allows(value)
    if origin is Literal:
        return isinstance(value, str | int) and value in parts
    if origin in (Union, UnionType):
        return any(accepts(part, value) for part in parts)
    if annotation in (int, float):
        number = isinstance(value, Integral if annotation is int else Real) and not isinstance(value, bool)
        return number and (isinstance(value, Integral) or isfinite(value))
    if origin in (list, Sequence, Iterable):
        members = value if isinstance(value, list | tuple) and origin is not Iterable else ()
        listed = hasattr(value, "__iter__") and not isinstance(value, str | bytes | Mapping)
        return listed and all(accepts(parts[0], member) for member in members)
    kind = getattr(annotation, "array_type", origin or annotation)
    told = isinstance(kind, type) and kind is not Any and not getattr(kind, "_is_protocol", False)
    return not told or isinstance(value, kind)


Checked = TypeVar("Checked", bound=Callable[..., Any])


def checked(function: Checked) -> Checked:
    """A decorator of functions and classes: each argument is one that its annotation `accepts`.

    Raises:
        ArgumentError: another one, when the function is called.

    >>> @checked
    ... def draw(n: int, share: float = 0.5): ...
    >>> draw("3")
    Traceback (most recent call last):
        ...
    cselab._util.arguments.ArgumentError: draw: n is '3' (str); it must be a whole number
    """
    if isinstance(function, type):
        function.__init__ = _checked(function.__init__, function.__name__)  # type: ignore[misc]
        return function
    return _checked(function, function.__name__)


def _checked(function: Any, name: str) -> Any:
    signature = inspect.signature(function)

    @cache
    def annotations() -> dict[str, Any]:
        notes = get_type_hints(function, include_extras=True)
        kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        return {
            own: note for own, note in notes.items() if own != "return" and signature.parameters[own].kind not in kinds
        }

    @wraps(function)
    def call(*given: Any, **named: Any) -> Any:
        arguments = signature.bind(*given, **named).arguments
        for argument, annotation in annotations().items():
            if argument in arguments:
                check_argument(f"{name}: {argument}", arguments[argument], annotation)
        return function(*given, **named)

    return call


def check_argument(name: str, value: Any, annotation: Any) -> None:
    """Raise ArgumentError unless the annotation accepts the value."""
    if not accepts(annotation, value):
        raise ArgumentError(f"{name} is {value!r:.60} ({type(value).__name__}); it must be {allowed(annotation)}")
