"""Notebooks run headless: parameters checked, progress shown, numbers collected, a page to read.

papermill runs the cells. It only logs an unknown parameter, and without a tagged cell it puts parameters
where the defaults override them; both are refused here before anything runs.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import nbformat

from cselab.lab.parameters import parameters_of, typed_parameters
from cselab.lab.record import MIME_TYPE, shown
from cselab.lab.recorded import baseline_path, differences, read_baseline, write_baseline
from cselab.versions import versions

PROFILES = ("smoke", "classroom", "paper")
CHECKOUT = Path(__file__).parents[2]
print_now = partial(print, flush=True)  # a log file should show progress too
SECONDS_OF_SILENCE = 20.0  # after which a running cell is said to be still running


@dataclass
class NotebookResult:
    """One notebook's run: where its files are, what it recorded, and what is wrong with it."""

    name: str
    profile: str
    parameters: dict[str, object]  # as passed; the others kept their defaults
    executed: Path  # the notebook with outputs: partial where a cell failed
    page: Path  # the HTML page
    seconds: float = 0.0
    records: list[dict] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)  # each fails the run
    notes: list[str] = field(default_factory=list)  # each is only worth knowing

    @property
    def passed(self) -> bool:
        return not self.problems

    def as_json(self) -> dict:
        """The entry of `records.json`, and the content of a baseline."""
        return {
            "notebook": self.name,
            "profile": self.profile,
            "parameters": self.parameters,
            "seconds": round(self.seconds, 1),
            "versions": versions(),
            "records": self.records,
        }


def run_notebooks(
    names: Sequence[str] = (),
    profile: str = "classroom",
    overrides: Mapping[str, object] | None = None,
    output: str | Path = "notebook-runs",
    *,
    folder: str | Path | None = None,
    baselines: str | Path | None = None,
    update_baselines: bool = False,
    echo: Callable[[str], None] = print_now,
) -> list[NotebookResult]:
    """Run notebooks from top to bottom and hold their recorded numbers against the baselines.

    Writes to `output`: `<notebook>.ipynb` with its outputs (partial where a cell failed), `<notebook>.html`
    to read offline, and `records.json` with the recorded numbers of all. Parameters are checked before the
    first notebook starts; one that fails while running does not stop the next.

    Args:
        names: file names without `.ipynb`, or their number (`"00"`); none means all.
        profile: passed to the notebooks that have a parameter `profile`.
        overrides: values for other parameters; text is read as the type of the default. Every notebook that
            is run must have them. Numbers of an overridden run are not compared.
        output: folder for the results, made if need be; not the notebooks' own.
        folder: where the notebooks are; by default `notebooks` in the checkout.
        baselines: where the baselines are; by default `notebooks/recorded` in the checkout.
        update_baselines: make the numbers of the notebooks that ran to their end the new baselines.
        echo: takes each line of the progress.

    Returns:
        One result a notebook, in order; `result.passed` says whether it ran and agreed with its baseline.

    Raises:
        ValueError: an unknown notebook, profile or parameter, a value of the wrong type, a notebook without
            exactly one cell tagged `parameters`.
        FileNotFoundError: no such folder of notebooks.
    """
    folder = Path(folder or CHECKOUT / "notebooks").resolve()
    baselines = Path(baselines or CHECKOUT / "notebooks" / "recorded").resolve()
    output = Path(output).resolve()
    overrides = dict(overrides or {})
    if profile not in PROFILES:
        raise ValueError(f"unknown profile {profile!r}. Allowed: {', '.join(PROFILES)}.")
    if output == folder:
        raise ValueError(f"output {output} is the notebooks' own folder: running would overwrite them.")
    if update_baselines and overrides:
        raise ValueError("baselines hold a profile's own numbers: update them without overriding parameters.")
    if "profile" in overrides:
        raise ValueError("the profile is an argument of its own (--profile), not a parameter to override.")

    prepared = [_prepare(path, profile, overrides, output) for path in find_notebooks(folder, names)]
    output.mkdir(parents=True, exist_ok=True)
    results = []
    for notebook, result in prepared:
        echo(f"{result.name}  profile {profile}")
        _execute(notebook, result, folder, echo)
        _collect(result)
        _compare(result, overrides, baselines, update_baselines)
        _tell(result, echo)
        results.append(result)
        entries = [one.as_json() for one in results]
        (output / "records.json").write_text(
            json.dumps(entries, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
        )
    return results


def find_notebooks(folder: Path, names: Sequence[str] = ()) -> list[Path]:
    """The notebooks of a folder, by name or number, in the order asked for; all of them when none is named.

    Raises:
        FileNotFoundError: no such folder, or nothing in it.
        ValueError: a name that fits none or several, with the known ones.
    """
    known = sorted(folder.glob("*.ipynb"))
    if not known:
        raise FileNotFoundError(f"no notebooks in {folder}. They are part of a checkout: pass its folder.")
    chosen = []
    for name in names:
        stem = name.removesuffix(".ipynb")
        fitting = [path for path in known if path.stem == stem or path.stem.split("_")[0] == stem]
        if len(fitting) != 1:
            trouble = "several notebooks are numbered" if fitting else "unknown notebook"
            raise ValueError(f"{trouble} {name!r}. Known: {', '.join(path.stem for path in known)}.")
        chosen += [path for path in fitting if path not in chosen]
    return chosen or known


def read_notebook(path: Path) -> nbformat.NotebookNode:
    """A notebook from its file.

    Raises:
        ValueError: the file is damaged; named.
    """
    try:
        notebook = nbformat.read(str(path), as_version=4)
        nbformat.validate(notebook)
    except Exception as error:  # a damaged file raises whatever nbformat meets first
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0][:100]
        raise ValueError(f"{path} is not a whole notebook ({reason}): restore the file") from None
    return notebook


def _prepare(
    path: Path, profile: str, overrides: Mapping[str, object], output: Path
) -> tuple[nbformat.NotebookNode, NotebookResult]:
    notebook = read_notebook(path)
    defaults = parameters_of(notebook, path.stem)
    wanted = {"profile": profile, **overrides} if "profile" in defaults else overrides
    result = NotebookResult(
        name=path.stem,
        profile=profile,
        parameters=typed_parameters(path.stem, defaults, wanted),
        executed=output / path.name,
        page=output / f"{path.stem}.html",
    )
    return notebook, result


def _execute(
    notebook: nbformat.NotebookNode, result: NotebookResult, folder: Path, echo: Callable[[str], None]
) -> None:
    from nbclient.exceptions import CellTimeoutError, DeadKernelError
    from papermill import PapermillExecutionError, execute_notebook

    from cselab.lab.page import write_page

    progress = _Progress(notebook, len(result.parameters), echo)
    started = time.monotonic()
    try:
        with progress:
            execute_notebook(
                notebook,
                result.executed,
                parameters=result.parameters,
                kernel_name="python3",
                language="python",
                progress_bar=False,
                cwd=folder,
                stdout_file=progress,
                stderr_file=progress,
                # passed on to nbclient
                kernel_manager_class=_this_python(),
                store_widget_state=False,
                coalesce_streams=True,
                on_cell_start=progress.cell_started,
            )
    except PapermillExecutionError as error:
        result.problems.append(f"{progress.where} failed with {error.ename}: {error.evalue}")
    except (DeadKernelError, CellTimeoutError) as error:
        result.problems.append(f"{progress.where} stopped the kernel: {error}")
    result.seconds = time.monotonic() - started
    outside = write_page(nbformat.read(result.executed, as_version=4), result.page, folder)
    result.problems += [f"the page cannot be read offline: it loads {address}" for address in outside]


# tqdm.auto chooses widget bars when it is first imported in a kernel, and a saved widget bar stays at 0 %;
# imported before the kernel is there, it chooses text bars, whose lines are passed on.
LAUNCH = "import tqdm.auto; from ipykernel.kernelapp import launch_new_instance; launch_new_instance()"


def _this_python() -> type:
    """A kernel of the interpreter that runs this, whatever kernels are installed on the machine."""
    from jupyter_client.kernelspec import KernelSpec
    from jupyter_client.manager import AsyncKernelManager

    class ThisPython(AsyncKernelManager):
        kernel_spec = KernelSpec(
            argv=[
                *(sys.executable, "-Xfrozen_modules=off", "-c", LAUNCH, "-f", "{connection_file}"),
                *("--HistoryManager.enabled=False", "--log-level=ERROR"),
            ],
            env={
                "CSELAB_HEADLESS": "1",  # cselab.progress prints lines
                "TQDM_MININTERVAL": "5",  # seconds between the lines of other libraries' bars
                "PLOTLY_RENDERER": "plotly_mimetype",  # figures as data: the page draws them
            },
        )

    return ThisPython


class _Progress:
    """Says where a run is: a line for each code cell, for what it prints, and for a long silence.

    Given to papermill as the file for the cells' stdout and stderr.
    """

    def __init__(self, notebook: nbformat.NotebookNode, passed: int, echo: Callable[[str], None]):
        code = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]
        self.total = len(code) + bool(passed)  # papermill adds a cell with the parameters passed
        self.index, self.heading, self.unfinished = 0, "", ""
        self.where = "the start of the kernel"
        self.echo = echo
        self.started = self.spoken = time.monotonic()
        self.over = threading.Event()
        self.watch = threading.Thread(target=self._break_silence, daemon=True)

    def __enter__(self) -> _Progress:
        self.watch.start()
        return self

    def __exit__(self, *trouble: object) -> None:
        self.over.set()
        self.watch.join()

    def cell_started(self, cell: nbformat.NotebookNode, cell_index: int) -> None:
        lines = [line.strip() for line in cell.source.splitlines() if line.strip()]
        if cell.cell_type != "code":
            self.heading = next((line.lstrip("# ") for line in lines if line.startswith("#")), self.heading)
        elif lines:
            self.index += 1
            what = _shortened(f"{self.heading}: {lines[0]}" if self.heading else lines[0])
            self.where = f"cell {self.index}/{self.total} ({what})"
            self._say(f"[{self.index:>{len(str(self.total))}}/{self.total}]{self._elapsed():>7}  {what}")

    def write(self, text: str) -> None:
        *lines, self.unfinished = (self.unfinished + text).replace("\r", "\n").split("\n")
        for line in lines:
            if line.strip():
                self._say(f"      {line.rstrip()}")

    def flush(self) -> None:
        """Whole lines are passed on as they come."""

    def _say(self, line: str) -> None:
        self.spoken = time.monotonic()
        self.echo(line)

    def _elapsed(self) -> str:
        return f"{time.monotonic() - self.started:.0f} s"

    def _break_silence(self) -> None:
        while not self.over.wait(1.0):
            if time.monotonic() - self.spoken > SECONDS_OF_SILENCE:
                self._say(f"      still in {self.where} after {self._elapsed()}")


def _shortened(text: str, width: int = 88) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _collect(result: NotebookResult) -> None:
    executed = nbformat.read(result.executed, as_version=4)
    outputs = [output for cell in executed.cells for output in cell.get("outputs", [])]
    result.records = [
        dict(output["data"][MIME_TYPE]) for output in outputs if MIME_TYPE in output.get("data", {})
    ]
    names = [entry["name"] for entry in result.records]
    result.problems += [
        f"{name!r} is recorded twice" for name in sorted({n for n in names if names.count(n) > 1})
    ]


def _compare(
    result: NotebookResult, overrides: Mapping[str, object], baselines: Path, update_baselines: bool
) -> None:
    path = baseline_path(baselines, result.name, result.profile)
    if overrides:
        result.notes.append(f"not compared with a baseline: {', '.join(overrides)} overridden")
    elif not result.passed or not (result.records or path.exists()):
        return  # a failed run has said so already
    elif update_baselines:
        write_baseline(path, result.as_json())
        result.notes.append(f"baseline written: {path}")
    elif (baseline := read_baseline(path)) is None:
        result.notes.append(f"no baseline yet: {path}")
    else:
        result.problems += differences(result.records, baseline)


def _tell(result: NotebookResult, echo: Callable[[str], None]) -> None:
    for entry in result.records:
        echo(f"  {entry['name']} = {shown(entry['value'])}")
    for note in result.notes:
        echo(f"  note: {note}")
    for problem in result.problems:
        echo(f"  problem: {problem}")
    echo(f"{result.name}  {'passed' if result.passed else 'FAILED'} in {result.seconds:.0f} s  {result.page}")
