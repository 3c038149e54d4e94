"""The check of Focal-InfoNCE: right answers pass however they are written, each wrong one gets the right diagnosis."""

import pytest
import torch
import torch.nn.functional as F
from cselab_lab.lessons.checks import focal
from cselab_lab.lessons.exercises import diagnose


def logits_of(c, t, m):
    return (c * (c + m)).diagonal_scatter(c.diagonal().square()) / t


def with_a_mask(c, t=0.07, m=0.3):
    logits = c * (c + m * (1 - torch.eye(len(c)))) / t
    return F.cross_entropy(logits, torch.arange(len(c)))


RIGHT = {
    "logsumexp": lambda c, t=0.07, m=0.3: (logits_of(c, t, m).logsumexp(1) - c.diagonal() ** 2 / t).mean(),
    "a mask and cross entropy": with_a_mask,
    "log softmax, a float": lambda c, t=0.07, m=0.3: -logits_of(c, t, m).log_softmax(1).diagonal().mean().item(),
}


def cross_entropy(negative, positive, t):
    return F.cross_entropy(negative.diagonal_scatter(positive.diagonal()) / t, torch.arange(len(negative)))


WRONG = [
    ("m belongs to the negatives alone", lambda c, t=0.07, m=0.3: cross_entropy(c * (c + m), c * (c + m), t)),
    ("on the wrong side", lambda c, t=0.07, m=0.3: cross_entropy(c * c, c * (c + m), t)),
    ("The positive has a factor, too", lambda c, t=0.07, m=0.3: cross_entropy(c * (c + m), c, t)),
    ("The negatives have a factor, too", lambda c, t=0.07, m=0.3: cross_entropy(c, c * c, t)),
    ("This is InfoNCE", lambda c, t=0.07, m=0.3: cross_entropy(c, c, t)),
    ("m is not used", lambda c, t=0.07, m=0.3: cross_entropy(c * c, c * c, t)),
    ("m is added to the factor, not multiplied", lambda c, t=0.07, m=0.3: cross_entropy(c * c * m, c * c, t)),
    ("m is added inside the factor", lambda c, t=0.07, m=0.3: cross_entropy(c * c + m, c * c, t)),
    ("not s - m", lambda c, t=0.07, m=0.3: cross_entropy(c * (c - m), c * c, t)),
    ("it is not squared", lambda c, t=0.07, m=0.3: cross_entropy((c + m) ** 2, c * c, t)),
    ("m is 0.3 in your code", lambda c, t=0.07, m=0.3: cross_entropy(c * (c + 0.3), c * c, t)),
    (
        "holds the positive",
        lambda c, t=0.07, m=0.3: (
            logits_of(c, t, m).masked_fill(torch.eye(len(c), dtype=torch.bool), -torch.inf).logsumexp(1)
            - c.diagonal() ** 2 / t
        ).mean(),
    ),
    ("along a row", lambda c, t=0.07, m=0.3: (logits_of(c, t, m).logsumexp(0) - logits_of(c, t, m).diagonal()).mean()),
    ("not the sum", lambda c, t=0.07, m=0.3: len(c) * with_a_mask(c, t, m)),
    (
        "takes the softmax by itself",
        lambda c, t=0.07, m=0.3: F.cross_entropy(logits_of(c, t, m).softmax(1), torch.arange(len(c))),
    ),
    ("log comes first", lambda c, t=0.07, m=0.3: -logits_of(c, t, m).softmax(1).diagonal().mean().log()),
    ("minus the log", lambda c, t=0.07, m=0.3: -with_a_mask(c, t, m)),
    ("do not multiply", lambda c, t=0.07, m=0.3: with_a_mask(c, 1 / t, m)),
    ("The temperature is not used", lambda c, t=0.07, m=0.3: with_a_mask(c, 1, m)),
    ("0.07 in your code", lambda c, t=0.07, m=0.3: with_a_mask(c, 0.07, m)),
    (
        "logsumexp",
        lambda c, t=0.07, m=0.3: -(logits_of(c, t, m).exp().diagonal() / logits_of(c, t, m).exp().sum(1)).log().mean(),
    ),
    ("One number is wanted", lambda c, t=0.07, m=0.3: logits_of(c, t, m).logsumexp(1) - c.diagonal() ** 2 / t),
    ("`return` missing", lambda c, t=0.07, m=0.3: None),
]


@pytest.mark.parametrize("answer", RIGHT.values(), ids=RIGHT)
def test_a_right_answer_is_solved(answer):
    assert diagnose(answer, focal.STAGES).solved


@pytest.mark.parametrize(("diagnosis", "answer"), WRONG, ids=[d for d, _ in WRONG])
def test_a_wrong_answer_is_named(diagnosis, answer):
    verdict = diagnose(answer, focal.STAGES)
    assert not verdict.solved and diagnosis in verdict.lines[-1]


def test_the_expected_value_is_that_of_the_library_by_another_path():
    from cselab.losses import focal_info_nce as library

    rows = F.normalize(torch.randn(5, 8, generator=torch.Generator().manual_seed(0)).double())
    columns = F.normalize(torch.randn(5, 8, generator=torch.Generator().manual_seed(1)).double())
    by_hand = focal.by_hand((rows @ columns.T).tolist(), 0.1, 0.4)
    assert by_hand == pytest.approx(library(rows, columns, temperature=0.1, m=0.4).total.item(), abs=1e-9)
