"""Costly answers are computed when they are first asked for, and kept."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

Asked = TypeVar("Asked", bound=Callable[..., Any])


def remembered(method: Asked) -> Asked:
    """The method, with its answer to each of its arguments kept in the object's `_known`."""

    @wraps(method)
    def once(self: Any, *given: Any) -> Any:
        key = method.__name__, *given
        if key not in self._known:
            self._known[key] = method(self, *given)
        return self._known[key]

    return cast(Asked, once)
