"""The command line: `cselab train`, `evaluate`, `baselines`, `encode`, `methods`, and so on.

A command is a function in a module of its own kind, which is imported when the command is called. What `cselab --help`
shows stands in `overview`, so that it waits for nothing.
"""

import os
import sys
import warnings
from typing import TYPE_CHECKING, Any

from cselab_lab.cli.overview import COMMANDS, OPTIONS, help_text

if TYPE_CHECKING:
    from cselab_lab.cli.commands import app

__all__ = ["COMMANDS", "OPTIONS", "app", "help_text", "main"]


def main() -> None:
    """The command `cselab`, in a process whose threads soon sleep while they wait for each other.

    Threads that stay awake keep other programs' from the cores that they wait for (docs/scale.md). libgomp reads the
    variable when torch is imported, which a command does later.
    """
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", "10000")
    if sys.argv[1:] in (["-h"], ["--help"]):
        print(help_text())
        return
    warnings.formatwarning = lambda message, *_, **__: f"Warning: {message}\n"
    from cselab_lab.cli.commands import app

    app(prog_name="cselab")


def __getattr__(name: str) -> Any:
    if name == "app":
        from cselab_lab.cli.commands import app

        return app
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
