"""`cselab methods` and `cselab doctor`: the available methods, and the state of this machine."""

import os
import platform
import shutil
import textwrap
from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple

import click

from . import terminal
from .frame import Command
from .names import names, purposes
from .options import INSTALL, METHOD, argument

if TYPE_CHECKING:
    from cselab.methods import Method


def list_methods() -> None:
    """The methods by family, each with the first sentence of its description; outside a terminal a line each."""
    import inspect

    from cselab.methods import FAMILIES, METHODS

    wide, name_width = shutil.get_terminal_size((9999, 0)).columns, max(map(len, METHODS)) + 2
    for family, meaning in FAMILIES.items():
        methods = {key: method for key, method in METHODS.items() if method.family == family}
        if methods:
            terminal.print_line(f"{family}: {meaning}", "bold")
        for key, method in methods.items():
            first = " ".join((inspect.getdoc(method) or method.title).partition("\n\n")[0].split())
            summary = first.partition(". ")[0].removesuffix(".") + "."
            more = f" (rows of {', '.join(method.columns)})" if method.columns != ("sentence",) else ""
            line = f"  {key:{name_width}}{method.title}: {summary}{more}"
            click.echo(textwrap.fill(line, wide, subsequent_indent=" " * (name_width + 2), break_long_words=False))


@click.command(cls=Command)
@argument("name", required=False, type=METHOD, help="one method, with its parameters")
def methods(name: str | None) -> None:
    """List the methods, or show one.

    With NAME: a description, the parameters, and the changes of each variant.
    """
    import inspect

    from cselab.methods import get_method

    if name is None:
        list_methods()
        return
    method = get_method(name)
    click.echo(f"{method.title}\n\n{inspect.getdoc(method)}\n\nRows: {', '.join(method.columns)}")
    click.echo("\nParameters (--set NAME=VALUE):")
    for parameter, default in {"variant": "default", **method.hyperparameters()}.items():
        click.echo(f"  {parameter} = {default!r}")
    for variant in method.variants:
        click.echo(f"  variant={variant}: {', '.join(_changes(method, variant)) or 'as default'}")


def _changes(method: "type[Method]", variant: str) -> Iterator[str]:
    """The changes of a variant from the default, by kind of encoder if these differ."""
    from transformers import BertConfig, RobertaConfig

    bert, roberta = (method.changes(variant, config) for config in (BertConfig(), RobertaConfig()))
    for name in bert | roberta:
        same = name in bert and name in roberta and bert[name] == roberta[name]
        kinds = {"": bert} if same else {" (BERT-base)": bert, " (RoBERTa-base)": roberta}
        yield f"{name}=" + ", ".join(f"{each[name]!r}{kind}" for kind, each in kinds.items() if name in each)


class Finding(NamedTuple):
    """A line of the report; `good` is False if a feature is missing."""

    what: str
    found: str
    good: bool = True


def examine() -> list[Finding]:
    """Check Python, torch, devices, bundled encoders, data and notebook tools."""
    import torch

    from cselab.encoders.speed import faster_in_bf16

    cuda = torch.cuda.is_available()
    missing = [name for name in ("jupyterlab", "papermill", "nbconvert", "plotly", "anywidget") if not find_spec(name)]
    tools = f"missing: {', '.join(missing)} ({INSTALL})" if missing else "all installed"
    return [
        Finding("python", f"{platform.python_version()} on {platform.system()} {platform.machine()}"),
        Finding("torch", f"{torch.__version__}, {torch.get_num_threads()} of {os.cpu_count()} cores in use"),
        Finding("device", torch.cuda.get_device_name() if cuda else "CPU only (no CUDA device)"),
        Finding("precision", "bf16 autocast" if faster_in_bf16() else "fp32 (bf16 is not faster here)"),
        _encoders(),
        _data(),
        Finding("notebooks", tools, not missing),
        Finding("sizes of notebooks", ", ".join(names("lessons")) + ("" if cuda else " (paper needs a CUDA device)")),
        *(Finding(f"profile {name}", purpose) for name, purpose in purposes().items()),
    ]


def _encoders() -> Finding:
    from cselab.encoders.checkpoint import CheckpointError
    from cselab.encoders.open import BUNDLED, bundled_folder

    try:
        for name in BUNDLED:
            bundled_folder(name)
    except CheckpointError as damage:
        return Finding("bundled encoders", str(damage), False)
    return Finding("bundled encoders", ", ".join(BUNDLED) or "none", bool(BUNDLED))


def _data() -> Finding:
    from cselab.data import MissingFile, data_root

    try:
        root = data_root()
    except MissingFile as wrong:
        return Finding("data", str(wrong), False)
    return Finding("data", str(root or "none (set CSELAB_DATA to a SentEval folder)"), root is not None)


@click.command(cls=Command)
def doctor() -> None:
    """Show hardware and installed features."""
    for what, found, good in examine():
        terminal.print_line(f"{'ok ' if good else '-- '} {what:26}{found}", "green" if good else "bold yellow")
