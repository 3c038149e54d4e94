"""Lesson 01: what is said of wrong answers."""

import numpy as np
import pytest
import torch
from cselab_lab.lessons.checks import anisotropy
from cselab_lab.lessons.exercises import diagnose
from right_answers import mean_cosine, normed, removed, removed_by_eigh
from sklearn.metrics.pairwise import cosine_similarity
from spellings import wrong_answers


def pairs(u):
    n = len(u)
    return (u @ u.T).sum() - np.trace(u @ u.T), n * (n - 1)


def by_torch(x):
    u = torch.nn.functional.normalize(x)
    return ((u @ u.T).sum() - len(u)) / (len(u) * (len(u) - 1))


def loop(x):
    u = normed(x)
    return sum(u[i] @ u[j] for i in range(len(u)) for j in range(len(u)) if i != j) / (len(u) * (len(u) - 1))


def of_the_total(rows, without, n):
    return (rows.sum(0) @ rows.sum(0) - without) / (n * (n - 1))


def axes_of(x, k):
    return np.linalg.svd(x, full_matrices=False)[2][:k]


def in_place(x, k):
    x -= x.mean(0)
    return removed_by_eigh(x, k)


def along(x, axes):
    return x - x @ axes.T @ axes


def smallest(x, k):
    return along(x - x.mean(0), np.linalg.eigh(np.cov(x.T))[1][:, :k].T)


def rows_of_eigh(x, k):
    return along(x - x.mean(0), np.linalg.eigh(np.cov(x.T))[1][:, ::-1][:k])


def columns_of_svd(x, k):
    return along(x - x.mean(0), np.linalg.svd(x - x.mean(0), full_matrices=False)[2][:, :k].T)


WRONG = {
    "MEAN_COSINE": [
        ("Keep the sign", lambda x: (np.abs(normed(x) @ normed(x).T).sum() - len(x)) / (len(x) * (len(x) - 1))),
        ("every row with every row", lambda x: (cosine_similarity(x).sum() - len(x)) / (len(x) * (len(x) - 1))),
        ("every row with every row", lambda x: by_torch(torch.from_numpy(np.array(x)))),
        ("mean of the squares", lambda x: (((normed(x) @ normed(x).T) ** 2).sum() - len(x)) / (len(x) * (len(x) - 1))),
        ("still in the sum", lambda x: of_the_total(normed(x), 0, len(x))),
        ("take out n, not 1", lambda x: of_the_total(normed(x), 1, len(x))),
        ("without the brackets", lambda x: of_the_total(normed(x), len(x), len(x)) * (len(x) - 1) ** 2),
        ("rows, not of columns", lambda x: of_the_total(normed(x), len(x), x.shape[1])),
        ("twice as much", lambda x: pairs(normed(x))[0] / (len(x) * (len(x) - 1) / 2)),
        ("Scale each row to length 1 first: only then", lambda x: of_the_total(x, len(x), len(x))),
        ("paired with itself", lambda x: np.square(np.linalg.norm(normed(x).mean(0)))),
        ("Scale each row to length 1 first.", lambda x: pairs(x)[0] / pairs(x)[1]),
        ("leave out its pair with itself", lambda x: (x @ x.T).mean()),
        ("not each column", lambda x: np.divide(*pairs(x / np.maximum(np.linalg.norm(x, axis=0), 1e-12)))),
        ("Do not subtract the mean", lambda x: np.divide(*pairs(normed(x - x.mean(0))))),
        ("n (n - 1) ordered pairs", lambda x: pairs(normed(x))[0]),
        ("over the pairs i < j", lambda x: np.triu(normed(x) @ normed(x).T, 1).sum()),
        ("n - 1, not by n", lambda x: pairs(normed(x))[0] / len(x) ** 2),
        ("half as much", lambda x: np.triu(normed(x) @ normed(x).T, 1).sum() / pairs(x)[1]),
        ("length of the mean vector", lambda x: np.linalg.norm(normed(x).mean(0))),
        ("cosine to the mean vector", lambda x: (normed(x) @ x.mean(0)).mean() / np.linalg.norm(x.mean(0))),
        ("1 minus", lambda x: 1 - mean_cosine(x)),
        ("every row with every row", lambda x: np.divide(*pairs(normed(x)))),
        ("every row with every row", loop),
        ("One number is wanted", lambda x: normed(x) @ normed(x).mean(0)),
        ("comes from a division by 0", lambda x: np.divide(*pairs(x / np.linalg.norm(x - x, axis=1, keepdims=True)))),
    ],
    "REMOVAL": [
        ("mean is still in it", lambda x, k: along(x, axes_of(x - x.mean(0), k))),
        ("added the mean again", lambda x, k: removed(x, k) + x.mean(0)),
        ("subtract the mean first", lambda x, k: along(x - x.mean(0), axes_of(x, k))),
        ("smallest variance", smallest),
        ("removed the rest", lambda x, k: x - x.mean(0) - removed(x, k)),
        ("too many", lambda x, k: removed(x, k + 1)),
        ("too few", lambda x, k: removed(x, max(k - 1, 0))),
        ("columns of what eigh returns", rows_of_eigh),
        (
            "as wide as the input",
            lambda x, k: (x - x.mean(0)) @ axes_of(x - x.mean(0), 3)[k:].T if k else removed(x, k),
        ),
        ("not of each row", lambda x, k: x - x.mean(1, keepdims=True)),
        ("changes what it is given", in_place),
        ("not its columns", columns_of_svd),
        ("Try it: <lambda>(np.array([[", lambda x, k: x * 17),
        ("The shape should be", lambda x, k: removed(x, k)[0]),
        ("Nothing of the mean was removed", lambda x, k: along(x, axes_of(x, k))),
    ],
}


@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value", "ignore:std")  # the answers' own
@wrong_answers(anisotropy, WRONG)
def test_a_wrong_answer_is_named(exercise, said, answer):
    verdict = diagnose(answer, exercise)
    assert not verdict.solved and said in verdict.lines[-1], verdict
