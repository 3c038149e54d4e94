"""The rows of a table: comma- or tab-separated, JSON lines or Parquet, as the file's ending says, or a data set.

A data set is a folder that `datasets.Dataset.save_to_disk` wrote.
"""

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from cselab.data.files import DataError, MissingFile, check_file, ending, read_lines

TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")
"""The endings of tables; all but .parquet may be packed (.gz, .xz, .zst). Any other file is plain text."""

DATASET = "dataset_info.json", "dataset_dict.json"
"""The file that is in the folder of a data set, or of a dictionary of them, one a split."""

Rows = Iterator[tuple[int, list[str]]]

SIMCSE_NAMES = {"sent0": "sentence", "sent1": "entailment", "hard_neg": "contradiction"}
"""What SimCSE's file of natural language inference, nli_for_simcse.csv, calls its columns."""

TEXT_COLUMNS = ("sentence", "text", "sentences", "content", "sentence1")
"""The columns that are taken for sentences where none is named, the first that there is."""


def read_table(path: str | Path) -> tuple[list[str], Rows]:
    """The names of the columns, and the rows with the numbers of their lines, streamed.

    The first line of .csv and .tsv has the names. Fields of .tsv are never quoted; those of .csv are as a spreadsheet
    writes them. A line of .jsonl (.ndjson) is an object, and the first one has the names.

    Raises:
        MissingFile: the path is not a file.
        DataError: no row at all, a row of another width, no object; Parquet where pyarrow, or a data set where datasets
            is not installed; a dictionary of data sets without "train".
    """
    path = check_corpus(path)
    read = {".csv": csv_rows, ".jsonl": _json_lines, ".ndjson": _json_lines, ".parquet": _parquet}
    rows = _dataset(path) if path.is_dir() else read.get(ending(path), tab_rows)(path)
    number, names = next(rows, (0, []))
    if not number:
        raise DataError(f"{path}: it is empty; wanted is a table whose first line names its columns")
    return [SIMCSE_NAMES.get(name.strip(), name.strip()) for name in names], _of_one_width(path, rows, len(names))


def check_corpus(path: str | Path) -> Path:
    """The path, if it is that of a file or of a data set's folder.

    Raises:
        MissingFile: it is not.
    """
    path = Path(path)
    if path.is_dir() and not any((path / name).is_file() for name in DATASET):
        raise MissingFile(
            f"{path} is a folder; a file was expected, or the folder of a data set, with {' or '.join(DATASET)} in it"
        )
    return path if path.is_dir() else check_file(path)


def text_column(path: str | Path, column: str | None = None) -> tuple[str, Rows] | None:
    """The column of a table that holds its sentences, and what stands there, line by line; None for plain text.

    Args:
        path: the file.
        column: its name; or its number, from 1 on, in a table without a line of names. None takes the first of
            `TEXT_COLUMNS` that there is.

    Raises:
        DataError: no such column, none that is known where none was named, or plain text that has no columns.
    """
    if not check_corpus(path).is_dir() and ending(path) not in TABLES:
        if column is not None:
            raise DataError(f"{path} is plain text, a sentence a line: it has no column {column!r}")
        return None
    names, rows = read_table(path)
    if column is not None and column.isdigit() and column not in names:
        if not 1 <= int(column) <= len(names):
            raise DataError(f"{path} has {len(names)} columns, no column {column}")
        return column, ((number, [row[int(column) - 1]]) for number, row in chain([(1, names)], rows))
    lower = [name.lower() for name in names]
    if column is None:
        column = next((name for name in TEXT_COLUMNS if name in lower), None)
        if column is None:
            raise DataError(
                f"{path}: none of its columns ({', '.join(names):.200}) is called {', '.join(TEXT_COLUMNS)}: name the "
                "one with the sentences (`--column NAME`), or number it, from 1 on, where the first line is no header"
            )
    if column.lower() not in lower:
        raise DataError(f"{path}: it has no column {column!r}; its columns are {', '.join(names):.200}")
    place = lower.index(column.lower())
    return names[place], ((number, [row[place]]) for number, row in rows)


def _of_one_width(path: Path, rows: Rows, width: int) -> Rows:
    for number, row in rows:
        if any(field.strip() for field in row):
            if len(row) != width:
                raise DataError(f"{path}, line {number}: {len(row)} fields, its header has {width}")
            yield number, [field.strip() for field in row]


def tab_rows(path: Path) -> Rows:
    """The fields of each line, parted by tabs and never quoted; lines are numbered from 1 on."""
    return ((number, line.split("\t")) for number, line in enumerate(read_lines(path), start=1))


def csv_rows(path: Path) -> Rows:
    """The fields of each row, parted by commas and quoted as a spreadsheet does it; the number is of its last line."""
    reader = csv.reader((f"{line}\n" for line in read_lines(path)), strict=True)
    try:
        for row in reader:
            yield reader.line_num, row
    except csv.Error as error:
        raise DataError(f"{path}, line {reader.line_num}: {error}") from None


def _json_lines(path: Path) -> Rows:
    names: list[str] = []
    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise DataError(f"{path}, line {number}: it is not JSON ({error})") from None
        if not isinstance(row, dict):
            raise DataError(f'{path}, line {number}: an object such as {{"text": "..."}} is expected, not {line:.40}')
        if not names:
            names = list(row)
            yield number, names
        yield number, _texts([row.get(name, "") for name in names])


def _parquet(path: Path) -> Rows:
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise DataError(f"{path}: Parquet is read with pyarrow: pip install pyarrow, or save a .csv") from None
    try:
        with ParquetFile(path) as file:
            names = file.schema_arrow.names
            yield 1, names
            batches = ([batch[name].to_pylist() for name in names] for batch in file.iter_batches(1024))
            yield from _numbered(batches)
    except ArrowException as error:
        raise DataError(f"{path} cannot be read as Parquet ({error}); is it complete?") from None


def _dataset(path: Path) -> Rows:
    try:
        from datasets import load_from_disk
    except ImportError:
        raise DataError(f"{path}: a data set is read with datasets: pip install datasets, or save a .csv") from None
    dataset: Any = load_from_disk(path)
    if isinstance(dataset, dict):
        if "train" not in dataset:
            folders = ", ".join(str(path / split) for split in dataset)
            raise DataError(f"{path} holds several data sets, and none is called train: name one ({folders})")
        dataset = dataset["train"]
    yield 1, dataset.column_names
    yield from _numbered([batch[name] for name in dataset.column_names] for batch in dataset.iter(1024))


def _numbered(batches: Iterable[list[Any]]) -> Rows:
    """The rows of batches of columns, numbered from 1 on."""
    rows = (row for columns in batches for row in zip(*columns, strict=True))
    return ((number, _texts(row)) for number, row in enumerate(rows, start=1))


def _texts(fields: Sequence[Any]) -> list[str]:
    """Each field as text; what is not one (null, a list) is told by the reader that needs it, being empty."""
    return [str(field) if isinstance(field, str | int | float) and field == field else "" for field in fields]
