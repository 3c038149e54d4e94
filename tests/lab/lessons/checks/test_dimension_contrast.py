"""The check of the dimension-wise contrast: right answers pass, wrong ones get the right diagnosis."""

import pytest
import torch
import torch.nn.functional as F
from cselab_lab.lessons.checks import dimension_contrast
from cselab_lab.lessons.exercises import diagnose

from cselab.losses import dimension_contrastive


def standard(v, correction=0):
    return (v - v.mean(0)) / v.var(0, correction=correction).sqrt()


def logits(a, p, t):
    return standard(a).T @ standard(p) / len(a) / t


def right_labels(s):
    return torch.arange(len(s))


def by_correlation(a, p, t=5.0):
    d = a.shape[1]
    s = torch.corrcoef(torch.cat([a.T, p.T]))[:d, d:] / t
    return -s.log_softmax(1).diagonal().mean().item()


RIGHT = {
    "transposed InfoNCE": lambda a, p, t=5.0: F.cross_entropy(logits(a, p, t), right_labels(a.T)),
    "correlation": by_correlation,
    "batch norm": lambda a, p, t=5.0: F.cross_entropy(
        F.batch_norm(a, None, None, training=True).T @ F.batch_norm(p, None, None, training=True) / len(a) / t,
        right_labels(a.T),
    ),
    "cselab": lambda a, p, t=5.0: dimension_contrastive(a, p, t).total,
}


def contrast(s):
    return F.cross_entropy(s, right_labels(s))


WRONG = [
    ("transpose", lambda a, p, t=5.0: contrast(standard(a) @ standard(p).T / len(a) / t)),
    ("contrast the columns", lambda a, p, t=5.0: contrast(F.normalize(a, dim=1) @ F.normalize(p, dim=1).T / t)),
    ("Standardise each dimension", lambda a, p, t=5.0: contrast(a.T @ p / len(a) / t)),
    ("by its standard deviation", lambda a, p, t=5.0: contrast((a - a.mean(0)).T @ (p - p.mean(0)) / len(a) / t)),
    (
        "dimension's mean, too",
        lambda a, p, t=5.0: contrast((a / a.std(0, correction=0)).T @ (p / p.std(0, correction=0)) / len(a) / t),
    ),
    ("as they are", lambda a, p, t=5.0: contrast(F.normalize(a, dim=0).T @ F.normalize(p, dim=0) / t)),
    ("not each row", lambda a, p, t=5.0: contrast(standard(a.T) @ standard(p.T).T / len(a) / t)),
    ("not N - 1", lambda a, p, t=5.0: contrast(standard(a, 1).T @ standard(p, 1) / len(a) / t)),
    ("dot product by N", lambda a, p, t=5.0: contrast(logits(a, p, t) * len(a))),
    ("not by the number of dimensions", lambda a, p, t=5.0: contrast(logits(a, p, t) * len(a) / a.shape[1])),
    ("not used", lambda a, p, t=5.0: contrast(logits(a, p, 1))),
    ("do not multiply", lambda a, p, t=5.0: contrast(logits(a, p, 1 / t))),
    ("5 in your code", lambda a, p, t=5.0: contrast(logits(a, p, 5.0))),
    ("dim=1", lambda a, p, t=5.0: contrast(logits(a, p, t).T)),
    ("both directions", lambda a, p, t=5.0: (contrast(logits(a, p, t)) + contrast(logits(a, p, t).T)) / 2),
    ("not the sum", lambda a, p, t=5.0: contrast(logits(a, p, t)) * a.shape[1]),
    ("takes the softmax by itself", lambda a, p, t=5.0: contrast(logits(a, p, t).softmax(1))),
    ("is c, not 0", lambda a, p, t=5.0: F.cross_entropy(logits(a, p, t), 0 * right_labels(a.T))),
    ("log comes first", lambda a, p, t=5.0: -logits(a, p, t).softmax(1).diagonal().mean().log()),
    ("minus the log", lambda a, p, t=5.0: -contrast(logits(a, p, t))),
    ("log is missing", lambda a, p, t=5.0: logits(a, p, t).softmax(1).diagonal().mean()),
    ("One number is wanted", lambda a, p, t=5.0: F.cross_entropy(logits(a, p, t), right_labels(a.T), reduction="none")),
    ("`return` missing", lambda a, p, t=5.0: None),
]


@pytest.mark.parametrize("answer", RIGHT.values(), ids=RIGHT)
def test_a_right_answer_is_solved(answer):
    assert diagnose(answer, dimension_contrast.STAGES).solved


@pytest.mark.parametrize(("diagnosis", "answer"), WRONG, ids=[d for d, _ in WRONG])
def test_a_wrong_answer_is_named(diagnosis, answer):
    verdict = diagnose(answer, dimension_contrast.STAGES)
    assert not verdict.solved and diagnosis in verdict.lines[-1]
