"""How commands behave: errors of the user's making are told without a traceback, unknown names with the known."""

from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

UsageError: type[Exception] = typer.BadParameter.__base__
ClickException: type[Exception] = UsageError.__base__


def _with_allowed_options(error: Exception, context: Any) -> Exception:
    """An unknown option's message, with the options that there are."""
    if getattr(error, "option_name", None) and "Allowed" not in error.message:
        allowed = [name for parameter in context.command.params for name in getattr(parameter, "opts", [])]
        error.message += f" Allowed: {', '.join(name for name in allowed if name.startswith('-'))}"
    return error


class Command(TyperCommand):
    """A command that lists the allowed options, and reports errors of the user's making without a traceback."""

    def parse_args(self, ctx, args):
        try:
            return super().parse_args(ctx, args)
        except UsageError as error:
            raise _with_allowed_options(error, ctx) from None

    def invoke(self, ctx):
        try:
            return super().invoke(ctx)
        except (ValueError, OSError, ArithmeticError) as error:
            raise ClickException(str(error)) from error
        except ModuleNotFoundError as error:
            raise ClickException(f"{error}: install it, or all: pip install 'cselab[notebooks]'") from error


class Group(TyperGroup):
    """A group whose unknown commands are answered with the known."""

    def resolve_command(self, ctx, args):
        try:
            return super().resolve_command(ctx, args)
        except UsageError as error:
            error.message += f" Allowed: {', '.join(self.list_commands(ctx))}"
            raise


def group(text: str) -> typer.Typer:
    return typer.Typer(
        help=text, cls=Group, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False
    )
