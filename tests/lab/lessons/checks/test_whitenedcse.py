"""Lesson 04: what is said of wrong answers."""

from itertools import combinations

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from cselab_lab.lessons.checks import whitenedcse
from cselab_lab.lessons.exercises import diagnose, yours
from right_answers import INTERVAL, labels, normed, sgw_by_split, unit
from scipy.linalg import sqrtm
from spellings import wrong_answers


def centred(x):
    return x - x.mean(0)


def root(scale=lambda v, eps: (v + eps) ** -0.5, end=None):
    def answer(c, eps=1e-6):
        values, axes = torch.linalg.eigh(c)
        made = scale(values, eps)
        return axes @ torch.diag(made) @ axes.T if end is None else end(axes, made)

    return answer


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


def apart(end=lambda found: sum(found) / len(found), of=lambda a, b: (a - b).square().sum(1).mean(), scaled=unit):
    return lambda views: end([of(a, b) for a, b in combinations([scaled(v) for v in views], 2)])


def made(of):
    return lambda encode, whiten, batch, passes, count=3: of(encode, whiten, batch, passes, count)


def on_all(whiten, tables):
    return [whiten(table) for table in tables]


def twice_whitened(encode, whiten, batch, passes, count=3):
    return on_all(whiten, on_all(whiten, encode(*[batch] * passes) * (count // passes)))


def gaps(ones, others):
    return np.array(ones) - np.array(others)


def reach(error, ones, others, t):
    middle = gaps(ones, others).mean()
    return middle - t * error, middle + t * error


WRONG = {
    "COVARIANCE": [
        ("wanted are those of the channels", lambda x: centred(x) @ centred(x).T / len(x)),
        ("by the number of channels", lambda x: centred(x).T @ centred(x) / x.shape[1]),
        ("This is the correlation", lambda x: torch.corrcoef(x.T)),
        ("variances alone", lambda x: x.var(0, correction=0)),
        ("Off the diagonal", lambda x: torch.diag(x.var(0, correction=0))),
        ("Subtract the mean of the rows", lambda x: x.T @ x / len(x)),
        ("each row's own mean", lambda x: (x - x.mean(1, keepdim=True)).T @ (x - x.mean(1, keepdim=True)) / len(x)),
        ("Divide by n, not by n - 1", lambda x: torch.cov(x.T)),
        ("not the sum", lambda x: centred(x).T @ centred(x)),
        ("`return` missing", lambda x: None),
    ],
    "MATRIX": [
        ("not +1/2", root(lambda v, eps: (v + eps) ** 0.5)),
        ("the square root is missing", root(lambda v, eps: 1 / (v + eps))),
        ("This is the covariance itself", lambda c, eps=1e-6: c + eps * torch.eye(len(c))),
        ("turn back", root(end=lambda u, s: u * s)),
        ("U comes first", root(end=lambda u, s: (u * s).T)),
        ("must be transposed", root(end=lambda u, s: u * s @ u)),
        ("as columns", root(end=lambda u, s: u.T * s @ u)),
        ("eps belongs under the root", root(lambda v, eps: v.clamp(min=1e-9) ** -0.5 + eps)),
        ("to the standard deviations", root(lambda v, eps: 1 / (v.clamp(min=0).sqrt() + eps))),
        ("eps is not used", root(lambda v, eps: v.clamp(min=1e-12) ** -0.5)),
        ("Each channel was scaled alone", lambda c, eps=1e-6: torch.diag((c.diagonal() + eps) ** -0.5)),
        ("the power of the matrix", lambda c, eps=1e-6: (c + eps) ** -0.5),
        ("alone: U turns", root(end=lambda u, s: torch.diag(s))),
        ("not symmetric", lambda c, eps=1e-6: torch.linalg.cholesky(torch.linalg.inv(c + eps * torch.eye(len(c))))),
    ],
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
    "DISTANCE": [
        ("Square the distance", apart(of=lambda a, b: (a - b).norm(dim=1).mean())),
        ("Add up the squares of a row", apart(of=F.mse_loss)),
        ("square of a mean", apart(of=lambda a, b: (a - b).norm(dim=1).mean() ** 2)),
        ("square of a mean", lambda vs: apart(of=lambda a, b: (a - b).norm(dim=1).mean())(vs) ** 2),
        ("over the sentences, not the sum", apart(of=lambda a, b: (a - b).square().sum())),
        ("over the pairs of views", apart(end=sum)),
        (
            "not with the first one alone",
            lambda vs: np.mean([(unit(vs[0]) - unit(v)).square().sum(1).mean() for v in vs[1:]]),
        ),
        (
            "leave those pairs out",
            lambda vs: np.mean([(unit(a) - unit(b)).square().sum(1).mean() for a in vs for b in vs]),
        ),
        ("the mean cosine", apart(of=lambda a, b: F.cosine_similarity(a, b).mean())),
        ("to no other row", apart(of=lambda a, b: torch.cdist(a, b).square().mean())),
        ("length 1 first", apart(scaled=lambda v: v)),
        ("half as much", apart(of=lambda a, b: 1 - F.cosine_similarity(a, b).mean())),
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
    "INTERVAL": [
        (
            "Pair the seeds",
            lambda a, b, t=2.776: (
                (d := np.mean(a) - np.mean(b)) - (e := t * np.sqrt((np.var(a, ddof=1) + np.var(b, ddof=1)) / len(a))),
                d + e,
            ),
        ),
        ("divides by n - 1", lambda a, b, t=2.776: reach(gaps(a, b).std() / len(a) ** 0.5, a, b, t)),
        ("divide the deviation by the root", lambda a, b, t=2.776: reach(gaps(a, b).std(ddof=1), a, b, t)),
        ("has its n - 1 already", lambda a, b, t=2.776: reach(gaps(a, b).std(ddof=1) / (len(a) - 1) ** 0.5, a, b, t)),
        ("not by n.", lambda a, b, t=2.776: reach(gaps(a, b).std(ddof=1) / len(a), a, b, t)),
        ("take its root", lambda a, b, t=2.776: reach(gaps(a, b).var(ddof=1) / len(a) ** 0.5, a, b, t)),
        ("t is not used", lambda a, b, t=2.776: INTERVAL[0](a, b, 1)),
        ("2.776 in your code", lambda a, b, t=2.776: INTERVAL[0](a, b)),
        ("not the other way round", lambda a, b, t=2.776: INTERVAL[0](b, a, t)),
        ("First the low end", lambda a, b, t=2.776: INTERVAL[0](a, b, t)[::-1]),
        ("wanted are both ends", lambda a, b, t=2.776: ((m := gaps(a, b).mean()), INTERVAL[0](a, b, t)[1] - m)),
        ("The shape should be (2,)", lambda a, b, t=2.776: gaps(a, b).mean()),
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
