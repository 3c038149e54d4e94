"""The check of the mean cosine: right answers pass however they are written, each wrong one is diagnosed."""

import numpy as np
import pytest
from cselab_lab.lessons.checks import mean_cosine
from cselab_lab.lessons.exercises import diagnose

from cselab.metrics import mean_cosine as by_cselab


def unit(x):
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def expanded(x):
    total, n = unit(x).sum(axis=0), len(x)
    return (total @ total - n) / (n * (n - 1))


def by_the_mean(x):
    n = len(x)
    return (np.linalg.norm(unit(x).mean(axis=0)) ** 2 * n - 1) / (n - 1)


RIGHT = {"expanded": expanded, "by the mean": by_the_mean, "cselab": lambda x: by_cselab(np.asarray(x))}


def pairs(u):
    n = len(u)
    return (u @ u.T).sum() - np.trace(u @ u.T), n * (n - 1)


def prints(x):
    print(expanded(x))


def loop(x):
    u = unit(x)
    return sum(u[i] @ u[j] for i in range(len(u)) for j in range(len(u)) if i != j) / (len(u) * (len(u) - 1))


def the_absolute_cosines(x):
    return (np.abs(unit(x) @ unit(x).T).sum() - len(x)) / (len(x) * (len(x) - 1))


def of_the_total(rows, without, n):
    return (rows.sum(0) @ rows.sum(0) - without) / (n * (n - 1))


WRONG = [
    ("Keep the sign of each cosine", the_absolute_cosines),
    ("mean of the squares", lambda x: (((unit(x) @ unit(x).T) ** 2).sum() - len(x)) / (len(x) * (len(x) - 1))),
    ("still in the sum", lambda x: of_the_total(unit(x), 0, len(x))),
    ("take out n, not 1", lambda x: of_the_total(unit(x), 1, len(x))),
    ("without the brackets", lambda x: of_the_total(unit(x), len(x), len(x)) * (len(x) - 1) ** 2),
    ("rows, not of columns", lambda x: of_the_total(unit(x), len(x), x.shape[1])),
    ("Scale each row to length 1 first: only then", lambda x: of_the_total(x, len(x), len(x))),
    ("paired with itself", lambda x: np.square(np.linalg.norm(unit(x).mean(0)))),
    ("paired with itself", lambda x: (unit(x) @ unit(x).T).mean()),
    ("Scale each row to length 1 first.", lambda x: pairs(x)[0] / pairs(x)[1]),
    ("Scale each row to length 1 first, and", lambda x: (x @ x.T).mean()),
    ("not each column", lambda x: np.divide(*pairs(x / np.linalg.norm(x, axis=0)))),
    ("Do not subtract the mean", lambda x: np.divide(*pairs(unit(x - x.mean(0))))),
    ("not the sum", lambda x: pairs(unit(x))[0]),
    ("over pairs i < j", lambda x: np.triu(unit(x) @ unit(x).T, 1).sum()),
    ("divided by n * n", lambda x: pairs(unit(x))[0] / len(x) ** 2),
    ("counted each pair once", lambda x: np.triu(unit(x) @ unit(x).T, 1).sum() / pairs(x)[1]),
    ("length of the mean vector", lambda x: np.linalg.norm(unit(x).mean(0))),
    ("cosine to the mean vector", lambda x: (unit(x) @ x.mean(0)).mean() / np.linalg.norm(x.mean(0))),
    ("1 minus", lambda x: 1 - expanded(x)),
    ("every row with every row", lambda x: np.divide(*pairs(unit(x)))),
    ("every row with every row", loop),
    ("`return` missing", prints),
    ("One number is wanted", lambda x: unit(x) @ unit(x).mean(0)),
]


@pytest.mark.parametrize("answer", RIGHT.values(), ids=RIGHT)
def test_a_right_answer_is_solved(answer):
    verdict = diagnose(answer, mean_cosine.STAGES[:-1] if answer is RIGHT["cselab"] else mean_cosine.STAGES)
    assert verdict.solved, verdict


@pytest.mark.parametrize(("diagnosis", "answer"), WRONG)
def test_a_wrong_answer_is_named(diagnosis, answer):
    verdict = diagnose(answer, mean_cosine.STAGES)
    assert not verdict.solved and diagnosis in verdict.lines[-1], verdict
