"""The evaluation sets from the Hugging Face hub into a SentEval folder, each checked before being put in place.

The source is `princeton-nlp/datasets-for-simcse`, the archive that SimCSE's own script unpacks, named by its commit:
every STS and transfer set in SentEval's files and folders, plain text. Earlier commits of it are the copy with 20
subjective lines. Single transfer sets on the hub are not used: they are split in a different way (SUBJ in 8000 and
2000, MRPC in three), and the order of the rows decides which fold a row falls into.
"""

import os
import tarfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from cselab._util.arguments import check_choice
from cselab._util.checksums import sha256_of
from cselab._util.writing import PART, folder_written_whole

from .classification import (
    CLASSIFICATION_ROWS,
    CLASSIFICATION_TASKS,
    FILES_BY_CLASS,
    FILES_BY_SPLIT,
    load_classification,
)
from .clustering import CLUSTERING_TASKS
from .files import DataError, MissingFile
from .published import PROVENANCES, published_parts
from .root import folder_to_fill, senteval_folder
from .sts import FILE_SPLITS, ONE_FILE, STS_PAIRS, STS_TASKS, SUBSETS, load_sts

ARCHIVE = ("princeton-nlp/datasets-for-simcse", "e145e8bb659b2aa2669f32ef79cb4cdef6c58fef", "senteval.tar")
"""Repository, commit and file."""

FETCHED_TASKS = (*STS_TASKS, *CLASSIFICATION_TASKS)
"""The sets that it has."""

NOT_ON_THE_HUB = (
    f"{', '.join(CLUSTERING_TASKS)} are not fetched, because no copy on the hub is known to be the published text. "
    "They are available at https://github.com/rashadulrakib/short-text-clustering-enhancement/tree/master/data"
)


class Unreachable(ConnectionError):
    """The hub cannot be reached, or a download broke off."""


@dataclass(frozen=True)
class Fetched:
    """The outcome for one set: its status is "fetched", "kept" (already present) or "refused"; `detail` has more."""

    task: str
    status: str
    detail: str

    def __str__(self) -> str:
        return f"{self.status:8} {self.task:8} {self.detail}"


def fetch(folder: str | Path | None = None, tasks: Sequence[str] | None = None) -> Iterator[Fetched]:
    """Get evaluation sets, one by one, and write those that are whole and as published in SentEval's layout.

    A complete set is kept, without a download. A set that fails its check is refused, and none of its files is written.
    The same holds if a file exists with different content, because no file is ever overwritten. Downloads are kept in
    the hub's own cache.

    Args:
        folder: a SentEval folder or a parent, made if need be; `folder_to_fill()` when None.
        tasks: names of sets; all that the source has when None.

    Raises:
        ValueError: a set that the source does not have, no folder to write to.
        Unreachable: no network; the message lists the missing sets.

    See also: `cselab.data.check`, which reports the state of every set in a folder.
    """
    for task in tasks or ():
        if task in CLUSTERING_TASKS:
            raise ValueError(NOT_ON_THE_HUB)
        check_choice("set to fetch", task, FETCHED_TASKS)
    folder = folder_to_fill() if folder is None else Path(folder)
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is a file; give a folder to write to")
    return _fetch_each(folder, tuple(dict.fromkeys(tasks)) if tasks else FETCHED_TASKS)


def _fetch_each(folder: Path, tasks: tuple[str, ...]) -> Iterator[Fetched]:
    try:
        folder = senteval_folder(folder)
    except MissingFile:
        pass  # a new one: the sets go right into it
    for number, task in enumerate(tasks):
        with suppress(DataError):
            yield Fetched(task, "kept", _verdict(task, folder))
            continue
        try:
            verdict = _put_in_place(folder, _from_archive(task), task)
        except Unreachable as reason:
            raise Unreachable(
                f"{reason}. Not fetched: {', '.join(tasks[number:])}. Run the command again when the hub can be "
                "reached, or copy a SentEval folder from a different machine and check it with `cselab data check`"
            ) from reason
        except DataError as reason:
            yield Fetched(task, "refused", str(reason))
        else:
            yield Fetched(task, "fetched", verdict)


def senteval_files(task: str) -> tuple[str, ...]:
    """Where the files of a set lie in a SentEval folder.

    >>> senteval_files("SICK-R")
    ('SICK/SICK_train.txt', 'SICK/SICK_trial.txt', 'SICK/SICK_test_annotated.txt')
    """
    if task in SUBSETS:
        kinds = ("input", "gs")
        return tuple(f"STS/{task}-en-test/STS.{kind}.{subset}.txt" for subset in SUBSETS[task] for kind in kinds)
    if task in ONE_FILE:
        names = FILE_SPLITS.get(task, {})
        return tuple(ONE_FILE[task][0].format(names.get(split, split)) for split in STS_PAIRS[task])
    return FILES_BY_CLASS[task] if task in FILES_BY_CLASS else tuple(FILES_BY_SPLIT[task].values())


# ------------------------------------------------------------------------------------- checked, then in place


def _verdict(task: str, folder: Path) -> str:
    """Rows and provenance of a whole set. A published text that is known must be that text."""
    if task in STS_PAIRS:
        parts: list[Any] = [load_sts(task, folder, split) for split in STS_PAIRS[task]]
        known = True
    else:
        parts = [load_classification(task, folder, split) for split in CLASSIFICATION_ROWS[task]]
        known = all("words" in published_parts("labelled")[name] for name in senteval_files(task))
    provenance = max((part.provenance for part in parts), key=PROVENANCES.index)
    if provenance == "unknown text" and known:
        raise DataError(
            f"{task}: as many rows as published, but neither the words nor the scores are the published ones"
        )
    return f"{sum(map(len, parts))} rows, {provenance if known else 'the right number, but unknown text'}"


def _put_in_place(folder: Path, files: Mapping[str, bytes], task: str) -> str:
    """Write the files to temporary places, check them as a set, then rename them; return the check's result."""
    with folder_written_whole(folder, last="") as aside:
        for name, content in files.items():
            (aside / name).parent.mkdir(parents=True, exist_ok=True)
            (aside / name).write_bytes(content)
        try:
            verdict = _verdict(task, aside)
        except DataError as reason:
            raise DataError(f"as fetched, {str(reason).replace(f'{aside}{os.sep}', '')}") from None
        for name in files:
            if (folder / name).exists():
                if (folder / name).read_bytes() != files[name]:
                    raise DataError(
                        f"{folder / name} exists with different content and was kept; move it away to fetch {task}"
                    )
                (aside / name).unlink()
    return verdict


# ------------------------------------------------------------------------------------- the source


def download(repository: str, revision: str, name: str) -> Path:
    """A file of a data set repository on the hub, in the hub's cache. An interrupted download continues."""
    from huggingface_hub import constants, hf_hub_download
    from huggingface_hub.errors import (
        HTTPError,
        LocalEntryNotFoundError,
        RemoteEntryNotFoundError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    place = f"{repository}/{name} at {revision[:7]}"
    with suppress(LocalEntryNotFoundError):
        return Path(hf_hub_download(repository, name, repo_type="dataset", revision=revision, local_files_only=True))
    if constants.HF_HUB_OFFLINE:
        raise Unreachable(f"the Hugging Face hub cannot be reached for {place} (HF_HUB_OFFLINE is set)")
    try:
        return _downloaded(repository, revision, name)
    except (RepositoryNotFoundError, RevisionNotFoundError, RemoteEntryNotFoundError):
        raise DataError(f"the Hugging Face hub no longer has {place}, or restricts access to it") from None
    except (HTTPError, OSError, RuntimeError) as error:
        raise Unreachable(
            f"the Hugging Face hub cannot be reached for {place}, or the connection broke off ({error})"
        ) from error


def _downloaded(repository: str, revision: str, name: str) -> Path:
    """The file, outside the hub's cache, which restarts a killed download from the beginning since huggingface-hub
    2.
    """
    from filelock import FileLock
    from huggingface_hub import constants, get_hf_file_metadata, hf_hub_url
    from huggingface_hub.file_download import http_get

    whole = Path(constants.HF_HUB_CACHE) / "cselab" / revision / name
    if whole.exists():
        return whole
    whole.parent.mkdir(parents=True, exist_ok=True)
    partial = whole.with_name(whole.name + PART)
    url = hf_hub_url(repository, name, repo_type="dataset", revision=revision)
    with FileLock(whole.with_name(whole.name + ".lock")):
        partial.touch()
        with open(partial, "r+b") as file:
            there = file.seek(0, os.SEEK_END)
            about = get_hf_file_metadata(url)
            http_get(url, file, resume_size=there, expected_size=about.size, displayed_filename=name)
        known = about.etag or ""  # of a large file its SHA-256
        if len(known) == 64 and sha256_of(partial) != known:
            partial.unlink()
            raise OSError(f"the file that arrived is not that of the hub, whose SHA-256 begins with {known[:12]}")
        os.replace(partial, whole)
    return whole


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
        raise DataError(f"{path}: cannot be unpacked ({error}); delete the file and run the command again") from None
    missing = [name for name in wanted if name not in files]
    if missing:
        raise DataError(f"{ARCHIVE[2]} of {ARCHIVE[0]} does not hold {', '.join(missing)}")
    return {name: files[name] for name in wanted}
