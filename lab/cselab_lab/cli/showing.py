"""`cselab methods` and `cselab doctor`: what there is."""

import json
from typing import Annotated

import typer

from cselab_lab.cli.options import METHOD


def methods(
    name: Annotated[str | None, typer.Argument(help="one method, with its parameters", **METHOD)] = None,
) -> None:
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
                typer.echo(f"{family}: {meaning}")
            for key, method in members.items():
                summary = (inspect.getdoc(method) or method.title).splitlines()[0]
                more = f" (rows of {', '.join(method.columns)})" if method.columns != ("sentence",) else ""
                typer.echo(f"  {key:{names}}{method.title:{titles}}{summary}{more}")
        return
    method = get_method(name)
    typer.echo(f"{method.title}\n\n{inspect.getdoc(method)}\n\nRows: {', '.join(method.columns)}")
    typer.echo("\nParameters (--set NAME=VALUE):")
    for parameter, default in {"variant": "default", **method.hyperparameters()}.items():
        typer.echo(f"  {parameter} = {default!r}")
    for variant, changes in method.variants.items():
        typer.echo(f"  variant={variant}: {', '.join(f'{k}={v!r}' for k, v in changes.items()) or 'as default'}")


def doctor(as_json: Annotated[bool, typer.Option("--json", help="as JSON, for programs")] = False) -> None:
    """Say what this machine has, and what would run on it."""
    from dataclasses import asdict

    from cselab_lab.cli.doctor import examine

    findings = examine()
    if as_json:
        typer.echo(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        for finding in findings:
            typer.echo(f"{'ok ' if finding.good else '-- '} {finding.what:24}{finding.found}")
