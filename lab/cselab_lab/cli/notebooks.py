"""`cselab notebooks`: list, copy, run and collect the notebooks."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from cselab._util.progress import is_quiet
from cselab._util.writing import cannot_write, make_folder, write_text
from cselab_lab.tables import table

from . import options
from .frame import Group
from .options import PATH

# jsonschema, which nbformat imports, would compile this grammar of addresses for two seconds.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

notebooks = Group("notebooks", help="List, copy, run and collect the notebooks.")
SIZES_HELP = "amount of computing: smoke (a quick check), classroom (for a laptop), paper (for a GPU)"
folder_option = click.option("--folder", type=PATH, help="folder of the notebooks  [default: the notebooks in cselab]")


@notebooks.command("list")
@folder_option
def notebooks_list(folder: Path | None) -> None:
    """List the notebooks.

    The profiles with recorded numbers follow in brackets.
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
@options.argument("target", metavar="DIR", type=PATH, help="the folder; created if missing")
@folder_option
def notebooks_copy(target: Path, folder: Path | None) -> None:
    """Copy the notebooks to a work folder. A second call adds updates and keeps edited notebooks."""
    from cselab_lab.headless.notebook_folder import bundled_notebooks, copy_notebooks

    done = copy_notebooks(folder or bundled_notebooks(), target)
    for name, result in done.items():
        click.echo(f"{result}: {target / name}")
    if "yours kept" in done.values():
        click.echo("To get the new version of a kept notebook, rename yours and copy again.")


@notebooks.command("run")
@options.argument("names", nargs=-1, help="names or numbers; default: all")
@click.option("--profile", default="classroom", type=options.LESSON_PROFILE, help=SIZES_HELP)
@click.option("--output", default="out", type=PATH, help="folder for executed notebooks, pages and numbers")
@folder_option
@click.option(
    "--recorded", type=PATH, help="folder of the recorded numbers  [default: recorded/ in the notebooks' folder]"
)
@click.option("--require-recorded", is_flag=True, help="fail if no numbers are recorded")
@click.option("--update-recorded", is_flag=True, help="record the numbers of this run")
@click.option("--seeds", type=options.SEEDS, help="with --update-recorded: record these seeds too, such as 0-4")
@click.option("--changed", is_flag=True, help="run only notebooks that changed since their last run in --output")
@click.option("--timeout", type=float, metavar="SECONDS", help="time limit for a cell")
@click.option("--summary", type=PATH, metavar="FILE.md", help="write a summary in Markdown")
@options.settings
@options.quiet
def notebooks_run(
    names: Sequence[str], profile: str, output: Path, summary: Path | None, settings: Sequence[str], **given: Any
) -> int:
    """Run notebooks without a browser.

    Compares their numbers with the recorded numbers, and writes an offline page for each notebook.

    Exits with 1 if a notebook failed or a number is outside its tolerance.
    """
    from cselab_lab.headless.notebooks import run_notebooks
    from cselab_lab.headless.run_reports import write_summary

    if summary is not None:
        with cannot_write(summary):
            summary.parent.mkdir(parents=True, exist_ok=True)
        options.writable(summary)
    given["seeds"] = given["seeds"] or ()
    results = run_notebooks(names, profile, options.read_settings(settings), output, quiet=is_quiet(), **given)
    if summary is not None:
        write_summary(results, summary)
    return not all(result.passed for result in results)


@notebooks.command("collect")
@options.argument(
    "handed_in", metavar="FOLDER", type=PATH, help="the students' notebooks, in subfolders by student or not"
)
@click.option("--output", default="answers", type=PATH, help="folder for answers.csv and answers.html")
@click.option(
    "--students",
    type=options.TEXT_FILE,
    metavar="FILE",
    help="the class, a name a line: who handed in nothing has a row",
)
def notebooks_collect(handed_in: Path, output: Path, students: Path | None) -> None:
    """Collect guesses and verdicts from handed-in notebooks.

    Reads the saved outputs and executes nothing. Unreadable files are listed and skipped.
    """
    from cselab.data import read_lines
    from cselab_lab.headless.collecting import collect, page, to_frame

    names = read_lines(students) if students else []
    make_folder(output)
    answers, left_out = collect(handed_in, [name.strip() for name in names if name.strip()])
    write_text(output / "answers.csv", table(to_frame(answers), form="csv"))
    write_text(output / "answers.html", page(answers, left_out))
    for line in left_out:
        click.echo(f"left out: {line}")
    given = [answer for answer in answers if answer.lesson]
    who, lessons = ({getattr(answer, what) for answer in given} for what in ("student", "lesson"))
    click.echo(f"{len(given)} answers of {len(who)} students in {len(lessons)} lessons: {output / 'answers.html'}")


@notebooks.command("check")
@options.argument("handed_in", metavar="FOLDER", type=PATH, help="the students' notebooks, as for collect")
@click.option("--output", default="answers", type=PATH, help="folder for points.csv")
@click.option("--timeout", default=120.0, metavar="SECONDS", help="time limit for the pieces of a notebook")
def notebooks_check(handed_in: Path, output: Path, timeout: float) -> None:
    """Run the checks on handed-in pieces, and give points for guesses and core pieces.

    Runs the students' code, each notebook in a separate process with a time limit. Use a machine without secrets.
    """
    from pandas import DataFrame

    from cselab_lab.lessons.checking import check_pieces

    make_folder(output)
    checked, left_out = check_pieces(handed_in, timeout)
    rows = [one.row() for one in checked]
    write_text(output / "points.csv", table(DataFrame(rows), form="csv"))
    for line in left_out:
        click.echo(f"left out: {line}")
    click.echo("\n".join(f"{row['student']}, {row['lesson']}: {row['solved']} pieces, {row['points']} points"
                         for row in rows))  # fmt: skip
