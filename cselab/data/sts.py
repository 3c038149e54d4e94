"""The seven STS sets from a SentEval folder, checked on load.

A set is made of parts, one file (or one input and one gold file) each; every part is checked against the published one
(`sts_parts.json`). cselab refuses a truncated, re-encoded or re-quoted file, and names it.
"""

from pathlib import Path

from cselab._util.arguments import check_choice

from .files import DataError, read_fields, read_lines
from .pairs import Pair, Pairs, number_from, pair_from
from .published import PROVENANCES, check_published, published_parts
from .root import senteval_folder

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
# file of every split, columns of sentence, sentence and score, and the start of the header line
ONE_FILE = {
    "STS-B": ("STS/STSBenchmark/sts-{}.csv", (5, 6, 4), ""),
    "SICK-R": ("SICK/SICK_{}.txt", (1, 2, 3), "pair_ID"),
}
FILE_SPLITS = {"SICK-R": {"dev": "trial", "test": "test_annotated"}}

PairList = list[Pair]


def load_sts(task: str, root: str | Path | None = None, split: str = "test") -> Pairs:
    """The pairs of an STS set: "STS12" ... "STS16" (test), "STS-B" and "SICK-R" (train, dev, test, full).

    As in SentEval, the text is the tokens of the file joined by single spaces. Pairs
    without a gold score (the blank gold lines of STS15 and STS16) are left out. `subsets` names the
    sub-corpus of each pair, for "full" the split it came from.

    Args:
        root: a SentEval folder or a parent; `data_root()` when None.

    Raises:
        ValueError: an unknown task or split.
        MissingFile: the data folder or a file of the set is missing.
        DataError: a file is damaged; the message has its name and the rows found and expected.
    """
    check_choice(f"split of {task}", split, sts_splits(task))
    folder = senteval_folder(root)
    if task in SUBSETS:
        parts = {subset: _two_files(folder, task, subset) for subset in SUBSETS[task]}
    else:
        names = tuple(STS_PAIRS[task]) if split == "full" else (split,)
        parts = {name: _one_file(folder, task, name) for name in names}
    known = published_parts("sts")
    verdicts = [check_published(rows, known[f"{task}/{name}"], path) for name, (rows, path) in parts.items()]
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
    check_choice("STS set", task, STS_TASKS)
    return (*STS_PAIRS[task], "full") if task in ONE_FILE else tuple(STS_PAIRS[task])


def _two_files(folder: Path, task: str, subset: str) -> tuple[PairList, Path]:
    """STS12 to STS16: sentences in one file, scores in a second file; a blank score is an unscored pair."""
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
            rows.append(_row(fields, (0, 1, 2), f"{sentences_file}, line {number}"))
    return rows, sentences_file


def _one_file(folder: Path, task: str, split: str) -> tuple[PairList, Path]:
    """STS-B and SICK-R: one tab-separated file a split. Split on tabs: some fields hold one double quote."""
    pattern, columns, header = ONE_FILE[task]
    path = folder / pattern.format(FILE_SPLITS.get(task, {}).get(split, split))
    return [_row(fields, columns, place) for place, fields in read_fields(path, header=header)], path


def _row(fields: list[str], columns: tuple[int, ...], place: str) -> Pair:
    """A pair and its score on the scale of STS. SentEval splits at white space and joins by single spaces.

    Raises:
        DataError: a score that cannot be one.
    """
    first, second, score = pair_from(fields, columns, place)
    if not 0 <= score <= 5:
        raise DataError(f"{place}: the score {score:g} is not between 0 and 5; are the columns shifted?")
    return " ".join(first.split()), " ".join(second.split()), score
