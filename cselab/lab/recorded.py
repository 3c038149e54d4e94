"""The recorded numbers of the notebooks, as they were when someone last looked at them and agreed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from cselab.lab.record import shown


def baseline_path(folder: Path, notebook: str, profile: str) -> Path:
    """Where the baseline of a notebook under a profile lies."""
    return folder / f"{notebook}.{profile}.json"


def differences(records: list[dict], baseline: Mapping) -> list[str]:
    """What differs between a run's records and a baseline, a sentence each; empty when all agree.

    Numbers agree within the tolerance that the notebook states now; text and truth values when equal.

    >>> differences([{"name": "rho", "value": 0.71, "tolerance": 0.02}],
    ...             {"records": [{"name": "rho", "value": 0.70}]})
    []
    """
    expected = {entry["name"]: entry["value"] for entry in baseline["records"]}
    measured = {entry["name"]: entry for entry in records}
    found = []
    for name, entry in measured.items():
        value, tolerance = entry["value"], entry["tolerance"]
        if name not in expected:
            found.append(f"{name!r} is not in the baseline")
        elif not _agree(value, expected[name], tolerance):
            found.append(
                f"{name!r} is {shown(value)}, the baseline {shown(expected[name])} (tolerance {tolerance:g})"
            )
    found += [
        f"{name!r} is in the baseline but was not recorded" for name in expected if name not in measured
    ]
    return found


def read_baseline(path: Path) -> dict | None:
    """A baseline, or None where there is none.

    Raises:
        ValueError: the file is not a baseline.
    """
    if not path.exists():
        return None
    try:
        baseline = json.loads(path.read_text(encoding="utf-8"))
        for entry in baseline["records"]:
            entry["name"], entry["value"]
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is not a baseline of recorded numbers ({error!r}).") from None
    return baseline


def write_baseline(path: Path, run: Mapping) -> None:
    """Make this run's numbers the ones to hold later runs against."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(run, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _agree(value: object, expected: object, tolerance: float) -> bool:
    exact = any(isinstance(side, bool | str) for side in (value, expected))
    if exact:
        return type(value) is type(expected) and value == expected
    return abs(value - expected) <= tolerance
