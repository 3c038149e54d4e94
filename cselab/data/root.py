"""Where the public data sets lie on this machine."""

import os
from pathlib import Path

from cselab._util.arguments import checked

from .files import MissingFile

SENTEVAL_FOLDERS = ("STS", "SICK", "MR", "CR", "SUBJ", "MPQA", "SST", "TREC", "MRPC")
BENEATH = ("", "senteval", "downstream", "data/downstream", "SentEval/data/downstream")


def data_root() -> Path | None:
    """The folder of the public data sets, or None.

    The environment variable CSELAB_DATA names the folder; without the variable `~/.cache/cselab/data`
    (or beneath XDG_CACHE_HOME), when that exists. An empty CSELAB_DATA means none.

    Raises:
        MissingFile: CSELAB_DATA names a folder that does not exist.
    """
    folder = _usual_place()
    if folder is not None and not folder.is_dir():
        if "CSELAB_DATA" in os.environ:
            raise MissingFile(f"CSELAB_DATA names {str(folder)!r}, which is not a folder")
        return None
    return folder


def folder_to_fill() -> Path:
    """The folder for fetched data when none is named: where `data_root` looks. The folder need not exist.

    Raises:
        ValueError: CSELAB_DATA is empty, which means no folder.
    """
    folder = _usual_place()
    if folder is None:
        raise ValueError("no data folder: give one to write to, or set CSELAB_DATA to one (now empty)")
    return folder


def _usual_place() -> Path | None:
    named = os.environ.get("CSELAB_DATA")
    if named is None:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cselab" / "data"
    return Path(named) if named else None


@checked
def senteval_folder(root: str | Path | None = None) -> Path:
    """The folder that holds `STS/`, `SICK/`, `MR/` ...: the root itself, or a usual place below.

    Args:
        root: for example `data`, `data/senteval` or a clone of SentEval; `data_root()` when None.

    Raises:
        MissingFile: no such folder; the message names the path.
    """
    root = data_root() if root is None else Path(root)
    if root is None:
        raise MissingFile(
            "no data folder: give one (`data=`, `--data DIR`) or set CSELAB_DATA to a SentEval folder "
            f"(one that holds {', '.join(SENTEVAL_FOLDERS)}); `cselab data fetch DIR` makes one"
        )
    if not root.is_dir():
        raise MissingFile(f"{root} is not a folder")
    for place in BENEATH:
        if any((root / place / name).is_dir() for name in SENTEVAL_FOLDERS):
            return root / place
    raise MissingFile(f"{root} holds no SentEval data: none of {', '.join(SENTEVAL_FOLDERS)} in it or beneath it")
