"""The known name nearest to an unknown one, as a suggestion."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any


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
