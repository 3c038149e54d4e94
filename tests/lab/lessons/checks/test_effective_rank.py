"""The check of the effective rank: right answers pass however they are written, wrong ones get the right diagnosis."""

import pytest
import torch
from cselab_lab.lessons.checks import effective_rank
from cselab_lab.lessons.exercises import diagnose

from cselab.metrics import effective_rank as by_cselab


def shares(v, power=1):
    s = torch.linalg.svdvals(v - v.mean(0)) ** power
    s = s[s > 1e-6 * s.max()]
    return s / s.sum()


def by_svd(v):
    return (-(shares(v) * shares(v).log()).sum()).exp()


def by_gram_matrix(v):
    v = (v - v.mean(0)).double()
    p = torch.linalg.eigvalsh(v @ v.T).clamp(min=0).sqrt()
    p = p / p.sum()
    return float(torch.exp(-torch.special.xlogy(p, p).sum()))


RIGHT = {
    "singular values": by_svd,
    "gram matrix": by_gram_matrix,
    "product": lambda v: (1 / shares(v) ** shares(v)).prod(),
    "cselab": lambda v: by_cselab(v.numpy()),
}


def of(p):
    p = p[p > 1e-7]
    return (-(p * p.log()).sum()).exp()


def raw(v, share=lambda s: s / s.sum()):
    return of(share(torch.linalg.svdvals(v)))


def centred(v, share):
    return of(share(torch.linalg.svdvals(v - v.mean(0))))


def without_care(v):
    p = torch.tensor([1.0, 0.0]) if len(v) == 3 else shares(v)
    return (-(p * p.log()).sum()).exp()


WRONG = [
    ("Subtract the mean of the rows", raw),
    ("not each row's own mean", lambda v: raw(v - v.mean(1, keepdim=True))),
    ("not their squares", lambda v: of(shares(v, 2))),
    ("divide", lambda v: centred(v, lambda s: s)),
    ("not by their length", lambda v: centred(v, lambda s: s / s.norm())),
    ("not by the largest", lambda v: centred(v, lambda s: s / s.max())),
    ("no softmax", lambda v: centred(v, lambda s: s.softmax(0))),
    ("take its exponential", lambda v: by_svd(v).log()),
    ("has a minus", lambda v: 1 / by_svd(v)),
    ("natural logarithm", lambda v: (-(shares(v) * shares(v).log2()).sum()).exp()),
    ("not with log10", lambda v: (-(shares(v) * shares(v).log10()).sum()).exp()),
    ("do not average", lambda v: (-(shares(v) * shares(v).log()).mean()).exp()),
    ("counts all directions alike", lambda v: torch.linalg.matrix_rank(v - v.mean(0))),
    ("another measure", lambda v: 1 / shares(v).square().sum()),
    ("0 log 0", without_care),
    ("One number is wanted", shares),
    ("`return` missing", lambda v: print(by_svd(v))),
    ("Try it: ", lambda v: 17.0),
]


@pytest.mark.parametrize("answer", RIGHT.values(), ids=RIGHT)
def test_a_right_answer_is_solved(answer):
    assert diagnose(answer, effective_rank.STAGES).solved


@pytest.mark.parametrize(("diagnosis", "answer"), WRONG, ids=[d for d, _ in WRONG])
def test_a_wrong_answer_is_named(diagnosis, answer):
    verdict = diagnose(answer, effective_rank.STAGES)
    assert not verdict.solved and diagnosis.lower() in verdict.lines[-1].lower()
