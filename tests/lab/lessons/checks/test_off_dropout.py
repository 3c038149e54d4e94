"""The check of off-dropout InfoNCE: right answers pass however they are written, wrong ones get the right diagnosis."""

import pytest
import torch
import torch.nn.functional as F
from cselab_lab.lessons.checks import off_dropout
from cselab_lab.lessons.exercises import diagnose

from cselab.losses import off_dropout_info_nce


def cos(x, y):
    return F.normalize(x, dim=1) @ F.normalize(y, dim=1).T


def by_masking(a, p, c, t=0.05, m=1.0):
    own = F.cosine_similarity(a, p) / t
    others = (cos(c, c) / t + torch.tensor(m).log()).masked_fill(torch.eye(len(c), dtype=torch.bool), -torch.inf)
    return (torch.cat([own[:, None], others], dim=1).logsumexp(1) - own).mean()


def by_cross_entropy(a, p, c, t=0.05, m=1.0):
    logits = cos(c, c) / t + torch.tensor(m).log()
    logits = logits.diagonal_scatter(cos(a, p).diagonal() / t)
    return F.cross_entropy(logits, torch.arange(len(c)))


def by_loop(a, p, c, t=0.05, m=1.0):
    own, others = cos(a, p) / t, cos(c, c) / t
    terms = [
        F.softplus(
            torch.stack([others[i, j] for j in range(len(c)) if j != i]).logsumexp(0)
            - own[i, i]
            + torch.tensor(m).log()
        )
        for i in range(len(c))
    ]
    return sum(terms) / len(terms)


RIGHT = {
    "masking": by_masking,
    "cross entropy": by_cross_entropy,
    "loop": by_loop,
    "cselab": lambda a, p, c, t=0.05, m=1.0: off_dropout_info_nce(a, p, c, t, m).total,
}


def plain(own, others, m=1.0):
    """Written out, with what may be exchanged: cosines already divided."""
    e = others.exp().masked_fill(torch.eye(len(others), dtype=torch.bool), 0)
    return -(own.exp() / (own.exp() + m * e.sum(1))).log()


def diagonal(x, y):
    return cos(x, y).diagonal()


def kept(a, p, c, t=0.05, m=1.0):
    return by_masking(a, p, c.detach(), t, m)


def without_gradient(a, p, c, t=0.05, m=1.0):
    return float(by_masking(a, p, c, t, m))


WRONG = [
    ("noisy, as in SimCSE", lambda a, p, c, t=0.05, m=1.0: plain(diagonal(a, p) / t, cos(a, p) / t, m).mean()),
    ("both sides are clean", lambda a, p, c, t=0.05, m=1.0: plain(diagonal(a, p) / t, cos(a, c) / t, m).mean()),
    ("not the positive's", lambda a, p, c, t=0.05, m=1.0: plain(diagonal(a, p) / t, cos(c, p) / t, m).mean()),
    ("always at cosine 1", lambda a, p, c, t=0.05, m=1.0: plain(diagonal(c, c) / t, cos(c, c) / t, m).mean()),
    ("both keep their noise", lambda a, p, c, t=0.05, m=1.0: plain(diagonal(a, c) / t, cos(c, c) / t, m).mean()),
    ("are exchanged", lambda a, p, c, t=0.05, m=1.0: plain(diagonal(c, c) / t, cos(a, p) / t, m).mean()),
    (
        "leave the diagonal",
        lambda a, p, c, t=0.05, m=1.0: (
            (diagonal(a, p) / t).exp().add(m * (cos(c, c) / t).exp().sum(1)).log() - diagonal(a, p) / t
        ).mean(),
    ),
    (
        "belongs in the denominator",
        lambda a, p, c, t=0.05, m=1.0: (
            (m * (cos(c, c) / t).exp().fill_diagonal_(0).sum(1)).log() - diagonal(a, p) / t
        ).mean(),
    ),
    ("do not multiply", lambda a, p, c, t=0.05, m=1.0: plain(diagonal(a, p) * t, cos(c, c) * t, m).mean()),
    ("temperature is not used", lambda a, p, c, t=0.05, m=1.0: plain(diagonal(a, p), cos(c, c), m).mean()),
    ("0.05 in your code", lambda a, p, c, t=0.05, m=1.0: by_masking(a, p, c, 0.05, m)),
    ("m is not used", lambda a, p, c, t=0.05, m=1.0: by_masking(a, p, c, t)),
    ("the released code", lambda a, p, c, t=0.05, m=1.0: plain(m * diagonal(a, p) / t, cos(c, c) / t).mean()),
    ("not the cosines within", lambda a, p, c, t=0.05, m=1.0: plain(diagonal(a, p) / t, m * cos(c, c) / t).mean()),
    ("not the whole denominator", lambda a, p, c, t=0.05, m=1.0: by_masking(a, p, c, t) + torch.tensor(m).log()),
    ("not dot products", lambda a, p, c, t=0.05, m=1.0: plain((a * p).sum(1) / t, c @ c.T / t, m).mean()),
    (
        "not each column",
        lambda a, p, c, t=0.05, m=1.0: plain(
            (F.normalize(a, dim=0) * F.normalize(p, dim=0)).sum(1) / t,
            F.normalize(c, dim=0) @ F.normalize(c, dim=0).T / t,
        ).mean(),
    ),
    ("not the sum", lambda a, p, c, t=0.05, m=1.0: by_masking(a, p, c, t, m) * len(a)),
    ("minus the log", lambda a, p, c, t=0.05, m=1.0: -by_masking(a, p, c, t, m)),
    ("log is missing", lambda a, p, c, t=0.05, m=1.0: (-plain(diagonal(a, p) / t, cos(c, c) / t, m)).exp().mean()),
    (
        "log comes first",
        lambda a, p, c, t=0.05, m=1.0: -(-plain(diagonal(a, p) / t, cos(c, c) / t, m)).exp().mean().log(),
    ),
    ("logsumexp does not overflow", lambda a, p, c, t=0.05, m=1.0: plain(diagonal(a, p) / t, cos(c, c) / t, m).mean()),
    ("no detach", kept),
    ("no float()", without_gradient),
    ("One number is wanted", lambda a, p, c, t=0.05, m=1.0: plain(diagonal(a, p) / t, cos(c, c) / t, m)),
    ("`return` missing", lambda a, p, c, t=0.05, m=1.0: print(by_masking(a, p, c, t, m))),
]


@pytest.mark.parametrize("answer", RIGHT.values(), ids=RIGHT)
def test_a_right_answer_is_solved(answer):
    assert diagnose(answer, off_dropout.STAGES).solved


@pytest.mark.parametrize(("diagnosis", "answer"), WRONG, ids=[d for d, _ in WRONG])
def test_a_wrong_answer_is_named(diagnosis, answer):
    verdict = diagnose(answer, off_dropout.STAGES)
    assert not verdict.solved and diagnosis in verdict.lines[-1]
