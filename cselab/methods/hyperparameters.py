"""The allowed values of a method's annotated hyper-parameters: types and ranges; choices are `Literal`s."""

from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from cselab._util.arguments import *  # noqa: F403


def without_ranges(annotation: Any) -> Any:
    """The annotation without its ranges, for a signature.

    >>> without_ranges(PositiveFloat), without_ranges(PositiveFloat | None)
    (<class 'float'>, float | None)
    """
    if get_origin(annotation) is Annotated:
        return get_args(annotation)[0]
    if get_origin(annotation) in (Union, UnionType):
        first, *others = (without_ranges(part) for part in get_args(annotation))
        for other in others:
            first = first | other
        return first
    return annotation
