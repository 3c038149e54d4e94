"""The rows of a table: a file (separated values, JSON, Parquet), the folder of a data set, or a table in memory.

The ending of a file name determines the format. A data set is a folder that `datasets.Dataset.save_to_disk` wrote.
"""

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

from cselab._util.reading import parse_json

from .files import DataError, MissingFile, check_characters, check_file, ending, read_lines

TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet")
"""The endings of tables; all but .parquet may be packed (.gz, .xz). Files with no such ending are plain text."""

DATASET = "dataset_info.json", "dataset_dict.json"
"""The file that is in the folder of a data set, or of a dictionary of them, one a split."""

NumberedRows = Iterator[tuple[int, list[str]]]

SIMCSE_NAMES = {"sent0": "sentence", "sent1": "entailment", "hard_neg": "contradiction"}
"""The names of the columns in SimCSE's file of natural language inference, nli_for_simcse.csv."""

TEXT_COLUMNS = ("sentence", "text", "sentences", "content", "sentence1")
"""The columns used as sentences if none is named; the first existing one."""

LONGEST_FIELD = 2**31 - 1
"""Of a .csv file: the csv module would refuse more than 131,072 characters."""


def read_table(path: str | Path) -> tuple[list[str], NumberedRows]:
    """The names of the columns, and the rows with the numbers of their lines, streamed.

    The first line of .csv and .tsv has the names; see `separated_rows`. A line of .jsonl (.ndjson) is an object, as is
    an element of .json, and the first one has the names; a string is a row with the column "text".

    Raises:
        MissingFile: the path is not a file.
        DataError: no row at all, a row of a different width, no object; Parquet without pyarrow, or a data set without
            datasets installed; a dictionary of data sets without "train".
    """
    path = check_corpus(path)
    rows = named_rows(path) or separated_rows(path)
    number, names = next(rows, (0, []))
    if not number:
        raise DataError(f"{path}: the file is empty; expected a table whose first line names its columns")
    return [SIMCSE_NAMES.get(name.strip(), name.strip()) for name in names], _of_one_width(path, rows, len(names))


def named_rows(path: Path, split: str = "train") -> NumberedRows | None:
    """The rows of a file whose columns have names, these first; None for separated values.

    In a folder of several data sets, the one of the split is read.
    """
    if path.is_dir():
        return _dataset(path, split)
    read = {".jsonl": _json_lines, ".ndjson": _json_lines, ".json": _json, ".parquet": _parquet}.get(ending(path))
    return read(path) if read is not None else None


def names_in_memory(table: Any) -> list[Any]:
    """The names of the columns of a table in memory; none of something else."""
    if isinstance(table, Mapping):
        return list(table)
    names: Any = getattr(table, "column_names", None) or getattr(getattr(table, "dtype", None), "names", None)
    return list(names or getattr(table, "columns", ()))


def holds_rows(given: Any) -> bool:
    """Whether `rows_in_memory` reads this."""
    return not isinstance(given, str) and (isinstance(given, Iterable) or bool(names_in_memory(given)))


def rows_in_memory(table: Any) -> tuple[list[str], Iterable[Any]]:
    """The names of the columns of a table in memory, and its rows; without names, the elements as they are.

    A DataFrame, an Arrow table, a `datasets.Dataset`, a structured array, {name: column}, dicts or named tuples.

    Raises:
        DataError: a dictionary of data sets, or of something else than columns; a row without one of the columns.
    """
    if not holds_rows(table):
        raise DataError(f"{table!r:.80} holds no rows: give a list, or a table in memory")
    names = names_in_memory(table)
    if isinstance(table, Mapping) and any(
        isinstance(held, str) or hasattr(held, "column_names") or not hasattr(held, "__len__")
        for held in table.values()
    ):
        raise DataError(
            f"a dictionary of {', '.join(map(str, names)):.200} was given, and its values are not columns: of several "
            "data sets give one, such as dataset['test']; give a single row in a list"
        )
    if names:
        columns = [column.to_pylist() if hasattr(column := table[name], "to_pylist") else column for name in names]
        return [str(name) for name in names], zip(*columns, strict=True)
    rows = iter(table.to_pylist() if hasattr(table, "to_pylist") else table)
    start = list(islice(rows, 1))
    if start:
        names = list(start[0]) if isinstance(start[0], Mapping) else getattr(start[0], "_fields", [])
    rows = chain(start, rows)
    return list(map(str, names)), _by_name(rows, names) if names else rows


def _by_name(rows: Iterable[Any], names: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    for index, row in enumerate(rows):
        held = row if isinstance(row, Mapping) else row._asdict() if hasattr(row, "_asdict") else {}
        if lost := [name for name in names if name not in held]:
            raise DataError(f"row {index} has no {lost[0]!r}, which the first row has: {row!r:.80}")
        yield tuple(held[name] for name in names)


def check_corpus(path: str | Path) -> Path:
    """The path, if a file or a data set's folder is there.

    Raises:
        MissingFile: neither is there.
    """
    path = Path(path)
    if path.is_dir() and not any((path / name).is_file() for name in DATASET):
        raise MissingFile(
            f"{path} is a folder; a file was expected, or the folder of a data set, with {' or '.join(DATASET)} in it"
        )
    return path if path.is_dir() else check_file(path)


def text_column(path: str | Path, column: str | None = None) -> tuple[str, NumberedRows] | None:
    """The name and the values of a table's column of sentences, line by line; None for plain text.

    Args:
        path: the file.
        column: its name; or its number, from 1 on, in a table without a line of names. None means the first existing
            one of `TEXT_COLUMNS`.

    Raises:
        DataError: no such column, none that is known where none was named, or plain text that has no columns.
    """
    if not check_corpus(path).is_dir() and ending(path) not in TABLES:
        if column is not None:
            raise DataError(f"{path} is plain text with one sentence per line, without a column {column!r}")
        return None
    names, rows = read_table(path)
    if column is not None and column.isdecimal() and len(column) < 9 and column not in names:
        if not 1 <= int(column) <= len(names):
            raise DataError(f"{path} has {len(names)} columns, no column {column}")
        return column, ((number, [row[int(column) - 1]]) for number, row in chain([(1, names)], rows))
    place = place_of([column] if column is not None else TEXT_COLUMNS, names)
    if place is None and column is not None:
        raise DataError(f"{path}: it has no column {column!r}; its columns are {', '.join(names):.200}")
    if place is None:
        raise DataError(
            f"{path}: none of its columns ({', '.join(names):.200}) is called {', '.join(TEXT_COLUMNS)}: name the one "
            "with the sentences (`--column NAME`), or give its number, from 1, if the first line is not a header"
        )
    refuse_twice(path, [name.lower() for name in names], names[place].lower())
    return names[place], ((number, [row[place]]) for number, row in rows)


def refuse_twice(source: str | Path, names: Sequence[str], *read: str) -> None:
    """Refuse several columns of the name of one that is read.

    Raises:
        DataError: the name occurs twice or more.
    """
    for name in read:
        if names.count(name) > 1:
            raise DataError(f"{source}: {names.count(name)} columns are called {name!r}: rename them, or keep one")


def place_of(known: Iterable[str], names: Sequence[str]) -> int | None:
    """The position of the first known name among the columns, in upper or lower case."""
    lower = [name.lower() for name in names]
    return next((lower.index(name.lower()) for name in known if name.lower() in lower), None)


def _of_one_width(path: Path, rows: NumberedRows, width: int) -> NumberedRows:
    for number, row in rows:
        fields = [field.strip() for field in row]
        if any(fields) and len(fields) != width:
            raise DataError(f"{path}, line {number}: {len(fields)} fields, its header has {width}")
        yield number, fields if any(fields) else [""] * width


def separated_rows(path: Path) -> NumberedRows:
    """The fields of each row of separated values; the number is that of its last line.

    The separator of .csv is a comma, semicolon, tab or bar: the one that splits the first lines into most fields.
    Every other file is split by tabs. Its fields are quoted only if all quotes in it are those of a csv writer
    (pandas): sentences hold single quotes.
    """
    separator = _separator(path) if ending(path) == ".csv" else "\t"
    if separator != "\t" or _is_quoted(path):
        return csv_rows(path, separator)
    return ((number, line.split("\t")) for number, line in enumerate(read_lines(path), start=1))


def csv_rows(path: Path, separator: str = ",") -> NumberedRows:
    """The fields of each row, quoted as in a spreadsheet; the number is of its last line."""
    csv.field_size_limit(LONGEST_FIELD)
    reader = csv.reader((f"{line}\n" for line in read_lines(path)), strict=True, delimiter=separator)
    try:
        for row in reader:
            if reader.line_num > 1 or not row or not row[0].startswith("sep="):  # Excel's
                yield reader.line_num, row
    except csv.Error as error:
        raise DataError(f"{path}, line {reader.line_num}: {error}") from None


def _separator(path: Path) -> str:
    csv.field_size_limit(LONGEST_FIELD)
    lines = list(islice(read_lines(path), 20))
    fewest = {}
    for mark in ",;\t|":
        rows = [row for row in csv.reader(lines, delimiter=mark) if row]
        whole = rows[:-1] if len(lines) == 20 else rows  # the last field may continue after these lines
        fewest[mark] = min(map(len, whole), default=0)
    return max(fewest, key=lambda mark: fewest[mark])


_QUOTED = re.compile(r'(?:(?<=\t)|^)"(?>[^"]|"")*"(?=\t|$)')


def _is_quoted(path: Path) -> bool:
    """Whether every quote of a tab-separated file is a csv writer's: round the whole header, or where needed.

    Quotes are needed around a quote, and around a tab or line end inside a field.
    """
    row, tabs, needed = "", 0, False
    for number, line in enumerate(read_lines(path), start=1):
        row = f"{row}\n{line}" if row else line
        if row.count('"') % 2 and len(row) < 1 << 20:
            continue  # the field continues on the next line
        rest, quoted = _QUOTED.sub("", row), _QUOTED.findall(row)
        if '"' in rest:
            return False
        tabs = row.count("\t") if number == 1 else tabs
        parted = any(line.count("\t") != tabs for line in row.split("\n"))
        needed |= bool(quoted) and number == 1 and not rest.strip("\t")
        needed |= any('"' in field[1:-1] or (parted and re.search(r"[\t\n]", field)) for field in quoted)
        row = ""
    return needed and not row


def _json(path: Path) -> NumberedRows:
    """A list of objects or strings; else JSON lines under this ending."""
    try:
        held = parse_json("\n".join(read_lines(path)))
    except ValueError:
        return _json_lines(path)
    if isinstance(held, dict):
        raise DataError(
            f"{path}: one object, with the keys {', '.join(held):.200}; expected a list of objects or strings: "
            '[{"text": "..."}, ...], or JSON lines'
        )
    return _objects(path, "row", enumerate(held if isinstance(held, list) else [held], start=1))


def _json_lines(path: Path) -> NumberedRows:
    def values() -> Iterator[tuple[int, Any]]:
        for number, line in enumerate(read_lines(path), start=1):
            try:
                yield number, parse_json(line.strip() or "{}")
            except ValueError as error:
                raise DataError(f"{path}, line {number}: not JSON ({error})") from None

    return _objects(path, "line", values())


def _objects(path: Path, unit: str, values: Iterable[tuple[int, Any]]) -> NumberedRows:
    names: list[str] = []
    for number, value in values:
        row = {"text": value} if isinstance(value, str) else value
        if not isinstance(row, dict):
            raise DataError(
                f'{path}, {unit} {number}: an object such as {{"text": "..."}} is expected, not {json.dumps(row):.40}'
            )
        if not names:
            if not row:
                continue
            names = list(row)
            yield number, names
        fields = _texts([row.get(name, "") for name in names])
        check_characters("".join(fields), f"{path}, {unit} {number}")
        yield number, fields


def _parquet(path: Path) -> NumberedRows:
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise DataError(f"{path}: reading Parquet needs pyarrow: pip install pyarrow, or save a .csv") from None
    try:
        with ParquetFile(path) as file:
            names = file.schema_arrow.names
            yield 1, names
            batches = ([batch[name].to_pylist() for name in names] for batch in file.iter_batches(1024))
            yield from _numbered(batches)
    except ArrowException as error:
        raise DataError(f"{path} cannot be read as Parquet ({error}); is the file complete?") from None


def _dataset(path: Path, split: str) -> NumberedRows:
    try:
        from datasets import load_from_disk
    except ImportError:
        raise DataError(f"{path}: reading a data set needs datasets: pip install datasets, or save a .csv") from None
    dataset: Any = load_from_disk(path)
    if isinstance(dataset, dict):
        if split not in dataset:
            folders = ", ".join(str(path / name) for name in dataset)
            raise DataError(f"{path} holds several data sets, and none is called {split}: name one ({folders})")
        dataset = dataset[split]
    yield 1, dataset.column_names
    yield from _numbered([batch[name] for name in dataset.column_names] for batch in dataset.iter(1024))


def _numbered(batches: Iterable[list[Any]]) -> NumberedRows:
    """The rows of batches of columns, numbered from 1 on."""
    rows = (row for columns in batches for row in zip(*columns, strict=True))
    return ((number, _texts(row)) for number, row in enumerate(rows, start=1))


def _texts(fields: Sequence[Any]) -> list[str]:
    """Each field as text; a value that is not text (null, a list) becomes empty, and the reader that needs it reports
    the error.
    """
    return [str(field) if isinstance(field, str | int | float) and field == field else "" for field in fields]
