"""Running an experiment: which jobs are left, who computes them, and the one process that writes them down."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import Any, Protocol

from filelock import FileLock

from cselab.lab.experiments.experiment import Experiment, get_experiment
from cselab.lab.experiments.jobs import Job, Report, jobs, measurable_here, run_job
from cselab.lab.experiments.profiles import Profile, get_profile
from cselab.lab.experiments.reading import Results, read_results
from cselab.lab.experiments.store import RESULTS, Store
from cselab.progress import Progress

LOOK_AGAIN = 1.0
"""Seconds between two looks at jobs that another command is computing."""


class JobsFailed(RuntimeError):
    """Some jobs ended in an error and left no line; the others are written. The message names each with its error."""


class Pool(Protocol):
    """Where jobs are computed.

    `capacity` jobs at a time may be submitted; `next` waits for one of them, and gives it with its line or its error.
    """

    capacity: int

    def submit(self, job: Job) -> None: ...

    def next(self) -> tuple[Job, dict[str, Any] | Exception]: ...


class Here:
    """One job after another, in this process."""

    capacity = 1

    def __init__(self, watch: Watch, keep_encoders: Path | None = None) -> None:
        self.watch, self.keep_encoders, self.waiting = watch, keep_encoders, deque[Job]()

    def submit(self, job: Job) -> None:
        self.waiting.append(job)

    def next(self) -> tuple[Job, dict[str, Any] | Exception]:
        job = self.waiting.popleft()
        try:
            return job, run_job(job.settings, job.suites, job.geometry, self.watch.reporter(job), self.keep_encoders)
        except Exception as error:  # another job may well succeed: all are named at the end
            return job, error


class Watch:
    """Progress for people: jobs done, what runs and how far it is, and the time left."""

    def __init__(self, progress: Progress) -> None:
        self.progress, self.running = progress, dict[str, str]()

    def reporter(self, job: Job) -> Report:
        """What a job calls as it goes on."""

        def report(step: int, steps: int) -> None:
            self.reached(job.name, step, steps)

        return report

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


def run_experiment(
    experiment: Experiment | str,
    profile: Profile | str = "classroom",
    seeds: Iterable[int] | None = None,
    only: Sequence[str] = (),
    *,
    workers: int = 0,
    scheduler: str | None = None,
    folder: str | Path = RESULTS,
    keep_encoders: str | Path | None = None,
    show_progress_bar: bool = True,
) -> Results:
    """Run what is missing of an experiment, and read all of it.

    Each finished job is a line in the results file and is never computed again, by this experiment or another; two
    calls at the same time share the jobs. Killed, only the jobs that were running start again.

    Args:
        experiment: an experiment, or its name.
        profile: "smoke", "classroom", "study" or "paper", or a profile of your own.
        seeds: default: the profile's.
        only: labels of the rows to run; all when empty. The plain encoder is always among them.
        workers: processes on this machine, started for this call; 0 computes in this process.
        scheduler: address of a Dask scheduler ("tcp://host:8786"), whose workers compute.
        folder: of the results files.
        keep_encoders: a folder where each trained encoder is kept, under the hash of its line. One that is there is
            measured and not trained again, as when another table asks for further suites. Workers must reach it.
        show_progress_bar: whether progress is shown.

    Raises:
        ValueError: an unknown experiment, profile or label; seeds that are none; both workers and a scheduler.
        ResultsError: the results file has a damaged or foreign line; nothing was run.
        ConnectionError: no scheduler there, or one of other versions.
        JobsFailed: some jobs ended in an error; all others are in the file.
    """
    experiment = get_experiment(experiment) if isinstance(experiment, str) else experiment
    profile = get_profile(profile) if isinstance(profile, str) else profile
    seeds = _seeds(profile.seeds if seeds is None else seeds)
    labels = {experiment.row(label).label for label in only} | {"plain"}
    if workers < 0 or (workers and scheduler):
        raise ValueError(f"give workers (at least 0) or a scheduler, not {workers} and {scheduler!r}")
    found, _ = jobs(experiment, profile, seeds)
    wanted = [job for job in found if not only or job.label in labels]
    store = Store(folder, experiment.name, profile.name)
    todo = _unfinished(store, wanted)
    failed: dict[str, str] = {}
    with ExitStack() as stack:
        name = f"{experiment.name}, {profile.name}"
        progress = stack.enter_context(Progress(len(todo), name, show=show_progress_bar, lines=len(todo)))
        watch = Watch(progress)
        kept = None if keep_encoders is None else Path(keep_encoders).resolve()
        if todo:
            failed = _run(todo, store, stack.enter_context(_pool(workers, scheduler, watch, kept)), watch)
    if failed:
        errors = "\n".join(
            f"  {'; '.join(name for name in failed if failed[name] == error)}: {error}"
            for error in dict.fromkeys(failed.values())
        )
        raise JobsFailed(
            f"{experiment.name}: {len(failed)} of {len(todo)} jobs failed and will run again next time:\n{errors}"
        )
    return read_results(experiment, profile, folder)


def _seeds(seeds: Iterable[int]) -> tuple[int, ...]:
    chosen = tuple(dict.fromkeys(seeds))
    if not chosen or not all(isinstance(seed, int) and seed >= 0 for seed in chosen):
        raise ValueError(f"seeds are whole numbers of at least 0, one or more; got {chosen}")
    return chosen


def _pool(workers: int, scheduler: str | None, watch: Watch, keep_encoders: Path | None) -> Any:
    if workers or scheduler:
        from cselab.lab.experiments.cluster import Cluster

        return Cluster(watch, workers, scheduler, keep_encoders)
    return nullcontext(Here(watch, keep_encoders))


def _unfinished(store: Store, wanted: Sequence[Job]) -> list[Job]:
    """The jobs that are not done; those that another experiment has done are copied from its file."""
    done, elsewhere = store.read(), store.elsewhere()
    todo = []
    for job in wanted:
        if job.hash in done and not measurable_here(done[job.hash]["missing"]):
            continue
        whole = [line for line in elsewhere[job.hash] if not measurable_here(line["missing"])]
        line = next((line for line in whole if set(job.suites) <= set(line["suites"])), None)
        if line is None:
            todo.append(job)
        else:
            store.append({**line, **_identity(store, job), "from": line["experiment"]})
    return todo


def _run(todo: Sequence[Job], store: Store, pool: Pool, watch: Watch) -> dict[str, str]:
    """Compute all jobs that no other command has; the errors of those that failed, by name."""
    waiting, claims, failed = deque(todo), dict[str, FileLock](), dict[str, str]()
    try:
        while waiting or claims:
            for _ in range(len(waiting)):
                if len(claims) >= pool.capacity:
                    break
                job = waiting.popleft()
                claim = store.claim(job.hash)
                if claim is None:
                    waiting.append(job)
                elif _done(store, job):
                    claim.release()
                    watch.finished(f"{job.name}, by another command,", 0)
                else:
                    claims[job.hash] = claim
                    pool.submit(job)
            if not claims:
                if waiting:
                    time.sleep(LOOK_AGAIN)
                continue
            job, outcome = pool.next()
            if isinstance(outcome, Exception):
                failed[job.name] = f"{type(outcome).__name__}: {outcome}"
            else:
                store.append(_identity(store, job) | outcome)
            claims.pop(job.hash).release()
            watch.finished(job.name, 0.0 if isinstance(outcome, Exception) else outcome["seconds"])
    finally:
        for claim in claims.values():
            claim.release()
    return failed


def _done(store: Store, job: Job) -> bool:
    line = store.read().get(job.hash)
    return line is not None and not measurable_here(line["missing"])


def _identity(store: Store, job: Job) -> dict[str, Any]:
    return {
        "experiment": store.experiment,
        "profile": store.profile,
        "row": job.label,
        "seed": job.seed,
        "hash": job.hash,
        "settings": job.settings,
        "suites": list(job.suites),
    }
