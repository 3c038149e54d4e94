"""The file of an experiment's finished jobs, results/<experiment>.<profile>.jsonl: one line per job.

One process at a time writes. Killed at any moment, the file has whole lines and at most a torn one at its end, which
the next writer cuts off.
"""

import json
import os
from collections import defaultdict
from pathlib import Path

from filelock import FileLock, Timeout

from cselab._util.reading import parse_json_lines

from .plan import Line

RESULTS = Path("results")
"""The default folder, in the current directory."""

NAMED = {"experiment", "profile", "row", "seed", "hash"}
KEYS = NAMED | {"settings", "scores", "versions"}
REFERENCE = NAMED | {"from"}
"""The keys of a line whose job a different experiment has computed: "from" names the experiment."""


def recorded_results() -> Path:
    """The folder of the results that come with cselab: in the package of a wheel, or next to it in a checkout."""
    package = Path(__file__).parents[1]
    inside = package / "results"
    return inside if inside.is_dir() else package.parents[1] / "results"


class ResultsError(ValueError):
    """A results file with a foreign line; the message names the file and the line."""


class Store:
    """The finished jobs of one experiment under one profile.

    Two commands on one experiment share its jobs: each job is locked by the process that computes it.

    Args:
        folder: the folder of the results files.
        experiment, profile: their names.
    """

    def __init__(self, folder: str | Path, experiment: str, profile: str) -> None:
        self.folder, self.experiment, self.profile = Path(folder), experiment, profile
        self.path = self.folder / f"{experiment}.{profile}.jsonl"

    def read(self) -> dict[str, Line]:
        """The finished jobs by their hash; a torn last line is left out. No file: no jobs.

        A line can refer to a job of a different experiment and then has the numbers of that job.

        Raises:
            ResultsError: a damaged line, a line of a different experiment or profile, or a reference to no job.
        """
        lines = self._lines()
        references = {job: line for job, line in lines.items() if "scores" not in line}
        others = {line["from"] for line in references.values()}
        computed = {name: Store(self.folder, name, self.profile)._lines() for name in others}
        for job, line in references.items():
            name = line["from"]
            if "scores" not in computed[name].get(job, {}):
                raise ResultsError(f"{self.path}: {line['row']!r} refers to {name}, which has no numbers of job {job}")
            lines[job] = computed[name][job] | line
        return lines

    def _lines(self) -> dict[str, Line]:
        """The lines of the file, references as they are."""
        content = self.path.read_bytes() if self.path.exists() else b""
        whole = content[: content.rfind(b"\n") + 1].decode("utf-8", errors="replace").splitlines()
        return {line["hash"]: line for line in map(self._checked, parse_json_lines(whole), range(1, len(whole) + 1))}

    def _checked(self, line: Line | ValueError, number: int) -> Line:
        where = f"{self.path}, line {number}"
        remedy = "restore the file (it is under version control), or delete the line: its job then runs again"
        try:
            if isinstance(line, ValueError):
                raise line
            if lacks := sorted((REFERENCE if "from" in line else KEYS) - line.keys()):
                raise ValueError(f"it has no {', '.join(lacks)}")
            if not all(isinstance(score, int | float) for score in line.get("scores", {}).values()):
                raise ValueError(f"its scores are not numbers: {line['scores']!r:.60}")
        except (ValueError, TypeError, AttributeError) as error:
            raise ResultsError(f"{where} is not a finished job ({error}): {remedy}") from None
        if (line["experiment"], line["profile"]) != (self.experiment, self.profile):
            raise ResultsError(f"{where} belongs to {line['experiment']}.{line['profile']}.jsonl: move the line")
        return line

    def elsewhere(self) -> dict[str, list[Line]]:
        """Finished jobs of all further experiments under this profile, by hash: rows are shared between tables."""
        shared: dict[str, list[Line]] = defaultdict(list)
        ending = f".{self.profile}.jsonl"
        for path in sorted(self.folder.glob(f"*{ending}")):
            if path != self.path:
                for job, line in Store(self.folder, path.name.removesuffix(ending), self.profile).read().items():
                    shared[job].append(line)
        return shared

    def append(self, line: Line) -> None:
        """Add a finished job, unless its numbers exist already.

        Whole or not at all; a torn end that a killed writer left is cut off first.
        """
        text = json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n"
        self.folder.mkdir(parents=True, exist_ok=True)
        with self._lock("file"), open(self.path, "a+b") as file:
            recorded = self.read().get(line["hash"])
            refers = "scores" not in line
            if recorded and ("from" in recorded if refers else recorded["scores"].keys() >= line["scores"].keys()):
                return
            file.seek(0)
            file.truncate(file.read().rfind(b"\n") + 1)
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())

    def lock_job(self, job: str) -> FileLock | None:
        """Reserve a job for this process, until released or killed; None if a second process has it."""
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
