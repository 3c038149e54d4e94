"""Sentence pairs with a graded similarity."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cselab.data.files import DataError, read_lines


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


def read_pairs(path: str | Path) -> Pairs:
    """Pairs from a plain file: sentence, tab, sentence, tab, score; one pair a line; also .gz and .xz.

    Split on tabs, never by a quote parser: sentences hold single double quotes. Blank lines are passed over.

    Raises:
        MissingFile: the path is not a file.
        DataError: a line without three fields, a score that is not a number, no pair at all.
    """
    rows = []
    for number, line in enumerate(read_lines(path), start=1):
        if line.strip():
            rows.append(pair_from(line.split("\t"), (0, 1, 2), f"{path}, line {number}"))
    if not rows:
        raise DataError(f"{path}: no pair in it; expected lines of sentence, tab, sentence, tab, score")
    first, second, scores = map(list, zip(*rows, strict=True))
    return Pairs(first, second, scores, name=Path(path).name.split(".")[0])


def pair_from(fields: list[str], columns: tuple[int, int, int], place: str) -> tuple[str, str, float]:
    """First sentence, second sentence and score from the fields of a line, or an error naming the place."""
    if len(fields) <= max(columns):
        raise DataError(f"{place}: {len(fields)} tab-separated fields, at least {max(columns) + 1} expected")
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
