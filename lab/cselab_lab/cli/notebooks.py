"""`cselab notebooks`: list them, copy them to work in, run them headless."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from cselab_lab.cli.frame import Command, group
from cselab_lab.cli.options import SEEDS, SIZES, Quiet, Settings, read_seeds, read_settings, writable

notebooks_app = group("The notebooks: list, copy, run headless.")

Folder = Annotated[Path | None, typer.Option(help="where the notebooks are; default: those that come with cselab")]


@notebooks_app.command("list", cls=Command)
def notebooks_list(folder: Folder = None) -> None:
    """List the notebooks.

    In brackets are the profiles under which numbers were recorded.
    """
    from cselab_lab.headless.notebook_folder import find_notebooks, read_notebook, title_of
    from cselab_lab.resources import bundled_notebooks

    folder = folder or bundled_notebooks()
    paths = find_notebooks(folder)
    width = max(len(path.stem) for path in paths)
    for path in paths:
        profiles = sorted(file.stem.split(".")[-1] for file in (folder / "recorded").glob(f"{path.stem}.*.json"))
        recorded = f"  (recorded: {', '.join(profiles)})" if profiles else ""
        typer.echo(f"{path.stem:{width}}  {title_of(read_notebook(path), path.stem)}{recorded}")


@notebooks_app.command("copy", cls=Command)
def notebooks_copy(
    target: Annotated[Path, typer.Argument(metavar="DIR", help="the folder; made if need be")], folder: Folder = None
) -> None:
    """Copy the notebooks to a folder to work in. Called again it brings what is new, and keeps what you edited."""
    from cselab_lab.headless.notebook_folder import copy_notebooks
    from cselab_lab.resources import bundled_notebooks

    done = copy_notebooks(folder or bundled_notebooks(), target)
    for name, what in done.items():
        typer.echo(f"{what}: {target / name}")
    if "yours kept" in done.values():
        typer.echo("Rename a kept notebook to get its new version beside it.")


@notebooks_app.command("run", cls=Command)
def notebooks_run(
    names: Annotated[list[str] | None, typer.Argument(help="names or numbers; default: all")] = None,
    profile: Annotated[Literal["smoke", "classroom", "paper"], typer.Option(help=SIZES)] = "classroom",
    output: Annotated[Path, typer.Option(help="folder for the executed notebooks, pages and numbers")] = Path("out"),
    folder: Folder = None,
    recorded: Annotated[
        Path | None,
        typer.Option(
            "--recorded", "--baselines", help="folder of the recorded numbers; default: recorded/ beside the notebooks"
        ),
    ] = None,
    require_recorded: Annotated[
        bool, typer.Option("--require-recorded", "--require-baseline", help="fail where no numbers are recorded")
    ] = False,
    update_recorded: Annotated[
        bool, typer.Option("--update-recorded", "--update-baselines", help="make these the recorded numbers")
    ] = False,
    seeds: Annotated[
        str | None, typer.Option(help="with --update-recorded: record these seeds too, such as 0-4", **SEEDS)
    ] = None,
    changed: Annotated[
        bool, typer.Option("--changed", help="run only what has changed since its last run in --output")
    ] = False,
    timeout: Annotated[float | None, typer.Option(help="seconds that a cell may take")] = None,
    junit: Annotated[Path | None, typer.Option(metavar="FILE", help="write a JUnit file")] = None,
    summary: Annotated[Path | None, typer.Option(metavar="FILE.md", help="write a summary in Markdown")] = None,
    settings: Settings = None,
    quiet: Quiet = False,
) -> None:
    """Run notebooks headless.

    Their numbers are held against the recorded ones, and each becomes a page to read offline.

    Exits with 1 if a notebook failed or a number is not within its tolerance.
    """
    from cselab_lab.headless.notebooks import run_notebooks
    from cselab_lab.headless.run_reports import write_junit, write_summary

    for file in (junit, summary):
        if file is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
            writable(file)
    results = run_notebooks(
        names or [],
        profile,
        read_settings(settings),
        output,
        folder=folder,
        recorded=recorded,
        require_recorded=require_recorded,
        update_recorded=update_recorded,
        seeds=read_seeds(seeds) if seeds else (),
        changed=changed,
        timeout=timeout,
        quiet=quiet,
    )
    if junit:
        write_junit(results, junit)
    if summary:
        write_summary(results, summary)
    if not all(result.passed for result in results):
        raise typer.Exit(1)
