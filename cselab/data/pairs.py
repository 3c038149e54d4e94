"""Sentence pairs with a graded similarity."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from cselab.data.files import DataError, ending
from cselab.data.tables import csv_rows, tab_rows


@dataclass(frozen=True)
class Pairs:
    """Sentence pairs and how similar people found them.

    Attributes:
        sentences1, sentences2: the two sides, row by row.
        scores: the gold similarity of each row, on the data set's own scale (STS: 0 to 5, SICK: 1 to 5).
        name, split: what the pairs are, for instance "STS-B" and "test".
        subsets: the sub-corpus of each row ("headlines", ...), or empty where there are none.
        provenance: what a check of the content said: "as published", "as published, other case or tokens",
            "unknown text" (right number of rows, content not known), or "not checked".
    """

    sentences1: list[str]
    sentences2: list[str]
    scores: list[float]
    name: str = "pairs"
    split: str = ""
    subsets: list[str] = field(default_factory=list)
    provenance: str = "not checked"

    def __post_init__(self) -> None:
        lengths = {len(self.sentences1), len(self.sentences2), len(self.scores)}
        if len(lengths) > 1:
            raise ValueError(
                f"{self.name}: {len(self.sentences1)} first sentences, {len(self.sentences2)} second ones "
                f"and {len(self.scores)} scores; a pair needs one of each"
            )
        if self.subsets and len(self.subsets) != len(self.scores):
            raise ValueError(f"{self.name}: {len(self.subsets)} subset names for {len(self.scores)} pairs")

    def __len__(self) -> int:
        return len(self.scores)

    @property
    def sentences(self) -> list[str]:
        """Every sentence of both sides, repeats included: first all of side 1, then all of side 2."""
        return [*self.sentences1, *self.sentences2]

    @property
    def hash(self) -> str:
        """sha256 over sentences and scores in their order: the same pairs, the same hash."""
        digest = hashlib.sha256()
        for first, second, score in zip(self.sentences1, self.sentences2, self.scores, strict=True):
            digest.update(f"{first}\t{second}\t{score!r}\n".encode())
        return digest.hexdigest()

    def rows(self, indices: Sequence[int], split: str | None = None) -> Pairs:
        """The pairs at these row numbers, in this order."""
        return Pairs(
            [self.sentences1[i] for i in indices],
            [self.sentences2[i] for i in indices],
            [self.scores[i] for i in indices],
            self.name,
            self.split if split is None else split,
            [self.subsets[i] for i in indices] if self.subsets else [],
        )


COLUMNS = ("sentence1", "sentence2", "score")
"""The names of the columns of a table of pairs."""


@runtime_checkable
class Table(Protocol):
    """What is read of a pandas DataFrame: its columns by name."""

    @property
    def columns(self) -> Any: ...

    def __getitem__(self, name: str, /) -> Any: ...


PairSource = Pairs | Table | str | Path | Sequence[tuple[str, str, float]]
"""Scored pairs in the forms that users have them in; `as_pairs` reads each."""


def as_pairs(source: PairSource, name: str = "pairs") -> Pairs:
    """Scored pairs from whatever holds them.

    Args:
        source: `Pairs`; (sentence1, sentence2, score) tuples; a DataFrame with columns of these names; or a file that
            `read_pairs` reads.
        name: of pairs that bring none.

    Raises:
        DataError: a row without two sentences and a finite score, or a table without a column; it is named.
        MissingFile: there is no such file.

    >>> as_pairs([("a dog", "a puppy", 4), ("a dog", "a stone", 0)]).scores
    [4.0, 0.0]
    """
    if isinstance(source, Pairs):
        return source
    if isinstance(source, str | Path):
        return read_pairs(source)
    if hasattr(source, "columns"):
        lost = [column for column in COLUMNS if column not in source.columns]
        if lost:
            raise DataError(
                f"{name}: a table of pairs has the columns {', '.join(COLUMNS)}; "
                f"this one lacks {', '.join(lost)} and has {', '.join(map(str, source.columns))}"
            )
        table: Any = source
        source = list(zip(*(table[column] for column in COLUMNS), strict=True))
    return _pairs([_row(row, f"{name}, row {number}") for number, row in enumerate(source)], name, name)


def is_pairs(source: object) -> bool:
    """Whether `as_pairs` would try to read this: pairs, a table, a sequence of tuples, or a file's name."""
    if isinstance(source, str | Path):
        return isinstance(source, Path) or Path(source).suffix != "" or Path(source).is_file()
    if isinstance(source, Sequence):
        return len(source) > 0 and isinstance(source[0], tuple | list)
    return isinstance(source, Pairs) or hasattr(source, "columns")


def read_pairs(path: str | Path) -> Pairs:
    """Pairs from a plain file: sentence1, sentence2 and score, one pair a line; also .gz and .xz.

    Fields are parted by tabs, never by a quote parser, since sentences hold single double quotes; in a .csv file by
    commas, with quotes as a spreadsheet writes them. A first line with the three names may put the columns in
    another order, among others. Blank lines are passed over.

    Raises:
        MissingFile: the path is not a file.
        DataError: a line without its fields, a score that is not a number, no pair at all.
    """
    rows: list[Any] = []
    columns: tuple[int, ...] = (0, 1, 2)
    read = csv_rows if ending(path) == ".csv" else tab_rows
    for number, fields in read(Path(path)):
        if number == 1 and set(COLUMNS) <= {field.strip().lower() for field in fields}:
            named = [field.strip().lower() for field in fields]
            columns = tuple(named.index(column) for column in COLUMNS)
        elif any(field.strip() for field in fields):
            rows.append(pair_from(fields, columns, f"{path}, line {number}"))
    return _pairs(rows, Path(path).name.split(".")[0], path)


def _pairs(rows: list[tuple[str, str, float]], name: str, place: str | Path) -> Pairs:
    if not rows:
        raise DataError(f"{place}: no pair in it; a pair is a sentence, another sentence and a score")
    first, second, scores = map(list, zip(*rows, strict=True))
    return Pairs(first, second, scores, name=name)


def _row(row: Sequence[Any], place: str) -> tuple[str, str, float]:
    if len(row) != 3 or not all(isinstance(side, str) for side in row[:2]):
        raise DataError(f"{place}: {row!r:.80} is not a sentence, another sentence and a score")
    return pair_from([*row[:2], str(row[2])], (0, 1, 2), place)


def pair_from(fields: list[str], columns: tuple[int, ...], place: str) -> tuple[str, str, float]:
    """First sentence, second sentence and score from the fields of a line, or an error naming the place."""
    if len(fields) <= max(columns):
        raise DataError(f"{place}: at least {max(columns) + 1} fields are expected, not {len(fields)}")
    first, second, score = (fields[column].strip() for column in columns)
    if not first or not second:
        raise DataError(f"{place}: a sentence of the pair is blank")
    return first, second, number_from(score, place)


def number_from(text: str, place: str) -> float:
    """A finite score, or an error that names the place."""
    try:
        value = float(text)
    except ValueError:
        raise DataError(f"{place}: the score {text!r} is not a number") from None
    if not math.isfinite(value):
        raise DataError(f"{place}: the score {text!r} is not finite")
    return value
