"""`cselab experiment`: the papers' tables run again, and read beside the published numbers."""

import json
from pathlib import Path
from typing import Annotated

import typer

from cselab.lab.cli.frame import Command, group
from cselab.lab.cli.options import SEEDS, SIZES, PaperFormat, read_seeds

experiment_app = group("The papers' experiments: list, run, read beside the published.")

ExperimentName = Annotated[str, typer.Argument(help="see `cselab experiment list`")]
Size = Annotated[str, typer.Option("--profile", help=f"{SIZES}, study (recorded tables, on data that everyone has)")]
Results = Annotated[Path, typer.Option("--folder", help="where the results files are")]


@experiment_app.command("list", cls=Command)
def experiment_list() -> None:
    """List the experiments: the question of each, and how many rows."""
    from cselab.lab.experiments import EXPERIMENTS

    for name, experiment in EXPERIMENTS.items():
        typer.echo(f"{name:22}{len(experiment.all_rows):>3} rows  {experiment.question}")


@experiment_app.command("show", cls=Command)
def experiment_show(
    name: ExperimentName,
    profile: Size = "classroom",
    column: Annotated[
        str | None, typer.Option(help="a column other than the first; `cselab published` lists them")
    ] = None,
    form: PaperFormat = "text",
    folder: Annotated[
        Path | None, typer.Option(help="where the results files are  [default: results, else what cselab recorded]")
    ] = None,
) -> None:
    """Show published numbers beside ours.

    Ours are mean ± sd over the seeds, with how many. Then comes the difference, and what becomes of each claim.

    json has every row and column; the other forms but text have the table alone.
    """
    from cselab.lab.experiments import read_results

    found = read_results(name, profile, folder)
    if form == "json":
        cells = json.loads(found.beside().to_json(orient="records"))
        claims = [vars(verdict) | {"answer": verdict.answer} for verdict in found.verdicts()]
        typer.echo(json.dumps({"cells": cells, "claims": claims}, indent=1, ensure_ascii=False))
    else:
        typer.echo(str(found) if form == "text" and column is None else found.shown(column, form))


@experiment_app.command("run", cls=Command)
def experiment_run(
    names: Annotated[list[str], typer.Argument(metavar="NAME", help="one or more, or `all`")],
    profile: Size = "classroom",
    seeds: Annotated[
        str | None, typer.Option(help="such as 0-4 or 0,3,7; default: those of the profile", **SEEDS)
    ] = None,
    only: Annotated[list[str] | None, typer.Option(help="only the row with this label; may be repeated")] = None,
    workers: Annotated[int, typer.Option(min=0, help="processes to start on this machine; 0: compute in this one")] = 0,
    scheduler: Annotated[str | None, typer.Option(help="address of a Dask cluster: tcp://HOST:PORT")] = None,
    folder: Results = Path("results"),
    keep_encoders: Annotated[
        Path | None, typer.Option(help="keep each trained encoder in this folder; one that is there is only measured")
    ] = None,
) -> None:
    """Run the rows that have no result yet, and show the table.

    Finished jobs are never computed twice; a killed run goes on.
    """
    from cselab.lab.experiments import EXPERIMENTS, JobsFailed, get_experiment, get_profile, run_experiment

    chosen = list(EXPERIMENTS) if names == ["all"] else names
    wanted = None if seeds is None else read_seeds(seeds)
    get_profile(profile)
    for name in chosen:
        for label in only or ():
            get_experiment(name).row(label)
        get_experiment(name)
    failed = False
    for name in chosen:
        try:
            found = run_experiment(
                name,
                profile,
                wanted,
                only or (),
                workers=workers,
                scheduler=scheduler,
                folder=folder,
                keep_encoders=keep_encoders,
            )
        except JobsFailed as error:
            typer.echo(str(error), err=True)
            failed = True
        else:
            typer.echo(f"\n{found}\n")
    if failed:
        raise typer.Exit(1)
