"""Trained encoders that are kept in a folder, to be looked at, or measured by another suite without training again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cselab._util.versions import versions
from cselab._util.writing import written_whole

if TYPE_CHECKING:
    from cselab.encoders.encoder import SentenceEncoder

TRAINING = "training.json"
"""What a line says of the training; written last, so that a folder without it is not whole."""


def keep(folder: Path, encoder: SentenceEncoder, training: dict[str, Any]) -> None:
    """Write an encoder to a folder, with what its line says of the training.

    Raises:
        OSError: it cannot be written.
    """
    (folder / TRAINING).unlink(missing_ok=True)
    encoder.save_pretrained(folder)
    with written_whole(folder / TRAINING) as path:
        path.write_text(json.dumps({"versions": versions()} | training, indent=1), encoding="utf-8")


def kept(folder: Path) -> tuple[SentenceEncoder, dict[str, Any]] | None:
    """The encoder of a folder, and what was said of its training with its "seconds"; None where `keep` put none there
    with the versions of here.
    """
    from cselab.encoders.encoder import SentenceEncoder

    if not (folder / TRAINING).is_file():
        return None
    training = json.loads((folder / TRAINING).read_text(encoding="utf-8"))
    if training.pop("versions") != versions():
        return None
    return SentenceEncoder.from_pretrained(folder), training
