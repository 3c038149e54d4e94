"""Options that several commands share, and what is checked before any work."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

EncoderName = Annotated[str, typer.Argument(help="bundled name (micro, mini), folder, or hub name")]
Pooling = Annotated[str | None, typer.Option(help="pooling; default: what the encoder's folder says")]
DataFolder = Annotated[
    Path | None, typer.Option("--data", help="SentEval folder; default: CSELAB_DATA, or ~/.cache/cselab/data")
]
Suites = Annotated[
    list[str],
    typer.Option(
        help="sts, geometry, transfer, clustering, world, world-transfer, world-clustering; may be repeated"
    ),
]
Tasks = Annotated[list[str] | None, typer.Option(help="only this task; may be repeated")]
Protocol = Annotated[
    str | None, typer.Option(help="of transfer: senteval (the default), senteval-fast or lbfgs")
]
Settings = Annotated[list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="may be repeated")]


def writable(file: Path) -> Path:
    """The file, if it can be written: better asked before the work than after."""
    if file.is_dir() or not os.access(file if file.exists() else file.parent, os.W_OK):
        raise ValueError(f"cannot write {file}: give a file in a folder that exists and may be written")
    return file


def read_settings(assignments: Iterable[str] | None) -> dict[str, str]:
    settings = {}
    for assignment in assignments or ():
        name, equals, value = assignment.partition("=")
        if not equals or not name:
            raise ValueError(f"--set wants NAME=VALUE, got {assignment!r}")
        settings[name.strip()] = value.strip()
    return settings
