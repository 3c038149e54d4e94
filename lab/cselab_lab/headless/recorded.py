"""The recorded numbers of the notebooks."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cselab._util.reading import read_json
from cselab._util.writing import write_text

from .record import shown


def recorded_path(folder: Path, notebook: str, profile: str) -> Path:
    """The file with the recorded numbers of a notebook under a profile."""
    return folder / f"{notebook}.{profile}.json"


@dataclass(frozen=True)
class Comparison:
    """A number of a run and the recorded number; a missing number is None.

    Numbers agree within the current tolerance of the notebook; text and truth values when equal.

    >>> Comparison("rho", recorded=0.70, now=0.71, tolerance=0.02).ok
    True
    """

    name: str
    recorded: bool | int | float | str | None
    now: bool | int | float | str | None
    tolerance: float

    @property
    def exact(self) -> bool:
        """Whether only equality counts."""
        return any(isinstance(side, bool | str) for side in (self.recorded, self.now))

    @property
    def difference(self) -> float | None:
        """The current minus the recorded number; None if a number is missing or only equality counts."""
        now, recorded = self.now, self.recorded
        if self.exact or not isinstance(now, int | float) or not isinstance(recorded, int | float):
            return None
        return now - recorded

    @property
    def ok(self) -> bool:
        if self.difference is not None:
            return abs(self.difference) <= self.tolerance
        return self.recorded is not None and type(self.now) is type(self.recorded) and self.now == self.recorded

    @property
    def trouble(self) -> str:
        """The disagreement, as a sentence; empty if the numbers agree."""
        if self.ok:
            return ""
        if self.recorded is None:
            return f"{self.name!r} was not recorded before"
        if self.now is None:
            return f"{self.name!r} is recorded, but this run did not record it"
        return f"{self.name!r} is {shown(self.now)}, recorded was {shown(self.recorded)} (tolerance {self.tolerance:g})"

    def row(self) -> dict[str, str]:
        """The line of a table: recorded, now, difference, tolerance, ok."""
        return {
            "recorded": "" if self.recorded is None else shown(self.recorded),
            "now": "" if self.now is None else shown(self.now),
            "difference": "" if self.difference is None else f"{self.difference:+.3g}",
            "tolerance": "" if self.exact else f"{self.tolerance:g}",
            "ok": "ok" if self.ok else "NO",
        }


def compare_recorded(records: Sequence[Mapping], recorded: Mapping) -> list[Comparison]:
    """Compare each number of a run with the recorded number, in the order of the run.

    >>> (rho,) = compare_recorded([{"name": "rho", "value": 0.71, "tolerance": 0.02}],
    ...                  {"records": [{"name": "rho", "value": 0.80}]})
    >>> rho.trouble
    "'rho' is 0.71, recorded was 0.8 (tolerance 0.02)"
    """
    expected = {entry["name"]: entry for entry in recorded["records"]}
    measured = {entry["name"]: entry for entry in records}
    both = [
        Comparison(name, expected.get(name, {}).get("value"), entry["value"], entry["tolerance"])
        for name, entry in measured.items()
    ]
    vanished = [entry for name, entry in expected.items() if name not in measured]
    return both + [Comparison(entry["name"], entry["value"], None, entry.get("tolerance", 0.0)) for entry in vanished]


def read_recorded(path: Path) -> dict | None:
    """The file of recorded numbers, or None if the file is missing.

    Raises:
        ValueError: the file holds no recorded numbers.
    """
    if not path.exists():
        return None
    try:
        recorded = read_json(path)
        for entry in recorded["records"]:
            entry["name"], entry["value"]
    except (ValueError, OSError, KeyError, TypeError) as error:
        raise ValueError(f"{path} holds no recorded numbers ({error!r}).") from None
    return recorded


def write_recorded(path: Path, run: Mapping, seeds: Mapping[int, Sequence[Mapping]] | None = None) -> None:
    """Record the numbers of this run, for comparison with later runs.

    Args:
        path: the file.
        run: the result of `NotebookResult.as_json`.
        seeds: the records of runs with these seeds: each number keeps its values (`"seeds"`), from which a
            lesson prints the expected range.
    """
    records = [dict(entry) for entry in run["records"]]
    if seeds:
        for entry in records:
            entry["seeds"] = {
                str(seed): other["value"]
                for seed, others in seeds.items()
                for other in others
                if other["name"] == entry["name"]
            }
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({**run, "records": records}, indent=2, ensure_ascii=False)
    write_text(path, text + "\n")


def recorded_range(entry: Mapping) -> str:
    """The recorded value of a number, or its range over the seeds, as text.

    >>> recorded_range({"name": "gain", "value": 1.5, "seeds": {"0": 1.5, "1": 2.25, "2": 1.0}})
    'recorded: 1 to 2.25 over 3 seeds'
    >>> recorded_range({"name": "rank", "value": 64, "seeds": {"0": 64, "1": 64, "2": 64}})
    'recorded: 64 for each of 3 seeds'
    >>> recorded_range({"name": "gain", "value": 1.5})
    'recorded: 1.5'
    """
    seeds = [value for value in entry.get("seeds", {}).values() if not isinstance(value, bool | str)]
    if len(seeds) < 2:
        return f"recorded: {shown(entry['value'])}"
    if min(seeds) == max(seeds):
        return f"recorded: {shown(seeds[0])} for each of {len(seeds)} seeds"
    return f"recorded: {shown(min(seeds))} to {shown(max(seeds))} over {len(seeds)} seeds"
