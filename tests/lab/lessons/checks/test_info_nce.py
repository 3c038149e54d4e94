"""The check of InfoNCE: right answers pass however they are written, each wrong one gets the right diagnosis."""

import pytest
import torch
import torch.nn.functional as F
from cselab_lab.lessons.checks import info_nce
from cselab_lab.lessons.exercises import diagnose

RIGHT = {
    "logsumexp": lambda c, t=0.05: ((c / t).logsumexp(1) - (c / t).diagonal()).mean(),
    "cross entropy": lambda c, t=0.05: F.cross_entropy(c / t, torch.arange(len(c))),
    "log softmax": lambda c, t=0.05: -(c / t).log_softmax(1).diagonal().mean().item(),
}


WRONG = [
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


@pytest.mark.parametrize("answer", RIGHT.values(), ids=RIGHT)
def test_a_right_answer_is_solved(answer):
    assert diagnose(answer, info_nce.STAGES).solved


@pytest.mark.parametrize(("diagnosis", "answer"), WRONG, ids=[d for d, _ in WRONG])
def test_a_wrong_answer_is_named(diagnosis, answer):
    verdict = diagnose(answer, info_nce.STAGES)
    assert not verdict.solved and diagnosis in verdict.lines[-1]
