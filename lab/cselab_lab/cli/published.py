"""`cselab published`: what the papers print, in a terminal."""

import json
from typing import Annotated

import typer

from cselab_lab.cli.options import PaperFormat


def published(
    paper: Annotated[
        str | None, typer.Argument(help="whitenedcse, imsimcse, focal or survey; default: list all")
    ] = None,
    number: Annotated[
        str | None, typer.Argument(metavar="TABLE", help="number of a table, or `claims` for those in the text")
    ] = None,
    form: PaperFormat = "text",
    as_json: Annotated[bool, typer.Option("--json", help="the same as --format json")] = False,
    as_latex: Annotated[bool, typer.Option("--latex", help="the same as --format latex")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="the same as --format csv")] = False,
) -> None:
    """Print a table of a paper as it was published.

    Notes say which cells are doubtful, and why.
    """
    from cselab_lab.experiments.published import PAPERS, TITLES, claims, published_table, tables_of
    from cselab_lab.tables import table

    form = "json" if as_json else "latex" if as_latex else "csv" if as_csv else form
    if paper is None or number is None:
        for name in [paper] if paper else PAPERS:
            titles = {number: TITLES[name, number] for number in tables_of(name)}
            typer.echo(f"{name}: {PAPERS[name]}")
            for known, title in titles.items():
                typer.echo(f"  {known:>2}  {title}")
        return
    if number == "claims":
        found = claims(paper)
        lines = {
            line["claim"]: {key: line[key] for key in ("where", "value", "recomputed", "verdict")} for line in found
        }
        typer.echo(json.dumps(found, indent=1, ensure_ascii=False) if form == "json" else table(lines, form=form))
        return
    if not number.isdigit():
        raise ValueError(f"TABLE is a number or `claims`, got {number!r}")
    printed = published_table(paper, int(number))
    if form == "json":
        cells = [{key: value for key, value in vars(cell).items() if value} for cell in printed.cells]
        typer.echo(json.dumps({"title": printed.title, "cells": cells}, indent=1, ensure_ascii=False))
        return
    rows, notes = printed.as_printed()
    typer.echo(f"{printed.title}\n" * (form == "text") + table(rows, form=form).rstrip("\n"))
    if form == "text":
        for place, note in enumerate(notes, start=1):
            typer.echo(f"[{place}] {note}")
