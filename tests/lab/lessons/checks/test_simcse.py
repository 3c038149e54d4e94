"""Lesson 02: what is said of wrong answers."""

import torch
import torch.nn.functional as F
from cselab_lab.lessons.checks import simcse
from cselab_lab.lessons.exercises import diagnose
from right_answers import RANKS, ROLES, own, places
from spellings import wrong_answers

from cselab.losses import info_nce
from cselab.metrics import cosine_gradients


def both(r):
    return (r == 1).float().mean(), r.float().mean()


def share(c):
    return (places(c) == 1).float().mean()


def mean(c):
    return places(c).float().mean()


def softmax(c, t):
    return (c / t).softmax(1)


EASY = [
    "A man plays the guitar.",
    "The woman is asleep.",
    "It rains in the hills.",
    "Parliament rejected the tax.",
    "The dog barks loudly.",
    "Nobody reads the letter.",
    "A cook peels onions.",
    "The train is late.",
]
WRONG = {
    "RANKS": [
        ("Look along the rows", lambda c: RANKS[0](c.T)),
        ("A tie is not found", lambda c: both((c > c.diagonal()[:, None]).sum(1) + 1)),
        ("argmax takes the first", lambda c: ((c.argmax(1) == torch.arange(len(c))).float().mean(), mean(c))),
        ("has rank 1, not 0.", lambda c: (share(c), mean(c) - 1)),
        ("has rank 1, not 0: nobody", lambda c: both(places(c) - 1)),
        ("counted twice", lambda c: (share(c), mean(c) + 1)),
        ("counts from the farthest", lambda c: RANKS[0](-c)),
        ("row i is i, not 0", lambda c: both((c >= c[:, :1]).sum(1))),
        ("the place of column i", lambda c: both(c.argsort(1, descending=True).diagonal() + 1)),
        ("divide by the number of sentences", lambda c: ((places(c) == 1).sum(), mean(c))),
        ("not per cent", lambda c: (100 * share(c), mean(c))),
        ("yours is the share that is not", lambda c: (1 - share(c), mean(c))),
        ("not their sum", lambda c: (share(c), places(c).sum())),
        ("not their median", lambda c: (share(c), places(c).median())),
        ("of their reciprocals", lambda c: (share(c), (1 / places(c)).mean())),
        ("First the accuracy", lambda c: RANKS[0](c)[::-1]),
        ("The shape should be (2,)", share),
    ],
    "GRADIENT": [
        ("inner derivative", lambda c, t=0.05: softmax(c, t) - own(c).float()),
        ("Outside the softmax divide", lambda c, t=0.05: (softmax(c, t) - own(c).float()) * t),
        ("inside the softmax, too", lambda c, t=0.05: (softmax(c, 1) - own(c).float()) / t),
        ("Inside the softmax divide", lambda c, t=0.05: ((c * t).softmax(1) - own(c).float()) / t),
        ("not used", lambda c, t=0.05: softmax(c, 1) - own(c).float()),
        ("0.05 in your code", lambda c, t=0.05: (softmax(c, 0.05) - own(c).float()) / 0.05),
        ("along a row", lambda c, t=0.05: ((c / t).softmax(0) - own(c).float()) / t),
        ("sign", lambda c, t=0.05: (own(c).float() - softmax(c, t)) / t),
        ("subtract 1: raising", lambda c, t=0.05: softmax(c, t) / t),
        ("on the diagonal alone", lambda c, t=0.05: (softmax(c, t) - 1) / t),
        ("The positive has a gradient", lambda c, t=0.05: (softmax(c, t) / t).fill_diagonal_(0)),
        ("among them", lambda c, t=0.05: ((c / t).masked_fill(own(c), -torch.inf).softmax(1) - own(c).float()) / t),
        ("not its log", lambda c, t=0.05: ((c / t).log_softmax(1) - own(c).float()) / t),
        ("sum of their row", lambda c, t=0.05: ((c / t).exp() - own(c).float()) / t),
        ("divide by the number of rows", lambda c, t=0.05: (softmax(c, t) - own(c).float()) / t / len(c)),
        ("the loss of each sentence", lambda c, t=0.05: (c / t).logsumexp(1) - (c / t).diagonal()),
        ("from exp", lambda c, t=0.05: ((e := (c / t).exp()) / e.sum(1, keepdim=True) - own(c).float()) / t),
    ],
    "HARD_BATCH": [
        ("8.0 of 8 find themselves. Keep the words", EASY),
        ("find themselves", [*EASY[:6], *ROLES[:2]]),
        ("a list of 8 texts", ROLES[:7]),
        ("a list of 8 texts", "eight sentences"),
        ("each sentence in quotes", [1] * 8),
        ("write sentences", ["It rains."] * 8),
        ("no difference", ["The dog bit the man."] * 8),
        ("no difference", [*ROLES[:7], ROLES[0].upper()]),
        ("no difference", [*ROLES[:7], ROLES[0].replace(".", "!")]),
        ("not solved yet", ...),
    ],
}


def test_the_same_batch_gets_the_same_verdict_and_leaves_the_random_numbers_alone():
    torch.manual_seed(1)
    expected = torch.rand(1)
    torch.manual_seed(1)
    assert simcse.found(ROLES) == simcse.found(ROLES)
    assert torch.equal(torch.rand(1), expected)


def test_the_expected_gradient_is_that_of_the_library_by_another_path():
    rows, columns = (
        F.normalize(torch.randn(4, 8, generator=torch.Generator().manual_seed(seed)).double()) for seed in (0, 1)
    )
    found = 4 * cosine_gradients(lambda a, b: info_nce(a, b, 0.5).total, rows, columns)
    by_hand = simcse.differences((rows @ columns.T).tolist(), 0.5)
    torch.testing.assert_close(found, torch.tensor(by_hand, dtype=torch.float64), atol=1e-5, rtol=1e-5)


@wrong_answers(simcse, WRONG)
def test_a_wrong_answer_is_named(exercise, said, answer):
    verdict = diagnose(answer, exercise)
    assert not verdict.solved and said in verdict.lines[-1], verdict
