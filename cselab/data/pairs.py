"""Sentence pairs with a graded similarity."""

import math
import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cselab._util.arguments import checked

from .files import DataError, check_characters, is_blank
from .rows import rows_hash
from .tables import (
    DATASET,
    check_corpus,
    holds_rows,
    named_rows,
    names_in_memory,
    refuse_twice,
    rows_in_memory,
    separated_rows,
)


@dataclass(frozen=True)
class Pairs:
    """Sentence pairs and how similar people found them.

    Attributes:
        sentences1, sentences2: the sides of the pairs, row by row.
        scores: the gold similarity of each row, on the data set's own scale (STS: 0 to 5, SICK: 1 to 5).
        name, split: for example "STS-B" and "test".
        subsets: the sub-corpus of each row ("headlines", ...), or empty without sub-corpora.
        provenance: the result of a check of the content: "as published", "as published, other case or tokens",
            "unknown text" (right number of rows, unknown content), or "not checked".
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
        for side in (self.sentences1, self.sentences2):
            for row, sentence in enumerate(side):
                check_characters(sentence, f"{self.name}, row {row}")

    def __len__(self) -> int:
        return len(self.scores)

    @property
    def sentences(self) -> list[str]:
        """Every sentence, repeats included: first all of side 1, then all of side 2."""
        return [*self.sentences1, *self.sentences2]

    @property
    def hash(self) -> str:
        """sha256 over sentences and scores in their order: the same pairs, the same hash."""
        return rows_hash(list(zip(self.sentences1, self.sentences2, map(repr, self.scores), strict=True)))

    def rows(self, indices: Sequence[int], split: str | None = None) -> "Pairs":
        """The pairs at these row numbers, in this order."""
        return Pairs(
            [self.sentences1[i] for i in indices],
            [self.sentences2[i] for i in indices],
            [self.scores[i] for i in indices],
            self.name,
            self.split if split is None else split,
            [self.subsets[i] for i in indices] if self.subsets else [],
        )


PAIR_COLUMNS = ("sentence1", "sentence2", "score")
"""The names of the columns of a table of pairs."""

SIDES = [
    (stem + first, stem + second)
    for stem in ("sentence", "sent", "text", "question", "phrase", "s")
    for first, second in ("12", "ab", "01")
]
SCORE_NAMES = (
    "score",
    "similarityscore",
    "similarity",
    "relatednessscore",
    "relatedness",
    "gold",
    "goldscore",
    "label",
    "isduplicate",
)
SPLIT_NAMES = {"train", "training", "trial", "dev", "val", "valid", "validation", "test"}
"""Further accepted names, compared by lower-case letters and digits only: sentence_A, relatedness_score. The first one
in a table is used. A column that holds only `SPLIT_NAMES`, or is called split, fold or partition, separates the splits.
"""

EXPECTED = (
    f"expected {', '.join(PAIR_COLUMNS)}, by these names (or text1, sentence_a, similarity ...), or in this order"
)


Pair = tuple[str, str, float]
Places = tuple[int, int, int]
"""The columns of the first sentence, the second and the score."""

PairSource = Pairs | str | Path | Iterable[Any]
"""Scored pairs in the forms that users have them in; `as_pairs` reads each."""


def as_pairs(source: PairSource, name: str = "pairs", split: str | None = None) -> Pairs:
    """Scored pairs from tables, data sets, dictionaries or rows.

    Args:
        source: `Pairs`; (sentence1, sentence2, score) tuples or rows of an array; InputExamples; a table in memory
            (`cselab.data.tables.rows_in_memory`: a DataFrame, a `datasets.Dataset`, dicts ...) with columns of these
            names; or a file that `read_pairs` reads.
        name: the name of pairs without one.
        split: the split of a table with a column of splits; with several splits, None means "test", with a warning.

    Raises:
        DataError: a row without two sentences and a finite score, a table without a column, or no pairs at all.
        MissingFile: the file does not exist.

    >>> as_pairs([("a dog", "a puppy", 4), ("a dog", "a stone", 0)]).scores
    [4.0, 0.0]
    >>> as_pairs([{"similarity": 4, "text_a": "a dog", "text_b": "a puppy"}]).sentences2
    ['a puppy']
    """
    if isinstance(source, Pairs):
        return source
    if isinstance(source, str | Path):
        return read_pairs(source, split)
    if not holds_rows(source):
        raise DataError(f"{name}: {source!r:.80} holds no pairs; a pair is two sentences and a score")
    names, rows = rows_in_memory(source)
    held = [(f"{name}, row {number}", _fields(row)) for number, row in enumerate(rows)]
    places = (0, 1, 2)
    if names:
        places = _by_name(names, name)
        held, split = _one_split(names, held, places, name, split)
    return _pairs([_row([row[place] for place in places] if names else row, at) for at, row in held], name, name, split)


def is_pairs(source: object) -> bool:
    """Whether `as_pairs` would try to read this: pairs, a table, rows, or a file's name, and no suites."""
    if isinstance(source, str | Path):
        return isinstance(source, Path) or Path(source).suffix != "" or Path(source).exists()
    if isinstance(source, list | tuple):
        return len(source) > 0 and not isinstance(source[0], str) and not hasattr(source[0], "collect")
    return not hasattr(source, "collect") or hasattr(source, "columns")


def has_pairs(table: Any) -> bool:
    """Whether the columns of a table in memory are those of scored pairs."""
    return _places(names_in_memory(table)) is not None


@checked
def read_pairs(path: str | Path, split: str | None = None) -> Pairs:
    """Pairs from a file or the folder of a data set; also .gz and .xz.

    `path` may be any table that `cselab.data.tables` reads. The names of the columns decide (`PAIR_COLUMNS`, or a
    spelling of `SIDES` and `SCORE_NAMES`). A file of separated values needs no names: then a line has sentence1,
    sentence2 and score first, or its only two columns of text and its only column of numbers are used, and a warning
    names them. Blank lines are passed over.

    Args:
        path: the file; separated values unless its name ends in .jsonl, .json or .parquet.
        split: the rows of this split, if a column "split" (or a folder of several data sets) has several; None means
            "test", with a warning.

    Raises:
        MissingFile: the path is not a file.
        DataError: ambiguous columns, a line with missing fields, a "sentence" that is not text, a score that is not a
            number, no pair at all; several splits without the requested one.
    """
    file = check_corpus(path)
    if (file / DATASET[1]).is_file():
        split = split or "test"
    named = named_rows(file, split or "test")
    rows = separated_rows(file) if named is None else named
    held = [(f"{path}, line {number}", row) for number, row in rows if any(field.strip() for field in row)]
    names = held[0][1] if held else []
    if named is not None or _places(names) is not None:
        places, held = _by_name(names, path), held[1:]
    else:
        places, names = _by_content([row for _, row in held], path), []
    held, split = _one_split(names, held, places, path, split)
    return _pairs([pair_from(row, places, at) for at, row in held], Path(path).name.split(".")[0], path, split)


def _places(names: Sequence[str]) -> Places | None:
    """The places of the sentences and the score among the columns."""
    plain = [_plain(str(name)) for name in names]
    sides = next((sides for sides in SIDES if set(sides) <= set(plain)), None)
    score = next((score for score in SCORE_NAMES if score in plain), None)
    return None if sides is None or score is None else (*map(plain.index, sides), plain.index(score))  # type: ignore


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", name).lower()


Held = list[tuple[str, Any]]


def _by_name(names: Sequence[str], source: str | Path) -> Places:
    places = _places(names)
    if places is None:
        raise DataError(f"{source}: its columns are {', '.join(names):.200}; {EXPECTED}")
    plain = [_plain(str(name)) for name in names]
    refuse_twice(source, plain, *(plain[place] for place in places))
    return places


def _one_split(
    names: Sequence[str], rows: Held, places: Sequence[int], source: str | Path, split: str | None
) -> tuple[Held, str | None]:
    """The rows of one split with its name, if a column has several splits."""
    for column, values in enumerate(zip(*(row for _, row in rows), strict=False)):
        found = dict.fromkeys(map(str, values))
        called = column < len(names) and _plain(names[column]) in ("split", "fold", "partition")
        if column in places or not (called or all(name.lower() in SPLIT_NAMES for name in found)):
            continue
        chosen = split or ("test" if len(found) > 1 else str(values[0]))
        kept = [(at, row) for at, row in rows if str(row[column]).lower() == chosen.lower()]
        told = f"{source}: its column {names[column] if names else column + 1} names the splits {', '.join(found):.200}"
        if not kept:
            raise DataError(f"{told}, not {chosen}: name one, as_pairs(..., split=NAME), or keep the rows of one")
        if split is None and len(found) > 1:
            warnings.warn(f"{told}: only {chosen} is taken", stacklevel=4)
        return kept, chosen
    return rows, split


def _by_content(rows: Sequence[Sequence[str]], source: str | Path) -> Places:
    """The places of the columns in rows without names: two columns of text and one of numbers, or else the first
    three.
    """
    columns = list(zip(*rows, strict=False))
    numbers = [place for place, column in enumerate(columns) if all(map(_is_number, column))]
    texts = [
        place
        for place, column in enumerate(columns)
        if place not in numbers and any(map(_has_word, column)) and not set(map(str.lower, column)) <= SPLIT_NAMES
    ]
    if len(numbers) > 1:  # numbers of rows and years have no fractions
        numbers = [place for place in numbers if "." in "".join(columns[place])]
    if len(texts) > 2:  # names of sources are single words
        texts = [place for place in texts if 2 * sum(" " in text for text in columns[place]) > len(rows)]
    if len(texts) == 2 and len(numbers) == 1:
        places = (texts[0], texts[1], numbers[0])
        if places != (0, 1, 2):
            first, second, score = (place + 1 for place in places)
            warnings.warn(
                f"{source}: no line of names; columns {first} and {second} are taken for the sentences, {score} for "
                "the score",
                stacklevel=3,
            )
        return places
    if len(columns) > 3 or (len(columns) == 3 and not any(map(_is_number, rows[0]))):
        raise DataError(
            f"{source}: its columns have no known names, the first line is {', '.join(rows[0]):.200}; {EXPECTED}"
        )
    return 0, 1, 2


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _has_word(text: str) -> bool:
    """Whether a cell has a word: letters without digits, which ids have."""
    return any(any(map(str.isalpha, word)) and not any(map(str.isdigit, word)) for word in text.split())


def _pairs(rows: list[Pair], name: str, source: str | Path, split: str | None) -> Pairs:
    if not rows:
        raise DataError(f"{source}: no pair found; a pair is two sentences and a score")
    first, second, scores = map(list, zip(*rows, strict=True))
    for side, sentences in (("first", first), ("second", second)):
        if not any(map(_has_word, sentences)):
            raise DataError(
                f"{source}: no {side} sentence has a word (the first is {sentences[0]!r:.40}): is it a column of "
                f"numbers or ids? {EXPECTED}"
            )
    _warn_of_labels(scores, source)
    return Pairs(first, second, scores, name=name, split=split or "")


def _warn_of_labels(scores: list[float], source: str | Path) -> None:
    """Warn if the scores look like classes, or like grades with a mark for "no gold label"."""
    unlabelled, grades = scores.count(-1), {score for score in scores if score != -1}
    if unlabelled and grades and min(grades) >= 0 and grades != {1.0}:
        warnings.warn(
            f"{source}: {unlabelled} of {len(scores)} rows have the grade -1, which usually means that the gold label "
            "is missing; they count as the lowest grade. Remove these rows",
            stacklevel=4,
        )
    elif grades == {0.0, 1.0, 2.0} and len(scores) > len(grades):
        warnings.warn(
            f"{source}: the scores are 0, 1 and 2, taken as grades. If they are classes (of NLI 0 is entailment, 2 "
            "contradiction), their order is not a similarity",
            stacklevel=4,
        )


def _fields(row: Any) -> Any:
    """A row of pairs as its fields; an InputExample has its score as the label."""
    return (*row.texts, row.label) if hasattr(row, "texts") else row


def _row(row: Any, place: str) -> Pair:
    if not hasattr(row, "__len__") or len(row) != 3 or not all(isinstance(side, str) for side in row[:2]):
        raise DataError(f"{place}: {row!r:.80} is not two sentences and a score")
    return pair_from([*row[:2], str(row[2])], (0, 1, 2), place)


def pair_from(fields: list[str], columns: tuple[int, ...], place: str) -> Pair:
    """First sentence, second sentence and score from the fields of a line, or an error naming the place."""
    if len(fields) <= max(columns):
        raise DataError(f"{place}: at least {max(columns) + 1} fields are expected, not {len(fields)}; {EXPECTED}")
    first, second, score = (fields[column].strip() for column in columns)
    if is_blank(first) or is_blank(second):
        raise DataError(f"{place}: a sentence of the pair is blank")
    return first, second, number_from(score, place)


def number_from(text: str, place: str) -> float:
    """A finite score, or an error that names the place."""
    try:
        value = float(text)
    except ValueError:
        raise DataError(
            f"{place}: the score {text!r:.80} is not a number (decimals have a point); {EXPECTED}"
        ) from None
    if not math.isfinite(value):
        raise DataError(f"{place}: the score {text!r} is not finite")
    return value
