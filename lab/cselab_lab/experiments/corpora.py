"""Training corpora from the Hugging Face hub: the papers', from the data set that SimCSE publishes, and a small one.

* "wiki1m": a million sentences of English Wikipedia, one per line, the corpus of unsupervised SimCSE and later methods.
* "nli": 275,601 premises of SNLI and MNLI, each with an entailment and a contradiction, the corpus of supervised
  methods. Published as CSV with the columns sent0, sent1, hard_neg; written here as a tab-separated table with the
  columns sentence, entailment, contradiction, as `cselab.data.read_rows` reads it.
* "simplewiki": 102,225 sentences of Simple English Wikipedia, one per line: the simple sides of the pairs of Kauchak
  (2013), tokenised by their author, as sentence-transformers trains on them. The sentences are short and cover all
  subjects.

We know the number of rows of the first two but not their text, and the SHA-256 of the third file.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from cselab._util.arguments import check_choice
from cselab._util.checksums import sha256_of
from cselab._util.writing import folder_written_whole
from cselab.data import MissingFile, data_root, read_sentences
from cselab.data.fetch import ARCHIVE, Unreachable, download
from cselab.data.files import DataError, read_lines
from cselab.data.rows import read_rows
from cselab.data.tables import SIMCSE_NAMES


@dataclass(frozen=True)
class Corpus:
    """The description of a corpus: its file on the hub, our file, the number of rows, and the reader.

    `source` is a repository of the hub and a commit, `sha256` of the published file, where known.
    """

    published: str
    file: str
    rows: int
    lines: Callable[[Path], Iterator[str]]
    source: tuple[str, str] = ARCHIVE[:2]
    sha256: str | None = None


def _triples(path: Path) -> Iterator[str]:
    """Tab-separated lines under a header; white space within a text, tabs and line ends too, becomes one space."""
    columns = tuple(SIMCSE_NAMES.values())
    yield "\t".join(columns)
    for row in read_rows(path, columns):
        yield "\t".join(" ".join(text.split()) for text in row)


def _simple_sides(path: Path) -> Iterator[str]:
    """The second text of each JSON pair (one per line): the sentence of Simple English Wikipedia."""
    for line in read_lines(path):  # of a file whose SHA-256 was checked
        _, simple = json.loads(line)
        yield " ".join(simple.split())


CORPORA = {
    "wiki1m": Corpus("wiki1m_for_simcse.txt", "wiki1m.txt", 1_000_000, read_lines),
    "nli": Corpus("nli_for_simcse.csv", "nli.tsv", 275_601, _triples),
    "simplewiki": Corpus(
        "SimpleWiki.jsonl.gz",
        "simplewiki.txt",
        102_225,
        _simple_sides,
        ("embedding-data/simple-wiki", "caf5a2767ebadff0c13d2abdb1ac772fa0a33b3e"),
        "8cbfe5a7ba8cf5f61c07e3c33bcbc4a11bdb3e4596b09ad9ad08a46e2d2e35c2",
    ),
}
"""The corpora by their name for `fetch_corpus`."""


TEXTS = {
    "wiki1m": ("corpora/wiki1m.txt", "corpora/wiki1m_for_simcse.txt", "wiki1m_for_simcse.txt", "wiki1m.txt"),
    "nli": ("corpora/nli.tsv", "nli.tsv"),
}
"""Where a text may lie in the data folder; `cselab data fetch NAME` gets it."""


@lru_cache(maxsize=4)
def corpus(
    name: str,
    columns: tuple[str, ...] = ("sentence",),
    file: Path | None = None,
    sha256: str | None = None,
    words: tuple[int, int] | None = None,
) -> list:
    """The rows of a corpus: sentences, or for a method with several columns tuples of texts, from the world only.

    "world:N"      N sentences of the bundled world
    "wiki1m"       the million sentences of Wikipedia that SimCSE publishes
    "nli"          the premises of the natural language inference pairs that SimCSE publishes
    anything else  a text file, one sentence per line

    Args:
        name: which.
        columns: the columns of a row.
        file: the file of the text, if it is not where its name says.
        sha256: the SHA-256 that the file must have.
        words: the least and the most words of a sentence; all sentences when None.

    Raises:
        MissingFile: the text is not in the data folder; names where it was looked for.
        DataError: the file has a different SHA-256, or fewer or more rows than the corpus of that name.
    """
    kind, _, number = name.partition(":")
    if kind == "world":
        from cselab.evaluators.world import the_world

        world, size = the_world(), int(number)
        return world.rows(columns, size) if columns != ("sentence",) else [one.text for one in world.sentences(size)]
    place = file or text_file(name)
    if sha256 is not None and (digest := sha256_of(place)) != sha256:
        raise DataError(f"{place} is not {name}: its SHA-256 begins with {digest[:12]}, not {sha256[:12]}")
    rows = list(read_sentences(place))
    if name in CORPORA and len(rows) != CORPORA[name].rows:
        raise DataError(f"{place} has {len(rows):,} rows, not the {CORPORA[name].rows:,} of {name}: is it complete?")
    return rows if words is None else [row for row in rows if words[0] <= len(row.split()) <= words[1]]


def spread_sample(rows: list, count: int | None) -> list:
    """So many rows at even distances, because neighbours in a text share a subject; all when None.

    >>> spread_sample(list("abcdefg"), 3)
    ['a', 'c', 'e']
    """
    return rows if count is None else rows[:: max(1, len(rows) // count)][:count]


def text_file(name: str) -> Path:
    """The file of a text by its name: in the data folder, or a path.

    Raises:
        MissingFile: it is not there; names where it was looked for.
    """
    if name not in TEXTS:
        if not Path(name).is_file():
            raise MissingFile(f"no file of the text {name} was given: add --corpus FILE")
        return Path(name)
    root = data_root()
    for place in TEXTS[name]:
        if root is not None and (root / place).is_file():
            return root / place
    where = root or "the data folder (not found: set CSELAB_DATA, or let the command make one)"
    raise MissingFile(
        f"no {TEXTS[name][-1]} in {where}: looked for {', '.join(TEXTS[name])}; get it with: cselab data fetch {name}"
    )


def fetch_corpus(name: str, folder: str | Path) -> tuple[Path, bool]:
    """Get a corpus into a folder; returns the file, and whether it was fetched (False: already complete).

    A copy of the published file in the folder is used; otherwise the file is downloaded. An interrupted download
    continues. The file is read line by line and put in place only if all rows are present. An existing file with a
    different number of rows is not overwritten.

    Raises:
        ValueError: an unknown corpus.
        DataError: too few or too many rows, or invalid rows; nothing is written.
        Unreachable: no network, or the download broke off.
        OSError: the folder cannot be written.
    """
    check_choice("corpus", name, CORPORA)
    corpus, folder = CORPORA[name], Path(folder)
    place, header = folder / corpus.file, int(corpus.lines is _triples)
    if place.exists():
        rows = sum(1 for _ in read_lines(place)) - header
        if rows != corpus.rows:
            raise DataError(
                f"{place} exists with {rows:,} rows, not {corpus.rows:,}: move the file away to fetch {name}"
            )
        return place, False
    published = folder / corpus.published
    if not published.exists():
        try:
            published = download(*corpus.source, corpus.published)
        except Unreachable as error:
            raise Unreachable(
                f"{error}. Run the command again when the hub can be reached: the download continues. "
                f"Or copy {corpus.published} into {folder} from a different machine; cselab then uses the copy"
            ) from None
    if corpus.sha256 is not None and (digest := sha256_of(published)) != corpus.sha256:
        raise DataError(
            f"{published} is not the published file: its SHA-256 begins with {digest[:12]}, not "
            f"{corpus.sha256[:12]}; delete the file and run the command again"
        )
    with folder_written_whole(folder, last=place.name) as aside:
        count = -header
        with open(aside / place.name, "w", encoding="utf-8", newline="\n") as file:
            for line in corpus.lines(published):
                file.write(f"{line}\n")
                count += 1
        if count != corpus.rows:
            raise DataError(
                f"{corpus.published} of {corpus.source[0]} has {count:,} rows, {corpus.rows:,} expected; is it "
                "complete? Nothing was written"
            )
    return place, True
