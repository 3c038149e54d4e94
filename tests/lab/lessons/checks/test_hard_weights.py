"""The check of the weights of hard negatives: right answers pass however they are written, each wrong one is named."""

import math

import pytest
import torch
from cselab_lab.lessons.checks import hard_weights
from cselab_lab.lessons.exercises import diagnose


def eye(c):
    return torch.eye(len(c), dtype=torch.bool)


def logsumexp(c, beta, dim=1, others=True, n=None, keep=0.0, sign=1):
    logits = sign * beta * c.detach()
    rivals = logits.masked_fill(eye(c), -math.inf) if others else logits
    found = logits - rivals.logsumexp(dim, keepdim=True) + math.log(n or len(c) - 1)
    return found if keep is None else found.masked_fill(eye(c), keep)


def by_softmax(c, beta):
    shares = (beta * c.detach()).masked_fill(eye(c), -math.inf).log_softmax(1) + math.log(len(c) - 1)
    return shares.diagonal_scatter(torch.zeros(len(c)))


def by_loop(c, beta):
    rows = []
    for i, row in enumerate(c.tolist()):
        largest = max(beta * x for j, x in enumerate(row) if j != i)
        mean = sum(math.exp(beta * x - largest) for j, x in enumerate(row) if j != i) / (len(row) - 1)
        rows.append([0.0 if j == i else beta * x - largest - math.log(mean) for j, x in enumerate(row)])
    return torch.tensor(rows)


RIGHT = {"logsumexp": logsumexp, "softmax": by_softmax, "loop": by_loop}


def naive(c, beta):
    e = (beta * c.detach()).exp().masked_fill(eye(c), 0.0)
    return (e / e.sum(1, keepdim=True) * (len(c) - 1)).masked_fill(eye(c), 1.0).log()


def over_everything(c, beta):
    e = (beta * c.detach()).exp()
    return (e / e[~eye(c)].mean()).log().masked_fill(eye(c), 0.0)


def with_gradient(c, beta):
    shares = (beta * c).masked_fill(eye(c), -math.inf).log_softmax(1) + math.log(len(c) - 1)
    return shares.masked_fill(eye(c), 0.0)


WRONG = [
    ("logarithm is missing", lambda c, beta: logsumexp(c, beta).exp()),
    ("leave the diagonal out", lambda c, beta: logsumexp(c, beta, others=False, n=len(c))),
    ("not N.", lambda c, beta: logsumexp(c, beta, n=len(c))),
    ("not by the sum", lambda c, beta: logsumexp(c, beta, n=1)),
    ("dim=1", lambda c, beta: logsumexp(c, beta, dim=0)),
    ("keeps the weight 1", lambda c, beta: logsumexp(c, beta, keep=None)),
    ("is 0, not 1", lambda c, beta: logsumexp(c, beta, keep=1.0)),
    ("grows with the cosine", lambda c, beta: logsumexp(c, beta, sign=-1)),
    ("beta is not used", lambda c, beta: logsumexp(c, 1.0)),
    ("Divide by the mean over the row", lambda c, beta: (beta * c.detach()).masked_fill(eye(c), 0.0)),
    ("not over the whole batch", over_everything),
    ("overflow", naive),
    (".detach()", with_gradient),
    ("expected is an array of shape (4, 4)", lambda c, beta: logsumexp(c, beta).mean()),
    ("`return` missing", lambda c, beta: None),
]


@pytest.mark.parametrize("answer", RIGHT.values(), ids=RIGHT)
def test_a_right_answer_is_solved(answer):
    verdict = diagnose(answer, hard_weights.STAGES)
    assert verdict.solved, verdict


@pytest.mark.parametrize(("diagnosis", "answer"), WRONG, ids=[d for d, _ in WRONG])
def test_a_wrong_answer_is_named(diagnosis, answer):
    verdict = diagnose(answer, hard_weights.STAGES)
    assert not verdict.solved and diagnosis in verdict.lines[-1], verdict
