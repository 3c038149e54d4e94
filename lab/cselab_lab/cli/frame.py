"""How commands behave: one line of error on stderr, what there is beside what is not known, Ctrl-C, full memory."""

import sys
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from cselab._util.choices import did_you_mean

OUT_OF_MEMORY = "out of memory: a smaller --batch-size, --max-length or encoder needs less, or --device cpu"
INTERRUPTED = 130  # what shells say of a command that Ctrl-C ended
PLAIN = {
    " a valid integer": " a whole number",
    " a valid float": " a number",
    "number range": "number",
}  # click's words
HELP = {"help_option_names": ["-h", "--help"], "show_default": True}


class Checked(click.ParamType):
    """A value that a check passes or changes, and the names that the shell completes."""

    def __init__(self, name: str, check: Callable[[str], Any], known: Callable[[], Iterable[str]] = tuple) -> None:
        self.name, self.check, self.known = name, check, known

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str | None:
        return None if isinstance(param, click.Argument) else self.name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return self.check(value)
        except (ValueError, OSError) as error:
            self.fail(str(error), param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(name) for name in self.known() if name.startswith(incomplete)]


class _Ending(click.Command):
    """A command or group that ends with a code, and with one line on stderr of an error, where it is a process."""

    def no_such_option(self, name: str) -> str:
        """What is said of an unknown option."""
        return unknown("option", name, [option for one in self.params for option in one.opts if option[0] == "-"])

    def main(self, args: Any = None, *rest: Any, standalone_mode: bool = True, **options: Any) -> Any:
        run: Any = super().main
        if not standalone_mode:
            return run(args, *rest, standalone_mode=False, **options)
        try:
            _check_utf8(sys.argv[1:] if args is None else args)
            code = run(args, *rest, standalone_mode=False, **options)
        except click.exceptions.NoArgsIsHelpError as error:
            click.echo(error.format_message(), err=True)
            sys.exit(error.exit_code)
        except click.ClickException as error:
            _show(error)
            sys.exit(error.exit_code)
        except click.Abort:
            click.echo("interrupted", err=True)
            sys.exit(INTERRUPTED)
        sys.exit(code if isinstance(code, int) else 0)


class Command(_Ending):
    """A command that reports errors of the user's making without a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (BrokenPipeError, click.ClickException, click.Abort, click.exceptions.Exit):
            raise  # `cselab ... | head`: nobody reads on
        except ModuleNotFoundError as error:
            raise click.ClickException(f"{error}: install it, or all: pip install 'cselab[notebooks]'") from error
        except (ValueError, OSError, ArithmeticError) as error:
            raise click.ClickException(str(error)) from error
        except Exception as error:
            if isinstance(error, MemoryError) or _is_out_of_memory(error):
                raise click.ClickException(OUT_OF_MEMORY) from error
            if (code := ctx.find_root().params.get("code")) is not None:
                raise click.ClickException(blamed(code, error)) from error
            raise


def _is_out_of_memory(error: Exception) -> bool:
    """Whether torch says so: on a GPU by a class of its own, on a CPU by words, Windows' or Linux'."""
    words = ("not enough memory", "can't allocate memory")
    return type(error).__name__ == "OutOfMemoryError" or any(word in str(error) for word in words)


def blamed(code: Path, error: BaseException) -> str:
    """An error that a user's own file caused: the file, its line where it is known, what is wrong.

    >>> blamed(Path("mine.py"), ValueError("no views"))
    'mine.py: ValueError: no views'
    """
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(code)]
    if isinstance(error, SyntaxError) and error.filename == str(code):
        lines = [error.lineno]
    return f"{code}{f', line {lines[-1]}' if lines else ''}: {type(error).__name__}: {error}"


class Group(_Ending, click.Group):
    """A group whose unknown commands are answered with the known, and whose errors are one line on stderr."""

    command_class = Command

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)  # in the order in which they were made


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """What is said of an unknown option or command: the nearest, and all that there are."""
    known = tuple(known)
    return f"No such {what}: {name}.{did_you_mean(name, known)} Allowed: {', '.join(known)}"


def _check_utf8(arguments: Iterable[str]) -> None:
    for place, argument in enumerate(arguments, start=1):
        if any("\ud800" <= letter <= "\udfff" for letter in argument):
            raise click.UsageError(f"argument {place} is not UTF-8: {argument!a}; type it again, or rename the file")


def _show(error: click.ClickException) -> None:
    """One line that a log keeps whole and a path is copied from."""
    context = getattr(error, "ctx", None)
    message = error.format_message()
    if isinstance(error, click.NoSuchOption) and context is not None:
        message = context.command.no_such_option(error.option_name)
    elif isinstance(error, click.NoSuchCommand) and context is not None:
        message = unknown("command", error.command_name, context.command.list_commands(context))
    for theirs, plain in PLAIN.items():
        message = message.replace(theirs, plain)
    message = " ".join(message.split())
    message = message if message.endswith("...") else message.removesuffix(".")
    where = f" (see '{context.command_path} --help')" if context is not None else ""
    click.secho(f"Error: {message}{where}", fg="red" if sys.stderr.isatty() else None, err=True)
