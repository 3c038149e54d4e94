"""The check of Spearman's correlation: right answers pass however they are written, each wrong one is named."""

import numpy as np
import pytest
from cselab_lab.lessons.checks import spearman
from cselab_lab.lessons.exercises import diagnose
from scipy.stats import kendalltau, pearsonr, rankdata, spearmanr


def by_counting(x, y):
    def ranks(v):
        return np.array([sum(w < value for w in v) + (sum(w == value for w in v) + 1) / 2 for value in v])

    return np.corrcoef(ranks(x), ranks(y))[0, 1]


def by_unique(x, y):
    def ranks(v):
        _, which, counts = np.unique(v, return_inverse=True, return_counts=True)
        return (counts.cumsum() - (counts - 1) / 2)[which]

    a, b = ranks(x), ranks(y)
    a, b = a - a.mean(), b - b.mean()
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


RIGHT = {
    "scipy": lambda x, y: spearmanr(x, y).statistic,
    "rankdata": lambda x, y: pearsonr(rankdata(x), rankdata(y)).statistic,
    "counting": by_counting,
    "unique": by_unique,
}


def ranked(method):
    return lambda x, y: np.corrcoef(rankdata(x, method=method), rankdata(y, method=method))[0, 1]


def order(v):
    return np.argsort(np.argsort(v, kind="stable"), kind="stable")


def by_differences(x, y):
    d = rankdata(x) - rankdata(y)
    return 1 - 6 * (d**2).sum() / (len(x) ** 3 - len(x))


def cosine(x, y):
    a, b = rankdata(x), rankdata(y)
    return a @ b / np.linalg.norm(a) / np.linalg.norm(b)


def covariance(x, y):
    a, b = rankdata(x), rankdata(y)
    return (a * b).mean() - a.mean() * b.mean()


WRONG = [
    ("This is Pearson's", lambda x, y: np.corrcoef(x, y)[0, 1]),
    ("second side is not ranked", lambda x, y: np.corrcoef(rankdata(x), y)[0, 1]),
    ("first side is not ranked", lambda x, y: np.corrcoef(x, rankdata(y))[0, 1]),
    ("argsort says", lambda x, y: np.corrcoef(np.argsort(x), np.argsort(y))[0, 1]),
    ("stands first gets the lower", lambda x, y: np.corrcoef(order(x), order(y))[0, 1]),
    ("not the lowest", ranked("min")),
    ("not the highest", ranked("max")),
    ("the next rank is left out", ranked("dense")),
    ("without ties only", by_differences),
    ("Kendall", lambda x, y: kendalltau(x, y).statistic),
    ("cosine of the ranks", cosine),
    ("covariance of the ranks", covariance),
    ("from its largest", lambda x, y: np.corrcoef(rankdata(x), rankdata(-y))[0, 1]),
    ("square of the correlation", lambda x, y: np.corrcoef(rankdata(x), rankdata(y))[0, 1] ** 2),
    ("not times 100", lambda x, y: 100 * spearmanr(x, y).statistic),
    ("[0, 1]", lambda x, y: np.corrcoef(rankdata(x), rankdata(y))),
    ("take the first", lambda x, y: spearmanr(x, y)),
    ("`return` missing", lambda x, y: None),
    ("One number is wanted", lambda x, y: rankdata(x)),
]


@pytest.mark.parametrize("answer", RIGHT.values(), ids=RIGHT)
def test_a_right_answer_is_solved(answer):
    assert diagnose(answer, spearman.STAGES).solved


@pytest.mark.parametrize(("diagnosis", "answer"), WRONG, ids=[d for d, _ in WRONG])
def test_a_wrong_answer_is_named(diagnosis, answer):
    verdict = diagnose(answer, spearman.STAGES)
    assert not verdict.solved and diagnosis in verdict.lines[-1]
