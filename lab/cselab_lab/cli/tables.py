"""Tables on standard output."""

import json
from collections.abc import Mapping
from typing import Any

import click


def print_table(rows: Mapping[str, Mapping[str, Any]], form: str, digits: int = 2, corner: str = "name") -> None:
    """Rows of named cells in one of the forms of `--format`; JSON keeps all digits, a list of objects.

    Args:
        corner: what the names of the rows are, in JSON.
    """
    from cselab_lab.tables import table

    if form == "json":
        click.echo(json.dumps([{corner: name, **row} for name, row in rows.items()], indent=1, ensure_ascii=False))
    else:
        click.echo(table(rows, digits=digits, form=form).rstrip("\n"))
