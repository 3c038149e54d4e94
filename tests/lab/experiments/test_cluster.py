"""Jobs on real Dask workers over TCP, one of them killed in mid-job."""

import json
import os
import subprocess
import sys
import threading
import time
from importlib.metadata import version

import pytest
from cselab_lab.experiments import cluster as cluster_module
from cselab_lab.experiments import run_experiment
from cselab_lab.experiments.cluster import TOPIC, WorkerMismatch, require_same_versions
from small_experiment import DEV, tiny_profile

from cselab._util.versions import versions

pytestmark = pytest.mark.slow

WAIT = 120
LONG = 30  # steps: long enough to be killed in the middle


def start(module, *arguments, **options):
    return subprocess.Popen(
        [sys.executable, "-m", f"distributed.cli.{module}", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        **options,
    )


def until(condition, what):
    deadline = time.monotonic() + WAIT
    while not (found := condition()):
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.05)
    return found


def start_scheduler(folder):
    """A scheduler process and its address."""
    file = folder / "scheduler.json"
    process = start("dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show",
                    "--scheduler-file", str(file), cwd=folder)  # fmt: skip
    return process, json.loads(until(lambda: file.exists() and file.read_text(), "the scheduler"))["address"]


def start_worker(address, name, folder):
    options = ("--name", name, "--nthreads", "1", "--no-nanny", "--no-dashboard")
    return start("dask_worker", address, *options, cwd=folder)


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory):
    """The address of a scheduler process, a function that starts a worker process by name, and all processes."""
    folder = tmp_path_factory.mktemp("dask")
    process, address = start_scheduler(folder)
    started = [process]

    def worker(name):
        started.append(start_worker(address, name, folder))
        return started[-1]

    yield address, worker, started
    for process in started:
        process.kill()  # without their scheduler workers would not end at once
        process.wait(WAIT)


def lines(folder):
    path = folder / "small.tiny.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def test_a_worker_killed_in_mid_job_loses_nothing_and_nothing_is_there_twice(scheduler, small, tmp_path):
    from distributed import Client

    address, worker, _ = scheduler
    processes = {name: worker(name) for name in ("first", "second")}
    with Client(address, timeout=WAIT, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=WAIT)
        begun = []
        client.subscribe_topic(TOPIC, lambda event: begun.append(event[1]))
        profile, failures = tiny_profile(steps=LONG), []

        def command():
            try:
                run_experiment(small, profile, scheduler=address, folder=tmp_path)
            except Exception as error:
                failures.append(error)

        running = threading.Thread(target=command)
        running.start()
        until(lambda: failures or any(0 < event["step"] < LONG / 2 for event in begun), "a job in its middle")
        assert failures == []
        names = {info["address"] if "address" in info else key: info["name"]
                 for key, info in client.scheduler_info(n_workers=-1)["workers"].items()}  # fmt: skip
        busy = until(lambda: [names[who] for who, keys in client.processing().items() if keys], "a busy worker")
        before = len(lines(tmp_path))
        processes[busy[0]].kill()
        assert processes[busy[0]].wait(WAIT) != 0
        running.join(WAIT)
        assert not running.is_alive() and failures == []
    found = lines(tmp_path)
    assert before < 6 and len(found) == 6 and len({line["hash"] for line in found}) == 6
    assert all(line["scores"] for line in found if line["seed"] is not None)


def test_a_worker_of_other_versions_is_refused_before_anything_runs(scheduler, small, tmp_path, monkeypatch):
    def other(name):
        return "1.0" if name == "numpy" else version(name)

    monkeypatch.setattr("importlib.metadata.version", other)
    with pytest.raises(WorkerMismatch, match=r"worker at tcp://.* has numpy .* \(here 1\.0\): install the same"):
        run_experiment(small, tiny_profile(), [0], scheduler=scheduler[0], folder=tmp_path)
    assert lines(tmp_path) == []


def test_a_scheduler_that_dies_in_the_middle_is_said_so_and_finished_jobs_stay(scheduler, small, tmp_path):
    address, worker, started = scheduler
    if len(started) == 1:
        worker("only")

    def kill():
        until(lambda: len(lines(tmp_path)) >= 3, "the first trained job")
        started[0].kill()

    killing = threading.Thread(target=kill)
    killing.start()
    with pytest.raises(ConnectionError, match=rf"the scheduler at {address} no longer answers: finished jobs"):
        run_experiment(small, tiny_profile(LONG), scheduler=address, folder=tmp_path)
    killing.join(WAIT)
    assert 3 <= len(lines(tmp_path)) < 6


def test_what_differs_between_machines_is_no_mismatch():
    require_same_versions(versions(), {**versions(), "device": "NVIDIA", "system": "Windows"}, "tcp://w")


def test_a_scheduler_that_is_not_there_or_has_no_workers_is_named(small, tmp_path, monkeypatch):
    from distributed import LocalCluster

    monkeypatch.setattr(cluster_module, "SECONDS_TO_ANSWER", 1)
    with LocalCluster(n_workers=0, host="127.0.0.1", dashboard_address="127.0.0.1:0") as empty:
        for address, message in {
            empty.scheduler_address: "has no workers yet: start some and try again",
            "tcp://127.0.0.1:9": r"no Dask scheduler answers at tcp://127\.0\.0\.1:9",
        }.items():
            with pytest.raises(ConnectionError, match=message):
                run_experiment(small, tiny_profile(), [0], scheduler=address, folder=tmp_path)
    assert lines(tmp_path) == []


def test_workers_started_for_one_call_give_the_numbers_of_this_process_and_leave_its_environment(small, tmp_path):
    before = dict(os.environ)
    there = run_experiment(small, tiny_profile(), [0], workers=1, folder=tmp_path)
    assert len(lines(tmp_path)) == 4 and set(there.lines) == {"plain", "plain, mean subtracted", "cold", "warm"}
    assert dict(os.environ) == before  # with another number of threads the next process would compute other sums
    here = run_experiment(small, tiny_profile(), [0], ["cold"], folder=tmp_path / "here")
    assert there.values("cold", DEV)[0] == pytest.approx(here.values("cold", DEV)[0], abs=0.01)
