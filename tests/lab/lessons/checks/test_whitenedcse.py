"""Lesson 04: what is said of wrong answers."""

from itertools import combinations

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from cselab_lab.lessons.checks import whitenedcse
from cselab_lab.lessons.exercises import diagnose, yours
from right_answers import labels, normed, sgw_by_split, unit
from scipy.linalg import sqrtm
from spellings import wrong_answers


def centred(x):
    return x - x.mean(0)


def slow(c):
    return torch.tensor(np.linalg.inv(sqrtm(c.double().numpy()))).to(c)


def info(a, p, t):
    return F.cross_entropy(unit(a) @ unit(p).T / t, labels(a))


def added(of):
    return lambda a, ps, t=0.05: sum(of(a, p, t) for p in ps)


def in_numpy(a, ps, t=0.05):
    total = 0.0
    for p in ps:
        s = normed(a.detach().double().numpy()) @ normed(p.double().numpy()).T / t
        total += np.mean(np.logaddexp.reduce(s, axis=1) - s.diagonal())
    return total


def made(of):
    return lambda encode, whiten, batch, passes, count=3: of(encode, whiten, batch, passes, count)


def on_all(whiten, tables):
    return [whiten(table) for table in tables]


def twice_whitened(encode, whiten, batch, passes, count=3):
    return on_all(whiten, on_all(whiten, encode(*[batch] * passes) * (count // passes)))


WRONG = {
    "WHITENED": [
        ("The mean must be gone", lambda x, c, w: x @ w(c(x)).detach()),
        ("each row's own mean", lambda x, c, w: (x - x.mean(1, keepdim=True)) @ w(c(x)).detach()),
        ("multiply them by the matrix", lambda x, c, w: centred(x)),
        ("wanted are the rows", lambda x, c, w: w(c(x))),
        ("not by the covariance", lambda x, c, w: centred(x) @ c(x)),
        ("multiplied by the matrix twice", lambda x, c, w: centred(x) @ w(c(x)) @ w(c(x))),
        ("scaled alone", lambda x, c, w: centred(x) / x.std(0, correction=0)),
        ("goes through W, too", lambda x, c, w: centred(x) @ w(c(x))),
        ("do not detach the rows", lambda x, c, w: (x.detach() - x.mean(0)) @ w(c(x)).detach()),
        ("do not detach the mean", lambda x, c, w: (x - x.mean(0).detach()) @ w(c(x)).detach()),
        ("Detach W alone", lambda x, c, w: (centred(x) @ w(c(x))).detach()),
        ("Detach W alone", lambda x, c, w: (centred(x) @ w(c(x))).detach().numpy()),
        ("x.mean() is one number", lambda x, c, w: (x - x.mean()) @ w(c(x)).detach()),
        ("Can't call numpy()", lambda x, c, w: torch.from_numpy(centred(x).numpy()) @ slow(c(x))),
    ],
    "SGW": [
        ("Undo the permutation", lambda x, k, p, w: sgw_by_split(x, k, p, w)[:, p]),
        ("takes its inverse", lambda x, k, p, w: sgw_by_split(x, k, p, w)[:, p][:, p]),
        ("the wrong way round", lambda x, k, p, w: sgw_by_split(x, k, p.argsort(), w)),
        ("were not shuffled", lambda x, k, p, w: sgw_by_split(x, k, torch.arange(len(p)), w)),
        ("whiten each group alone", lambda x, k, p, w: w(x)),
        ("you took it for the channels", lambda x, k, p, w: sgw_by_split(x, x.shape[1] // k, p, w)),
        ("not every k-th channel", lambda x, k, p, w: sgw_by_split(x, k, torch.cat([p[i::k] for i in range(k)]), w)),
        ("Nothing was whitened", lambda x, k, p, w: x),
        (
            "shuffles sentences",
            lambda x, k, p, w: torch.cat([w(g) for g in x[p].chunk(k, dim=1)], dim=1)[:, p.argsort()],
        ),
        ("still in their order", lambda x, k, p, w: sgw_by_split(x, k, p, w).roll(1, 0)),
        ("groups of sentences", lambda x, k, p, w: torch.cat(list(map(w, x[:, p].chunk(k))))[:, p.argsort()]),
        ("put back as if", lambda x, k, p, w: torch.cat(list(map(w, x.chunk(k, 1))), 1)[:, p.argsort()]),
        ("Yours is another one", lambda x, k, p, w: sgw_by_split(x, k, p, w) + (x - x.detach())),
        ("The shape should be", lambda x, k, p, w: sgw_by_split(x, k, p, w).T[:1]),
        ("called with a Tensor of shape (8, 4)", lambda x, k, p, w: torch.zeros_like(x) + 17),
    ],
    "MULTI_POSITIVE": [
        ("do not take their mean", lambda a, ps, t=0.05: sum(info(a, p, t) for p in ps) / len(ps)),
        ("Only the first positive", lambda a, ps, t=0.05: info(a, ps[0], t)),
        ("Only the last positive", lambda a, ps, t=0.05: info(a, ps[-1], t)),
        ("the mean of the positives first", lambda a, ps, t=0.05: info(a, torch.stack(ps).mean(0), t)),
        (
            "outside the log",
            lambda a, ps, t=0.05: (
                torch.stack([F.cross_entropy(unit(a) @ unit(p).T / t, labels(a), reduction="none") for p in ps])
                .exp()
                .sum(0)
                .log()
                .mean()
            ),
        ),
        (
            "one over all of them",
            lambda a, ps, t=0.05: sum(
                F.cross_entropy(unit(a) @ unit(torch.cat(ps)).T / t, labels(a) + at * len(a)) for at in range(len(ps))
            ),
        ),
        ("do not meet each other", lambda a, ps, t=0.05: sum(info(x, y, t) for x, y in combinations([a, *ps], 2))),
        ("length 1 first", added(lambda a, p, t: F.cross_entropy(a @ p.T / t, labels(a)))),
        ("along a row", added(lambda a, p, t: info(p, a, t))),
        ("both directions", added(lambda a, p, t: (info(a, p, t) + info(p, a, t)) / 2)),
        ("The temperature is not used", added(lambda a, p, t: info(a, p, 1))),
        ("do not multiply", added(lambda a, p, t: info(a, p, 1 / t))),
        ("0.05 in your code", added(lambda a, p, t: info(a, p, 0.05))),
        ("takes the softmax", added(lambda a, p, t: F.cross_entropy((unit(a) @ unit(p).T / t).softmax(1), labels(a)))),
        ("rows of the anchor", added(lambda a, p, t: F.cross_entropy(a @ unit(p).T / t, labels(a)))),
        ("rows of the positives", added(lambda a, p, t: F.cross_entropy(unit(a) @ p.T / t, labels(a)))),
        ("Yours is another one", added(lambda a, p, t: info(a, p.detach(), t))),
        ("One number is wanted", lambda a, ps, t=0.05: torch.stack([info(a, p, t) for p in ps] * 2)),
    ],
    "PASSES": [
        ("a list of tables", made(lambda e, w, b, passes, count: e(*[b] * passes)[0])),
        ("your function returned 1, of shape (2, 3)", made(lambda e, w, b, passes, count: [w(e(b)[0])])),
        ("Wanted are 3 tables of shape (2, 3); your function returned 7", made(lambda e, w, b, passes, count: 7)),
        ("With passes = 1 and count = 3", made(lambda e, w, b, passes, count: list(map(w, e(*[b] * passes))))),
        ("No gradient goes", made(lambda e, w, b, k, count: [w(t).detach() for t in (e(*[b] * k) * 3)[:count]])),
        ("what whiten returned", made(lambda e, w, b, k, count: [unit(w(t)) for t in (e(*[b] * k) * 3)[:count]])),
        ("what whiten returned", made(lambda e, w, b, p, count: w(torch.cat((e(*[b] * p) * 3)[:count])).chunk(count))),
        ("the whole batch", made(lambda e, w, b, p, count: [w(t) for t in (e(*[b[:1]] * p) * 3)[:count]])),
        ("comes from the encoder as it is", made(lambda e, w, b, passes, count: e(*[b] * count))),
        ("come from the same pass", made(lambda e, w, b, passes, count: [w(e(*[b] * passes)[0])] * count)),
        ("given the batch 1 times", made(lambda e, w, b, passes, count: [w(t) for t in e(b) * count])),
        ("given the batch 3 times", made(lambda e, w, b, passes, count: [w(table) for table in e(*[b] * count)])),
        ("copies have one shuffle", made(lambda e, w, b, passes, count: on_all(w, e(*[b] * passes)) * (3 // passes))),
        ("whiten was called 6 times", twice_whitened),
        ("as `count` says", made(lambda e, w, b, passes, count: on_all(w, (e(*[b] * passes) * 3)[:3]))),
        ("`return` missing", made(lambda e, w, b, passes, count: None)),
    ],
    "UNSEEN_CHANGE": [
        ("The mean cosine was", lambda x: x),
        ("The mean cosine was", lambda x: 5 * x),
        ("The mean cosine was", lambda x: x + 0.1),
        ("it sees what you did", lambda x: x + torch.randn(x.shape, generator=torch.Generator().manual_seed(3))),
        ("it sees what you did", lambda x: x * torch.linspace(1, 3, x.shape[1]) + 100),
        ("it sees what you did", lambda x: x * torch.tensor([1.0, 2.0]).repeat(x.shape[1] // 2) + 100),
        ("it sees what you did", lambda x: x.abs() + 100),
        ("it sees what you did", lambda x: x / x.norm(dim=1, keepdim=True) + 100),
        ("it sees what you did", lambda x: torch.ones_like(x)),
        ("it sees what you did", lambda x: 100 + x * torch.tensor([2.0] + [1.0] * (x.shape[1] - 1))),
        ("a division by 0", lambda x: x / 0 - x / 0),
        ("The shape should be (64, 16), it is (16,)", lambda x: x.mean(0)),
        ("no numbers", lambda x: "x + 100"),
        ("Your code raised IndexError", lambda x: x[99]),
        ("`return` missing", lambda x: None),
    ],
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")  # the answers' own
@wrong_answers(whitenedcse, WRONG)
def test_a_wrong_answer_is_named(exercise, said, answer):
    verdict = diagnose(answer, exercise)
    assert not verdict.solved and said in verdict.lines[-1], verdict


@pytest.mark.parametrize("answer", [in_numpy, lambda a, ps, t=0.05: sum(info(a, p, t) for p in ps).detach()])
def test_a_loss_without_a_gradient_is_right_but_cannot_be_trained(answer, capsys):
    assert diagnose(answer, whitenedcse.MULTI_POSITIVE).solved
    assert yours(answer, whitenedcse.MULTI_POSITIVE) is whitenedcse.MULTI_POSITIVE.right
    assert "stands in" in capsys.readouterr().out
