"""The check of InfoNCE's gradient: right answers pass however they are written, each wrong one is named."""

import pytest
import torch
import torch.nn.functional as F
from cselab_lab.lessons.checks import info_nce_gradient
from cselab_lab.lessons.exercises import diagnose


def by_autograd(c, t=0.05):
    c = c.clone().requires_grad_()
    F.cross_entropy(c / t, torch.arange(len(c)), reduction="sum").backward()
    return c.grad


def by_parts(c, t=0.05):
    shares = (c / t - (c / t).logsumexp(1, keepdim=True)).exp()
    return shares.diagonal_scatter(-(shares.sum(1) - shares.diagonal())) / t


RIGHT = {
    "softmax": lambda c, t=0.05: ((c / t).softmax(1) - torch.eye(len(c))) / t,
    "autograd": by_autograd,
    "negatives, then the positive from them": by_parts,
}


def softmax(c, t):
    return (c / t).softmax(1)


def own(c):
    return torch.eye(len(c))


WRONG = [
    ("inner derivative", lambda c, t=0.05: softmax(c, t) - own(c)),
    ("Outside the softmax divide", lambda c, t=0.05: (softmax(c, t) - own(c)) * t),
    ("inside the softmax, too", lambda c, t=0.05: (softmax(c, 1) - own(c)) / t),
    ("Inside the softmax divide", lambda c, t=0.05: ((c * t).softmax(1) - own(c)) / t),
    ("not used", lambda c, t=0.05: softmax(c, 1) - own(c)),
    ("0.05 in your code", lambda c, t=0.05: (softmax(c, 0.05) - own(c)) / 0.05),
    ("along a row", lambda c, t=0.05: ((c / t).softmax(0) - own(c)) / t),
    ("sign is the other way", lambda c, t=0.05: (own(c) - softmax(c, t)) / t),
    ("subtract 1: raising", lambda c, t=0.05: softmax(c, t) / t),
    ("on the diagonal alone", lambda c, t=0.05: (softmax(c, t) - 1) / t),
    ("The positive has a gradient", lambda c, t=0.05: (softmax(c, t) / t).fill_diagonal_(0)),
    (
        "the positive among them",
        lambda c, t=0.05: ((c / t).masked_fill(own(c).bool(), -torch.inf).softmax(1) - own(c)) / t,
    ),
    ("not its log", lambda c, t=0.05: ((c / t).log_softmax(1) - own(c)) / t),
    ("sum of their row", lambda c, t=0.05: ((c / t).exp() - own(c)) / t),
    ("number of sentences", lambda c, t=0.05: (softmax(c, t) - own(c)) / t / len(c)),
    ("the loss of each sentence", lambda c, t=0.05: (c / t).logsumexp(1) - (c / t).diagonal()),
    ("does not overflow", lambda c, t=0.05: ((e := (c / t).exp()) / e.sum(1, keepdim=True) - own(c)) / t),
    ("`return` missing", lambda c, t=0.05: None),
]


@pytest.mark.parametrize("answer", RIGHT.values(), ids=RIGHT)
def test_a_right_answer_is_solved(answer):
    assert diagnose(answer, info_nce_gradient.STAGES).solved


@pytest.mark.parametrize(("diagnosis", "answer"), WRONG, ids=[d for d, _ in WRONG])
def test_a_wrong_answer_is_named(diagnosis, answer):
    verdict = diagnose(answer, info_nce_gradient.STAGES)
    assert not verdict.solved and diagnosis in verdict.lines[-1]


def test_the_expected_gradient_is_that_of_the_library_by_another_path():
    from cselab.losses import info_nce
    from cselab.metrics import cosine_gradients

    rows = F.normalize(torch.randn(4, 8, generator=torch.Generator().manual_seed(0)).double())
    columns = F.normalize(torch.randn(4, 8, generator=torch.Generator().manual_seed(1)).double())
    found = 4 * cosine_gradients(lambda a, b: info_nce(a, b, 0.5).total, rows, columns)
    by_hand = info_nce_gradient.differences((rows @ columns.T).tolist(), 0.5)
    torch.testing.assert_close(found, torch.tensor(by_hand, dtype=torch.float64), atol=1e-5, rtol=1e-5)
