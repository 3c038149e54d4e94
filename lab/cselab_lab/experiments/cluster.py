"""Jobs on Dask: worker processes started here, or those of a running scheduler.

Jobs go out and lines come back; only the process that started the experiment writes. If a worker dies, the scheduler
gives its job to a second worker. Workers must have the same versions of all libraries that change numbers.
"""

import logging
import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from cselab._util.versions import versions

from .store import Job, JobRecord

TOPIC = "cselab"
"""Of the events by which workers report their steps."""

SECONDS_TO_ANSWER = 15
MACHINE = ("device", "system", "python")
"""The fields of `versions` that may differ between workers."""


class WorkerMismatch(ConnectionError):
    """A worker has different versions from the sender of the job; the message names them."""


@contextmanager
def dask_workers(
    work: Callable[..., JobRecord],
    reached: Callable[..., None],
    workers: int = 0,
    scheduler: str | None = None,
    cache: Path | None = None,
) -> Iterator[tuple[Callable[[Job], Future[JobRecord]], int]]:
    """How a job is submitted to Dask workers, and how many to submit at a time.

    Args:
        work: computes a job on a worker: `run_job`.
        reached: called with the name, the step and the steps of a job that reports.
        workers: processes to start on this machine, on the loopback interface; 0 uses those of `scheduler`.
        scheduler: "tcp://host:port".
        cache: a folder of encoders that the workers reach by the same path; see `run_experiment`.

    Raises:
        ConnectionError: no scheduler at that address, one without workers, or one that died.
        WorkerMismatch: a worker with different versions.
    """
    with ExitStack() as stack:
        stack.enter_context(patch.dict(os.environ))  # Dask sets the threads of its workers here too
        client = stack.enter_context(_client(workers, scheduler))
        client.subscribe_topic(TOPIC, lambda event: reached(*(event[1][name] for name in ("name", "step", "steps"))))
        try:
            client.wait_for_workers(1, timeout=SECONDS_TO_ANSWER)
        except TimeoutError:
            raise ConnectionError(
                f"the scheduler at {scheduler} has no workers yet: start some and try again"
            ) from None
        installed = client.run(versions)
        for address, of_worker in installed.items():
            require_same_versions(versions(), of_worker, address)
        submit = client.get_executor(pure=False).submit
        try:
            # each worker has its next job waiting
            yield lambda job: submit(run_on_worker, work, job, cache, versions()), 2 * len(installed)
        except CancelledError:
            for name in ("distributed.client", "distributed.utils"):  # they would log it again, with tracebacks
                logging.getLogger(name).setLevel(logging.CRITICAL)
            raise ConnectionError(
                f"the scheduler at {client.scheduler.address} no longer answers: finished jobs are "
                "written; start the scheduler again and repeat the command for the rest"
            ) from None


def _client(workers: int, scheduler: str | None) -> Any:
    from distributed import Client

    if scheduler is None:
        threads = str(max(1, (os.cpu_count() or 1) // workers))
        return Client(
            n_workers=workers,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            env={"OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads},
            set_as_default=False,
        )
    try:
        return Client(scheduler, timeout=SECONDS_TO_ANSWER, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ConnectionError(
            f"no Dask scheduler answers at {scheduler} ({error}): start one with `dask scheduler`, workers "
            "with `dask worker tcp://HOST:8786 --nthreads 1`, and give the address that it prints"
        ) from None


def run_on_worker(work: Callable[..., JobRecord], job: Job, cache: Path | None, sender: Mapping[str, str]) -> JobRecord:
    """Compute a job on a worker, which reports its steps to the sender.

    Raises:
        WorkerMismatch: this worker has different versions from the sender.
    """
    from distributed import get_worker

    worker = get_worker()
    require_same_versions(sender, versions(), worker.address)

    def report(step: int, steps: int) -> None:
        if step % max(1, steps // 20) == 0:
            worker.log_event(TOPIC, {"name": job.name, "step": step, "steps": steps})

    return work(job, report, cache)


def require_same_versions(here: Mapping[str, str], there: Mapping[str, str], worker: str) -> None:
    """Refuse a worker with different versions of libraries, because its numbers could differ.

    Raises:
        WorkerMismatch: names the worker, and each library with its versions.
    """
    others = [
        f"{name} {there.get(name)} (here {version})"
        for name, version in here.items()
        if name not in MACHINE and there.get(name) != version
    ]
    if others:
        raise WorkerMismatch(
            f"the worker at {worker} has {', '.join(others)}: install the same versions (constraints.txt)"
        )
