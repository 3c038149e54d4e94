"""The encoders that travel with the package: their names, folders and checksums."""

import json
from functools import cache
from pathlib import Path

from cselab._util.checksums import CheckpointError, sha256_of

ASSETS = Path(__file__).parents[1] / "assets"
CHECKSUMS = ASSETS / "checksums.json"


def _names() -> tuple[str, ...]:
    return tuple(sorted({name.split("/")[0] for name in json.loads(CHECKSUMS.read_text(encoding="utf-8"))}))


BUNDLED = _names()
POOLINGS = {"micro": "mean"}  # contrast spoils its [CLS], which the papers take of a plain checkpoint: see its README


@cache
def bundled_folder(name: str) -> Path:
    """The folder of a bundled encoder, each of its files checked against its checksum once.

    Raises:
        CheckpointError: a file is missing or damaged; the message names it.
    """
    for file, wanted in json.loads(CHECKSUMS.read_text(encoding="utf-8")).items():
        if file.startswith(f"{name}/"):
            check_file(ASSETS / file, wanted)
    return ASSETS / name


def check_file(path: Path, sha256: str) -> None:
    """Compare a file with its checksum.

    Raises:
        CheckpointError: missing or different; the message names the file.
    """
    if not path.exists():
        raise CheckpointError(f"{path} is missing: install cselab again")
    actual = sha256_of(path)
    if actual != sha256:
        raise CheckpointError(
            f"{path} is damaged (sha256 {actual[:12]}..., not {sha256[:12]}...): install cselab again"
        )
