"""Behaviour of all commands: one-line errors on stderr, suggestions, exit codes; and the group of all commands."""

import sys
import traceback
from collections.abc import Iterable
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import click

from cselab import __version__

from .options import INSTALL, TEXT_FILE
from .overview import COMMANDS, OPTIONS, TITLE, help_text

OUT_OF_MEMORY = "out of memory: use a smaller --batch-size, --max-length or encoder, or --device cpu"
MEMORY_WORDS = ("not enough memory", "can't allocate memory")
"""The words of torch on a CPU, for Windows and Linux; on a GPU torch has a class of errors."""

INTERRUPTED = 130  # the shell's exit code for a command ended by Ctrl-C
PLAIN_WORDS = {
    " a valid integer": " a whole number",
    " a valid float": " a number",
    "number range": "number",
}  # click's words
HELP = {"help_option_names": ["-h", "--help"], "show_default": True}


class _Ending(click.Command):
    """A command or group that prints an error as one line on stderr and ends with an exit code.

    A command may return its exit code.
    """

    def main(self, args: Any = None, *rest: Any, standalone_mode: bool = True, **options: Any) -> Any:
        run: Any = super().main
        if not standalone_mode:
            return run(args, *rest, standalone_mode=False, **options)
        try:
            _check_utf8(sys.argv[1:] if args is None else args)
            sys.exit(int(run(args, *rest, standalone_mode=False, **options) or 0))
        except click.exceptions.NoArgsIsHelpError as error:
            click.echo(error.format_message(), err=True)
            sys.exit(error.exit_code)
        except click.ClickException as error:
            _show(error)
            sys.exit(error.exit_code)
        except click.Abort:
            click.echo("interrupted", err=True)
            sys.exit(INTERRUPTED)
        except OSError as error:  # output before the command runs, on a full disk
            _show(click.ClickException(str(error)))
            sys.exit(1)


class Command(_Ending):
    """A command that reports a user's errors without a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (BrokenPipeError, click.ClickException, click.Abort, click.exceptions.Exit):
            raise  # a broken pipe: `cselab ... | head` stopped reading
        except ModuleNotFoundError as error:
            told = str(error)
            if "pip install" not in told:
                told += f": pip install {str(error.name).partition('.')[0]}, or all in a clone with {INSTALL}"
            raise click.ClickException(told) from error
        except (ValueError, OSError, ArithmeticError) as error:
            file, reason = getattr(error, "filename", None), getattr(error, "strerror", None)  # the system's
            told = f"{str(file)[:400]!r} cannot be used ({reason})" if file and reason else str(error)
            raise click.ClickException(told) from error
        except Exception as error:
            if "Symlink loop" in str(error):  # a RuntimeError before Python 3.13
                raise click.ClickException(f"{error}: a link that points to itself") from error
            full = isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError"
            if full or any(words in str(error) for words in MEMORY_WORDS):
                raise click.ClickException(OUT_OF_MEMORY) from error
            if (code := ctx.find_root().params.get("code")) is not None:
                raise click.ClickException(blame(code, error)) from error
            raise


def blame(code: Path, error: BaseException) -> str:
    """An error in a user's file: the file, the line if known, and the error.

    >>> blame(Path("mine.py"), ValueError("no views"))
    'mine.py: ValueError: no views'
    """
    name = str(code.absolute())
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == name]
    if isinstance(error, SyntaxError) and error.filename == name:
        lines = [error.lineno]
    return f"{code}{f', line {lines[-1]}' if lines else ''}: {type(error).__name__}: {error}"


class Group(_Ending, click.Group):
    """A group of commands, listed in the order of definition."""

    command_class = Command

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


class Commands(Group):
    """All commands; each is imported when it runs."""

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        return getattr(import_module(f"cselab_lab.cli.{COMMANDS[name][0]}"), name.replace("-", "_"))

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write(help_text())


def _check_utf8(arguments: Iterable[str]) -> None:
    for place, argument in enumerate(arguments, start=1):
        if any("\ud800" <= letter <= "\udfff" for letter in argument):
            raise click.UsageError(f"argument {place} is not UTF-8: {argument!a}; type it again, or rename the file")


def _show(error: click.ClickException) -> None:
    """Print one line, which a log keeps complete and from which a path can be copied."""
    context = getattr(error, "ctx", None)
    message = error.format_message()
    for theirs, plain in PLAIN_WORDS.items():
        message = message.replace(theirs, plain)
    message = " ".join(message.split())
    message = message if message.endswith("...") else message.removesuffix(".")
    where = f" (see '{context.command_path} --help')" if context is not None else ""
    click.secho(f"Error: {message}{where}", fg="red" if sys.stderr.isatty() else None, err=True)


def _print_version(context: click.Context, option: click.Parameter, given: bool) -> None:
    if given:
        click.echo(f"cselab {__version__}")
        context.exit()


def _run_file(context: click.Context, option: click.Parameter, file: Path | None) -> Path | None:
    """Run a user's file as a module, to register its methods and suites."""
    if file is None or context.resilient_parsing:
        return file
    spec = spec_from_file_location(f"user_code.{file.stem}", file)
    if spec is None or spec.loader is None:
        raise click.BadParameter(f"{file} is not a Python file")
    module = sys.modules[spec.name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        raise click.BadParameter(blame(file, error)) from error
    return file


@click.group(cls=Commands, commands=dict(COMMANDS), help=TITLE, context_settings=HELP)
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version)
@click.option("--code", type=TEXT_FILE, callback=_run_file, help=OPTIONS["--code FILE"])
def app(**before: Any) -> None:
    """See `TITLE`."""
