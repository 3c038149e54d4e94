"""The check of accuracy and rank: right answers pass however written, each wrong one is named."""

import pytest
import torch
from cselab_lab.lessons.checks import positive_rank
from cselab_lab.lessons.exercises import diagnose


def ranks(c):
    return (c >= c.diagonal()[:, None]).sum(1)


def by_a_loop(c):
    places = [1 + sum(float(c[i, j]) >= float(c[i, i]) for j in range(len(c)) if j != i) for i in range(len(c))]
    return sum(place == 1 for place in places) / len(places), sum(places) / len(places)


def by_the_best_other(c):
    own = c.diagonal()
    others = c.masked_fill(torch.eye(len(c), dtype=torch.bool), -2)
    return (own > others.max(1).values).float().mean(), 1 + (others >= own[:, None]).sum(1).float().mean()


RIGHT = {
    "ranks": lambda c: ((ranks(c) == 1).float().mean(), ranks(c).float().mean()),
    "a loop": by_a_loop,
    "the best of the others": by_the_best_other,
}

WRONG = [
    ("Look along the rows", lambda c: RIGHT["ranks"](c.T)),
    (
        "A tie is not found",
        lambda c: (((r := (c > c.diagonal()[:, None]).sum(1) + 1) == 1).float().mean(), r.float().mean()),
    ),
    (
        "argmax takes the first",
        lambda c: ((c.argmax(1) == torch.arange(len(c))).float().mean(), ranks(c).float().mean()),
    ),
    ("The nearest has rank 1, not 0", lambda c: ((ranks(c) == 1).float().mean(), (ranks(c) - 1).float().mean())),
    ("has rank 1, not 0.", lambda c: (((ranks(c) - 1) == 1).float().mean(), (ranks(c) - 1).float().mean())),
    ("counted twice", lambda c: ((ranks(c) == 1).float().mean(), (ranks(c) + 1).float().mean())),
    ("counts from the farthest", lambda c: RIGHT["ranks"](-c)),
    ("row i is i, not 0", lambda c: (((r := (c >= c[:, :1]).sum(1)) == 1).float().mean(), r.float().mean())),
    (
        "the place of column i",
        lambda c: (((r := c.argsort(1, descending=True).diagonal() + 1) == 1).float().mean(), r.float().mean()),
    ),
    ("divide by the number of sentences", lambda c: ((ranks(c) == 1).sum(), ranks(c).float().mean())),
    ("not per cent", lambda c: (100 * (ranks(c) == 1).float().mean(), ranks(c).float().mean())),
    ("yours is the share that is not", lambda c: ((ranks(c) != 1).float().mean(), ranks(c).float().mean())),
    ("not their sum", lambda c: ((ranks(c) == 1).float().mean(), ranks(c).sum())),
    ("not their median", lambda c: ((ranks(c) == 1).float().mean(), ranks(c).median())),
    ("of their reciprocals", lambda c: ((ranks(c) == 1).float().mean(), (1 / ranks(c)).mean())),
    ("First the accuracy", lambda c: RIGHT["ranks"](c)[::-1]),
    ("The shape should be (2,)", lambda c: (ranks(c) == 1).float().mean()),
    ("`return` missing", lambda c: None),
]


@pytest.mark.parametrize("answer", RIGHT.values(), ids=RIGHT)
def test_a_right_answer_is_solved(answer):
    assert diagnose(answer, positive_rank.STAGES).solved


@pytest.mark.parametrize(("diagnosis", "answer"), WRONG, ids=[d for d, _ in WRONG])
def test_a_wrong_answer_is_named(diagnosis, answer):
    verdict = diagnose(answer, positive_rank.STAGES)
    assert not verdict.solved and diagnosis in verdict.lines[-1]
