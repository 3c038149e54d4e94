"""All commands under one name, and the options before a command."""

import os
import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import click

from cselab import __version__
from cselab_lab.cli.frame import HELP, Group, blamed
from cselab_lab.cli.options import TEXT_FILE
from cselab_lab.cli.overview import COMMANDS, OPTIONS, TITLE, help_text

COMPLETION = {
    "bash": ("~/.bashrc", 'eval "$(_CSELAB_COMPLETE=bash_source cselab)"'),
    "zsh": ("~/.zshrc", 'eval "$(_CSELAB_COMPLETE=zsh_source cselab)"'),
    "fish": ("~/.config/fish/completions/cselab.fish", "_CSELAB_COMPLETE=fish_source cselab | source"),
}
"""The start file of each shell, and the line that lets it ask cselab for names."""


class Commands(Group):
    """The commands, each imported when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        return getattr(import_module(f"cselab_lab.cli.{COMMANDS[name][0]}"), name.replace("-", "_"))

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write(help_text())


def _print_version(context: click.Context, option: click.Parameter, asked: bool) -> None:
    if asked:
        click.echo(f"cselab {__version__}")
        context.exit()


def _install_completion(context: click.Context, option: click.Parameter, asked: bool) -> None:
    if not asked:
        return
    shell = Path(os.environ.get("SHELL", "")).name
    if shell not in COMPLETION:
        raise click.UsageError(f"the shell is {shell or 'not known ($SHELL)'}; names are completed in bash, zsh, fish")
    place, line = COMPLETION[shell]
    file = Path(place).expanduser()
    if file.exists() and line in file.read_text(encoding="utf-8"):
        click.echo(f"{file} has the line already: {line}")
    else:
        file.parent.mkdir(parents=True, exist_ok=True)
        with open(file, "a", encoding="utf-8") as start:
            start.write(f"\n{line}\n")
        click.echo(f"added to {file}: {line}\nA new shell completes names; take the line out to undo it.")
    context.exit()


def _run_file(context: click.Context, option: click.Parameter, file: Path | None) -> Path | None:
    """Run a user's file as a module, so that what it registers is known to the command that follows."""
    if file is None or context.resilient_parsing:
        return file
    spec = spec_from_file_location(f"user_code.{file.stem}", file)
    if spec is None or spec.loader is None:
        raise click.BadParameter(f"{file} is not a Python file")
    module = sys.modules[spec.name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise click.BadParameter(blamed(file, error)) from error
    return file


@click.group(cls=Commands, help=TITLE, context_settings=HELP)
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version)
@click.option("--install-completion", is_flag=True, expose_value=False, callback=_install_completion)
@click.option("--code", type=TEXT_FILE, callback=_run_file, help=OPTIONS["--code FILE"])
def app(**before: Any) -> None:
    """See `TITLE`."""
