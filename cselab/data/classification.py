"""The seven transfer sets from a SentEval folder, checked on load.

Traps of the published files: MR, CR, SUBJ, MPQA and TREC are latin-1, the rest UTF-8. The first four went
through `cat -v`, so MR holds artefacts like "M-i" where an accented letter was; SentEval feeds them to the
encoder as they are, and so do we. CR and MPQA have blank rows that count. The MRPC header starts with a byte
order mark, and its fields hold single double quotes: lines are split on tabs, never by a quote parser.
"""

from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from cselab._util.arguments import check_choice

from .files import DataError, read_fields, read_lines
from .published import PROVENANCES, check_published, published_parts
from .root import senteval_folder
from .rows import rows_hash

CLASSIFICATION_ROWS = {
    "MR": {"all": 10662},
    "CR": {"all": 3775},
    "SUBJ": {"all": 10000},
    "MPQA": {"all": 10606},
    "SST-2": {"train": 67349, "dev": 872, "test": 1821},
    "TREC": {"train": 5452, "test": 500},
    "MRPC": {"train": 4076, "test": 1725},
}
"""Rows of every transfer set and split."""

CLASSIFICATION_TASKS = tuple(CLASSIFICATION_ROWS)

CLASSES = dict.fromkeys(("MR", "CR", "MPQA", "SST-2"), ("negative", "positive")) | {
    "SUBJ": ("subjective", "objective"),
    "TREC": ("ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM"),
    "MRPC": ("different", "paraphrase"),
}
# one file per class, class 1 first as in SentEval (SUBJ: objective is class 1)
FILES_BY_CLASS = {
    "MR": ("MR/rt-polarity.pos", "MR/rt-polarity.neg"),
    "CR": ("CR/custrev.pos", "CR/custrev.neg"),
    "SUBJ": ("SUBJ/subj.objective", "SUBJ/subj.subjective"),
    "MPQA": ("MPQA/mpqa.pos", "MPQA/mpqa.neg"),
}
FILES_BY_SPLIT = {
    "SST-2": {split: f"SST/binary/sentiment-{split}" for split in ("train", "dev", "test")},
    "TREC": {"train": "TREC/train_5500.label", "test": "TREC/TREC_10.label"},
    "MRPC": {split: f"MRPC/msr_paraphrase_{split}.txt" for split in ("train", "test")},
}
KNOWN_DAMAGE = {
    (
        "SUBJ/subj.subjective",
        20,
    ): "this is the truncated copy in circulation, which lets any encoder score above 99; fetch the file again"
}
BLANK_ROW = "."
"""The replacement for a blank row, because an encoder needs a token; SentEval's example encoders do the same."""

LabelledRow = tuple[str, str, int]


@dataclass(frozen=True)
class Labelled:
    """Sentences, or sentence pairs, with a class each.

    Attributes:
        sentences: the sentence of each row; the first one where rows are pairs.
        labels: the class of each row, a number into `classes`.
        classes: the names of the classes.
        name, split: for example "TREC" and "train".
        sentences2: the second sentence of each row, or empty where rows are single sentences.
        provenance: the result of a check of the content: "as published", "as published, other case or tokens",
            "unknown text" (right number of rows, unknown content), or "not checked".

    See also: `cselab.data.Pairs` for pairs with a graded similarity.
    """

    sentences: list[str]
    labels: list[int]
    classes: tuple[str, ...]
    name: str = "labelled"
    split: str = ""
    sentences2: list[str] = field(default_factory=list)
    provenance: str = "not checked"

    def __post_init__(self) -> None:
        if len(self.sentences) != len(self.labels):
            raise ValueError(f"{self.name}: {len(self.sentences)} sentences for {len(self.labels)} labels")
        if self.sentences2 and len(self.sentences2) != len(self.labels):
            raise ValueError(f"{self.name}: {len(self.sentences2)} second sentences for {len(self.labels)} labels")
        strays = set(self.labels) - set(range(len(self.classes)))
        if strays:
            raise ValueError(
                f"{self.name}: label {min(strays)} is none of the {len(self.classes)} classes, counted from 0"
            )

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def texts(self) -> list[str]:
        """Every sentence, repeats included: all first sentences, then all second ones."""
        return [*self.sentences, *self.sentences2]

    @property
    def hash(self) -> str:
        """sha256 over sentences and labels in their order: the same rows, the same hash."""
        seconds = self.sentences2 or [""] * len(self)
        return rows_hash(list(zip(self.sentences, seconds, map(str, self.labels), strict=True)))


def load_classification(task: str, root: str | Path | None = None, split: str = "all") -> Labelled:
    """A transfer set: "MR", "CR", "SUBJ", "MPQA" (split "all"), "SST-2" (train, dev, test), "TREC", "MRPC".

    Text and order are SentEval's: the tokens of the file joined by single spaces, rows sorted by number of
    tokens, then by label (MRPC: tokens of the first sentence, of the second, label). The order decides which
    fold of a row, so the order is part of the protocol. A blank row counts and reads as ".".

    Args:
        root: a SentEval folder or a parent; `data_root()` when None.

    Raises:
        ValueError: an unknown task or split.
        MissingFile: the data folder or a file of the set is missing.
        DataError: a file is damaged; the message has its name and the rows found and expected.

    See also: `cselab.data.load_sts`, `cselab.data.load_clustering`.
    """
    check_choice("transfer set", task, CLASSIFICATION_TASKS)
    check_choice(f"split of {task}", split, CLASSIFICATION_ROWS[task])
    folder = senteval_folder(root)
    if task in FILES_BY_CLASS:
        files = {  # one sentence per line, the class is the file
            part: [(_tokens(line), "", label) for line in read_lines(folder / part, "latin-1")]
            for label, part in zip((1, 0), FILES_BY_CLASS[task], strict=True)
        }
    else:
        part = FILES_BY_SPLIT[task][split]
        files = {part: _one_split(folder / part, task)}
    verdicts = [_checked(rows, part, folder / part) for part, rows in files.items()]
    rows = sorted(chain(*files.values()), key=lambda row: (len(row[0].split()), len(row[1].split()), row[2]))
    return Labelled(
        sentences=[first or BLANK_ROW for first, _, _ in rows],
        labels=[label for _, _, label in rows],
        classes=CLASSES[task],
        name=task,
        split=split,
        sentences2=[second or BLANK_ROW for _, second, _ in rows] if task == "MRPC" else [],
        provenance=max(verdicts, key=PROVENANCES.index),
    )


def _one_split(path: Path, task: str) -> list[LabelledRow]:
    """SST-2, TREC, MRPC: label and text on each line."""
    row_from = {"SST-2": _sst_row, "TREC": _trec_row, "MRPC": _mrpc_row}[task]
    encoding, header = "latin-1" if task == "TREC" else "utf-8", "Quality" if task == "MRPC" else ""
    return [row_from(fields, place) for place, fields in read_fields(path, encoding, header)]


def _sst_row(fields: list[str], place: str) -> LabelledRow:
    if len(fields) != 2:
        raise DataError(f"{place}: {len(fields)} tab-separated fields, 2 expected (sentence, label)")
    return _tokens(fields[0]), "", _label(fields[1], ("0", "1"), place)


def _trec_row(fields: list[str], place: str) -> LabelledRow:
    kind, _, question = " ".join(fields).partition(" ")
    if ":" not in kind or not question.strip():
        raise DataError(f"{place}: expected 'CLASS:detail question', not {fields!r:.40}")
    return _tokens(question), "", _label(kind.partition(":")[0], CLASSES["TREC"], place)


def _mrpc_row(fields: list[str], place: str) -> LabelledRow:
    if len(fields) != 5:
        raise DataError(f"{place}: {len(fields)} tab-separated fields, 5 expected (quality, two ids, two sentences)")
    return _tokens(fields[3]), _tokens(fields[4]), _label(fields[0], ("0", "1"), place)


def _label(text: str, names: tuple[str, ...], place: str) -> int:
    name = text.strip()
    if name not in names:
        raise DataError(f"{place}: label {name!r} is none of {', '.join(names)}")
    return names.index(name)


def _tokens(text: str) -> str:
    """SentEval splits at white space and joins by single spaces."""
    return " ".join(text.split())


def _checked(rows: list[LabelledRow], part: str, path: Path) -> str:
    """The provenance of a file, or an error with its name."""
    known = published_parts("labelled")[part]
    if damage := KNOWN_DAMAGE.get((part, len(rows))):
        raise DataError(f"{path}: {len(rows)} rows found, {known['rows']} expected; {damage}")
    return check_published(rows, known, path)
