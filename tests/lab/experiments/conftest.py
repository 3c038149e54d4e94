"""A small experiment that trains for real in a second or two, and one whose jobs are not computed at all."""

import os

import pytest

from cselab.lab.experiments import Above, Column, Experiment, Profile, Row
from cselab.lab.experiments.profiles import bundled

os.environ.setdefault("OMP_NUM_THREADS", "1")

DEV = "Classroom-STS dev"

SMALL = Experiment(
    name="small",
    question="Does a high temperature hurt?",
    rows=(Row("cold", "simcse"), Row("warm", "simcse", {"temperature": 0.5})),
    columns=(Column(DEV),),
    directions=(Above("a high temperature hurts", "cold", "warm"),),
    baseline="cold",
)


def tiny_profile(steps=2):
    return Profile(
        name="tiny",
        encoders={"base": bundled("micro")},
        corpus="world:64",
        dev="Classroom-STS",
        seeds=(0, 1),
        suites=(),
        geometry="world",
        recipe={"steps": steps, "batch_size": 8, "lr": 3e-4, "eval_every": steps, "precision": "fp32"},
        pooling="cls",
        time="seconds",
    )


@pytest.fixture
def small():
    return SMALL


@pytest.fixture
def tiny():
    return tiny_profile()


@pytest.fixture
def made_up(monkeypatch):
    """Jobs give made-up numbers at once; returns the names of the jobs that were computed, in their order."""
    from cselab.lab.experiments import running

    computed = []

    def run_job(settings, suites, geometry, report=None):
        computed.append(settings)
        seed = settings.get("recipe", {}).get("seed", 0)
        warm = settings.get("parameters", {}).get("temperature") == 0.5
        scores = {DEV: 50.0 + seed - (2.0 + 0.1 * seed if warm else 0.0)}
        return {
            "failure": None,
            "scores": scores,
            "missing": {},
            "failures": {},
            "seconds": 0.0,
            "versions": {},
        }

    monkeypatch.setattr(running, "run_job", run_job)
    return computed
