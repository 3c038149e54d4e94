"""What a package refuses: calls in a Markdown file by the kind of their error, above each call what the error says."""

import builtins
import re

import pytest
from cells import cells_in


def refusals(name):
    """The names of the file's first cell, and each call with its kind of error and its words, for a test."""
    first, calls = cells_in(name)
    exec(first, names := vars(builtins).copy())
    cases = [(kind, *case) for kind in calls for case in calls[kind]]
    return names, pytest.mark.parametrize("kind, words, call", cases)


def check_refused(kind, words, call, names, **more):
    """The call raises this kind of error, which has the words in their order; `$` is its end."""
    said = ".*".join(re.escape(word).replace(r"\$", "$") for word in words)
    with pytest.raises(names[kind], match=f"(?s){said}"):
        exec(call, names | more)
