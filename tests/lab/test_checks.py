"""The exercises' checks: right answers pass however they are written, each wrong one gets the right diagnosis."""

import pytest
import torch
import torch.nn.functional as F

from cselab.evaluators import uniformity as by_cselab
from cselab.lab.checks import info_nce, uniformity
from cselab.lab.exercises import diagnose

RIGHT_UNIFORMITY = {
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
RIGHT_INFO_NCE = {
    "logsumexp": lambda c, t=0.05: ((c / t).logsumexp(1) - (c / t).diagonal()).mean(),
    "cross entropy": lambda c, t=0.05: F.cross_entropy(c / t, torch.arange(len(c))),
    "log softmax": lambda c, t=0.05: -(c / t).log_softmax(1).diagonal().mean().item(),
}


def unit(v):
    return F.normalize(v, dim=1)


def prints(v, t=2):
    print(torch.pdist(unit(v)).square().mul(-t).exp().mean().log())


WRONG_UNIFORMITY = [
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
WRONG_INFO_NCE = [
    ("mean over the sentences", lambda c, t=0.05: ((c / t).logsumexp(1) - (c / t).diagonal()).sum()),
    (
        "holds the positive",
        lambda c, t=0.05: -((c / t).exp().diagonal() / ((c / t).exp().sum(1) - (c / t).exp().diagonal())).log().mean(),
    ),
    ("do not multiply", lambda c, t=0.05: ((c * t).logsumexp(1) - (c * t).diagonal()).mean()),
    ("not used", lambda c, t=0.05: (c.logsumexp(1) - c.diagonal()).mean()),
    ("0.05 in your code", lambda c, t=0.05: ((c / 0.05).logsumexp(1) - (c / 0.05).diagonal()).mean()),
    ("along a row", lambda c, t=0.05: ((c / t).logsumexp(0) - (c / t).diagonal()).mean()),
    (
        "both directions",
        lambda c, t=0.05: (
            (F.cross_entropy(c / t, torch.arange(len(c))) + F.cross_entropy(c.T / t, torch.arange(len(c)))) / 2
        ),
    ),
    ("takes the softmax by itself", lambda c, t=0.05: F.cross_entropy((c / t).softmax(1), torch.arange(len(c)))),
    ("log comes first", lambda c, t=0.05: -(c / t).softmax(1).diagonal().mean().log()),
    ("not column 0", lambda c, t=0.05: F.cross_entropy(c / t, torch.zeros(len(c), dtype=torch.long))),
    ("minus the log", lambda c, t=0.05: (c / t).log_softmax(1).diagonal().mean()),
    ("log is missing", lambda c, t=0.05: (c / t).softmax(1).diagonal().mean()),
    ("logsumexp", lambda c, t=0.05: -((c / t).exp().diagonal() / (c / t).exp().sum(1)).log().mean()),
    ("One number is wanted", lambda c, t=0.05: (c / t).logsumexp(1) - (c / t).diagonal()),
    ("`return` missing", lambda c, t=0.05: None),
]


@pytest.mark.parametrize("answer", RIGHT_UNIFORMITY.values(), ids=RIGHT_UNIFORMITY)
def test_a_right_uniformity_is_solved(answer):
    assert diagnose(answer, uniformity.STAGES).solved


@pytest.mark.parametrize("answer", RIGHT_INFO_NCE.values(), ids=RIGHT_INFO_NCE)
def test_a_right_info_nce_is_solved(answer):
    assert diagnose(answer, info_nce.STAGES).solved


@pytest.mark.parametrize(("diagnosis", "answer"), WRONG_UNIFORMITY, ids=[d for d, _ in WRONG_UNIFORMITY])
def test_a_wrong_uniformity_is_named(diagnosis, answer):
    verdict = diagnose(answer, uniformity.STAGES)
    assert not verdict.solved and diagnosis in verdict.lines[-1]


@pytest.mark.parametrize(("diagnosis", "answer"), WRONG_INFO_NCE, ids=[d for d, _ in WRONG_INFO_NCE])
def test_a_wrong_info_nce_is_named(diagnosis, answer):
    verdict = diagnose(answer, info_nce.STAGES)
    assert not verdict.solved and diagnosis in verdict.lines[-1]
