"""results/<experiment>.<profile>.jsonl: one line a finished job, written by one process at a time.

Killed at any moment, the file has whole lines and at most a torn one at its end, which the next writer cuts off.
Two commands on one experiment share its jobs: each job is claimed by a lock that its process holds while it computes.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

RESULTS = Path("results")
"""The default folder, in the current directory."""

KEYS = {"experiment", "profile", "row", "seed", "hash", "settings", "scores", "versions"}


def recorded_results() -> Path:
    """The folder of the results that come with cselab: in the package of a wheel, or beside it in a checkout."""
    package = Path(__file__).parents[1]
    inside = package / "results"
    return inside if inside.is_dir() else package.parents[1] / "results"


class ResultsError(ValueError):
    """A results file with a line that does not belong there; the message names the file and the line."""


class Store:
    """The results of one experiment under one profile.

    Args:
        folder: of the results files.
        experiment, profile: their names.
    """

    def __init__(self, folder: str | Path, experiment: str, profile: str) -> None:
        self.folder, self.experiment, self.profile = Path(folder), experiment, profile
        self.path = self.folder / f"{experiment}.{profile}.jsonl"

    def read(self) -> dict[str, dict[str, Any]]:
        """The finished jobs by their hash; a torn last line is left out. No file: no jobs.

        Raises:
            ResultsError: a damaged line, or a line of another experiment or profile.
        """
        lines = (self._parsed(text, number) for number, text in enumerate(self._whole_lines(), start=1))
        return {line["hash"]: line for line in lines}

    def _whole_lines(self) -> list[str]:
        if not self.path.exists():
            return []
        content = self.path.read_bytes()
        return content[: content.rfind(b"\n") + 1].decode("utf-8", errors="replace").splitlines()

    def _parsed(self, text: str, number: int) -> dict[str, Any]:
        where = f"{self.path}, line {number}"
        mend = "restore the file (it is under version control), or delete the line: its job then runs again"
        try:
            line = json.loads(text)
        except json.JSONDecodeError as error:
            raise ResultsError(f"{where} is damaged ({error}): {mend}") from None
        lacks = KEYS - line.keys() if isinstance(line, dict) else KEYS
        if lacks:
            raise ResultsError(f"{where} is no finished job (it has no {', '.join(sorted(lacks))}): {mend}")
        numbers = line["scores"].values() if isinstance(line["scores"], dict) else [None]
        if not all(isinstance(number, int | float) for number in numbers):
            raise ResultsError(f"{where} has scores that are no numbers ({line['scores']!r:.60}): {mend}")
        if (line["experiment"], line["profile"]) != (self.experiment, self.profile):
            raise ResultsError(f"{where} belongs to {line['experiment']}.{line['profile']}.jsonl: move it there")
        return line

    def elsewhere(self) -> dict[str, list[dict[str, Any]]]:
        """Finished jobs of all other experiments under this profile, by hash: rows are shared between tables."""
        same_job: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for path in sorted(self.folder.glob(f"*.{self.profile}.jsonl")):
            if path != self.path:
                lines = Store(self.folder, path.name.removesuffix(f".{self.profile}.jsonl"), self.profile).read()
                for hash_of_settings, line in lines.items():
                    same_job[hash_of_settings].append(line)
        return same_job

    def append(self, line: dict[str, Any]) -> None:
        """Add a finished job, unless its numbers are there already.

        Whole or not at all; a torn end that a killed writer left is cut off first.
        """
        text = json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n"
        self.folder.mkdir(parents=True, exist_ok=True)
        with self._lock("file"), open(self.path, "a+b") as file:
            there = self.read().get(line["hash"])
            if there is not None and there["scores"].keys() >= line["scores"].keys():
                return
            file.seek(0)
            content = file.read()
            file.truncate(content.rfind(b"\n") + 1)
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())

    def claim(self, job: str) -> FileLock | None:
        """Hold a job for this process, until released or killed; None where another process has it."""
        lock = self._lock(job)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            return None
        return lock

    def _lock(self, name: str) -> FileLock:
        folder = self.folder / ".locks"
        folder.mkdir(parents=True, exist_ok=True)
        return FileLock(folder / f"{self.experiment}.{self.profile}.{name}.lock")
