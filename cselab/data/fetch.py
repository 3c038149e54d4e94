"""The evaluation sets from the Hugging Face hub into a SentEval folder, each checked before it is put in place.

Two sources, both named by commit, both plain text once unpacked:

* "simcse": `princeton-nlp/datasets-for-simcse`, the archive that SimCSE's own script unpacks: every STS and
  transfer set in SentEval's files and folders. Earlier commits of it are the copy with 20 subjective lines.
* "mteb": `mteb/sts12-sts` ... `mteb/stsbenchmark-sts`, small `jsonl.gz` files of sentence1, sentence2, score.
  They do not name the subsets of a year; the subsets are found again by the words of the published parts.

Transfer sets that lie singly on the hub are left alone: they are split another way (SUBJ in 8000 and 2000, MRPC in
three), and the order of the rows decides which fold a row falls into.
"""

from __future__ import annotations

import json
import os
import tarfile
import tempfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from cselab.data.classification import (
    CLASSIFICATION_ROWS,
    CLASSIFICATION_TASKS,
    FILES_BY_CLASS,
    FILES_BY_SPLIT,
    load_classification,
)
from cselab.data.classification import published_parts as published_files
from cselab.data.clustering import CLUSTERING_TASKS
from cselab.data.files import DataError, MissingFile, read_lines
from cselab.data.published import PROVENANCES, describe
from cselab.data.root import data_root, senteval_folder
from cselab.data.sts import FILE_SPLITS, ONE_FILE, STS_PAIRS, STS_TASKS, SUBSETS, Rows, load_sts, published_parts

ARCHIVE = ("princeton-nlp/datasets-for-simcse", "e145e8bb659b2aa2669f32ef79cb4cdef6c58fef", "senteval.tar")
"""Repository, commit and file."""

MTEB = {
    "STS12": ("mteb/sts12-sts", "a0d554a64d88156834ff5ae9920b964011b16384"),
    "STS13": ("mteb/sts13-sts", "7e90230a92c190f1bf69ae9002b8cea547a64cca"),
    "STS14": ("mteb/sts14-sts", "6031580fec1f6af667f0bd2da0a551cf4f0b2375"),
    "STS15": ("mteb/sts15-sts", "ae752c7c21bf194d8b67fd573edf7ae58183cbe3"),
    "STS16": ("mteb/sts16-sts", "4d8694f8f0e0100860b497b999b3dbed754a0513"),
    "STS-B": ("mteb/stsbenchmark-sts", "b0fddb56ed78048fa8b90373c8a3cfc37b684831"),
}
"""Repository and commit of every set."""

MTEB_FILES = {"train": "train.jsonl.gz", "dev": "validation.jsonl.gz", "test": "test.jsonl.gz"}

SOURCES = {"simcse": (*STS_TASKS, *CLASSIFICATION_TASKS), "mteb": tuple(MTEB)}
"""The sets that each source has."""

ELSEWHERE = (
    f"{', '.join(CLUSTERING_TASKS)} are not fetched: no copy on the hub is known to be what is scored. They are "
    "published at https://github.com/rashadulrakib/short-text-clustering-enhancement/tree/master/data"
)


class Unreachable(ConnectionError):
    """The hub cannot be reached, or a download from it broke off."""


@dataclass(frozen=True)
class Fetched:
    """What became of one set: its status is "fetched", "kept" (it was there) or "refused"; the detail says more."""

    task: str
    status: str
    detail: str

    def __str__(self) -> str:
        return f"{self.status:8} {self.task:8} {self.detail}"


def fetch(
    folder: str | Path | None = None, tasks: Sequence[str] | None = None, source: str = "simcse"
) -> Iterator[Fetched]:
    """Get evaluation sets, one by one, and write those that are whole and as published in SentEval's layout.

    A set that is there and whole is kept, without a download. A set that fails its check is refused and nothing
    of it written; so is one of which a file is there with other content: no file is ever overwritten. Downloads
    are kept in the hub's own cache.

    Args:
        folder: a SentEval folder or one above it, made if need be; `data_root()` when None.
        tasks: names of sets; all that the source has when None.
        source: "simcse" or "mteb".

    Raises:
        ValueError: an unknown source, a set that it does not have, no folder to write to.
        Unreachable: no network; the message says which sets are still to be had.

    See also: `cselab.data.check`, which says how every set in a folder stands.
    """
    tasks = _known_tasks(tasks, source)
    folder = data_root() if folder is None else Path(folder)
    if folder is None:
        raise ValueError("no data folder: give one to write to, or set CSELAB_DATA to a folder that exists")
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is a file; give a folder to write to")
    return _fetch_each(folder, tasks, source)


def _known_tasks(tasks: Sequence[str] | None, source: str) -> tuple[str, ...]:
    if source not in SOURCES:
        raise ValueError(f"unknown source {source!r}; the sources are: {', '.join(SOURCES)}")
    for task in tasks or ():
        if task in CLUSTERING_TASKS:
            raise ValueError(ELSEWHERE)
        if task not in SOURCES[source]:
            others = [name for name, there in SOURCES.items() if task in there]
            where = f"; the source {others[0]!r} has it" if others else ""
            raise ValueError(f"{source} has no set {task!r}; it has: {', '.join(SOURCES[source])}{where}")
    return tuple(dict.fromkeys(tasks)) if tasks else SOURCES[source]


def _fetch_each(folder: Path, tasks: tuple[str, ...], source: str) -> Iterator[Fetched]:
    try:
        folder = senteval_folder(folder)
    except MissingFile:
        pass  # a new one: the sets go right into it
    read = {"simcse": _from_archive, "mteb": _from_mteb}[source]
    for number, task in enumerate(tasks):
        if whole := _verdict_if_whole(task, folder):
            yield Fetched(task, "kept", whole)
            continue
        try:
            verdict = _put_in_place(folder, read(task), task)
        except Unreachable as reason:
            raise Unreachable(
                f"{reason}. Not fetched: {', '.join(tasks[number:])}. Run the command again when the hub can be "
                "reached, or copy a SentEval folder from another machine and check it with `cselab data check`"
            ) from reason
        except DataError as reason:
            yield Fetched(task, "refused", str(reason))
        else:
            yield Fetched(task, "fetched", f"{verdict}, from {source}")


def senteval_files(task: str) -> tuple[str, ...]:
    """Where the files of a set lie in a SentEval folder.

    >>> senteval_files("SICK-R")
    ('SICK/SICK_train.txt', 'SICK/SICK_trial.txt', 'SICK/SICK_test_annotated.txt')
    """
    if task in SUBSETS:
        return tuple(name for subset in SUBSETS[task] for name in _two_names(task, subset))
    if task in ONE_FILE:
        names = FILE_SPLITS.get(task, {})
        return tuple(ONE_FILE[task][0].format(names.get(split, split)) for split in STS_PAIRS[task])
    return FILES_BY_CLASS[task] if task in FILES_BY_CLASS else tuple(FILES_BY_SPLIT[task].values())


def _two_names(task: str, subset: str) -> tuple[str, str]:
    return f"STS/{task}-en-test/STS.input.{subset}.txt", f"STS/{task}-en-test/STS.gs.{subset}.txt"


# ------------------------------------------------------------------------------------- checked, then in place


def _verdict(task: str, folder: Path) -> str:
    """Rows and provenance of a whole set. A published text that is known must be that text."""
    if task in STS_PAIRS:
        parts: list[Any] = [load_sts(task, folder, split) for split in STS_PAIRS[task]]
        known = True
    else:
        parts = [load_classification(task, folder, split) for split in CLASSIFICATION_ROWS[task]]
        known = all("words" in published_files()[name] for name in senteval_files(task))
    provenance = max((part.provenance for part in parts), key=PROVENANCES.index)
    if provenance == "unknown text" and known:
        raise DataError(f"{task}: as many rows as published, but neither the published words nor scores")
    return f"{sum(map(len, parts))} rows, {provenance if known else 'right in number, text not known here'}"


def _verdict_if_whole(task: str, folder: Path) -> str | None:
    try:
        return _verdict(task, folder)
    except DataError:
        return None


def _put_in_place(folder: Path, files: Mapping[str, bytes], task: str) -> str:
    """Write the files beside their places, check them as a set, then rename them; what the check said."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=folder) as aside:
        for name, content in files.items():
            file = Path(aside, name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        try:
            verdict = _verdict(task, Path(aside))
        except DataError as reason:
            raise DataError(f"as fetched, {str(reason).replace(f'{aside}{os.sep}', '')}") from None
        absent = [name for name in files if not (folder / name).exists()]
        for name in files:
            if name not in absent and (folder / name).read_bytes() != files[name]:
                raise DataError(
                    f"{folder / name} is there with other content and was kept; move it away to fetch {task}"
                )
        for name in absent:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            os.replace(Path(aside, name), folder / name)
    return verdict


# ------------------------------------------------------------------------------------- the sources


def download(repository: str, revision: str, name: str) -> Path:
    """A file of a data set repository on the hub, in the hub's cache."""
    from huggingface_hub import constants, hf_hub_download
    from huggingface_hub.errors import (
        HTTPError,
        LocalEntryNotFoundError,
        RemoteEntryNotFoundError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    place = f"{repository}/{name} at {revision[:7]}"
    try:
        return Path(hf_hub_download(repository, name, repo_type="dataset", revision=revision))
    except (RepositoryNotFoundError, RevisionNotFoundError, RemoteEntryNotFoundError):
        raise DataError(f"the hub does not have {place} any more, or not for everyone") from None
    except LocalEntryNotFoundError as error:
        offline = " (HF_HUB_OFFLINE is set)" if constants.HF_HUB_OFFLINE else ""
        raise Unreachable(f"the Hugging Face hub cannot be reached for {place}{offline}") from error
    except (HTTPError, OSError, RuntimeError) as error:  # RuntimeError: the hub's own transfer library
        raise Unreachable(f"{place} could not be downloaded: {error}") from error


def _from_archive(task: str) -> dict[str, bytes]:
    """The files of a set, byte for byte; only the expected names are read, nothing is unpacked."""
    path = download(*ARCHIVE)
    wanted = senteval_files(task)
    files = {}
    try:
        with tarfile.open(path) as archive:
            for member in archive:
                name = str(PurePosixPath(member.name))
                if name in wanted and member.isfile():
                    content = archive.extractfile(member)
                    files[name] = content.read() if content is not None else b""
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        raise DataError(f"{path}: cannot be unpacked ({error}); delete it and run the command again") from None
    missing = [name for name in wanted if name not in files]
    if missing:
        raise DataError(f"{ARCHIVE[2]} of {ARCHIVE[0]} does not hold {', '.join(missing)}")
    return {name: files[name] for name in wanted}


def _from_mteb(task: str) -> dict[str, bytes]:
    """The files of an STS set, made from one file of rows a split."""
    repository, revision = MTEB[task]
    splits = {split: _rows(download(repository, revision, MTEB_FILES[split]), repository) for split in STS_PAIRS[task]}
    if task in ONE_FILE:
        return {
            name: _lines(
                f"mteb\t{repository}\t{split}\t{number:04}\t{score!r}\t{first}\t{second}"
                for number, (first, second, score) in enumerate(rows)
            )
            for name, (split, rows) in zip(senteval_files(task), splits.items(), strict=True)
        }
    files = {}
    for subset, rows in _subsets(splits["test"], task, repository).items():
        sentences, scores = _two_names(task, subset)
        files[sentences] = _lines(f"{first}\t{second}" for first, second, _ in rows)
        files[scores] = _lines(f"{score!r}" for _, _, score in rows)
    return files


def _rows(path: Path, repository: str) -> Rows:
    rows = []
    for number, line in enumerate(read_lines(path), start=1):
        place = f"{repository}/{path.name}, line {number}"
        try:
            row = json.loads(line)
            first, second, score = row["sentence1"], row["sentence2"], float(row["score"])
        except (ValueError, TypeError, KeyError):
            raise DataError(
                f"{place}: a JSON object with sentence1, sentence2 and score was expected, not {line[:60]!r}"
            ) from None
        if not isinstance(first, str) or not isinstance(second, str):
            raise DataError(f"{place}: sentence1 and sentence2 must be text")
        rows.append((" ".join(first.split()), " ".join(second.split()), score))
    return rows


def _subsets(rows: Rows, task: str, repository: str) -> dict[str, Rows]:
    """Rows that stand one subset after another, told apart by the words of the published subsets."""
    known = {subset: published_parts()[f"{task}/{subset}"] for subset in SUBSETS[task]}
    found: dict[str, Rows] = {}
    start = 0
    while len(found) < len(known):
        for subset, published in known.items():
            part = rows[start : start + int(published["rows"])]
            if subset not in found and describe(part)["words"] == published["words"]:
                found[subset] = part
                start += len(part)
                break
        else:
            left = ", ".join(subset for subset in known if subset not in found)
            raise DataError(
                f"{repository}: from row {start + 1} of {len(rows)} on it is none of the published parts of {task} "
                f"({left}); is it complete?"
            )
    if start < len(rows):
        raise DataError(f"{repository}: {len(rows)} rows, {start} expected")
    return {subset: found[subset] for subset in known}


def _lines(lines: Iterator[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()
