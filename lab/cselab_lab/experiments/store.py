"""Jobs and the file of those that are finished, results/<experiment>.<profile>.jsonl: one line per job.

One process at a time writes. Killed at any moment, the file has whole lines and at most a torn one at its end, which
the next writer cuts off.
"""

import hashlib
import json
import os
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from cselab._util.reading import parse_json_lines

# ------------------------------------------------------------------------------------------------ a job, its record


@dataclass(frozen=True)
class JobSpec:
    """What is asked of a job: all that decides its numbers. `to_json` is the "settings" of a line of results.

    Attributes:
        reference, pooling, posthoc: as in `Row`.
        encoder, weights: the name, and the beginning of the SHA-256 of its weights where known.
        corpus, corpus_sha256, words: the text, the SHA-256 of its file where known, and the sentences that are read.
        fit_on, dev: as in `Profile`.
        columns, method: the method that trains the encoder, and the columns of its rows; empty without training.
        parameters: all hyper-parameters, so that a changed default is a new job. An encoder that is trained first is
            a `JobSpec`.
        recipe: fields of `TrainConfig`, without the seed.
        seed: None where nothing is drawn at random, or for all seeds of a row.
    """

    reference: str | None = None
    encoder: str = ""
    weights: str | None = None
    pooling: str = ""
    posthoc: str | None = None
    corpus: str = ""
    corpus_sha256: str = ""
    words: tuple[int, int] | None = None
    fit_on: int | None = None
    columns: tuple[str, ...] = ()
    method: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    recipe: Mapping[str, Any] = field(default_factory=dict)
    dev: str = ""
    seed: int | None = None

    @classmethod
    def from_json(cls, settings: Mapping[str, Any]) -> "JobSpec":
        """The inverse of `to_json`; settings with unknown names are different jobs, and keep their hash in the line."""
        known = {one.name: settings[one.name] for one in fields(cls) if one.name in settings}
        for name in known.keys() & {"words", "columns"}:
            known[name] = tuple(known[name])
        known["recipe"] = dict(settings.get("recipe", {}))
        known["seed"] = known["recipe"].pop("seed", settings.get("seed"))
        known["parameters"] = {
            name: cls.from_json(value) if isinstance(value, dict) else value
            for name, value in settings.get("parameters", {}).items()
        }
        return cls(**known)

    def to_json(self) -> dict[str, Any]:
        """The settings by name, without those that the job does not have. A trained job has its seed in the recipe."""
        found: dict[str, Any] = {"reference": self.reference}
        seed = {} if self.seed is None else {"seed": self.seed}
        if self.encoder:
            found |= {"encoder": self.encoder, "weights": self.weights}
        if self.pooling:
            found |= {"pooling": self.pooling, "posthoc": self.posthoc}
        found |= {name: value for name in ("corpus", "corpus_sha256", "words") if (value := getattr(self, name))}
        if self.posthoc:
            found["fit_on"] = self.fit_on
        if not self.method:
            return found | seed
        return found | {
            "columns": self.columns,
            "method": self.method,
            "parameters": self._guides(JobSpec.to_json),
            "recipe": {**self.recipe, **seed},
            "dev": self.dev,
        }

    def with_seed(self, seed: int | None) -> "JobSpec":
        """With a seed, which also applies to the encoders that are trained first; None removes it."""
        return replace(self, parameters=self._guides(lambda guide: guide.with_seed(seed)), seed=seed)

    def _guides(self, change: "Callable[[JobSpec], Any]") -> dict[str, Any]:
        """The hyper-parameters, with a change of the encoders among them."""
        return {name: change(one) if isinstance(one, JobSpec) else one for name, one in self.parameters.items()}

    @cached_property
    def hash(self) -> str:
        """Sixteen hexadecimal digits of the settings' SHA-256."""
        content = json.dumps(self.to_json(), sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(content.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Job:
    """One row with one seed.

    Attributes:
        experiment, profile, label: the names of the experiment, its profile and the row.
        spec: what is asked.
        suites, geometry: the measures, if the data exist; see `Profile`.
        files: where the corpus and the encoder lie on this machine; no part of what is asked.
    """

    experiment: str
    profile: str
    label: str
    spec: JobSpec
    suites: tuple[str, ...]
    geometry: str
    files: Mapping[str, Path] = field(default_factory=dict)

    @property
    def seed(self) -> int | None:
        """None where nothing is drawn at random."""
        return self.spec.seed

    @property
    def hash(self) -> str:
        """Equal for two jobs that would compute the same."""
        return self.spec.hash

    @property
    def name(self) -> str:
        """For people: the row and the seed."""
        return self.label if self.seed is None else f"{self.label}, seed {self.seed}"


IN_JSON = {"spec": "settings", "source": "from"}
"""The keys of a line that have a different name in `JobRecord`."""

REFERENCE = {"experiment", "profile", "row", "seed", "hash", "from"}
FINISHED = REFERENCE - {"from"} | {"settings", "scores", "versions"}
"""The keys that a line must have."""


@dataclass(frozen=True)
class JobRecord:
    """A finished job: one line of a file of results.

    Attributes:
        experiment, profile, row, seed: which job.
        hash: that of `spec` when the job was computed.
        spec: what was asked; empty in a line that only refers to a different experiment.
        suites: the suites that were asked for.
        failure: why training broke down, or None.
        scores: numbers by name.
        missing, failures: omitted and failed measures with reasons.
        encoder_hash: of the weights before training.
        best_step, curve: the best step of training, and the history at the evaluated steps.
        corpus_hash, corpus_rows: of the rows as they were read.
        passes: only in older lines.
        seconds, threads, scoring, versions: how it was computed.
        source: the experiment that computed the job, in a line that refers to it.
    """

    experiment: str
    profile: str
    row: str
    seed: int | None
    hash: str
    spec: JobSpec
    suites: tuple[str, ...] = ()
    failure: str | None = None
    scores: Mapping[str, float] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)
    failures: Mapping[str, str] = field(default_factory=dict)
    encoder_hash: str | None = None
    best_step: int | None = None
    curve: list[dict[str, float]] | None = None
    corpus_hash: str | None = None
    corpus_rows: int | None = None
    passes: int | None = None
    seconds: float | None = None
    threads: int | None = None
    scoring: str | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    source: str | None = None

    @classmethod
    def of(cls, job: Job, **found: Any) -> "JobRecord":
        """The record of a job, with what was found."""
        spec = job.spec
        return cls(job.experiment, job.profile, job.label, spec.seed, spec.hash, spec, suites=job.suites, **found)

    @classmethod
    def from_json(cls, line: Mapping[str, Any]) -> "JobRecord":
        """The record in a line; unknown keys are left out.

        Raises:
            ValueError: it lacks a key, or a score is not a number.
        """
        if lacks := sorted((REFERENCE if "from" in line else FINISHED) - line.keys()):
            raise ValueError(f"it has no {', '.join(lacks)}")
        if not all(isinstance(score, int | float) for score in line.get("scores", {}).values()):
            raise ValueError(f"its scores are not numbers: {line['scores']!r:.60}")
        keys = {one.name: IN_JSON.get(one.name, one.name) for one in fields(cls)}
        known = {name: line[key] for name, key in keys.items() if key in line}
        return cls(
            **known | {"spec": JobSpec.from_json(line.get("settings", {})), "suites": tuple(line.get("suites", ()))}
        )

    def to_json(self) -> dict[str, Any]:
        """The line, without what is unknown; of a job that a different experiment has computed only the reference."""
        line = {IN_JSON.get(one.name, one.name): getattr(self, one.name) for one in fields(self)}
        line["settings"] = self.spec.to_json()
        if self.source is not None:
            return {key: value for key, value in line.items() if key in REFERENCE}
        return {key: value for key, value in line.items() if value is not None or key in ("seed", "failure")}


# ------------------------------------------------------------------------------------------------ the file

RESULTS = Path("results")
"""The default folder, in the current directory."""


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

    def read(self) -> dict[str, JobRecord]:
        """The finished jobs by their hash; a torn last line is left out. No file: no jobs.

        A line can refer to a job of a different experiment and then has the numbers of that job.

        Raises:
            ResultsError: a damaged line, a line of a different experiment or profile, or a reference to no job.
        """
        records = self._lines()
        sources = {record.source for record in records.values() if record.source is not None}
        computed = {name: Store(self.folder, name, self.profile)._lines() for name in sources}
        for job, line in records.items():
            if line.source is not None:
                found = computed[line.source].get(job)
                if found is None or found.source is not None:
                    raise ResultsError(
                        f"{self.path}: {line.row!r} refers to {line.source}, which has no numbers of job {job}"
                    )
                records[job] = replace(
                    found, experiment=line.experiment, row=line.row, seed=line.seed, source=line.source
                )
        return records

    def _lines(self) -> dict[str, JobRecord]:
        """The lines of the file, references as they are."""
        content = self.path.read_bytes() if self.path.exists() else b""
        whole = content[: content.rfind(b"\n") + 1].decode("utf-8", errors="replace").splitlines()
        records = (self._record(line, number) for number, line in enumerate(parse_json_lines(whole), start=1))
        return {record.hash: record for record in records}

    def _record(self, line: Any, number: int) -> JobRecord:
        where = f"{self.path}, line {number}"
        remedy = "restore the file (it is under version control), or delete the line: its job then runs again"
        try:
            if isinstance(line, ValueError):
                raise line
            record = JobRecord.from_json(line)
        except (ValueError, TypeError, AttributeError) as error:
            raise ResultsError(f"{where} is not a finished job ({error}): {remedy}") from None
        if (record.experiment, record.profile) != (self.experiment, self.profile):
            raise ResultsError(f"{where} belongs to {record.experiment}.{record.profile}.jsonl: move the line")
        return record

    def elsewhere(self) -> dict[str, list[JobRecord]]:
        """Finished jobs of all further experiments under this profile, by hash: rows are shared between tables."""
        shared: dict[str, list[JobRecord]] = defaultdict(list)
        ending = f".{self.profile}.jsonl"
        for path in sorted(self.folder.glob(f"*{ending}")):
            if path != self.path:
                for job, record in Store(self.folder, path.name.removesuffix(ending), self.profile).read().items():
                    shared[job].append(record)
        return shared

    def append(self, record: JobRecord) -> None:
        """Add a finished job, unless its numbers exist already.

        Whole or not at all; a torn end that a killed writer left is cut off first.
        """
        text = json.dumps(record.to_json(), ensure_ascii=False, allow_nan=False) + "\n"
        self.folder.mkdir(parents=True, exist_ok=True)
        with self._lock("file"), open(self.path, "a+b") as file:
            known = self.read().get(record.hash)
            if known and (known.source if record.source else known.scores.keys() >= record.scores.keys()):
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
