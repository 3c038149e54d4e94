"""Runs notebooks: checks parameters, prints progress, compares numbers with the record, and writes pages.

papermill runs the cells. It only logs unknown parameters, and without a tagged cell the defaults override the
parameters. Here such runs are refused before the first cell.
"""

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path

import nbformat

from cselab._util.arguments import check_choice
from cselab._util.versions import versions
from cselab._util.writing import make_folder, write_text
from cselab_lab.parameters import parameters_of, typed_parameters

from .execution import Echo, execute
from .notebook_folder import bundled_notebooks, find_notebooks, fingerprint, output_data, read_notebook
from .page import link_pages, write_page
from .record import MIME_TYPE
from .recorded import compare_recorded, read_recorded, recorded_path, write_recorded
from .result import NotebookResult
from .run_reports import comparison_lines
from .sizes import SIZES

print_now = partial(print, flush=True)  # a log file should show progress too


def run_notebooks(
    names: Sequence[str] = (),
    profile: str = "classroom",
    overrides: Mapping[str, object] | None = None,
    output: str | Path = "notebook-runs",
    *,
    folder: str | Path | None = None,
    recorded: str | Path | None = None,
    require_recorded: bool = False,
    update_recorded: bool = False,
    seeds: Sequence[int] = (),
    changed: bool = False,
    timeout: float | None = None,
    quiet: bool = False,
    echo: Echo = print_now,
) -> list[NotebookResult]:
    """Run notebooks from top to bottom and compare their numbers with the recorded numbers.

    Writes to `output`: `<notebook>.ipynb` with its outputs (partial where a cell failed), `<notebook>.html`
    to read offline, and `records.json` with the recorded numbers of all. Parameters are checked before the
    first notebook starts; a failed notebook does not stop the next.

    Args:
        names: file names without `.ipynb`, or their number (`"00"`); none means all.
        profile: passed to the notebooks that have a parameter `profile`.
        overrides: values for other parameters; text is read as the type of the default. Every notebook that
            is run must have them. Numbers of an overridden run are not compared.
        output: folder for the results, made if need be; not the notebooks' own.
        folder: where the notebooks are; by default those that come with cselab.
        recorded: where the recorded numbers are; by default in `recorded` next to the notebooks.
        require_recorded: a notebook whose numbers were never recorded fails.
        update_recorded: make the numbers of the notebooks that ran to their end the recorded ones.
        seeds: with `update_recorded`, run each notebook with these values of its parameter `seed` too, and keep
            every number for every seed.
        changed: leave out the notebooks whose last run in `output` was good and whose cells, parameters, package and
            versions are what they were; their numbers are compared all the same.
        timeout: time limit for a cell in seconds.
        quiet: print results without progress.
        echo: receives each line of the progress.

    Returns:
        One result per notebook, in order; `result.passed` is true if it ran and agreed with its recorded numbers.

    Raises:
        ValueError: an unknown notebook, profile or parameter, a value of the wrong type, a notebook without
            exactly one cell tagged `parameters`.
        FileNotFoundError: no such folder of notebooks.
    """
    folder = Path(folder or bundled_notebooks()).resolve()
    recorded = Path(recorded or folder / "recorded").resolve()
    output = Path(output).resolve()
    overrides = dict(overrides or {})
    _check_settings(profile, overrides, output, folder, update_recorded, seeds, timeout)
    runs = [_prepare(path, profile, overrides, output) for path in find_notebooks(folder, names)]
    over_seeds = {result.name: _with_seeds(result, seeds, output) for result in runs}
    make_folder(output)
    if recorded.exists() and not recorded.is_dir():
        raise ValueError(f"recorded {recorded} is a file: expected the folder of the recorded numbers.")
    for result in () if overrides or update_recorded else runs:
        read_recorded(recorded_path(recorded, result.name, profile))  # a damaged file stops before the first cell
    tell = _nothing if quiet else echo
    results = []
    for result in runs:
        tell(f"{result.name}  profile {profile}")
        if changed and _ran_as_it_is(result):
            result.notes.append("not run again, because nothing changed since its last run")
        else:
            _run(result, timeout, tell)
        _collect(result)
        if update_recorded:
            _record_anew(result, over_seeds[result.name], recorded, timeout, tell)
        else:
            _compare(result, overrides, recorded, require_recorded)
        _tell(result, echo)
        results.append(result)
        entries = [one.as_json() for one in results]
        write_text(output / "records.json", json.dumps(entries, indent=2, ensure_ascii=False) + "\n")
    link_pages([result.page for result in results if result.page.is_file()])
    return results


def _check_settings(
    profile: str,
    overrides: Mapping[str, object],
    output: Path,
    folder: Path,
    update_recorded: bool,
    seeds: Sequence[int],
    timeout: float | None,
) -> None:
    check_choice("profile", profile, SIZES)
    if output == folder:
        raise ValueError(f"output {output} is the notebooks' own folder: running would overwrite them.")
    if update_recorded and overrides:
        raise ValueError("recorded numbers belong to a profile: update them without overriding parameters.")
    if seeds and not update_recorded:
        raise ValueError("seeds are for update_recorded: for one run, override the parameter 'seed'.")
    if "profile" in overrides:
        raise ValueError("the profile is an argument (--profile), not a parameter to override.")
    if timeout is not None and not timeout > 0:
        raise ValueError(f"timeout must be more than 0 seconds, got {timeout:g}.")


def _nothing(line: str) -> None:
    """The echo of a quiet run."""


def _prepare(path: Path, profile: str, overrides: Mapping[str, object], output: Path) -> NotebookResult:
    notebook = read_notebook(path)
    defaults = parameters_of(notebook, path.stem)
    wanted = {"profile": profile, **overrides} if "profile" in defaults else overrides
    parameters = typed_parameters(path.stem, defaults, wanted)
    depends_on = [fingerprint(notebook), profile, parameters, versions(), _package_state()]
    return NotebookResult(
        source=path,
        profile=profile,
        parameters=parameters,
        executed=output / path.name,
        page=output / f"{path.stem}.html",
        state=hashlib.sha256(json.dumps(depends_on).encode()).hexdigest(),
    )


def _with_seeds(result: NotebookResult, seeds: Sequence[int], output: Path) -> dict[int, NotebookResult]:
    """A run for each seed; `result` is the run of the default seed."""
    path, own = result.source, parameters_of(read_notebook(result.source), result.name).get("seed")
    return {
        seed: result if seed == own else _prepare(path, result.profile, {"seed": seed}, output / f"seed-{seed}")
        for seed in seeds
    }


@cache
def _package_state() -> str:
    """SHA-256 of every file of the packages that notebooks use."""
    from importlib.util import find_spec

    specs = [find_spec(package) for package in ("cselab", "cselab_lab", "cselab_widgets")]
    total = hashlib.sha256()
    for folder in [Path(place) for spec in specs if spec for place in spec.submodule_search_locations or ()]:
        for file in sorted(folder.rglob("*")):
            if file.is_file() and file.suffix not in (".pyc", ".ipynb"):
                total.update(f"{file.relative_to(folder)}\0".encode() + file.read_bytes())
    return total.hexdigest()


def _ran_as_it_is(result: NotebookResult) -> bool:
    """Whether a good run of this state exists; its time is then copied."""
    if not (result.executed.exists() and result.page.exists()):
        return False
    last = read_notebook(result.executed).metadata.get("cselab", {})
    result.seconds = last.get("seconds", 0.0)
    return last.get("state") == result.state


def _run(result: NotebookResult, timeout: float | None, tell: Echo) -> None:
    folder = result.source.parent
    result.executed.parent.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    result.failures += execute(read_notebook(result.source), result.executed, result.parameters, folder, timeout, tell)
    result.seconds = time.monotonic() - started
    executed = nbformat.read(result.executed, as_version=4)
    outside = write_page(executed, result.page, folder)
    result.failures += [f"the page cannot be read offline, because it loads {address}" for address in outside]
    if not result.failures:
        executed.metadata["cselab"] = {"state": result.state, "seconds": round(result.seconds, 1)}
        nbformat.write(executed, result.executed)


def _collect(result: NotebookResult) -> None:
    executed = nbformat.read(result.executed, as_version=4)
    result.records = [dict(data[MIME_TYPE]) for data in output_data(executed.cells, MIME_TYPE)]
    names = [entry["name"] for entry in result.records]
    result.failures += [f"{name!r} is recorded twice" for name in sorted({n for n in names if names.count(n) > 1})]


def _compare(result: NotebookResult, overrides: Mapping[str, object], recorded: Path, require_recorded: bool) -> None:
    path = recorded_path(recorded, result.name, result.profile)
    if overrides:
        result.notes.append(f"not compared with recorded numbers: {', '.join(overrides)} overridden")
    elif result.failures or not (result.records or path.exists()):
        return  # a failed run has already been reported
    elif (expected := read_recorded(path)) is not None:
        result.comparisons = compare_recorded(result.records, expected)
    elif require_recorded:
        result.failures.append(f"no recorded numbers: {path} is missing (create with --update-recorded)")
    else:
        result.notes.append(f"no recorded numbers yet: {path}")


def _record_anew(
    result: NotebookResult, over_seeds: Mapping[int, NotebookResult], recorded: Path, timeout: float | None, tell: Echo
) -> None:
    others = {seed: other for seed, other in over_seeds.items() if other is not result}
    for seed, other in others.items() if not result.failures else ():
        tell(f"{result.name}  seed {seed}")
        _run(other, timeout, tell)
        _collect(other)
        result.failures += [f"seed {seed}: {failure}" for failure in other.failures]
    if result.failures or not result.records:
        return
    file = recorded_path(recorded, result.name, result.profile)
    write_recorded(file, result.as_json(), {seed: other.records for seed, other in over_seeds.items()})
    result.notes.append(f"recorded numbers written: {file}")


def _tell(result: NotebookResult, echo: Echo) -> None:
    for line in comparison_lines(result):
        echo(f"  {line}")
    for note in result.notes:
        echo(f"  note: {note}")
    for problem in result.problems:
        echo(f"  problem: {problem}")
    echo(f"{result.name}  {'passed' if result.passed else 'FAILED'} in {result.seconds:.0f} s  {result.page}")
