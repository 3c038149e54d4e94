"""The check of a change that a whitened loss does not see: judged by what it does, not by how it is written."""

import pytest
import torch
from cselab_lab.lessons.checks import invisible
from cselab_lab.lessons.exercises import diagnose


@pytest.mark.parametrize(
    "answer",
    [
        lambda x: x + 100,
        lambda x: x + torch.linspace(50, 100, x.shape[1]),
        lambda x: 0.01 * x + 1,
        lambda x: x * torch.linspace(1, 3, x.shape[1]) + 100,
    ],
    ids=["shifted", "each channel shifted", "shrunk and shifted", "scaled and shifted"],
)
def test_whatever_whitening_takes_away_solves_it(answer):
    verdict = diagnose(answer, invisible.STAGES)
    assert verdict.solved, verdict


@pytest.mark.parametrize(
    ("answer", "diagnosis"),
    [
        (lambda x: x, "The mean cosine was"),
        (lambda x: 5 * x, "The mean cosine was"),
        (lambda x: x + 0.1, "The mean cosine was"),
        (lambda x: x + torch.randn(x.shape, generator=torch.Generator().manual_seed(3)), "it sees what you did"),
        (lambda x: x.abs() + 100, "it sees what you did"),
        (lambda x: x / x.norm(dim=1, keepdim=True) + 100, "it sees what you did"),
        (lambda x: x.mean(0), "the same shape"),
        (lambda x: torch.ones_like(x), "it sees what you did"),
        (lambda x: x[99], "Your code raised IndexError"),
        (lambda x: None, "`return` missing"),
    ],
)
def test_what_the_loss_sees_or_what_opens_the_cone_is_told_so(answer, diagnosis):
    verdict = diagnose(answer, invisible.STAGES)
    assert not verdict.solved and diagnosis in verdict.lines[-1], verdict
