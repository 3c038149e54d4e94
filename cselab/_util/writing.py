"""Files that are whole at any moment: written aside, and put in place when all of it is on the disk."""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from safetensors import SafetensorError

PART = ".part"  # the ending of what is not in its place yet


@contextmanager
def cannot_write(path: Path) -> Iterator[None]:
    """What a full disk or a lost right makes of writing inside, in one sentence, whichever library meets it.

    Raises:
        OSError: it cannot be written; the message names path, reason and what to do.
    """
    try:
        yield
    except (OSError, SafetensorError) as error:
        full = getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT) or "No space left" in str(error)
        reason = "no space left on the disk" if full else getattr(error, "strerror", None) or str(error)
        advice = "free some space and run the same command again" if full else "choose another place"
        raise OSError(
            f"{path} could not be written ({reason}): {advice}. What was there before is still there"
        ) from error


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A file to write in the place of `path`, which it takes afterwards; on an error it is removed.

    A link keeps its target, and a device such as /dev/null is written to directly.

    Raises:
        OSError: see `cannot_write`.
    """
    if path.exists() and not path.is_file():
        with cannot_write(path):
            yield path
        return
    path = path.resolve()
    partial = path.with_name(path.name + PART)
    try:
        with cannot_write(path):
            mode = _usual_mode(partial)
            yield partial
            partial.chmod(mode)
            with open(partial, "rb") as file:
                os.fsync(file.fileno())
            os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file whole or not at all.

    Raises:
        OSError: see `cannot_write`.
    """
    with written_whole(path) as aside:
        aside.write_text(text, encoding="utf-8")


@contextmanager
def folder_written_whole(path: Path, last: str) -> Iterator[Path]:
    """A folder to write in the place of what `path` holds; its files move there afterwards, the one called `last` last.

    Who is killed between two moves leaves a folder without `last`, or with the checksums of another state in it: it
    is not taken for whole. The next call clears what a killed one left.

    Raises:
        OSError: see `cannot_write`.
    """
    aside = path / f"saving{PART}"
    try:
        with cannot_write(path):
            path.mkdir(parents=True, exist_ok=True)
            shutil.rmtree(aside, ignore_errors=True)
            aside.mkdir()
            mode = _usual_mode(aside / PART)
            yield aside
            files = [file for file in aside.rglob("*") if file.is_file()]
            for file in sorted(files, key=lambda file: file.name == last and file.parent == aside):
                place = path / file.relative_to(aside)
                place.parent.mkdir(parents=True, exist_ok=True)
                file.chmod(mode)
                os.replace(file, place)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _usual_mode(file: Path) -> int:
    """The mode of a new file here, as the umask has it; safetensors gives its own to nobody else."""
    file.touch()
    mode = file.stat().st_mode
    file.unlink()
    return mode
