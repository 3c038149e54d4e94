"""What was probably meant: the known name nearest to an unknown one."""

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, known: Iterable[str], likeness: float = 0.6) -> str | None:
    """The known name most like `name`, or None when none is alike (difflib's ratio of at least `likeness`).

    >>> nearest("simsce", ["imsimcse", "simcse", "whitenedcse"])
    'simcse'
    """
    by_lower = {one.lower(): one for one in known}
    found = get_close_matches(name.lower(), by_lower, n=1, cutoff=likeness)
    return by_lower[found[0]] if found else None


def did_you_mean(name: str, known: Iterable[str], likeness: float = 0.6) -> str:
    """A question to put into an error message, with a space before it; empty when nothing is alike.

    >>> did_you_mean("mcro", ["micro", "mini"])
    " Did you mean 'micro'?"
    """
    found = nearest(name, known, likeness)
    return f" Did you mean {found!r}?" if found is not None else ""
