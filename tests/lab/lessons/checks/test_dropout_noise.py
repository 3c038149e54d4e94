"""Lesson 05: what is said of wrong answers."""

from math import ceil

import pytest
import torch
import torch.nn.functional as F
from cselab_lab.lessons.checks import dropout_noise
from cselab_lab.lessons.checks.dropout_noise import distance, radius
from cselab_lab.lessons.exercises import diagnose
from right_answers import CARS, cosines, off_dropout_by_mask, own
from spellings import wrong_answers


def plain(s, n, m=1.0):
    """Written out, with what may be exchanged: cosines already divided."""
    return -(s.exp() / (s.exp() + m * n.exp().masked_fill(own(n), 0).sum(1))).log()


def diagonal(x, y):
    return cosines(x, y).diagonal()


def columns(x, y):
    return F.normalize(x, dim=0) @ F.normalize(y, dim=0).T


WRONG = {
    "OFF_DROPOUT": [
        ("noisy, as in SimCSE", lambda a, p, c, t=0.05, m=1.0: plain(diagonal(a, p) / t, cosines(a, p) / t, m).mean()),
        (
            "One side of your negatives is noisy",
            lambda a, p, c, t=0.05, m=1.0: plain(diagonal(a, p) / t, cosines(a, c) / t, m).mean(),
        ),
        ("is the positive's", lambda a, p, c, t=0.05, m=1.0: plain(diagonal(a, p) / t, cosines(c, p) / t, m).mean()),
        ("always at cosine 1", lambda a, p, c, t=0.05, m=1.0: off_dropout_by_mask(c, c, c, t, m)),
        ("both keep their noise", lambda a, p, c, t=0.05, m=1.0: off_dropout_by_mask(a, c, c, t, m)),
        ("are exchanged", lambda a, p, c, t=0.05, m=1.0: plain(diagonal(c, c) / t, cosines(a, p) / t, m).mean()),
        (
            "leave the diagonal",
            lambda a, p, c, t=0.05, m=1.0: (
                (diagonal(a, p) / t).exp().add(m * (cosines(c, c) / t).exp().sum(1)).log() - diagonal(a, p) / t
            ).mean(),
        ),
        (
            "belongs into the sum",
            lambda a, p, c, t=0.05, m=1.0: (
                (m * (cosines(c, c) / t).exp().fill_diagonal_(0).sum(1)).log() - diagonal(a, p) / t
            ).mean(),
        ),
        ("do not multiply", lambda a, p, c, t=0.05, m=1.0: off_dropout_by_mask(a, p, c, 1 / t, m)),
        ("temperature is not used", lambda a, p, c, t=0.05, m=1.0: off_dropout_by_mask(a, p, c, 1, m)),
        ("0.05 in your code", lambda a, p, c, t=0.05, m=1.0: off_dropout_by_mask(a, p, c, 0.05, m)),
        ("m is not used", lambda a, p, c, t=0.05, m=1.0: off_dropout_by_mask(a, p, c, t)),
        ("the released code", lambda a, p, c, t=0.05, m=1.0: plain(m * diagonal(a, p) / t, cosines(c, c) / t).mean()),
        (
            "not the cosines within",
            lambda a, p, c, t=0.05, m=1.0: plain(diagonal(a, p) / t, m * cosines(c, c) / t).mean(),
        ),
        ("whole denominator", lambda a, p, c, t=0.05, m=1.0: off_dropout_by_mask(a, p, c, t) + torch.tensor(m).log()),
        ("length 1 first", lambda a, p, c, t=0.05, m=1.0: plain((a * p).sum(1) / t, c @ c.T / t, m).mean()),
        (
            "not each column",
            lambda a, p, c, t=0.05, m=1.0: plain(columns(a, p).diagonal() / t, columns(c, c) / t, m).mean(),
        ),
        ("not the sum", lambda a, p, c, t=0.05, m=1.0: off_dropout_by_mask(a, p, c, t, m) * len(a)),
        ("sign", lambda a, p, c, t=0.05, m=1.0: -off_dropout_by_mask(a, p, c, t, m)),
        (
            "log is missing",
            lambda a, p, c, t=0.05, m=1.0: (-plain(diagonal(a, p) / t, cosines(c, c) / t, m)).exp().mean(),
        ),
        (
            "log comes first",
            lambda a, p, c, t=0.05, m=1.0: -(-plain(diagonal(a, p) / t, cosines(c, c) / t, m)).exp().mean().log(),
        ),
        ("logsumexp", lambda a, p, c, t=0.05, m=1.0: plain(diagonal(a, p) / t, cosines(c, c) / t, m).mean()),
        ("no detach", lambda a, p, c, t=0.05, m=1.0: off_dropout_by_mask(a, p, c.detach(), t, m)),
        ("One number is wanted", lambda a, p, c, t=0.05, m=1.0: plain(diagonal(a, p) / t, cosines(c, c) / t, m)),
    ],
    "DROPOUT_CLOUDS": [
        ("Write three things", CARS),
        ("Write three things", 8),
        ("in quotation marks", (1, 2, 8)),
        ("in quotation marks", ("", "He sold a red car.", 8)),
        ("whole number", (*CARS, 7.7)),
        ("whole number", (*CARS, True)),
        ("whole number", (*CARS, "8")),
        ("the check can try 1 to 60", (*CARS, 0)),
        ("the check can try 1 to 60", (*CARS, 1000)),
        ("Change what is said", ("He bought a red car.", "he bought a red car", 8)),
        ("Come nearer", ("A cook is peeling an onion.", "The chef peels some onions.", 2)),
        ("root of K", (*CARS, ceil(2 * radius(CARS[0]) / distance(*CARS)))),
        ("not the whole", (*CARS, ceil((radius(CARS[0]) / distance(*CARS)) ** 2))),
        ("More passes", (*CARS, 1)),
        ("already have radius", (*CARS, 20)),
        (
            "more than 60 passes",
            ("The cat sees the dog and the dog sees the cat.", "The dog sees the cat and the cat sees the dog.", 60),
        ),
    ],
}


def test_the_radius_falls_with_the_root_of_k_and_is_the_same_each_time():
    first = radius(CARS[0])
    assert radius(CARS[0], 16) == pytest.approx(first / 4, rel=0.05)
    dropout_noise._passes.cache_clear()
    assert radius(CARS[0]) == first
    with pytest.raises(ValueError, match="means of 1 to 60"):
        radius(CARS[0], 61)


@wrong_answers(dropout_noise, WRONG)
def test_a_wrong_answer_is_named(exercise, said, answer):
    verdict = diagnose(answer, exercise)
    assert not verdict.solved and said in verdict.lines[-1], verdict
