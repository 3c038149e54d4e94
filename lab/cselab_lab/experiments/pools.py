"""Where jobs are computed, and how their progress is told."""

from __future__ import annotations

import time
from collections import deque
from pathlib import Path
from typing import Any, Protocol

from cselab._util.progress import Progress
from cselab_lab.experiments.compute import Report, run_job
from cselab_lab.experiments.jobs import Job


class Pool(Protocol):
    """Where jobs are computed: in this process, or on Dask (`cselab_lab.experiments.cluster`).

    `capacity` jobs at a time may be submitted; `next` waits for one of them, and gives it with its line or its error.
    """

    capacity: int

    def submit(self, job: Job) -> None: ...

    def next(self) -> tuple[Job, dict[str, Any] | Exception]: ...


class LocalPool:
    """One job after another, in this process."""

    capacity = 1

    def __init__(self, watch: ProgressReporter, keep_encoders: Path | None = None) -> None:
        self.watch, self.keep_encoders, self.waiting = watch, keep_encoders, deque[Job]()

    def submit(self, job: Job) -> None:
        self.waiting.append(job)

    def next(self) -> tuple[Job, dict[str, Any] | Exception]:
        job = self.waiting.popleft()
        try:
            return job, run_job(job.settings, job.suites, job.geometry, self.watch.reporter(job), self.keep_encoders)
        except Exception as error:  # another job may well succeed: all are named at the end
            return job, error


class ProgressReporter:
    """Progress for people: jobs done, what runs and how far it is, and the time left."""

    def __init__(self, progress: Progress) -> None:
        self.progress, self.running = progress, dict[str, str]()

    def reporter(self, job: Job) -> Report:
        """What a job calls as it goes on."""
        return lambda step, steps: self.reached(job.name, step, steps)

    def reached(self, name: str, step: int, steps: int) -> None:
        """A running job is at this step."""
        self.running[name] = f"{name}: step {step} of {steps}"
        self.progress.update(0, note="; ".join(self.running.values()))

    def finished(self, name: str, seconds: float) -> None:
        """A job is done."""
        self.running.pop(name, None)
        done = self.progress.done + 1
        left = (time.monotonic() - self.progress.started) / done * ((self.progress.total or done) - done)
        self.progress.update(1, note=f"{name} took {seconds:.0f} s; {left / 60:.0f} min left")
