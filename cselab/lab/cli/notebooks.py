"""`cselab notebooks`: run them headless."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from cselab.lab.cli.frame import Command, group
from cselab.lab.cli.options import Settings, read_settings

notebooks_app = group("The notebooks, headless.")


@notebooks_app.command("run", cls=Command)
def notebooks_run(
    names: Annotated[list[str] | None, typer.Argument(help="names or numbers; default: all")] = None,
    profile: Annotated[
        Literal["smoke", "classroom", "paper"], typer.Option(help="size of everything")
    ] = "classroom",
    output: Annotated[Path, typer.Option(help="folder of the executed notebooks, pages and numbers")] = Path(
        "out"
    ),
    folder: Annotated[Path | None, typer.Option(help="where the notebooks are")] = None,
    update_baselines: Annotated[bool, typer.Option(help="make these numbers the new baselines")] = False,
    settings: Settings = None,
) -> None:
    """Run notebooks headless, compare their numbers with the recorded ones, write pages to read offline."""
    from cselab.lab.notebooks import run_notebooks

    results = run_notebooks(
        names or [],
        profile,
        read_settings(settings),
        output,
        folder=folder,
        update_baselines=update_baselines,
    )
    if not all(result.passed for result in results):
        raise typer.Exit(1)
