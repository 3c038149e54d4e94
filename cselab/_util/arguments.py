"""The values that an annotation or a list of names allows, and one error message for all others."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, wraps
from inspect import signature
from math import inf
from operator import ge, gt, le, lt
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from annotated_types import Ge, GroupedMetadata, Gt, Interval

F = TypeVar("F", bound=Callable)


PositiveFloat = Annotated[float, Gt(0)]
NonNegativeFloat = Annotated[float, Ge(0)]
UnitInterval = Annotated[float, Interval(ge=0, le=1)]
Momentum = Annotated[float, Interval(ge=0, lt=1)]
PositiveInt = Annotated[int, Ge(1)]
AtLeastTwo = Annotated[int, Ge(2)]
ViewCount = Annotated[int, Interval(ge=2, le=1000)]
NonNegativeInt = Annotated[int, Ge(0)]
Seed = Annotated[int, Interval(ge=-(2**63), le=2**63 - 1)]
"""The seeds of torch's random numbers."""

BOUNDS: dict[str, tuple[str, Callable[[Any, Any], bool]]] = {
    "gt": ("above", gt), "ge": ("of at least", ge), "lt": ("below", lt), "le": ("of at most", le),
}  # fmt: skip
"""The bounds of annotated-types (`Gt`, `Ge`, `Lt`, `Le`, `Interval`), in words and as a test. NaN passes none."""


@dataclass(frozen=True)
class Satisfies:
    """In an `Annotated`: a requirement besides bounds, in words and as a test."""

    words: str
    test: Callable[[Any], bool]


@dataclass(frozen=True)
class Because:
    """In an `Annotated`: why a number below or above the bounds is refused."""

    low: str = ""
    high: str = ""


Texts = Annotated[
    Sequence[str],
    Satisfies("a list of texts", lambda x: not hasattr(x, "__len__") or all(isinstance(one, str) for one in x)),
]


class ArgumentError(TypeError, ValueError):
    """An argument of a type or value that its function does not accept; the message names function and argument."""


TYPE_NAMES: dict[Any, str] = {
    float: "a number", int: "a whole number", bool: "True or False", str: "text", NoneType: "None", Path: "a path",
    Callable: "a function", Mapping: "a dictionary", Iterable: "a list", Sequence: "a list",
    "ndarray": "an array", "Tensor": "a tensor",
}  # fmt: skip
"""The types that `accepts` tells apart, in words."""


def bounds(annotation: Any) -> dict[str, float]:
    """The bounds of an annotated number, by their names in annotated-types.

    >>> bounds(Momentum), bounds(PositiveInt | None), bounds(str)
    ({'ge': 0, 'lt': 1}, {'ge': 1}, {})
    """
    found: dict[str, float] = {}
    for part in get_args(annotation):
        for bound in part if isinstance(part, GroupedMetadata) else [part]:
            found |= {name: getattr(bound, name) for name in BOUNDS if hasattr(bound, name)}
        found |= bounds(part)
    return found


def allowed(annotation: Any) -> str:
    """The allowed values, in words.

    >>> allowed(float | None), allowed(Literal["mlp", "none"]), allowed(Sequence[str] | Path)
    ('a number, or None', "one of 'mlp', 'none'", 'a list, or a path')
    >>> allowed(PositiveFloat), allowed(Momentum), allowed(ViewCount)
    ('a number above 0', 'a number of at least 0, below 1', 'a whole number from 2 to 1,000')
    """
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        words = [part.words for part in parts if isinstance(part, Satisfies)]
        return words[0] if words else f"{allowed(parts[0])} {_range_in_words(bounds(annotation))}".rstrip()
    if origin is Literal:
        return f"one of {', '.join(map(repr, parts))}"
    if origin in (Union, UnionType):
        return ", or ".join(dict.fromkeys(map(allowed, parts)))
    if hasattr(annotation, "array_type"):
        return f"{allowed(annotation.array_type)} of numbers [{annotation.dim_str.replace('_', '')}]"
    name = getattr(annotation, "__name__", annotation)
    return TYPE_NAMES.get(origin or annotation, TYPE_NAMES.get(name, f"a {name}"))


def _range_in_words(limits: Mapping[str, float]) -> str:
    if limits.keys() == {"ge", "le"}:
        return f"from {limits['ge']:,} to {limits['le']:,}"
    return ", ".join(f"{BOUNDS[name][0]} {limit:,}" for name, limit in limits.items())


def accepts(annotation: Any, value: Any) -> bool:
    """Whether the annotation allows the value; an int counts as a float, a bool does not; NaN and infinity fail.

    A list is anything with elements but text; the elements of a list or tuple are checked unless they are text, which
    `cselab.data.rows` checks by index. Of an array the class, the number of dimensions and equal names are checked, and
    that it has numbers. An annotation that says more than a class (a protocol, a type variable) allows everything.

    >>> accepts(float, 1), accepts(int | None, None), accepts(float, True), accepts(int, 10**400)
    (True, True, False, True)
    >>> accepts(Sequence[str], "text"), accepts(Sequence[int], (1, 2)), accepts(Sequence[int], [None])
    (False, True, False)
    """
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        tests = [part.test for part in parts if isinstance(part, Satisfies)]
        held = (BOUNDS[name][1](value, limit) for name, limit in bounds(annotation).items())
        return accepts(parts[0], value) and all(held) and all(test(value) for test in tests)
    if origin is Literal:
        return isinstance(value, str | int) and value in parts
    if origin in (Union, UnionType):
        return any(accepts(part, value) for part in parts) and not (Path in parts and str(value) == "")
    if annotation in (int, float):
        value = value.item() if getattr(value, "shape", None) == (1,) else value  # a temperature that learns
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
        of_array = hasattr(value, "shape") and hasattr(value, "dtype")
        given = f"a {type(value).__name__} {tuple(value.shape)} of {value.dtype}" if of_array else f"{value!r:.60}"
        raise ArgumentError(f"{name} is {given}; expected {allowed(annotation)}{_reason(annotation, value)}")
    return value


def _reason(annotation: Any, value: Any) -> str:
    """Why a number out of its bounds is refused, where the annotation has a `Because`."""
    parts = get_args(annotation)
    for why in (part for part in parts if isinstance(part, Because)):
        if accepts(parts[0], value):
            low = any(not BOUNDS[name][1](value, limit) for name, limit in bounds(annotation).items() if name[0] == "g")
            return f": {words}" if (words := why.low if low else why.high) else ""
    return "".join(_reason(part, value) for part in parts if get_origin(part) is Annotated)


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


def check_fields(instance: Any) -> None:
    """Check the fields of a dataclass by its annotations; a number of numpy or torch becomes Python's."""
    kind: Any = type(instance)
    for name, annotation in hints(kind).items():
        object.__setattr__(instance, name, check_argument(name, getattr(instance, name), annotation))


def checked(function: F) -> F:
    """The function, which raises ArgumentError before it runs unless its annotations accept the arguments."""
    names = signature(function).parameters

    @wraps(function)
    def run(*args: Any, **options: Any) -> Any:
        check_arguments(function, dict(zip(names, args, strict=False)) | options)
        return function(*args, **options)

    return run  # type: ignore[return-value]


def _words(name: str) -> list[str]:
    return sorted(name.lower().replace("-", "_").split("_"))


def nearest(name: str, known: Iterable[str], likeness: float = 0.6) -> str | None:
    """The known name that is most similar to `name`, or None if no ratio of difflib reaches `likeness`.

    >>> nearest("simsce", ["imsimcse", "simcse", "whitenedcse"])
    'simcse'
    >>> nearest("simcse-supervised", ["imsimcse_diffcse", "supervised_simcse"])
    'supervised_simcse'
    """
    by_lower = {one.lower(): one for one in known}
    for one in by_lower:
        if _words(one) == _words(name):
            return by_lower[one]
    matches = get_close_matches(name.lower(), by_lower, n=1, cutoff=likeness)
    return by_lower[matches[0]] if matches else None


def did_you_mean(name: str, known: Iterable[str], likeness: float = 0.6) -> str:
    """A question for an error message, with a space before it; empty if no name is similar.

    >>> did_you_mean("mcro", ["micro", "mini"])
    " Did you mean 'micro'?"
    """
    other = nearest(name, known, likeness)
    return f" Did you mean {other!r}?" if other is not None else ""


MANY = 30  # names, among which the nearest one would be hard to see


def check_choice(what: str, name: str, known: Iterable[str], likeness: float = 0.6, also: str = "") -> None:
    """Raise ValueError unless the name is known; the message has the nearest name, all names, and further options.

    If a name is near, a list of more than `MANY` names is left out.

    >>> check_choice("encoder", "mcro", ["micro", "mini"])
    Traceback (most recent call last):
        ...
    ValueError: unknown encoder 'mcro'. Did you mean 'micro'? Choose one of micro, mini
    """
    known = tuple(known)
    if name not in known:
        hint = did_you_mean(str(name), known, likeness)
        choices = "" if hint and len(known) > MANY else f" Choose one of {', '.join(known)}{also}"
        raise ValueError(f"unknown {what} {name!r}.{hint}{choices}")


def register_class(table: dict[str, Any], kind: str, name: str, entry: type) -> None:
    """Put a class into a registry; a second definition, for example by a repeated notebook cell, replaces the first.

    Raises:
        ValueError: a different class has that name.
    """
    other = table.get(name, entry)
    if (other.__module__, other.__qualname__) != (entry.__module__, entry.__qualname__):
        raise ValueError(f"two {kind}s are called {name!r}: {other.__module__}.{other.__qualname__} is registered")
    table[name] = entry
