"""The rows of a corpus: sentences, or tuples of texts with named columns; read, and checked before they are used."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from cselab.data.files import DataError, read_lines, read_sentences


def read_rows(path: str | Path, columns: Sequence[str]) -> Iterator[str] | Iterator[tuple[str, ...]]:
    """The rows of a corpus, streamed: texts for one column, tuples of texts for several.

    One column is a plain text file, as `read_sentences` takes it. Several are tab-separated, under a header that
    names them; they may stand in any order, and columns that are not asked for are passed over. Nothing is quoted:
    a text holds no tab.

    Args:
        path: the file; also .gz, .xz.
        columns: what a row holds, `Method.columns`.

    Raises:
        MissingFile: the path is not a file.
        DataError: a header without one of the columns, a row with too few fields or an empty text; names the line.

    See also: `cselab.world.World.rows`, which makes such rows.
    """
    if len(columns) == 1:
        return read_sentences(path)
    lines = enumerate(read_lines(path), start=1)
    _, header = next(lines, (1, ""))
    names = [name.strip() for name in header.split("\t")]
    for column in columns:
        if column not in names:
            raise DataError(
                f"{path}: its header ({', '.join(names)}) has no column {column!r}; wanted is a tab-separated file "
                f"whose first line names {', '.join(columns)}"
            )
    return _rows(path, lines, [names.index(column) for column in columns], names)


def _rows(
    path: str | Path, lines: Iterator[tuple[int, str]], places: Sequence[int], names: Sequence[str]
) -> Iterator[tuple[str, ...]]:
    for number, line in lines:
        if not line.strip():
            continue
        fields = [field.strip() for field in line.split("\t")]
        if len(fields) != len(names):
            raise DataError(f"{path}, line {number}: {len(fields)} fields, its header has {len(names)}")
        row = tuple(fields[place] for place in places)
        if not all(row):
            empty = names[places[row.index("")]]
            raise DataError(f"{path}, line {number}: the column {empty!r} is empty")
        yield row


def check_sentences(sentences: Iterable[str], first: int = 0) -> list[str]:
    """The sentences as a list, each a string that is not empty; `first` is the index of the first one in messages.

    Raises:
        TypeError: something is not a string; names its index and type.
        ValueError: no sentence at all, or an empty one; names its index.
    """
    if isinstance(sentences, str) or not isinstance(sentences, Iterable):
        raise TypeError(f"sentences is {sentences!r:.60}, not a list of strings")
    sentences = list(sentences)
    if not sentences:
        raise ValueError("sentences is empty: give at least one sentence")
    for index, sentence in enumerate(sentences, first):
        if not isinstance(sentence, str):
            raise TypeError(f"sentences[{index}] is {sentence!r} of type {type(sentence).__name__}, not a string")
        if not sentence.strip():
            raise ValueError(f"sentences[{index}] is an empty string: leave it out")
    return sentences


def check_rows(corpus: Sequence[Any], columns: Sequence[str], name: str) -> list[Any]:
    """The rows of a corpus, checked: texts for one column, tuples of texts for several.

    Args:
        corpus: the rows.
        columns: what a row holds.
        name: who takes the rows; named in the messages.

    Raises:
        TypeError, ValueError: as `check_sentences`; a row without the columns; names its index.
    """
    if len(columns) == 1:
        return check_sentences(corpus)
    wanted = f"{name} takes rows of {len(columns)} texts ({', '.join(columns)})"
    help_ = "cselab.data.read_rows reads them from a tab-separated file, World().rows makes some"
    rows = []
    for index, row in enumerate(corpus):
        if isinstance(row, str) or len(row) != len(columns):
            given = "one text" if isinstance(row, str) else f"{len(row)} texts"
            raise ValueError(f"corpus[{index}] is {given}, but {wanted}: {help_}")
        for column, text in zip(columns, row, strict=True):
            if not isinstance(text, str):
                kind = type(text).__name__
                raise TypeError(
                    f"{column} of corpus[{index}] is {text!r} of type {kind}: give it as text, str({text!r})"
                )
            if not text.strip():
                raise ValueError(f"{column} of corpus[{index}] is {text!r}, an empty text: leave the row out")
        rows.append(tuple(row))
    return rows


def rows_hash(corpus: Sequence[Any]) -> str:
    """SHA-256 of the rows in their order."""
    digest = hashlib.sha256()
    for start in range(0, len(corpus), 4096):  # a million calls would take a second
        lines = (row if isinstance(row, str) else "\t".join(row) for row in corpus[start : start + 4096])
        digest.update("".join(f"{line}\n" for line in lines).encode())
    return digest.hexdigest()
