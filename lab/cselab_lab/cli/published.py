"""`cselab published`: what the papers print, in a terminal."""

import json

import click

from cselab_lab.cli.frame import Command
from cselab_lab.cli.options import paper_form


@click.command(cls=Command)
@click.argument("paper", required=False, help="whitenedcse, imsimcse, focal or survey; default: list all")
@click.argument(
    "number", required=False, metavar="[TABLE]", help="number of a table, or `claims` for those in the text"
)
@paper_form
@click.option("--json", "form", flag_value="json", help="the same as --format json")
@click.option("--latex", "form", flag_value="latex", help="the same as --format latex")
@click.option("--csv", "form", flag_value="csv", help="the same as --format csv")
def published(paper: str | None, number: str | None, form: str) -> None:
    """Print a table of a paper as it was published.

    Notes say which cells are doubtful, and why.
    """
    from cselab_lab.experiments.published import PAPERS, TITLES, claims, published_table, tables_of
    from cselab_lab.tables import table

    if paper is None or number is None:
        for name in [paper] if paper else PAPERS:
            titles = {number: TITLES[name, number] for number in tables_of(name)}
            click.echo(f"{name}: {PAPERS[name]}")
            for known, title in titles.items():
                click.echo(f"  {known:>2}  {title}")
        return
    if number == "claims":
        of_paper = claims(paper)
        lines = {
            line["claim"]: {key: line[key] for key in ("where", "value", "recomputed", "verdict")} for line in of_paper
        }
        click.echo(json.dumps(of_paper, indent=1, ensure_ascii=False) if form == "json" else table(lines, form=form))
        return
    if not number.isdigit():
        raise ValueError(f"TABLE is a number or `claims`, got {number!r}")
    printed = published_table(paper, int(number))
    if form == "json":
        cells = [{key: value for key, value in vars(cell).items() if value} for cell in printed.cells]
        click.echo(json.dumps({"title": printed.title, "cells": cells}, indent=1, ensure_ascii=False))
        return
    rows, notes = printed.as_printed()
    click.echo(f"{printed.title}\n" * (form == "text") + table(rows, form=form).rstrip("\n"))
    if form == "text":
        for place, note in enumerate(notes, start=1):
            click.echo(f"[{place}] {note}")
