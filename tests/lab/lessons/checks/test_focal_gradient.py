"""The check of Focal-InfoNCE's gradient: right answers pass, the misprint of the paper and other mistakes are named."""

import pytest
import torch
import torch.nn.functional as F
from cselab_lab.lessons.checks import focal_gradient
from cselab_lab.lessons.exercises import diagnose


def logits_of(c, m):
    return (c * (c + m)).diagonal_scatter(c.diagonal().square())


def with_inner(negative, positive, c, t, m):
    shares = (logits_of(c, m) / t).softmax(1)
    return negative.diagonal_scatter(positive.diagonal()) * (shares - torch.eye(len(c))) / t


def by_autograd(c, t=0.07, m=0.3):
    c = c.clone().requires_grad_()
    F.cross_entropy(logits_of(c, m) / t, torch.arange(len(c)), reduction="sum").backward()
    return c.grad


def by_loops(c, t=0.07, m=0.3):
    shares = (logits_of(c, m) / t).softmax(1)
    return [
        [
            float(shares[i, j] * (2 * c[i, j] + m) if i != j else (shares[i, i] - 1) * 2 * c[i, i]) / t
            for j in range(len(c))
        ]
        for i in range(len(c))
    ]


RIGHT = {
    "the formula": lambda c, t=0.07, m=0.3: with_inner(2 * c + m, 2 * c, c, t, m),
    "autograd": by_autograd,
    "loops": by_loops,
}


def right(c, t=0.07, m=0.3):
    return with_inner(2 * c + m, 2 * c, c, t, m)


def eye(c):
    return torch.eye(len(c))


WRONG = [
    ("the paper's Eq. 4", lambda c, t=0.07, m=0.3: with_inner(2 * (c + m), 2 * c, c, t, m)),
    ("changes with s, too", lambda c, t=0.07, m=0.3: with_inner(c + m, c, c, t, m)),
    ("s + m is the factor of a negative", lambda c, t=0.07, m=0.3: with_inner(c + m, 2 * c, c, t, m)),
    ("its derivative is 2 s.", lambda c, t=0.07, m=0.3: with_inner(2 * c + m, c, c, t, m)),
    ("without m", lambda c, t=0.07, m=0.3: with_inner(2 * c + m, 2 * c + m, c, t, m)),
    ("inner derivative is missing", lambda c, t=0.07, m=0.3: with_inner(1 + 0 * c, 1 + 0 * c, c, t, m)),
    ("m is missing", lambda c, t=0.07, m=0.3: with_inner(2 * c, 2 * c, c, t, m)),
    ("m is 0.3 in your code", lambda c, t=0.07, m=0.3: right(c, t, 0.3)),
    (
        "that of InfoNCE: the shares",
        lambda c, t=0.07, m=0.3: (2 * c + m).diagonal_scatter(2 * c.diagonal()) * ((c / t).softmax(1) - eye(c)) / t,
    ),
    ("the gradient of InfoNCE", lambda c, t=0.07, m=0.3: ((c / t).softmax(1) - eye(c)) / t),
    ("The positive has a gradient", lambda c, t=0.07, m=0.3: right(c, t, m).fill_diagonal_(0)),
    (
        "subtract 1 from the share",
        lambda c, t=0.07, m=0.3: (2 * c + m).diagonal_scatter(2 * c.diagonal()) * (logits_of(c, m) / t).softmax(1) / t,
    ),
    ("outside the softmax", lambda c, t=0.07, m=0.3: right(c, t, m) * t),
    ("inside the softmax", lambda c, t=0.07, m=0.3: right(c, 1, m) / t),
    ("The temperature is not used", lambda c, t=0.07, m=0.3: right(c, 1, m)),
    ("along a row", lambda c, t=0.07, m=0.3: right(c.T, t, m).T),
    ("sign is the other way", lambda c, t=0.07, m=0.3: -right(c, t, m)),
    ("number of sentences", lambda c, t=0.07, m=0.3: right(c, t, m) / len(c)),
    ("`return` missing", lambda c, t=0.07, m=0.3: None),
]


@pytest.mark.parametrize("answer", RIGHT.values(), ids=RIGHT)
def test_a_right_answer_is_solved(answer):
    assert diagnose(answer, focal_gradient.STAGES).solved


@pytest.mark.parametrize(("diagnosis", "answer"), WRONG, ids=[d for d, _ in WRONG])
def test_a_wrong_answer_is_named(diagnosis, answer):
    verdict = diagnose(answer, focal_gradient.STAGES)
    assert not verdict.solved and diagnosis in verdict.lines[-1]


def test_the_expected_gradient_is_that_of_the_library_by_another_path():
    from cselab.losses import focal_info_nce
    from cselab.metrics import cosine_gradients

    rows = F.normalize(torch.randn(4, 8, generator=torch.Generator().manual_seed(0)).double())
    columns = F.normalize(torch.randn(4, 8, generator=torch.Generator().manual_seed(1)).double())
    found = 4 * cosine_gradients(lambda a, b: focal_info_nce(a, b, 0.5, m=0.3).total, rows, columns)
    by_hand = focal_gradient.differences((rows @ columns.T).tolist(), 0.5, 0.3)
    torch.testing.assert_close(found, torch.tensor(by_hand, dtype=torch.float64), atol=1e-5, rtol=1e-5)
