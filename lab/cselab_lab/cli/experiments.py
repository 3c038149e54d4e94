"""`cselab experiment` and `cselab published`: the papers' tables, as published and as reproduced."""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import click

from cselab._util.arguments import check_choice

from .frame import Command, Group
from .names import purposes, train_settings
from .options import (
    ENCODER,
    ENCODERS,
    PATH,
    PROFILE,
    SEEDS,
    argument,
    data_folder,
    paper_form,
    print_json,
    read_settings,
    several,
)

if TYPE_CHECKING:
    from cselab_lab.experiments import Experiment, Profile

experiment = Group("experiment", help="List, run and compare the papers' experiments.")

NAME = "see `cselab experiment list`"
SIZED = (
    click.option(
        "--profile",
        default="study",
        type=PROFILE,
        help=", ".join(f"{name} ({purpose})" for name, purpose in purposes().items()),
    ),
    click.option(
        "--encoder", type=ENCODER, help=f"instead of the encoders of the profile, in separate results: {ENCODERS}"
    ),
    click.option("--corpus", metavar="FILE", help="train on this text, or on wiki1m; in separate results"),
    click.option(
        "--add",
        "added",
        multiple=True,
        metavar="METHOD[:NAME=VALUE,...]",
        help="add a row with this method, in separate results; may be repeated",
    ),
    click.option(
        "--set",
        "settings",
        multiple=True,
        metavar="NAME=VALUE",
        help="change a training setting of all rows (lr=1e-4), in separate results; may be repeated",
    ),
    click.option("--dev-only", is_flag=True, help="score STS-B dev only, to search a setting; in separate results"),
)
only = click.option("--only", multiple=True, help="only the row with this label, or rows such as 'plain*'")
folder_option = click.option(
    "--folder", type=PATH, help="folder of the results files  [default: results, else the results in cselab]"
)


def _sized(name: str, sized: dict[str, Any]) -> "tuple[Experiment, Profile]":
    """The experiment and the profile with the changes of the options of `SIZED`."""
    from cselab_lab.experiments.experiment import with_rows
    from cselab_lab.experiments.plan import with_changes

    recipe = train_settings_of(read_settings(sized["settings"]))
    changed = with_changes(sized["profile"], sized["encoder"], sized["corpus"], recipe, sized["dev_only"])
    return with_rows(name, *sized["added"]), changed


def train_settings_of(given: dict[str, str]) -> dict[str, int | float | str]:
    """Training settings with their values as numbers where they are.

    Raises:
        ValueError: no such setting; lists those there are.
    """
    kinds = {field["name"]: {"int": int, "float": float}.get(field["kind"], str) for field in train_settings()}
    typed = {}
    for name, text in given.items():
        check_choice("training setting", name, kinds)
        try:
            typed[name] = kinds[name](text)
        except ValueError:
            raise ValueError(f"--set {name} must be a number, got {text!r}") from None
    return typed


@experiment.command("list")
def experiment_list() -> None:
    """List the experiments: question and number of rows."""
    from cselab_lab.experiments import EXPERIMENTS

    for name, experiment in EXPERIMENTS.items():
        click.echo(f"{name:22}{len(experiment.all_rows):>3} rows  {experiment.question}")


@experiment.command("show")
@argument("name", help=NAME)
@several(*SIZED)
@click.option("--column", help="a column instead of the first; `cselab published` lists them")
@click.option("--sentence", is_flag=True, help="one line per tested claim, to cite: effect, interval, test, sources")
@paper_form
@folder_option
def experiment_show(
    name: str, column: str | None, sentence: bool, form: str, folder: Path | None, **sized: Any
) -> None:
    """Show our results next to the published numbers.

    Prints mean ± sd over the seeds, the number of seeds, the difference, and the verdict on each claim.

    json has all rows and columns; all forms except text have only the table.
    """
    from cselab_lab.experiments import read_results

    results = read_results(*_sized(name, sized), folder)
    if sentence:
        click.echo("\n".join(results.citations() or ["no claim of this experiment has two seeds or more"]))
    elif form == "json":
        cells = json.loads(results.to_frame().to_json(orient="records"))
        claims = [verdict.record() for verdict in results.verdicts()]
        print_json({"profile": results.profile.name, "about": results.identities(), "cells": cells, "claims": claims})
    else:
        click.echo(str(results) if form == "text" and column is None else results.shown(column, form))


@experiment.command("run")
@argument("names", nargs=-1, required=True, metavar="NAME...", help="one or more, or `all`")
@several(*SIZED)
@click.option("--seeds", type=SEEDS, help="such as 0-4 or 0,3,7  [default: the profile's seeds]")
@only
@click.option("--workers", default=0, type=click.IntRange(0, 1024), metavar="N", help="processes to start; 0: none")
@click.option("--scheduler", help="address of a Dask cluster: tcp://HOST:PORT")
@click.option("--folder", default="results", type=PATH, help="folder of the results files")
@data_folder
@click.option("--keep-encoders", type=PATH, help="folder to keep trained encoders; kept encoders are not trained again")
def experiment_run(names: Sequence[str], seeds: Any, only: Sequence[str], data: Path | None, **given: Any) -> int:
    """Run the rows without a result, and show the table.

    Finished jobs are never computed twice, so a killed run can be continued.
    """
    from cselab_lab.experiments import EXPERIMENTS, JobsFailed, run_experiment

    wanted = [_sized(name, given) for name in (EXPERIMENTS if names == ("all",) else names)]
    for experiment, _ in wanted:
        for pattern in only:
            experiment.labels(pattern)
    if data is not None:
        click.get_current_context().with_resource(patch.dict(os.environ, CSELAB_DATA=str(data)))
    where = {name: given[name] for name in ("workers", "scheduler", "folder", "keep_encoders")}
    failed = False
    for experiment, profile in wanted:
        try:
            results = run_experiment(experiment, profile, seeds, only, **where)
        except JobsFailed as error:
            click.echo(str(error), err=True)
            failed = True
        else:
            click.echo(f"\n{results}\n")
    return failed


@experiment.command("check")
@argument("name", help=NAME)
@several(*SIZED)
@click.option("--seeds", type=SEEDS, help="such as 0-4 or 0,3,7  [default: all recorded seeds]")
@only
@folder_option
def experiment_check(name: str, seeds: Any, only: Sequence[str], folder: Path | None, **sized: Any) -> int:
    """Train recorded rows again and compare with the record.

    Prints a line for each row and seed: the numbers agree within 0.01 (0.03 for flow), or the numbers that differ.
    Exits with 1 if a number differs.
    """
    from cselab_lab.experiments.check import check_experiment

    agree = True
    for found in check_experiment(*_sized(name, sized), seeds, only, folder):
        click.echo(found)
        agree = agree and found.agrees
    return not agree


@experiment.command("draw")
@argument("name", help="whitenedcse-figure1 or -figure3, imsimcse-figure1, survey-figure3 or -figure4, focal-figure1")
@several(*SIZED)
@folder_option
@click.option("--encoders", type=PATH, help="the folder of `run --keep-encoders`, for maps of sentences")
@click.option("--output", default=".", type=PATH, help="folder of the pictures")
def experiment_draw(name: str, folder: Path | None, encoders: Path | None, output: Path, **sized: Any) -> None:
    """Draw a figure of a paper from the results, as SVG and PNG.

    Needs kaleido, or Playwright with a browser.
    """
    from cselab_lab.experiments import read_results

    papers = import_module("cselab_widgets.figures.papers")  # the widgets import the lab, so the lab finds them by name
    check_choice("figure", name, papers.FIGURES)
    results = read_results(*_sized(papers.FIGURES[name][0], sized), folder)
    for file in papers.write_images(papers.draw(name, results, encoders), name, output):
        click.echo(file)


@click.command(cls=Command)
@argument("paper", required=False, help="whitenedcse, imsimcse, focal or survey; default: list all")
@argument("number", required=False, metavar="[TABLE]", help="number of a table, or `claims` in the text")
@paper_form
def published(paper: str | None, number: str | None, form: str) -> None:
    """Print a published table of a paper.

    Notes explain doubtful cells.
    """
    from cselab_lab.experiments.published import PAPERS, TITLES, claims, published_table, tables_of
    from cselab_lab.tables import table

    if paper is None or number is None:
        for name in [paper] if paper else PAPERS:
            tables = tables_of(name)
            click.echo(f"{name}: {PAPERS[name]}")
            for known in tables:
                click.echo(f"  {known:>2}  {TITLES[name, known]}")
    elif number == "claims":
        lines = claims(paper)
        shown = {
            line["claim"]: {key: line[key] for key in ("where", "value", "recomputed", "verdict")} for line in lines
        }
        print_json(lines) if form == "json" else click.echo(table(shown, form=form))
    elif not number.isdecimal() or len(number) > 9:
        raise ValueError(f"TABLE must be a number or `claims`, got {number!r}")
    else:
        printed = published_table(paper, int(number))
        if form == "json":
            cells = [{key: value for key, value in asdict(cell).items() if value} for cell in printed.cells]
            print_json({"title": printed.title, "cells": cells})
            return
        rows, notes = printed.as_printed()
        click.echo(f"{printed.title}\n" * (form == "text") + table(rows, form=form).rstrip("\n"))
        for place, note in enumerate(notes if form == "text" else (), start=1):
            click.echo(f"[{place}] {note}")
