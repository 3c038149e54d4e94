"""The seven STS sets from a SentEval folder, checked on load.

A set is made of parts, one file (or one input and one gold file) each. Every part is held against what is
known of the published files (`sts_parts.json`): the number of scored pairs, the gold scores, the words, the
double quotes. A file that is cut short, re-encoded or re-quoted is refused by name. The words are compared
without case, white space and punctuation, so that the original cased release passes as well as SentEval's
tokens. A part with the right number of pairs but neither the known words nor the known scores is some other
data set in the same layout: it is read, and its provenance says "unknown text".
"""

from __future__ import annotations

import hashlib
import json
import string
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from cselab.data.files import DataError, read_lines
from cselab.data.pairs import Pairs, number_from, pair_from
from cselab.data.root import senteval_folder

STS_PAIRS = {
    "STS12": {"test": 3108},
    "STS13": {"test": 1500},
    "STS14": {"test": 3750},
    "STS15": {"test": 3000},
    "STS16": {"test": 1186},
    "STS-B": {"train": 5749, "dev": 1500, "test": 1379},
    "SICK-R": {"train": 4500, "dev": 500, "test": 4927},
}
"""Scored pairs of every set and split. STS13 is without SMT, which its licence keeps out of SentEval."""

STS_TASKS = tuple(STS_PAIRS)

SUBSETS = {
    "STS12": ("MSRpar", "MSRvid", "SMTeuroparl", "surprise.OnWN", "surprise.SMTnews"),
    "STS13": ("FNWN", "headlines", "OnWN"),
    "STS14": ("deft-forum", "deft-news", "headlines", "images", "OnWN", "tweet-news"),
    "STS15": ("answers-forums", "answers-students", "belief", "headlines", "images"),
    "STS16": ("answer-answer", "headlines", "plagiarism", "postediting", "question-question"),
}
# file of every split, columns of sentence, sentence and score, and what the header line starts with
ONE_FILE = {
    "STS-B": ("STS/STSBenchmark/sts-{}.csv", (5, 6, 4), ""),
    "SICK-R": ("SICK/SICK_{}.txt", (1, 2, 3), "pair_ID"),
}
FILE_SPLITS = {"SICK-R": {"dev": "trial", "test": "test_annotated"}}

INVISIBLE_IN_WORDS = str.maketrans("", "", string.punctuation)

Rows = list[tuple[str, str, float]]


def load_sts(task: str, root: str | Path | None = None, split: str = "test") -> Pairs:
    """The pairs of an STS set: "STS12" ... "STS16" (test), "STS-B" and "SICK-R" (train, dev, test, full).

    The text is what SentEval feeds to an encoder: the tokens of the file joined by single spaces. Pairs
    without a gold score (the blank gold lines of STS15 and STS16) are left out. `subsets` names the
    sub-corpus of each pair, for "full" the split it came from.

    Args:
        root: a SentEval folder or one above it; `data_root()` when None.

    Raises:
        ValueError: an unknown task or split.
        MissingFile: no data folder, or a file of the set is not in it.
        DataError: a file is damaged; the message names it, with the rows found and expected.
    """
    splits = sts_splits(task)
    if split not in splits:
        raise ValueError(f"{task} has no split {split!r}; it has: {', '.join(splits)}")
    folder = senteval_folder(root)
    if task in SUBSETS:
        parts = {subset: _two_files(folder, task, subset) for subset in SUBSETS[task]}
        files = {subset: f"{task}/{subset}" for subset in parts}
    else:
        names = tuple(STS_PAIRS[task]) if split == "full" else (split,)
        parts = {name: _one_file(folder, task, name) for name in names}
        files = {name: f"{task}/{name}" for name in names}
    verdicts = [_checked(rows, files[name], path) for name, (rows, path) in parts.items()]
    rows = [(row, name) for name, (rows, _) in parts.items() for row in rows]
    return Pairs(
        sentences1=[first for (first, _, _), _ in rows],
        sentences2=[second for (_, second, _), _ in rows],
        scores=[score for (_, _, score), _ in rows],
        name=task,
        split=split,
        subsets=[name for _, name in rows] if task in SUBSETS or split == "full" else [],
        provenance=max(verdicts, key=PROVENANCES.index),
    )


def sts_splits(task: str) -> tuple[str, ...]:
    """The splits of an STS set; "full" is all splits of STS-B or SICK-R together."""
    if task not in STS_PAIRS:
        raise ValueError(f"unknown STS set {task!r}; the sets are: {', '.join(STS_TASKS)}")
    return (*STS_PAIRS[task], "full") if task in ONE_FILE else tuple(STS_PAIRS[task])


def _two_files(folder: Path, task: str, subset: str) -> tuple[Rows, Path]:
    """STS12 to STS16: sentences in one file, scores in another; a blank score is an unscored pair."""
    sentences_file = folder / "STS" / f"{task}-en-test" / f"STS.input.{subset}.txt"
    scores_file = sentences_file.with_name(f"STS.gs.{subset}.txt")
    sentences, scores = list(read_lines(sentences_file)), list(read_lines(scores_file))
    if len(sentences) != len(scores):
        raise DataError(
            f"{sentences_file} has {len(sentences)} rows but {scores_file.name} has {len(scores)}; "
            "they go together line by line, so one of them is cut short"
        )
    rows = []
    for number, (line, score) in enumerate(zip(sentences, scores, strict=True), start=1):
        if score.strip():
            number_from(score, f"{scores_file}, line {number}")
            fields = [*line.split("\t")[:2], score]
            rows.append(_tokens(pair_from(fields, (0, 1, 2), f"{sentences_file}, line {number}")))
    return rows, sentences_file


def _one_file(folder: Path, task: str, split: str) -> tuple[Rows, Path]:
    """STS-B and SICK-R: one tab-separated file a split. Split on tabs: some fields hold one double quote."""
    pattern, columns, header = ONE_FILE[task]
    path = folder / pattern.format(FILE_SPLITS.get(task, {}).get(split, split))
    rows = []
    for number, line in enumerate(read_lines(path), start=1):
        if number == 1 and header:
            if not line.startswith(header):
                raise DataError(
                    f"{path}, line 1: a header that starts with {header!r} was expected, not {line[:40]!r}"
                )
        else:
            rows.append(_tokens(pair_from(line.split("\t"), columns, f"{path}, line {number}")))
    return rows, path


def _tokens(row: tuple[str, str, float]) -> tuple[str, str, float]:
    """SentEval splits at white space and joins by single spaces."""
    first, second, score = row
    return " ".join(first.split()), " ".join(second.split()), score


PROVENANCES = ("as published", "as published, other case or tokens", "unknown text")


@cache
def published_parts() -> dict[str, dict]:
    """What is known of each published part: rows, and hashes of gold scores, words and text."""
    return json.loads(Path(__file__).with_name("sts_parts.json").read_text())


def _checked(rows: Rows, part: str, path: Path) -> str:
    """Hold a part against the published one: its provenance, or an error that names the file."""
    known, found = published_parts()[part], describe_part(rows)
    if found["rows"] != known["rows"]:
        raise DataError(
            f"{path}: {found['rows']} scored pairs found, {known['rows']} expected; is it complete?"
        )
    if found["text"] == known["text"] and found["scores"] == known["scores"]:
        return "as published"
    same_words, same_scores = found["words"] == known["words"], found["scores"] == known["scores"]
    if same_scores and not same_words:
        raise DataError(
            f"{path}: {found['rows']} pairs as expected, with the gold scores of {part}, but not its words; "
            "was the file re-encoded or edited?"
        )
    if same_words and not same_scores:
        raise DataError(
            f"{path}: the sentences of {part}, but not its gold scores; were they edited or re-ordered?"
        )
    if same_words and found["quotes"] != known["quotes"]:
        raise DataError(
            f"{path}: {found['quotes']} double quotes found, {known['quotes']} expected; was it written "
            "by a CSV writer? (its fields are plain text between tabs, with no quoting)"
        )
    return "as published, other case or tokens" if same_words else "unknown text"


def describe_part(rows: Rows) -> dict[str, int | str]:
    """Rows, double quotes and hashes of a part: the text as it is, its words alone, its gold scores."""
    texts = [f"{first}\t{second}" for first, second, _ in rows]
    return {
        "rows": len(rows),
        "quotes": sum(text.count('"') for text in texts),
        "scores": _digest(f"{score:g}" for _, _, score in rows),
        "words": _digest("".join(text.casefold().translate(INVISIBLE_IN_WORDS).split()) for text in texts),
        "text": _digest(texts),
    }


def _digest(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
