"""Files that are not what their names promise: pointers in their place, and JSON without end."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

NOT_FETCHED = "points to a file that is not here: fetch it with `git lfs pull` or `git annex get`"


def is_pointer(path: Path) -> bool:
    """Whether a pointer of git-lfs or git-annex lies in the place of a file; a link of git-annex without its file."""
    if path.is_symlink() and not path.exists():
        return "/annex/objects/" in str(path.readlink())
    if not path.is_file():
        return False
    with open(path, "rb") as file:
        start = file.read(64)
    return start.startswith(b"version https://git-lfs") or b"/annex/objects/" in start


def parse_json(text: str) -> Any:
    """The value of a JSON text.

    Raises:
        ValueError: not JSON, or nested too deeply.

    >>> parse_json('{"a": [1]}')
    {'a': [1]}
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("brackets are nested too deeply") from None


def read_json(path: Path) -> Any:
    """The value of a JSON file; raises as `parse_json`, and OSError."""
    return parse_json(path.read_text(encoding="utf-8"))


def parse_json_lines(lines: Iterable[str]) -> list[Any]:
    """The value of each line of JSON; in place of a line that is none, the ValueError with the reason.

    >>> parse_json_lines(['{"a": 1}', "[2"])
    [{'a': 1}, JSONDecodeError("Expecting ',' delimiter: line 1 column 3 (char 2)")]
    """
    found: list[Any] = []
    for line in lines:
        try:
            found.append(parse_json(line))
        except ValueError as error:
            found.append(error)
    return found
