"""Running an experiment: the jobs without a line are computed by an executor, and one process writes their lines."""

import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from filelock import FileLock

from cselab._util.checksums import sha256_of
from cselab._util.progress import Progress
from cselab.data import MissingFile

from .compute import no_data, run_job
from .corpora import TEXTS, text_file
from .experiment import Experiment, get_experiment
from .plan import Profile, get_profile, jobs
from .report import Results, read_results
from .store import RESULTS, Job, JobRecord, Store

Submit = Callable[[Job], Future[JobRecord]]
"""Has a job computed, here or by a worker."""

LOOK_AGAIN = 1.0
"""Seconds between two checks for jobs that a second command computes."""


class JobsFailed(RuntimeError):
    """Some jobs ended in an error without a line; the remaining jobs are written. The message names each with its
    error.
    """


def run_experiment(
    experiment: Experiment | str,
    profile: Profile | str = "study",
    seeds: Iterable[int] | None = None,
    only: Sequence[str] = (),
    *,
    workers: int = 0,
    scheduler: str | None = None,
    folder: str | Path = RESULTS,
    keep_encoders: str | Path | None = None,
    show_progress_bar: bool = True,
) -> Results:
    """Run the missing jobs of an experiment, and read all results.

    Each finished job is a line in the results file, and no experiment computes it again. Simultaneous calls share the
    jobs. Killed, only the jobs that were running start again.

    Args:
        experiment: an experiment, or its name.
        profile: a name in `PROFILES`, or your profile.
        seeds: default: the profile's, more for rows of a headline claim where the profile has more.
        only: labels of the rows to run, or patterns with *; all when empty. The plain encoder is always among them.
        workers: processes on this machine, started for this call; 0 computes in this process.
        scheduler: address of a Dask scheduler ("tcp://host:8786"), whose workers compute.
        folder: the folder of the results files.
        keep_encoders: a folder where each trained encoder is kept, under the hash of its line. An existing encoder is
            measured and not trained again, for example if a second table needs further suites. Workers must reach it.
        show_progress_bar: whether progress is shown.

    Raises:
        ValueError: an unknown experiment, profile or label; invalid seeds; workers together with a scheduler.
        MissingFile: a row still to run trains on a text that is not in the data folder; nothing was run.
        ResultsError: the results file has a damaged or foreign line; nothing was run.
        ConnectionError: no scheduler, a scheduler with different versions, or one that died; finished jobs are written.
        JobsFailed: some jobs ended in an error; the remaining jobs are in the file.
    """
    experiment, profile = get_experiment(experiment), get_profile(profile)
    chosen = None if seeds is None else _checked_seeds(seeds)
    labels = {label for pattern in only for label in experiment.labels(pattern)} | {"plain"}
    if workers < 0 or (workers and scheduler):
        raise ValueError(f"give workers (at least 0) or a scheduler, not {workers} and {scheduler!r}")
    if not scheduler:  # its workers have their own data
        profile = _with_text_hashes(experiment, profile)
    store = Store(folder, experiment.name, profile.name)
    todo = _unfinished(store, [job for job in jobs(experiment, profile, chosen)[0] if not only or job.label in labels])
    if not scheduler:
        for name in TEXTS.keys() & {job.spec.corpus for job in todo} - profile.files.keys():
            text_file(name)
    failed: dict[str, str] = {}
    submit: Submit
    with ExitStack() as stack:
        name = f"{experiment.name}, {profile.name}"
        bar = stack.enter_context(Progress(len(todo), name, show=show_progress_bar, lines=len(todo)))
        progress = JobProgress(bar)
        cache = None if keep_encoders is None else Path(keep_encoders).resolve()
        if todo:
            submit, capacity = partial(_here, progress, cache), 1
            if workers or scheduler:
                from .cluster import dask_workers

                submit, capacity = stack.enter_context(
                    dask_workers(run_job, progress.reached, workers, scheduler, cache)
                )
            failed = _execute(todo, store, submit, capacity, progress)
    if failed:
        errors = "\n".join(
            f"  {'; '.join(name for name in failed if failed[name] == error)}: {error}"
            for error in dict.fromkeys(failed.values())
        )
        raise JobsFailed(
            f"{experiment.name}: {len(failed)} of {len(todo)} jobs failed and will run again next time:\n{errors}"
        )
    return read_results(experiment, profile, folder)


def _with_text_hashes(experiment: Experiment, profile: Profile) -> Profile:
    """The profile with the hashes of its texts in the data folder, which thereby become part of its jobs."""
    hashes = {}
    for name in {profile.corpus, *(row.corpus for row in experiment.rows if row.corpus)} & TEXTS.keys():
        with suppress(MissingFile):
            hashes[name] = sha256_of(text_file(name))
    return replace(profile, hashes={**hashes, **profile.hashes})


def _checked_seeds(seeds: Iterable[int]) -> tuple[int, ...]:
    chosen = tuple(dict.fromkeys(seeds))
    if not chosen or not all(isinstance(seed, int) and seed >= 0 for seed in chosen):
        raise ValueError(f"seeds are whole numbers of at least 0, one or more; got {chosen}")
    return chosen


def _unfinished(store: Store, wanted: Sequence[Job]) -> list[Job]:
    """The unfinished jobs; a job that a different experiment has finished becomes a line that refers to it."""
    done, elsewhere = store.read(), store.elsewhere()
    todo = []
    for job in wanted:
        if _complete(done.get(job.hash)):
            continue
        finished = (record for record in elsewhere[job.hash] if _complete(record))
        if record := next((one for one in finished if set(job.suites) <= set(one.suites)), None):
            store.append(JobRecord.of(job, source=record.source or record.experiment))
        else:
            todo.append(job)
    return todo


def _complete(record: JobRecord | None) -> bool:
    """Whether a job is done: nothing that its line lacks could be measured now, because its data have come."""
    if record is None:
        return False
    return bool(no_data()) or record.missing.keys().isdisjoint(("sts", "transfer", "clustering"))


def _execute(
    todo: Sequence[Job], store: Store, submit: Submit, capacity: int, progress: "JobProgress"
) -> dict[str, str]:
    """Compute all jobs that are not reserved, `capacity` at a time; returns the errors of failed jobs, by name."""
    waiting, failed = deque(todo), dict[str, str]()
    running = dict[Future[JobRecord], tuple[Job, FileLock]]()
    with ExitStack() as locks:
        while waiting or running:
            for _ in range(len(waiting)):
                if len(running) >= capacity:
                    break
                job = waiting.popleft()
                lock = store.lock_job(job.hash)
                if lock is None:
                    waiting.append(job)
                    continue
                locks.callback(lock.release)
                if _complete(store.read().get(job.hash)):
                    lock.release()
                    progress.finished(f"{job.name}, by a second command,", 0)
                else:
                    running[submit(job)] = job, lock
            if not running:
                if waiting:
                    time.sleep(LOOK_AGAIN)
                continue
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                job, lock = running.pop(future)
                error = future.exception()
                if error is None:
                    store.append(future.result())
                else:
                    failed[job.name] = f"{type(error).__name__}: {error}"
                lock.release()
                progress.finished(job.name, 0.0 if error else future.result().seconds or 0.0)
    return failed


def _here(progress: "JobProgress", cache: Path | None, job: Job) -> Future[JobRecord]:
    """Compute a job in this process, at once."""
    future = Future[JobRecord]()
    try:
        future.set_result(run_job(job, lambda step, steps: progress.reached(job.name, step, steps), cache))
    except Exception as error:  # the next job may succeed: all errors are named at the end
        future.set_exception(error)
    return future


class JobProgress:
    """Progress for people: jobs done, what runs and how far it is, and the time left."""

    def __init__(self, bar: Progress) -> None:
        self.bar, self.running = bar, dict[str, str]()

    def reached(self, name: str, step: int, steps: int) -> None:
        """A running job is at this step."""
        self.running[name] = f"{name}: step {step} of {steps}"
        self.bar.update(0, note="; ".join(self.running.values()))

    def finished(self, name: str, seconds: float) -> None:
        """A job is done."""
        self.running.pop(name, None)
        done = self.bar.done + 1
        left = (time.monotonic() - self.bar.started) / done * ((self.bar.total or done) - done)
        self.bar.update(1, note=f"{name} took {seconds:.0f} s; {left / 60:.0f} min left")
