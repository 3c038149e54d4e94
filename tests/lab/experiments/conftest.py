"""A small experiment that trains for real in a second or two, and one whose jobs are not computed at all."""

import pytest
from small_experiment import DEV, SMALL, tiny_profile


@pytest.fixture
def small():
    return SMALL


@pytest.fixture
def tiny():
    return tiny_profile()


@pytest.fixture
def made_up(monkeypatch):
    """Jobs give made-up numbers at once; returns the names of the jobs that were computed, in their order."""
    from cselab_lab.experiments import pools

    computed = []

    def run_job(settings, suites, geometry, report=None, keep_encoders=None):
        computed.append(settings)
        seed = settings.get("recipe", {}).get("seed", 0)
        warm = settings.get("parameters", {}).get("temperature") == 0.5
        scores = {DEV: 50.0 + seed - (2.0 + 0.1 * seed if warm else 0.0)}
        return {"failure": None, "scores": scores, "missing": {}, "failures": {}, "seconds": 0.0, "versions": {}}

    monkeypatch.setattr(pools, "run_job", run_job)
    return computed
