"""The rows of a corpus: sentences, or tuples of texts with named columns; read, and checked before they are used."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from cselab.data.files import DataError, read_lines
from cselab.data.tables import TEXT_COLUMNS, Rows, read_table, text_column


def read_sentences(path: str | Path, column: str | None = None) -> Iterator[str]:
    """The sentences of a corpus, streamed: plain UTF-8 text, one a line, or a column of a table.

    The file's ending says which: .csv, .tsv, .jsonl and .parquet are tables, all else is text; .gz, .xz and .zst are
    unpacked. A folder that `datasets.Dataset.save_to_disk` wrote is a table, too (of several splits "train").
    Surrounding white space is dropped and blank lines are passed over. The file is never held in memory as a whole, so
    a corpus of any length may be read.

    Args:
        path: the file, or the folder of a data set.
        column: of a table; None takes one that is called "sentence" or "text", see `cselab.data.tables.text_column`.

    Raises:
        MissingFile: the path is not a file.
        DataError: no sentence in the file, a line that is not UTF-8, a packed file cut short; a table without the
            column; text that is JSON lines under another name.

    See also: `cselab.data.read_pairs` for sentence pairs with a score.
    """
    return (sentence for _, sentence in numbered_sentences(path, column))


def numbered_sentences(path: str | Path, column: str | None = None) -> Iterator[tuple[int, str]]:
    """The sentences of a corpus as `read_sentences` gives them, each with the number of its line, from 1 on."""
    table = text_column(path, column)
    lines: Iterator[tuple[int, str]] = enumerate(read_lines(path), start=1) if table is None else _only(table[1])
    sentences = ((number, text) for number, line in lines if (text := line.strip()))
    first = next(sentences, None)
    if first is None:
        raise DataError(f"{path}: no sentence in it; a corpus is plain text with one sentence a line")
    if table is None and first[1].startswith('{"') and first[1].endswith("}"):
        raise DataError(f"{path}: its first line is {first[1]:.40}: JSON lines have the ending .jsonl; rename the file")
    return chain([first], sentences)


def _only(rows: Rows) -> Iterator[tuple[int, str]]:
    return ((number, text) for number, (text,) in rows)


def read_rows(
    path: str | Path, columns: Sequence[str], column: str | None = None
) -> Iterator[str] | Iterator[tuple[str, ...]]:
    """The rows of a corpus, streamed: texts for one column, tuples of texts for several.

    One column is what `read_sentences` takes. Several are a table, tab-separated unless its ending says .csv, .jsonl or
    .parquet, whose first line names them; they may stand in any order, and columns that are not asked for are passed
    over.

    Args:
        path: the file, also .gz, .xz, .zst; or the folder of a data set.
        columns: what a row holds, `Method.columns`.
        column: of a table, where a row holds one text; see `read_sentences`.

    Raises:
        MissingFile: the path is not a file.
        DataError: a header without one of the columns, a row with too few fields or an empty text; names the line.

    See also: `cselab.world.World.rows`, which makes such rows.
    """
    if len(columns) == 1:
        return read_sentences(path, column)
    if column is not None:
        raise DataError(f"rows hold {', '.join(columns)} here, each in a column of that name, not {column!r} alone")
    names, rows = read_table(path)
    for name in columns:
        if name not in names:
            raise DataError(
                f"{path}: its header ({', '.join(names):.200}) has no column {name!r}; wanted is a table (.tsv, .csv, "
                f".jsonl) whose first line names {', '.join(columns)}"
            )
    return _rows(path, rows, [names.index(name) for name in columns], names)


def _rows(path: str | Path, rows: Rows, places: Sequence[int], names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for number, fields in rows:
        row = tuple(fields[place] for place in places)
        if not all(row):
            raise DataError(f"{path}, line {number}: the column {names[places[row.index('')]]!r} is empty")
        yield row


def check_sentences(sentences: Iterable[str], first: int = 0) -> list[str]:
    """The sentences as a list, each a string that is not empty; `first` is the index of the first one in messages.

    Of a table (a DataFrame) the sentences are its only column, or that which is called "sentence", "text" ...; see
    `cselab.data.tables.TEXT_COLUMNS`.

    Raises:
        TypeError: something is not a string; names its index and type.
        ValueError: no sentence at all, or an empty one (its index is named); a table of which no column is known.
    """
    if hasattr(sentences, "columns"):
        sentences = _text_of(sentences)
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


def _text_of(table: Any) -> Any:
    """The column of a DataFrame that holds its sentences."""
    names = list(table.columns)
    lower = [str(name).lower() for name in names]
    known = [lower.index(name) for name in TEXT_COLUMNS if name in lower]
    if len(names) != 1 and not known:
        raise ValueError(
            f"a table with the columns ({', '.join(map(str, names)):.200}) was given, and none is called "
            f"{', '.join(TEXT_COLUMNS)}: name one: table[{names[0]!r}]"
            if names
            else "a table without columns was given, not sentences"
        )
    return table[names[known[0] if known else 0]]


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
    if hasattr(corpus, "columns"):
        table: Any = corpus
        if lost := [column for column in columns if column not in table.columns]:
            raise ValueError(f"{wanted}, and the table has no column {lost[0]!r}")
        corpus = list(zip(*(table[column] for column in columns), strict=True))
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
