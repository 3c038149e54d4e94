"""`cselab notebooks`: list them, copy them to work in, run them headless."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from cselab._util.progress import is_quiet
from cselab_lab.cli.frame import Group
from cselab_lab.cli.options import LESSON_PROFILE, PATH, SEEDS, quiet, read_settings, settings, writable

notebooks = Group("notebooks", help="The notebooks: list, copy, run headless.")
SIZES = "how much is computed: smoke (enough to see that it runs), classroom (for a laptop), paper (for a GPU)"
folder_option = click.option(
    "--folder", type=PATH, help="where the notebooks are  [default: those that come with cselab]"
)


@notebooks.command("list")
@folder_option
def notebooks_list(folder: Path | None) -> None:
    """List the notebooks.

    In brackets are the profiles under which numbers were recorded.
    """
    from cselab_lab.headless.notebook_folder import bundled_notebooks, find_notebooks, read_notebook, title_of

    folder = folder or bundled_notebooks()
    paths = find_notebooks(folder)
    width = max(len(path.stem) for path in paths)
    for path in paths:
        profiles = sorted(file.stem.split(".")[-1] for file in (folder / "recorded").glob(f"{path.stem}.*.json"))
        recorded = f"  (recorded: {', '.join(profiles)})" if profiles else ""
        click.echo(f"{path.stem:{width}}  {title_of(read_notebook(path), path.stem)}{recorded}")


@notebooks.command("copy")
@click.argument("target", metavar="DIR", type=PATH, help="the folder; made if need be")
@folder_option
def notebooks_copy(target: Path, folder: Path | None) -> None:
    """Copy the notebooks to a folder to work in. Called again it brings what is new, and keeps what you edited."""
    from cselab_lab.headless.notebook_folder import bundled_notebooks, copy_notebooks

    done = copy_notebooks(folder or bundled_notebooks(), target)
    for name, what in done.items():
        click.echo(f"{what}: {target / name}")
    if "yours kept" in done.values():
        click.echo("Rename a kept notebook to get its new version beside it.")


@notebooks.command("run")
@click.argument("names", nargs=-1, help="names or numbers; default: all")
@click.option("--profile", default="classroom", type=LESSON_PROFILE, help=SIZES)
@click.option("--output", default="out", type=PATH, help="folder for the executed notebooks, pages and numbers")
@folder_option
@click.option(
    "--recorded",
    "--baselines",
    type=PATH,
    help="folder of the recorded numbers  [default: recorded/ beside the notebooks]",
)
@click.option("--require-recorded", "--require-baseline", is_flag=True, help="fail where no numbers are recorded")
@click.option("--update-recorded", "--update-baselines", is_flag=True, help="make these the recorded numbers")
@click.option("--seeds", type=SEEDS, help="with --update-recorded: record these seeds too, such as 0-4")
@click.option("--changed", is_flag=True, help="run only what has changed since its last run in --output")
@click.option("--timeout", type=float, metavar="SECONDS", help="that a cell may take")
@click.option("--junit", type=PATH, metavar="FILE", help="write a JUnit file")
@click.option("--summary", type=PATH, metavar="FILE.md", help="write a summary in Markdown")
@settings
@quiet
@click.pass_context
def notebooks_run(
    context: click.Context,
    names: Sequence[str],
    profile: str,
    output: Path,
    seeds: list[int] | None,
    junit: Path | None,
    summary: Path | None,
    settings: Sequence[str],
    **given: Any,
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
        names, profile, read_settings(settings), output, seeds=seeds or (), quiet=is_quiet(), **given
    )
    if junit:
        write_junit(results, junit)
    if summary:
        write_summary(results, summary)
    if not all(result.passed for result in results):
        context.exit(1)
