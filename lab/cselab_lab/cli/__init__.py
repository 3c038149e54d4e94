"""The command line: `cselab train`, `evaluate`, `references`, `encode`, `methods`, and so on.

A command is a function in a module of its own kind; here each gets its name.
"""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Annotated

import typer

from cselab import __version__
from cselab_lab.cli.data import data_app
from cselab_lab.cli.experiments import experiment_app
from cselab_lab.cli.frame import Command, group
from cselab_lab.cli.measuring import compare, encode, evaluate, references, search
from cselab_lab.cli.notebooks import notebooks_app
from cselab_lab.cli.published import published
from cselab_lab.cli.showing import doctor, methods
from cselab_lab.cli.training import train
from cselab_lab.cli.world import world_app

app = group("Contrastive learning of sentence embeddings: train, measure, take apart.", completion=True)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"cselab {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Say which cselab this is.")
    ] = False,
    code: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            dir_okay=False,
            metavar="FILE",
            help="Python file that registers methods or experiments of yours",
        ),
    ] = None,
) -> None:
    """Contrastive learning of sentence embeddings: train, measure, take apart."""
    if code is not None:
        _run_file(code)


def _run_file(file: Path) -> None:
    """Run a user's file as a module, so that what it registers is known to the command that follows."""
    spec = spec_from_file_location(f"user_code.{file.stem}", file)
    if spec is None or spec.loader is None:
        raise typer.BadParameter(f"{file} is not a Python file")
    module = sys.modules[spec.name] = module_from_spec(spec)
    spec.loader.exec_module(module)


for command in (train, evaluate, references, compare, encode, search, methods, doctor, published):
    app.command(cls=Command)(command)
app.add_typer(data_app, name="data")
app.add_typer(notebooks_app, name="notebooks")
app.add_typer(world_app, name="world")
app.add_typer(experiment_app, name="experiment")
