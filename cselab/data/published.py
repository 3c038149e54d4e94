"""Comparison of a data file with the published one, without a copy of it, by counts and hashes.

The words are hashed without case, white space and punctuation, so that an original cased release passes as
well as SentEval's tokens. A file with the right number of rows but neither the known words nor the known scores is a
different data set in the same layout. It can be read, and its provenance is "unknown text".
"""

import hashlib
import string
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from cselab._util.reading import read_json

from .files import DataError

ScoredPairs = Sequence[tuple[str, str, float]]
"""First text, second text (or ""), and score or label of each row."""

PROVENANCES = ("not checked", "as published", "as published, other case or tokens", "unknown text")
"""The results of a check, the best first."""

PUNCTUATION = str.maketrans("", "", string.punctuation)


def describe(rows: ScoredPairs) -> dict[str, int | str]:
    """Rows, double quotes and hashes of a file: its text, only its words, its scores."""
    texts = [f"{first}\t{second}" for first, second, _ in rows]
    return {
        "rows": len(rows),
        "quotes": sum(text.count('"') for text in texts),
        "scores": _digest(f"{score:g}" for _, _, score in rows),
        "words": _digest("".join(text.casefold().translate(PUNCTUATION).split()) for text in texts),
        "text": _digest(texts),
    }


@cache
def published_parts(kind: str) -> dict[str, dict[str, Any]]:
    """The facts about each published file of "sts" or "labelled" rows: the number of rows, and the result of
    `describe` if we had the file.
    """
    return read_json(Path(__file__).with_name(f"{kind}_parts.json"))


def check_published(rows: ScoredPairs, known: dict[str, int | str], path: Path) -> str:
    """The provenance of a file, given the facts about the published one.

    Args:
        known: `rows`, and the rest of the result of `describe` if we had the file.

    Raises:
        DataError: the file is cut short, re-encoded, re-quoted or edited; the message names the file.
    """
    facts = describe(rows)
    if facts["rows"] != known["rows"]:
        raise DataError(f"{path}: {facts['rows']} rows found, {known['rows']} expected; is the file complete?")
    if all(facts[item] == value for item, value in known.items()) and "text" in known:
        return "as published"
    texts = [text for first, second, _ in rows for text in (first, second) if text]
    if looks_re_encoded(texts):
        raise DataError(f"{path}: accented letters are garbled; was the file re-encoded?")
    if looks_re_quoted(texts):
        raise DataError(f"{path}: {WRITTEN_BY_CSV}")
    if "words" not in known:
        return "unknown text"
    same_words, same_scores = facts["words"] == known["words"], facts["scores"] == known["scores"]
    if same_scores and not same_words and len({score for _, _, score in rows}) > 1:
        raise DataError(
            f"{path}: {facts['rows']} rows as expected, with the published scores or labels but different words; "
            "was the file re-encoded or edited?"
        )
    if same_words and not same_scores:
        raise DataError(f"{path}: the published sentences with different scores or labels; was the file edited?")
    if same_words and facts["quotes"] != known["quotes"]:
        raise DataError(f"{path}: {facts['quotes']} double quotes, not {known['quotes']}; {WRITTEN_BY_CSV}")
    return "as published, other case or tokens" if same_words else "unknown text"


WRITTEN_BY_CSV = "quotes were added; by a CSV writer? (fields are plain text between tabs, without quoting)"


def looks_re_encoded(texts: Iterable[str]) -> bool:
    """Whether a text shows UTF-8 read as latin-1 or cp1252, NULs of UTF-16, or replacement characters."""
    return any("\0" in text or (not text.isascii() and _garbled(text)) for text in texts)


def _garbled(text: str) -> bool:
    if "\ufffd" in text:
        return True
    for encoding in ("latin-1", "cp1252"):
        try:
            text.encode(encoding).decode("utf-8")
        except UnicodeError:
            continue
        return True
    return False


def looks_re_quoted(texts: list[str]) -> bool:
    """Whether texts show the marks of a CSV writer: doubled quotes, or quotes around every field."""
    return any('""' in text for text in texts) or all(
        len(text) > 1 and text.startswith('"') and text.endswith('"') for text in texts
    )


def _digest(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
