"""The command line: `cselab train`, `evaluate`, `baselines`, `encode`, `methods`, and so on.

Each command is a function in one of the modules of this package, which is imported when the command runs.
`cselab --help` prints the tables of `overview`, so that no library has to be imported first.
"""

import gc
import os
import signal
import sys
import warnings
from io import TextIOWrapper
from typing import Any

from .overview import help_text

TERMINATED = 143
"""The shell's exit code for a command ended by SIGTERM."""

__all__ = ["app", "main"]


def main() -> None:
    """Run the command `cselab`; waiting threads of the process sleep soon.

    Busy-waiting threads occupy cores that other programs need (docs/scale.md). libgomp reads the variable when a
    command imports torch.
    """
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", "10000")
    if sys.argv[1:] in (["-h"], ["--help"]):
        try:
            print(help_text(), flush=True)
        except BrokenPipeError:  # the reader, for example `head`, has enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except OSError as error:
            sys.exit(f"Error: {error}")
        return
    for stream in (sys.stdout, sys.stderr):  # of a console without UTF-8
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))  # unfinished files are removed
    gc.set_threshold(10_000)  # 700 otherwise: garbage collection is a tenth of the time of the imports
    warnings.formatwarning = lambda message, *_, **__: f"Warning: {' '.join(str(message).split())}\n"
    __getattr__("app")(prog_name="cselab")


def __getattr__(name: str) -> Any:
    """`app`, which imports click."""
    if name == "app":
        from .frame import app

        return app
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
