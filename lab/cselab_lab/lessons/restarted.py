"""An IPython extension: a lesson's cell that runs before the first cells gets a line of advice.

`lesson.setup` loads it. `make lab` loads it with each kernel, because a restart removes all imports of a lesson.
"""

from __future__ import annotations

from typing import Any

FIRST = "Run the first two cells of the lesson (Run > Run All Above Selected Cell), then this cell again."
EARLIER = "comes from a cell above that has not run: Run > Run All Above Selected Cell, then this cell again."


def advice(name: str | None, names: dict[str, Any]) -> str:
    """The line for a name that is not defined, given the names that are; empty outside a lesson.

    >>> advice("lab", {})
    'Run the first two cells of the lesson (Run > Run All Above Selected Cell), then this cell again.'
    """
    if (name in ("lab", "lesson") or str(name).startswith("guess_")) and "lab" not in names:
        return FIRST
    return f"`{name}` {EARLIER}" if type(names.get("lab")).__name__ == "Lesson" else ""


def load_ipython_extension(shell: Any) -> None:
    """Add the line to each NameError."""

    def explain(shell: Any, kind: Any, error: NameError, trace: Any, tb_offset: int | None = None) -> None:
        shell.showtraceback((kind, error, trace), tb_offset=tb_offset)
        if line := advice(error.name, shell.user_ns):
            print(line)

    shell.set_custom_exc((NameError,), explain)
