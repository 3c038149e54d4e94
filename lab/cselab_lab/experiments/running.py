"""Running an experiment: which jobs are left, who computes them, and the one process that writes them down."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from pathlib import Path
from typing import Any

from filelock import FileLock

from cselab._util.progress import Progress
from cselab_lab.experiments.compute import measurable_here
from cselab_lab.experiments.corpora import require_text
from cselab_lab.experiments.experiment import Experiment, get_experiment
from cselab_lab.experiments.jobs import Job, jobs
from cselab_lab.experiments.pools import LocalPool, Pool, ProgressReporter
from cselab_lab.experiments.profiles import Profile, get_profile
from cselab_lab.experiments.reading import Results, read_results
from cselab_lab.experiments.store import RESULTS, Store

LOOK_AGAIN = 1.0
"""Seconds between two looks at jobs that another command is computing."""


class JobsFailed(RuntimeError):
    """Some jobs ended in an error and left no line; the others are written. The message names each with its error."""


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
    """Run what is missing of an experiment, and read all of it.

    Each finished job is a line in the results file and is never computed again, by this experiment or another; two
    calls at the same time share the jobs. Killed, only the jobs that were running start again.

    Args:
        experiment: an experiment, or its name.
        profile: a name in `PROFILES`, or a profile of your own.
        seeds: default: the profile's, more for rows of a headline claim where the profile has more.
        only: labels of the rows to run; all when empty. The plain encoder is always among them.
        workers: processes on this machine, started for this call; 0 computes in this process.
        scheduler: address of a Dask scheduler ("tcp://host:8786"), whose workers compute.
        folder: of the results files.
        keep_encoders: a folder where each trained encoder is kept, under the hash of its line. One that is there is
            measured and not trained again, as when another table asks for further suites. Workers must reach it.
        show_progress_bar: whether progress is shown.

    Raises:
        ValueError: an unknown experiment, profile or label; seeds that are none; both workers and a scheduler.
        MissingFile: a row still to run trains on a text that is not in the data folder; nothing was run.
        ResultsError: the results file has a damaged or foreign line; nothing was run.
        ConnectionError: no scheduler there, one of other versions, or one that died; finished jobs are written.
        JobsFailed: some jobs ended in an error; all others are in the file.
    """
    experiment = get_experiment(experiment) if isinstance(experiment, str) else experiment
    profile = get_profile(profile) if isinstance(profile, str) else profile
    chosen = None if seeds is None else _seeds(seeds)
    labels = {experiment.row(label).label for label in only} | {"plain"}
    if workers < 0 or (workers and scheduler):
        raise ValueError(f"give workers (at least 0) or a scheduler, not {workers} and {scheduler!r}")
    all_jobs, _ = jobs(experiment, profile, chosen)
    wanted = [job for job in all_jobs if not only or job.label in labels]
    store = Store(folder, experiment.name, profile.name)
    todo = _unfinished(store, wanted)
    if not scheduler:  # whose workers have data of their own
        for name in dict.fromkeys(job.settings["corpus"] for job in todo if "corpus" in job.settings):
            require_text(name)
    failed: dict[str, str] = {}
    with ExitStack() as stack:
        name = f"{experiment.name}, {profile.name}"
        progress = stack.enter_context(Progress(len(todo), name, show=show_progress_bar, lines=len(todo)))
        watch = ProgressReporter(progress)
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


def _pool(
    workers: int, scheduler: str | None, watch: ProgressReporter, keep_encoders: Path | None
) -> AbstractContextManager[Pool]:
    if workers or scheduler:
        from cselab_lab.experiments.cluster import Cluster

        return Cluster(watch, workers, scheduler, keep_encoders)
    return nullcontext(LocalPool(watch, keep_encoders))


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


def _run(todo: Sequence[Job], store: Store, pool: Pool, watch: ProgressReporter) -> dict[str, str]:
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
