"""`cselab experiment`: the papers' tables run again, and read beside the published numbers."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from cselab_lab.cli import registered
from cselab_lab.cli.frame import Group
from cselab_lab.cli.options import PATH, PROFILE, SEEDS, paper_form

experiment = Group("experiment", help="The papers' experiments: list, run, read beside the published.")

NAME = "see `cselab experiment list`"
profile = click.option(
    "--profile",
    default="study",
    type=PROFILE,
    help=", ".join(f"{name} ({purpose})" for name, purpose in registered.purposes().items()),
)
one_recipe = click.option(
    "--one-recipe", is_flag=True, help="SimCSE's recipe for all methods, where `paper` has each method's own"
)


def _sized(profile: str, one_recipe: bool) -> str:
    """Only `paper` has another profile for one recipe: the others train all methods by one."""
    return "paper-one-recipe" if one_recipe and profile == "paper" else profile


@experiment.command("list")
def experiment_list() -> None:
    """List the experiments: the question of each, and how many rows."""
    from cselab_lab.experiments import EXPERIMENTS

    for name, experiment in EXPERIMENTS.items():
        click.echo(f"{name:22}{len(experiment.all_rows):>3} rows  {experiment.question}")


@experiment.command("show")
@click.argument("name", help=NAME)
@profile
@one_recipe
@click.option("--column", help="a column other than the first; `cselab published` lists them")
@paper_form
@click.option("--folder", type=PATH, help="where the results files are  [default: results, else what cselab recorded]")
def experiment_show(
    name: str, profile: str, one_recipe: bool, column: str | None, form: str, folder: Path | None
) -> None:
    """Show published numbers beside ours.

    Ours are mean ± sd over the seeds, with how many. Then comes the difference, and what becomes of each claim.

    json has every row and column; the other forms but text have the table alone.
    """
    from cselab_lab.experiments import read_results

    results = read_results(name, _sized(profile, one_recipe), folder)
    if form == "json":
        cells = json.loads(results.to_frame().to_json(orient="records"))
        claims = [verdict.record() for verdict in results.verdicts()]
        click.echo(json.dumps({"cells": cells, "claims": claims}, indent=1, ensure_ascii=False))
    else:
        click.echo(str(results) if form == "text" and column is None else results.shown(column, form))


@experiment.command("run")
@click.argument("names", nargs=-1, required=True, metavar="NAME...", help="one or more, or `all`")
@profile
@one_recipe
@click.option("--seeds", type=SEEDS, help="such as 0-4 or 0,3,7  [default: those of the profile]")
@click.option("--only", multiple=True, help="only the row with this label; may be repeated")
@click.option("--workers", default=0, type=click.IntRange(0, 1024), metavar="N", help="processes to start; 0: none")
@click.option("--scheduler", help="address of a Dask cluster: tcp://HOST:PORT")
@click.option("--folder", default="results", type=PATH, help="where the results files are")
@click.option(
    "--keep-encoders", type=PATH, help="keep each trained encoder in this folder; one that is there is only measured"
)
@click.pass_context
def experiment_run(
    context: click.Context,
    names: Sequence[str],
    profile: str,
    one_recipe: bool,
    seeds: Any,
    only: Sequence[str],
    **where: Any,
) -> None:
    """Run the rows that have no result yet, and show the table.

    Finished jobs are never computed twice; a killed run goes on.
    """
    from cselab_lab.experiments import EXPERIMENTS, JobsFailed, get_experiment, run_experiment

    chosen = list(EXPERIMENTS) if names == ("all",) else names
    for name in chosen:
        for label in only:
            get_experiment(name).row(label)
        get_experiment(name)
    failed = False
    for name in chosen:
        try:
            results = run_experiment(name, _sized(profile, one_recipe), seeds, only, **where)
        except JobsFailed as error:
            click.echo(str(error), err=True)
            failed = True
        else:
            click.echo(f"\n{results}\n")
    if failed:
        context.exit(1)


@experiment.command("check")
@click.argument("name", help=NAME)
@profile
@one_recipe
@click.option("--seeds", type=SEEDS, help="such as 0-4 or 0,3,7  [default: all recorded ones]")
@click.option("--only", multiple=True, help="only the row with this label; may be repeated")
@click.option("--folder", type=PATH, help="where the results files are  [default: results, else what cselab recorded]")
@click.pass_context
def experiment_check(
    context: click.Context,
    name: str,
    profile: str,
    one_recipe: bool,
    seeds: Any,
    only: Sequence[str],
    folder: Path | None,
) -> None:
    """Train recorded rows again and compare with the record.

    Prints a line for each row and seed: the numbers agree within 0.01 (0.03 for flow), or those that differ. Exits
    with 1 if one differs.
    """
    from cselab_lab.experiments.check import check_experiment

    agree = True
    for found in check_experiment(name, _sized(profile, one_recipe), seeds, only, folder):
        click.echo(found)
        agree = agree and found.agrees
    if not agree:
        context.exit(1)
