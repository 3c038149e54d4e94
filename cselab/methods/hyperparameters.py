"""The allowed values of a method's annotated hyper-parameters: types and ranges; choices are `Literal`s."""

from math import inf
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from cselab._util.arguments import Range

PositiveFloat = Annotated[float, Range("a number above 0", lambda x: 0 < x < inf)]
NonNegativeFloat = Annotated[float, Range("a number of at least 0", lambda x: 0 <= x < inf)]
UnitInterval = Annotated[float, Range("a number from 0 to 1", lambda x: 0 <= x <= 1)]
Momentum = Annotated[float, Range("a number of at least 0, below 1", lambda x: 0 <= x < 1)]
PositiveInt = Annotated[int, Range("a whole number of at least 1", lambda x: x >= 1)]
AtLeastTwo = Annotated[int, Range("a whole number of at least 2", lambda x: x >= 2)]
NonNegativeInt = Annotated[int, Range("a whole number of at least 0", lambda x: x >= 0)]


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
