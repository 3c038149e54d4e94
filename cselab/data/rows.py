"""The rows of a corpus: sentences, or tuples of texts with named columns; read, and checked before they are used."""

import hashlib
import json
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from cselab._util.arguments import checked

from .files import DataError, check_characters, is_blank, read_lines
from .tables import (
    TEXT_COLUMNS,
    NumberedRows,
    holds_rows,
    place_of,
    read_table,
    refuse_twice,
    rows_in_memory,
    text_column,
)

NumberedTexts = Iterator[tuple[int, str]]
"""Each text with the number of its line."""


@checked
def read_sentences(path: str | Path, column: str | None = None, every_row: bool = False) -> Iterator[str]:
    """The sentences of a corpus, streamed: plain UTF-8 text, one per line, or a column of a table.

    The file's ending decides: .csv, .tsv, .jsonl, .json and .parquet are tables, all else is text; .gz and .xz
    are unpacked. A folder that `datasets.Dataset.save_to_disk` wrote is a table, too (of several splits "train").
    Surrounding white space is dropped. The file is never held in memory as a whole (.json is), so a corpus of any
    length may be read.

    Args:
        path: the file, or the folder of a data set.
        column: the column of a table; None means the column "sentence" or "text", see `cselab.data.tables.text_column`.
        every_row: refuse rows without text. Otherwise these rows are skipped, and a warning has their number.

    Raises:
        MissingFile: the path is not a file.
        DataError: no sentence in the file, a line that is not UTF-8, a packed file cut short; a table without the
            column; JSON, XML or HTML under a wrong name; rows without text if every row is required.

    See also: `cselab.data.read_pairs` for sentence pairs with a score.
    """
    return (sentence for _, sentence in numbered_sentences(path, column, every_row))


def numbered_sentences(path: str | Path, column: str | None = None, every_row: bool = False) -> NumberedTexts:
    """The sentences of a corpus as `read_sentences` gives them, each with the number of its line, from 1 on."""
    if every_row and (empty := [number for number, text in _numbered(path, column) if is_blank(text)]):
        raise DataError(f"{path}: {_without_text(empty)}: every row must have text; fill these rows or delete them")
    sentences = _with_text(path, _numbered(path, column))
    first = next(sentences, None)
    if first is None:
        raise DataError(f"{path}: no sentence found; a corpus is plain text with one sentence per line, or a table")
    return chain([first], sentences)


def _numbered(path: str | Path, column: str | None) -> NumberedTexts:
    table = text_column(path, column)
    if table is not None:
        return ((number, text) for number, (text,) in table[1])
    lines = enumerate(read_lines(path), start=1)
    start = []
    for number, line in lines:
        start.append((number, line))
        if line.strip():
            _check_plain(path, line.strip())
            break
    return chain(start, lines)


def _check_plain(path: str | Path, first: str) -> None:
    """Refuse files that are not plain text, by their first line."""
    if re.fullmatch(r"[\[{]\s*[\]}]?|[\[{]\s*[\"{].*[\]}\[{,:\"]", first):
        raise DataError(
            f"{path}: its first line is {first:.40}, which is JSON: JSON lines have the ending .jsonl, a list of "
            "strings or objects .json; rename the file"
        )
    if re.match(r"\d+\t|.*\t.*\t", first):
        raise DataError(
            f"{path}: its first line is {first:.40}, with tabs: a table has the ending .tsv; rename the file, or "
            "replace the tabs by spaces"
        )
    if re.match(r"<[?!]|<(html|svg)\b|(<\w[^<>]*>\s*)+$|<(\w+).*</\3>$|\{\\rtf|%(PDF|!PS)|---$", first, re.IGNORECASE):
        raise DataError(
            f"{path}: its first line is {first:.40}: expected plain text, one sentence per line, not a page or "
            "document (XML, HTML, RTF, PDF, YAML); extract its text first"
        )


def _with_text(path: str | Path, rows: NumberedTexts) -> NumberedTexts:
    """The rows with text; at the end, or when reading stops, a warning counts the skipped rows."""
    empty: list[int] = []
    found = False
    try:
        for number, text in rows:
            if is_blank(text):
                empty.append(number)
            else:
                found = True
                yield number, text.strip()
    finally:
        if empty and found:
            warnings.warn(f"{path}: {_without_text(empty)}, passed over", stacklevel=2)


def _without_text(empty: Sequence[int]) -> str:
    lines = ", ".join(map(str, empty[:5])) + (" ..." if len(empty) > 5 else "")
    return f"1 row has no text (line {lines})" if len(empty) == 1 else f"{len(empty)} rows have no text (lines {lines})"


@checked
def read_rows(
    path: str | Path, columns: Sequence[str], column: str | None = None
) -> Iterator[str] | Iterator[tuple[str, ...]]:
    """The rows of a corpus, streamed: texts for one column, tuples of texts for several.

    One column is read as in `read_sentences`. Several columns are a table, tab-separated unless it ends in .csv,
    .jsonl or .parquet, whose first line names them. They may be in any order, and further columns are ignored.

    Args:
        path: the file, also .gz, .xz; or the folder of a data set.
        columns: the columns of a row, `Method.columns`.
        column: the column of a table, if a row holds one text; see `read_sentences`.

    Raises:
        MissingFile: the path is not a file.
        DataError: a header without one of the columns, a row with too few fields or an empty text; names the line.

    See also: `cselab.world.World.rows`, which makes such rows.
    """
    if len(columns) == 1:
        return read_sentences(path, column)
    if column is not None:
        raise DataError(f"rows hold {', '.join(columns)} here, each in a column of that name, not only {column!r}")
    names, rows = read_table(path)
    for name in columns:
        if name not in names:
            raise DataError(
                f"{path}: its header ({', '.join(names):.200}) has no column {name!r}; expected a table (.tsv, .csv, "
                f".jsonl) whose first line names {', '.join(columns)}"
            )
    refuse_twice(path, names, *columns)
    return _rows(path, rows, [names.index(name) for name in columns], names)


def _rows(
    path: str | Path, rows: NumberedRows, places: Sequence[int], names: Sequence[str]
) -> Iterator[tuple[str, ...]]:
    for number, fields in rows:
        if not any(fields):  # a blank line
            continue
        row = tuple(fields[place] for place in places)
        if not all(row):
            raise DataError(f"{path}, line {number}: the column {names[places[row.index('')]]!r} is empty")
        yield row


def check_sentences(sentences: Iterable[Any], first: int = 0) -> list[str]:
    """The sentences as a list, each a string that is not empty; `first` is the index of the first one in messages.

    The sentences of a table in memory (`cselab.data.tables.rows_in_memory`) are its only column, or the column
    "sentence", "text" ...; see `cselab.data.tables.TEXT_COLUMNS`.

    Raises:
        TypeError: something is not a string; names its index and type.
        ValueError: no sentence at all, an empty one or one with half a character (its index is named); a table of which
            no column is known.
    """
    plain = isinstance(sentences, list) and all(isinstance(sentence, str) for sentence in sentences)
    sentences = list(sentences) if plain else _sentences_of(sentences)
    if not sentences:
        raise ValueError("sentences is empty: give at least one sentence")
    for index, sentence in enumerate(sentences, first):
        if not _is_plain(sentence):
            _check_text(sentence, f"sentences[{index}]")
    return sentences


def _sentences_of(sentences: Iterable[Any]) -> list[Any]:
    """The rows of anything that holds sentences: a table, an array, tuples of one text, a generator."""
    if not holds_rows(sentences):
        raise TypeError(f"sentences is {sentences!r:.60}, not a list of strings")
    names, rows = rows_in_memory(sentences)
    if names:
        place = 0 if len(names) == 1 else place_of(TEXT_COLUMNS, names)
        if place is None:
            raise ValueError(
                f"a table with the columns ({', '.join(names):.200}) was given, and none is called "
                f"{', '.join(TEXT_COLUMNS)}: name one: table[{names[0]!r}]"
            )
        rows = (row[place] for row in rows)
    return [row if isinstance(row, str) else _only_text(row) for row in rows]


def _is_plain(text: Any) -> bool:
    """Whether this is a text that `_check_text` accepts at first sight: printable, and not only spaces."""
    return isinstance(text, str) and text.isprintable() and bool(text.strip(" "))


def _check_text(text: Any, place: str) -> None:
    if not isinstance(text, str):
        raise TypeError(f"{place} is {text!r} of type {type(text).__name__}, not a string: give it as text")
    check_characters(text, place)
    if is_blank(text):
        raise ValueError(f"{place} is an empty string: remove the row")


def _only_text(row: Any) -> Any:
    """The text of a tuple or array of one, or of an InputExample whose texts are the same; otherwise the argument
    itself.
    """
    if hasattr(row, "texts"):
        return row.texts[0] if len(set(row.texts)) == 1 else row
    return row[0] if (isinstance(row, tuple) or getattr(row, "ndim", 0) == 1) and len(row) == 1 else row


def check_rows(corpus: Iterable[Any], columns: Sequence[str], name: str) -> list[Any]:
    """The rows of a corpus, checked: texts for one column, tuples of texts for several.

    Args:
        corpus: the rows; tuples, or a table in memory (`cselab.data.tables.rows_in_memory`).
        columns: the columns of a row.
        name: the receiver of the rows, for the messages.

    Raises:
        TypeError, ValueError: as `check_sentences`; a row without the columns; names its index.
    """
    if len(columns) == 1:
        return check_sentences(corpus)
    wanted = f"{name} needs rows of {len(columns)} texts ({', '.join(columns)})"
    help_ = "cselab.data.read_rows reads them from a tab-separated file, World().rows makes some"
    if not holds_rows(corpus):
        raise TypeError(f"corpus is {corpus!r:.60}, and {wanted}: {help_}")
    names, given = rows_in_memory(corpus)
    if lost := [column for column in columns if names and column not in names]:
        raise ValueError(f"{wanted}, and the table has no column {lost[0]!r}; it has {', '.join(names):.200}")
    places = [names.index(column) for column in columns] if names else []
    rows = []
    for index, held in enumerate(given):
        row = [held[place] for place in places] if names else getattr(held, "texts", held)
        if isinstance(row, str) or not hasattr(row, "__len__") or len(row) != len(columns):
            texts = f"{len(row)} texts" if hasattr(row, "__len__") else repr(row)
            raise ValueError(
                f"corpus[{index}] is {'one text' if isinstance(row, str) else texts:.80}, but {wanted}: {help_}"
            )
        for column, text in zip(columns, row, strict=True):
            _check_text(text, f"{column} of corpus[{index}]")
        rows.append(tuple(row))
    return rows


def rows_hash(corpus: Sequence[Any]) -> str:
    """SHA-256 of the rows in their order: `lines_hash`, unless a text has a line end or a tab inside.

    >>> rows_hash(["a\\nb", "c"]) == rows_hash(["a", "b\\nc"])
    False
    """
    if not any(mark in text for row in corpus for text in _texts_of(row) for mark in "\n\t"):
        return lines_hash(corpus)
    digest = hashlib.sha256(b"rows\n\n")  # which no file of lines starts with
    for row in corpus:
        digest.update(json.dumps(_texts_of(row)).encode())
    return digest.hexdigest()


def lines_hash(corpus: Sequence[Any]) -> str:
    """SHA-256 of the rows as lines, their columns separated by tabs; a line end inside a text is one more line."""
    digest = hashlib.sha256()
    for start in range(0, len(corpus), 4096):  # a million calls would cost a second
        lines = ("\t".join(_texts_of(row)) for row in corpus[start : start + 4096])
        digest.update("".join(f"{line}\n" for line in lines).encode())
    return digest.hexdigest()


def _texts_of(row: Any) -> Sequence[str]:
    return (row,) if isinstance(row, str) else row
