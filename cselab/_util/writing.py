"""Files that are whole at any moment: written aside, and put in place when complete on the disk."""

import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from safetensors import SafetensorError

PART = ".part"  # the ending of unfinished files
SAVING = f"saving{PART}"  # a folder of such files
LOCK = ".saving.lock"  # held by the process that writes the folder


@contextmanager
def cannot_write(path: Path) -> Iterator[None]:
    """A context that turns a full disk or a missing permission into an error of one sentence, for every library.

    Raises:
        OSError: the path cannot be written; the message names path, reason and remedy.
    """
    try:
        yield
    except (OSError, SafetensorError) as error:
        full = getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT) or "No space left" in str(error)
        reason = "no space left on the disk" if full else getattr(error, "strerror", None) or str(error)
        advice = "free some space and run the same command again" if full else "choose a different place"
        raise OSError(f"{path} could not be written ({reason}): {advice}. The earlier file is unchanged") from error


def make_folder(path: Path) -> None:
    """Make a folder, and the folders above it, unless it exists; raises as `cannot_write`."""
    with cannot_write(path):
        path.mkdir(parents=True, exist_ok=True)


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A file to write, which replaces `path` afterwards; an error removes the file.

    Each call has a file of its own, so of two processes that write at once the later one's file stays, whole. A link
    keeps its target, and a device such as /dev/null is written to directly.

    Raises:
        OSError: see `cannot_write`.
    """
    if path.exists() and not path.is_file():
        with cannot_write(path):
            yield path
        return
    path = Path(os.path.realpath(path))  # resolve() raises for a link to itself
    partial = path.with_name(f"{path.name[:40]}.{secrets.token_hex(4)}{PART}")
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
    """A folder to write; afterwards its files move to `path`, and the file `last` moves last.

    A second process waits until the first one is ready. A process that is killed between two moves leaves a folder
    without `last`, or with wrong checksums, so the folder does not count as complete. The next call removes the files
    of a killed one.

    Raises:
        OSError: see `cannot_write`.
    """
    from filelock import FileLock

    aside = path / SAVING
    with cannot_write(path):
        path.mkdir(parents=True, exist_ok=True)
        with FileLock(path / LOCK):
            try:
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
    """The mode of a new file here, as the umask has it; safetensors makes files that only the owner reads."""
    file.touch()
    mode = file.stat().st_mode
    file.unlink()
    return mode
