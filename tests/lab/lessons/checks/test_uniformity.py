"""The check of the uniformity: right answers pass however they are written, each wrong one gets the right diagnosis."""

import pytest
import torch
import torch.nn.functional as F
from cselab_lab.lessons.checks import uniformity
from cselab_lab.lessons.exercises import diagnose

from cselab.metrics import uniformity as by_cselab

RIGHT = {
    "pdist": lambda v, t=2: torch.pdist(F.normalize(v, dim=1)).square().mul(-t).exp().mean().log(),
    "float": lambda v, t=2: float(by_cselab(v.numpy(), t=t)),
    "loop": lambda v, t=2: (
        torch.tensor(
            [
                float((-t * (F.normalize(v)[i] - F.normalize(v)[j]).square().sum()).exp())
                for i in range(len(v))
                for j in range(i)
            ]
        )
        .mean()
        .log()
    ),
}


def unit(v):
    return F.normalize(v, dim=1)


def prints(v, t=2):
    print(torch.pdist(unit(v)).square().mul(-t).exp().mean().log())


WRONG = [
    ("Square the distances", lambda v, t=2: torch.pdist(unit(v)).mul(-t).exp().mean().log()),
    ("paired with itself", lambda v, t=2: torch.cdist(unit(v), unit(v)).square().mul(-t).exp().mean().log()),
    ("the log last", lambda v, t=2: torch.pdist(unit(v)).square().mul(-t).exp().log().mean()),
    ("log is missing", lambda v, t=2: torch.pdist(unit(v)).square().mul(-t).exp().mean()),
    ("not the sum", lambda v, t=2: torch.pdist(unit(v)).square().mul(-t).exp().sum().log()),
    ("exponent is negative", lambda v, t=2: torch.pdist(unit(v)).square().mul(t).exp().mean().log()),
    ("natural logarithm", lambda v, t=2: torch.pdist(unit(v)).square().mul(-t).exp().mean().log10()),
    ("not each column", lambda v, t=2: torch.pdist(F.normalize(v, dim=0)).square().mul(-t).exp().mean().log()),
    ("length 1 before", lambda v, t=2: torch.pdist(v).square().mul(-t).exp().mean().log()),
    ("where t should be", lambda v, t=2: torch.pdist(unit(v)).square().mul(-2).exp().mean().log()),
    ("`return` missing", prints),
    ("One number is wanted", lambda v, t=2: torch.cdist(unit(v), unit(v)).square().mul(-t).exp().log()[0]),
    ("Try it: ", lambda v, t=2: 17.0),
    ("raised IndexError", lambda v, t=2: v[99]),
    ("returned a str", lambda v, t=2: "-8"),
]


@pytest.mark.parametrize("answer", RIGHT.values(), ids=RIGHT)
def test_a_right_answer_is_solved(answer):
    assert diagnose(answer, uniformity.STAGES).solved


@pytest.mark.parametrize(("diagnosis", "answer"), WRONG, ids=[d for d, _ in WRONG])
def test_a_wrong_answer_is_named(diagnosis, answer):
    verdict = diagnose(answer, uniformity.STAGES)
    assert not verdict.solved and diagnosis in verdict.lines[-1]
