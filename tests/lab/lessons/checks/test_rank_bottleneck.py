"""Lesson 06: what is said of wrong answers."""

import pytest
import torch
import torch.nn.functional as F
from cselab_lab.lessons.checks import rank_bottleneck
from cselab_lab.lessons.checks.rank_bottleneck import SENTENCES, batch
from cselab_lab.lessons.exercises import diagnose
from right_answers import labels, own, smallest, standard, unit
from spellings import wrong_answers

from cselab.metrics import rank


def of(p):
    p = p[p > 1e-7]
    return (-(p * p.log()).sum()).exp()


def logits(a, p, t):
    return standard(a).T @ standard(p) / len(a) / t


def contrast(s):
    return F.cross_entropy(s, labels(s))


def made(of):
    return lambda a, p, t=5.0: contrast(of(a, p) / t)


def length(v):
    return v / v.norm(dim=0)


def twins(own, others):
    return lambda c, w=0.012: own(c.diagonal()).sum() + w * others(c - torch.diag(c.diagonal())).sum()


def drawn(a, m, g):
    return torch.randn(m, a.shape[1], generator=g)


def beneath(a, b, rows):
    return torch.cat([a, rows]), torch.cat([b, rows])


def without_epsilon(anchor, positive, temperature=5.0):
    one, other = ((v - v.mean(0)) / v.std(0, correction=0) for v in (anchor, positive))
    return F.cross_entropy(one.T @ other / len(one) / temperature, torch.arange(one.shape[1]))


def padded(one, other, rows):
    return torch.cat([one, rows]), torch.cat([other, rows])


def by_variance(view):
    return (view - view.mean(0)) / (view.var(0, correction=0) + 1e-5)


WRONG = {
    "CORRELATION": [
        ("Yours is another one", lambda a, b: (a / a.norm(dim=0).detach()).T @ (b / b.norm(dim=0).detach())),
        ("Keep the sign", lambda a, b: (F.normalize(a, dim=0).T @ F.normalize(b, dim=0)).abs()),
        ("cosines of sentences", lambda a, b: unit(a) @ unit(b).T),
        ("not each row", lambda a, b: unit(a).T @ unit(b)),
        ("lengths of both columns", lambda a, b: a.T @ b),
        ("subtracts no mean", lambda a, b: length(a - a.mean(0)).T @ length(b - b.mean(0))),
        ("on the right", lambda a, b: length(a).T @ length(a)),
        ("Transpose it", lambda a, b: length(b).T @ length(a)),
        ("the root of the sum", lambda a, b: (a / a.square().sum(0)).T @ (b / b.square().sum(0))),
        ("second column, too", lambda a, b: length(a).T @ b),
        ("first column, too", lambda a, b: a.T @ length(b)),
        ("shape should be", lambda a, b: (length(a) * length(b)).sum(0)),
    ],
    "BARLOW_TWINS": [
        (
            "sums, not means",
            lambda c, w=0.012: ((1 - c.diagonal()) ** 2).mean() + w * (c - c.diagonal().diag()).square().mean(),
        ),
        ("has a plus", twins(lambda d: -((1 - d) ** 2), torch.square)),
        ("Square 1 - C_cc", twins(lambda d: 1 - d, torch.square)),
        ("then square", twins(lambda d: 1 - d**2, torch.square)),
        ("Square the entries off", twins(lambda d: (1 - d) ** 2, lambda c: c)),
        ("absolute values", twins(lambda d: (1 - d) ** 2, torch.abs)),
        ("leaves out the diagonal", lambda c, w=0.012: ((1 - c.diagonal()) ** 2).sum() + w * (c**2).sum()),
        ("second sum alone", lambda c, w=0.012: w * ((c - torch.eye(len(c))) ** 2).sum()),
        ("weight is missing", lambda c, w=0.012: ((c - torch.eye(len(c))) ** 2).sum()),
        ("0.012 in your code", lambda c, w=0.012: twins(lambda d: (1 - d) ** 2, torch.square)(c, 0.012)),
        ("The diagonal counts", lambda c, w=0.012: w * c[~own(c)].square().sum()),
    ],
    "FLOOR": [
        ("times D", lambda d, r, w: (k := w * max(d - r, 0) / r) / (1 + k)),
        ("the best t", lambda d, r, w: 1 / (1 + w * max(d - r, 0) / r)),
        ("at t = 1;", lambda d, r, w: d * w * max(d - r, 0) / r),
        ("the floor 0", lambda d, r, w: d * (k := w * (d - r) / r) / (1 + k)),
        ("not D.", lambda d, r, w: d * (k := w * d / r) / (1 + k)),
    ],
    "ROWS": [
        (
            "are the same: draw each",
            lambda a, b, m, g: padded(a, b, torch.randn(m, 1, generator=g).expand(-1, a.shape[1])),
        ),
        ("have changed places", lambda a, b, m, g: padded(b, a, drawn(a, m, g))),
        ("returned one Tensor", lambda a, b, m, g: torch.cat([a, drawn(a, m, g)])),
        ("returned 1, of shape (8, 4)", lambda a, b, m, g: [torch.cat([a, drawn(a, m, g)])]),
        ("of shape (5, 4), (5, 4)", lambda a, b, m, g: [drawn(a, m, g)] * 2),
        ("stand above", lambda a, b, m, g: [torch.cat([rows, v]) for rows in [drawn(a, m, g)] for v in (a, b)]),
        ("no longer the sentences", lambda a, b, m, g: beneath(unit(a), unit(b), drawn(a, m, g))),
        ("Your rows differ", lambda a, b, m, g: [torch.cat([v, drawn(v, m, g)]) for v in (a, b)]),
        ("torch.randn normal", lambda a, b, m, g: beneath(a, b, torch.rand(m, a.shape[1], generator=g))),
        ("deviation 0.00", lambda a, b, m, g: beneath(a, b, torch.zeros(m, a.shape[1]))),
        ("generator=generator", lambda a, b, m, g: beneath(a, b, torch.randn(m, a.shape[1]))),
        ("do not seed", lambda a, b, m, g: beneath(a, b, drawn(a, m, torch.Generator().manual_seed(0)))),
        ("`return` missing", lambda a, b, m, g: None),
    ],
    "DIMENSION_CONTRAST": [
        ("the root of the variance", made(lambda a, p: by_variance(a).T @ by_variance(p) / len(a))),
        ("Both sides of yours are of anchor", made(lambda a, p: standard(a).T @ standard(a) / len(a))),
        ("a division by 0", without_epsilon),
        ("transpose", made(lambda a, p: standard(a) @ standard(p).T / len(a))),
        ("contrast the columns", made(lambda a, p: unit(a) @ unit(p).T)),
        ("Standardise each dimension", made(lambda a, p: a.T @ p / len(a))),
        ("by its standard deviation", made(lambda a, p: (a - a.mean(0)).T @ (p - p.mean(0)) / len(a))),
        ("mean, too.", made(lambda a, p: (a / a.std(0, correction=0)).T @ (p / p.std(0, correction=0)) / len(a))),
        ("as they are", made(lambda a, p: F.normalize(a, dim=0).T @ F.normalize(p, dim=0))),
        ("not each row", made(lambda a, p: standard(a.T) @ standard(p.T).T / len(a))),
        ("not N - 1", made(lambda a, p: standard(a, 1).T @ standard(p, 1) / len(a))),
        ("Divide the dot product by N.", made(lambda a, p: standard(a).T @ standard(p))),
        ("not by the number of dimensions", made(lambda a, p: standard(a).T @ standard(p) / a.shape[1])),
        ("not used", lambda a, p, t=5.0: contrast(logits(a, p, 1))),
        ("do not multiply", lambda a, p, t=5.0: contrast(logits(a, p, 1 / t))),
        ("5 in your code", lambda a, p, t=5.0: contrast(logits(a, p, 5.0))),
        ("dim=1", lambda a, p, t=5.0: contrast(logits(a, p, t).T)),
        ("both directions", lambda a, p, t=5.0: (contrast(logits(a, p, t)) + contrast(logits(a, p, t).T)) / 2),
        ("over the columns, not the sum", lambda a, p, t=5.0: contrast(logits(a, p, t)) * a.shape[1]),
        ("takes the softmax by itself", lambda a, p, t=5.0: contrast(logits(a, p, t).softmax(1))),
        ("is column i, not column 0", lambda a, p, t=5.0: F.cross_entropy(logits(a, p, t), 0 * labels(a.T))),
        ("log comes first", lambda a, p, t=5.0: -logits(a, p, t).softmax(1).diagonal().mean().log()),
        ("log is missing", lambda a, p, t=5.0: logits(a, p, t).softmax(1).diagonal().mean()),
        ("One number is wanted", lambda a, p, t=5.0: F.cross_entropy(logits(a, p, t), labels(a.T), reduction="none")),
        ("no spread", lambda a, p, t=5.0: contrast((a / a[:1].std(0)).T @ p / t)),
    ],
    "FULL_RANK_BATCH": [
        ("whole number", 320.5),
        ("whole number", "320"),
        ("whole number", True),
        ("whole number", (320,)),
        ("There are 2 to 420", 0),
        ("There are 2 to 420", 768),
        ("Take more", 64),
        ("Take more", 300),
        ("Centring takes one", 255),
        ("Centring takes one", 256),
        ("come twice, and add nothing", 257),
        ("take fewer", 419),
    ],
}


def test_bisection_finds_the_same_batch():
    low, high = 2, SENTENCES
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if rank(batch(middle)) == rank(batch(SENTENCES)) else (middle + 1, high)
    assert low == smallest()


def test_there_is_something_to_find():
    vectors = batch(SENTENCES)
    assert rank(vectors) == vectors.shape[1] - 1  # the layer norm's plane
    assert rank(batch(100)) < 99  # sentences that come twice
    assert len(torch.unique(vectors, dim=0)) > vectors.shape[1]
    with pytest.raises(ValueError, match="2 to 420 sentences"):
        batch(1)


@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value", "ignore:std")  # the answers' own
@wrong_answers(rank_bottleneck, WRONG)
def test_a_wrong_answer_is_named(exercise, said, answer):
    verdict = diagnose(answer, exercise)
    assert not verdict.solved and said in verdict.lines[-1], verdict
