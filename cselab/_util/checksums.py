"""Checksums of a folder: one JSON file inside holds those of the remaining files and its own."""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any


class CheckpointError(ValueError):
    """Saved weights or settings that are missing, cut short or altered; the message names the file."""


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file's content, read block by block."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def add_checksums(file: Path, content: Mapping[str, Any], others: Iterable[Path]) -> dict[str, Any]:
    """The content of the JSON `file`, with the SHA-256 of the remaining files of its folder and of the content
    itself.
    """
    checksums = {other.relative_to(file.parent).as_posix(): sha256_of(other) for other in sorted(others)}
    return {**content, "sha256": {**checksums, file.name: _of_content(content)}}


def verify_checksums(file: Path, content: Mapping[str, Any]) -> None:
    """Compare a folder with the checksums in `content`, which `file` holds; earlier versions wrote fewer, or none.

    Raises:
        CheckpointError: a file is missing or was altered; the message names the file.
    """
    wanted = content.get("sha256", {})
    if not isinstance(wanted, dict):
        raise CheckpointError(f"{file} is damaged: 'sha256' is {wanted!r}; restore the file")
    for name, checksum in wanted.items():
        there = file.parent / name
        if not Path(os.path.realpath(there)).is_relative_to(os.path.realpath(file.parent)):
            raise CheckpointError(f"{file} names {name!r}, which is not a path inside its folder")
        if not there.is_file():
            raise CheckpointError(f"{there} is missing: restore the saved file")
        if (_of_content(content) if there == file else sha256_of(there)) != checksum:
            raise CheckpointError(
                f"{there} is not the file that was saved here (its checksum differs): the file was altered or damaged. "
                f"Restore the file; after a change on purpose, remove 'sha256' from {file}"
            )


def _of_content(content: Mapping[str, Any]) -> str:
    said = {name: value for name, value in content.items() if name != "sha256"}
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()
