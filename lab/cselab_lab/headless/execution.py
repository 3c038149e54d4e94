"""Runs one notebook with papermill: prints the progress of the cells, and names the cell of an error."""

import os
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import shorten
from typing import Any

import nbformat

Echo = Callable[[str], None]
"""Receives each line of the progress."""


def execute(
    notebook: nbformat.NotebookNode,
    executed: Path,
    parameters: Mapping[str, object],
    folder: Path,
    timeout: float | None,
    echo: Echo,
) -> list[str]:
    """Run the cells in `folder` and write the notebook with its outputs, up to the first failed cell.

    Args:
        notebook: a notebook with one cell tagged `parameters`.
        executed: the file to write.
        parameters: passed in a new cell, below the defaults.
        folder: where the cells run.
        timeout: time limit for a cell in seconds; None: no limit.
        echo: receives each line of the progress.

    Returns:
        The errors, a sentence each; empty if all cells ran.
    """
    from nbclient.exceptions import CellTimeoutError, DeadKernelError
    from papermill import PapermillExecutionError, execute_notebook

    progress = _Progress(notebook, len(parameters), echo)
    try:
        with TemporaryDirectory() as scratch:
            execute_notebook(
                notebook,
                executed,
                parameters=dict(parameters),
                kernel_name="python3",
                language="python",
                progress_bar=False,
                cwd=folder,
                stdout_file=progress,
                stderr_file=progress,
                execution_timeout=timeout,
                # passed on to nbclient
                kernel_manager_class=_this_python(scratch),
                store_widget_state=False,
                coalesce_streams=True,
                on_cell_start=progress.cell_started,
            )
    except DeadKernelError as error:
        return [f"{progress.where} stopped the kernel: {error}"]
    except PapermillExecutionError as error:
        return [f"{progress.where} failed with {error.ename}: {error.evalue}"]
    except CellTimeoutError:
        return [f"{progress.where} exceeded {timeout:g} s, and was stopped"]
    if left := progress.total - progress.index:  # papermill treats sys.exit(0) as the end of the notebook
        return [f"{progress.where} ended the notebook: {left} of {progress.total} cells did not run"]
    return []


# tqdm.auto chooses widget bars when it is first imported in a kernel, and a saved widget bar stays at 0 %;
# if it is imported before the kernel starts, it chooses text bars, whose lines are passed on.
LAUNCH = "import tqdm.auto; from ipykernel.kernelapp import launch_new_instance; launch_new_instance()"


def _this_python(scratch: str) -> type:
    """A kernel of the running interpreter; the installed kernels of the machine do not matter.

    Files of the kernel and of IPython go into the folder `scratch`, not into the user's home.
    """
    from jupyter_client.kernelspec import KernelSpec
    from jupyter_client.manager import AsyncKernelManager

    class ThisPython(AsyncKernelManager):
        shutdown_wait_time = 1.0  # seconds; ipykernel 7 sometimes deadlocks when it ends
        kernel_spec = KernelSpec(
            argv=[
                *(sys.executable, "-Xfrozen_modules=off", "-c", LAUNCH, "-f", "{connection_file}"),
                *("--HistoryManager.enabled=False", "--log-level=ERROR"),
            ],
            env={
                "IPYTHONDIR": os.environ.get("IPYTHONDIR", scratch),
                "CSELAB_HEADLESS": "1",  # cselab._util.progress prints lines
                "TQDM_MININTERVAL": "5",  # seconds between the lines of other libraries' bars
                "PLOTLY_RENDERER": "plotly_mimetype",  # figures as data: the page draws them
            },
        )

        def __init__(self, *given: Any, **options: Any) -> None:
            super().__init__(*given, connection_file=os.path.join(scratch, "kernel.json"), **options)

    return ThisPython


class _Progress:
    """The progress of a run: a line for each code cell, and each line that a cell prints.

    Given to papermill as the file for the cells' stdout and stderr.
    """

    def __init__(self, notebook: nbformat.NotebookNode, passed: int, echo: Echo) -> None:
        code = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]
        code = [cell for cell in code if "skip-execution" not in cell.metadata.get("tags", ())]
        self.total = len(code) + bool(passed)  # papermill adds a cell with the parameters passed
        self.index, self.heading, self.unfinished = 0, "", ""
        self.where = "the start of the kernel"
        self.echo, self.started = echo, time.monotonic()

    def cell_started(self, cell: nbformat.NotebookNode, cell_index: int) -> None:
        lines = [line.strip() for line in cell.source.splitlines() if line.strip()]
        if cell.cell_type != "code":
            self.heading = next((line.lstrip("# ") for line in lines if line.startswith("#")), self.heading)
        elif lines:
            self.index += 1
            what = shorten(f"{self.heading}: {lines[0]}" if self.heading else lines[0], 88, placeholder="…")
            self.where = f"cell {self.index}/{self.total} ({what})"
            elapsed = f"{time.monotonic() - self.started:.0f} s"
            self.echo(f"[{self.index:>{len(str(self.total))}}/{self.total}]{elapsed:>7}  {what}")

    def write(self, text: str) -> None:
        *lines, self.unfinished = (self.unfinished + text).replace("\r", "\n").split("\n")
        for line in lines:
            if line.strip():
                self.echo(f"      {line.rstrip()}")

    def flush(self) -> None:
        """Whole lines are passed on as they come."""
