"""An experiment that trains for real in seconds, and measures the dev score alone."""

from cselab_lab.experiments import Above, Column, Experiment, Profile, Row
from cselab_lab.experiments.profiles import bundled

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
