"""How commands behave: one line of error on stderr, the nearest name for an unknown one, Ctrl-C, full memory."""

import re
import sys
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from cselab.data.nearest import did_you_mean

UsageError: Any = typer.BadParameter.__base__  # typer keeps click's classes, and gives these two no public name
ClickException: Any = UsageError.__base__


def _with_allowed_options(error: Any, context: Any) -> Any:
    """An unknown option's message, with the nearest option and all that there are."""
    asked = getattr(error, "option_name", None)
    if asked and "Allowed" not in error.message:
        allowed = [name for parameter in context.command.params for name in getattr(parameter, "opts", [])]
        allowed = [name for name in allowed if name.startswith("-")]
        hint = did_you_mean(asked, allowed) if asked not in allowed else ""
        error.message += f".{hint} Allowed: {', '.join(allowed)}"
        error.possibilities = None
    return error


PYDANTIC = {
    "Value error, ": "",
    "Input should be a valid integer, unable to parse string as an integer": "a whole number is wanted",
    "Input should be a valid number, unable to parse string as a number": "a number is wanted",
}


def _in_plain_words(error: Any) -> Any:
    """A bad value's message without the words that pydantic has for programmers."""
    for theirs, plain in PYDANTIC.items():
        error.message = error.message.replace(theirs, plain)
    return error


def _is_out_of_memory(error: RuntimeError) -> bool:
    """Whether torch says so: on a GPU by a class of its own, on a CPU by words, Windows' or Linux'."""
    words = ("not enough memory", "can't allocate memory")
    return type(error).__name__ == "OutOfMemoryError" or any(word in str(error) for word in words)


OUT_OF_MEMORY = "out of memory: a smaller --batch-size, --max-length or encoder needs less, or --device cpu"


class _AsItIs:
    """How typer reads a parameter, without pydantic, whose import takes longer than typer's, for what needs no check.

    That is a text, a default, and what was not given.
    """

    def __init__(self, parameter: Any) -> None:
        self.checked = parameter.get_runtime_param
        self.is_text = parameter.type_descriptor.annotation in (str, list[str])

    def itself(self) -> "_AsItIs":
        return self

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        several = param.multiple or param.nargs == -1
        if value is None:
            return () if several else None
        if value is param.default or (self.is_text and isinstance(value, list | tuple if several else str)):
            return list(value) if several else value
        return self.checked().coerce(value, param=param, ctx=ctx)


def _spare_pydantic(parameters: Any) -> None:
    for parameter in parameters:
        if hasattr(parameter, "get_runtime_param"):  # typer before 0.28 does not know pydantic
            parameter.get_runtime_param = _AsItIs(parameter).itself


PLAIN = {"str": "TEXT", "int": "N", "float": "NUMBER", "Path": "PATH", "path": "PATH", "file": "FILE"}


def _in_capitals(parameter: Any, name: str) -> str:
    """`METHOD...`, `--steps N`: how the list of a command's help names a parameter, without Python's types."""
    if parameter.param_type_name == "argument":
        return name.split(" <")[0].upper()
    return re.sub(r"<(?:list\[)?([^]> ]+)(?: range)?\]?>", lambda kind: PLAIN.get(kind[1], kind[1]), name)


class Command(TyperCommand):
    """A command that lists the allowed options, and reports errors of the user's making without a traceback."""

    def parse_args(self, ctx: Any, args: Any) -> Any:
        _spare_pydantic(self.get_params(ctx))
        try:
            return super().parse_args(ctx, args)
        except UsageError as error:
            raise _with_allowed_options(_in_plain_words(error), ctx) from None

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """`[OPTIONS] METHOD...`: a name to fill in stands in capitals, without typer's braces."""
        pieces = (piece.replace("{", "").replace("}", "") for piece in super().collect_usage_pieces(ctx))
        return [piece.upper() for piece in pieces]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The arguments and options, in plain words."""
        lines: dict[str, list[tuple[str, str]]] = {"argument": [], "option": []}
        for parameter in self.get_params(ctx):
            if (found := parameter.get_help_record(ctx)) is not None:
                lines[parameter.param_type_name].append((_in_capitals(parameter, found[0]), found[1]))
        for kind, rows in lines.items():
            if rows:
                with formatter.section(f"{kind.capitalize()}s"):
                    formatter.write_dl(rows)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # `cselab ... | head`: nobody reads on
            raise
        except ModuleNotFoundError as error:
            raise ClickException(f"{error}: install it, or all: pip install 'cselab[notebooks]'") from error
        except (ValueError, OSError, ArithmeticError) as error:
            raise ClickException(str(error)) from error
        except MemoryError as error:
            raise ClickException(OUT_OF_MEMORY) from error
        except RuntimeError as error:
            if _is_out_of_memory(error):
                raise ClickException(OUT_OF_MEMORY) from error
            raise


class Group(TyperGroup):
    """A group whose unknown commands are answered with the known, and whose errors are one line on stderr."""

    def parse_args(self, ctx: Any, args: Any) -> Any:
        _spare_pydantic(self.get_params(ctx))
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: Any) -> Any:
        try:
            return super().resolve_command(ctx, args)
        except UsageError as error:
            error.message += f" Allowed: {', '.join(self.list_commands(ctx))}"
            raise

    def main(self, *arguments: Any, **options: Any) -> Any:
        returning = options | {"standalone_mode": False}
        if not options.get("standalone_mode", True):
            return super().main(*arguments, **returning)
        try:
            code = super().main(*arguments, **returning)
        except ClickException as error:
            _show(error)
            sys.exit(error.exit_code)
        except typer.Abort:
            typer.echo("Aborted", err=True)
            sys.exit(1)
        sys.exit(code if isinstance(code, int) else 0)


def _show(error: Any) -> None:
    """Help where no command was given; otherwise one line that a log keeps whole and a path is copied from."""
    context = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError":
        typer.echo(error.ctx.get_help(), err=True)
        return
    message = " ".join(error.format_message().split())
    where = f" (see '{context.command_path} --help')" if context is not None else ""
    typer.secho(f"Error: {message}{where}", fg="red" if sys.stderr.isatty() else None, err=True)


def group(text: str, completion: bool = False) -> typer.Typer:
    """An app of commands: no traceback, `-h` beside `--help`, descriptions as they are written."""
    return typer.Typer(
        help=text,
        cls=Group,
        no_args_is_help=True,
        add_completion=completion,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
