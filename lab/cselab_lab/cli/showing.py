"""`cselab methods` and `cselab doctor`: what there is."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from cselab_lab.cli.frame import Command
from cselab_lab.cli.options import METHOD

if TYPE_CHECKING:
    from cselab.methods import Method


@click.command(cls=Command)
@click.argument("name", required=False, type=METHOD, help="one method, with its parameters")
def methods(name: str | None) -> None:
    """List the methods, or show one.

    Of one: what it does, its parameters, what its variants change.
    """
    import inspect

    from cselab.methods import FAMILIES, METHODS, get_method

    if name is None:
        names = max(map(len, METHODS)) + 2
        titles = max(len(method.title) for method in METHODS.values()) + 2
        for family, meaning in FAMILIES.items():
            members = {key: method for key, method in METHODS.items() if method.family == family}
            if members:
                click.echo(f"{family}: {meaning}")
            for key, method in members.items():
                summary = (inspect.getdoc(method) or method.title).splitlines()[0]
                more = f" (rows of {', '.join(method.columns)})" if method.columns != ("sentence",) else ""
                click.echo(f"  {key:{names}}{method.title:{titles}}{summary}{more}")
        return
    method = get_method(name)
    click.echo(f"{method.title}\n\n{inspect.getdoc(method)}\n\nRows: {', '.join(method.columns)}")
    click.echo("\nParameters (--set NAME=VALUE):")
    for parameter, default in {"variant": "default", **method.hyperparameters()}.items():
        click.echo(f"  {parameter} = {default!r}")
    for variant in method.variants:
        click.echo(f"  variant={variant}: {', '.join(_changes(method, variant)) or 'as default'}")


def _changes(method: "type[Method]", variant: str) -> Iterator[str]:
    """What a variant sets otherwise than the default, by kind of encoder where that matters."""
    from transformers import BertConfig, RobertaConfig

    bert, roberta = (method.changes(variant, config) for config in (BertConfig(), RobertaConfig()))
    for name in bert | roberta:
        same = name in bert and name in roberta and bert[name] == roberta[name]
        kinds = {"": bert} if same else {" (BERT-base)": bert, " (RoBERTa-base)": roberta}
        yield f"{name}=" + ", ".join(f"{each[name]!r}{kind}" for kind, each in kinds.items() if name in each)


@click.command(cls=Command)
@click.option("--json", "as_json", is_flag=True, help="as JSON, for programs")
def doctor(as_json: bool) -> None:
    """Say what this machine has, and what would run on it."""
    from dataclasses import asdict

    from cselab_lab.cli.doctor import examine

    findings = examine()
    if as_json:
        click.echo(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        for finding in findings:
            click.echo(f"{'ok ' if finding.good else '-- '} {finding.what:26}{finding.found}")
