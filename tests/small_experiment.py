"""An experiment that trains for real in seconds, and measures the dev score only; jobs of any experiment by label."""

import json

from cselab_lab.experiments import Above, Column, Experiment, Profile, Row, get_experiment, get_profile
from cselab_lab.experiments.plan import bundled, expand_rows, jobs
from cselab_lab.experiments.store import Job, JobRecord

DEV = "Classroom-STS dev"

SMALL = Experiment(
    name="small",
    question="Does a high temperature hurt?",
    rows=(Row("cold", "simcse"), Row("warm", "simcse", {"temperature": 0.5})),
    columns=(Column(DEV),),
    claims=(Above("a high temperature hurts", "cold", "warm"),),
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
        purpose="tests",
    )


def job_of(experiment, label, profile="study", seed=0, suites=None):
    """The job of a row, by default with the suites of its experiment; a row that is not trained has no seed."""
    experiment, profile = get_experiment(experiment), get_profile(profile)
    spec = expand_rows(experiment, profile)[0][label]
    suites = jobs(experiment, profile, [0])[0][0].suites if suites is None else suites
    spec = spec.with_seed(seed if experiment.row(label).drawn else None)
    return Job(experiment.name, profile.name, label, spec, suites, profile.geometry, profile.files)


def write_lines(folder, experiment, profile, scores, keep=lambda label, seed: True):
    """Lines for all jobs to keep: `scores(label, seed)` gives the measured numbers, None for a training that failed."""
    experiment, profile = get_experiment(experiment), get_profile(profile)
    with open(folder / f"{experiment.name}.{profile.name}.jsonl", "w", encoding="utf-8") as file:
        for job in jobs(experiment, profile, profile.seeds)[0]:
            if keep(job.label, job.seed):
                found = scores(job.label, job.seed)
                record = JobRecord.of(job, scores=found or {}, failure=None if found else "diverged")
                file.write(json.dumps(record.to_json()) + "\n")
