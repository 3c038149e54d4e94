"""Tables on standard output, and which suites are meant when none is named."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer


def print_table(rows: Mapping[str, Mapping[str, Any]], form: str, digits: int = 2, corner: str = "name") -> None:
    """Rows of named cells in one of the forms of `--format`; JSON keeps all digits, a list of objects.

    Args:
        corner: what the names of the rows are, in JSON.
    """
    from cselab_lab.tables import table

    if form == "json":
        typer.echo(json.dumps([{corner: name, **row} for name, row in rows.items()], indent=1, ensure_ascii=False))
    else:
        typer.echo(table(rows, digits=digits, form=form).rstrip("\n"))


def suites_or_default(suites: list[str] | None, data: Path | None) -> list[str]:
    """The suites that were named; without any the world, and STS where a SentEval folder is found.

    Raises:
        MissingFile: a folder was named that has no data.
    """
    from cselab.data import MissingFile, senteval_folder

    if suites:
        return suites
    try:
        senteval_folder(data)
    except MissingFile:
        if data is not None:
            raise
        return ["world"]
    return ["world", "sts"]
