"""A small experiment that trains for real in a second or two, and one whose jobs are not computed at all."""

import pytest
from cselab_lab.experiments.store import JobRecord
from small_experiment import DEV, SMALL, tiny_profile


@pytest.fixture
def small():
    return SMALL


@pytest.fixture
def tiny():
    return tiny_profile()


@pytest.fixture
def made_up(monkeypatch):
    """Jobs give made-up numbers at once; returns the jobs that were computed, in their order."""
    from cselab_lab.experiments import run

    computed = []

    def run_job(job, report=None, cache=None):
        computed.append(job)
        seed, warm = job.seed or 0, job.label == "warm"
        scores = {DEV: 50.0 + seed - (2.0 + 0.1 * seed if warm else 0.0)}
        return JobRecord.of(job, scores=scores)

    monkeypatch.setattr(run, "run_job", run_job)
    return computed
