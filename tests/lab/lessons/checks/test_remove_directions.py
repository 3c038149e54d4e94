"""The check of the removal: right answers pass however they are written, each wrong one gets the right diagnosis."""

import numpy as np
import pytest
from cselab_lab.lessons.checks import remove_directions
from cselab_lab.lessons.exercises import diagnose
from sklearn.decomposition import PCA

from cselab.transforms import ComponentsRemoved


def svd(x, k):
    x = x - x.mean(0)
    axes = np.linalg.svd(x, full_matrices=False)[2][:k]
    return x - x @ axes.T @ axes


def eigh(x, k):
    x = x - x.mean(0)
    axes = np.linalg.eigh(x.T @ x)[1][:, ::-1][:, :k]
    return x - x @ axes @ axes.T


def one_by_one(x, k):
    x = x - x.mean(0)
    for _ in range(k):
        axis = np.linalg.svd(x)[2][0]
        x = x - np.outer(x @ axis, axis)
    return x


def sklearn(x, k):
    pca = PCA(max(k, 1)).fit(x)
    return x - (pca.inverse_transform(pca.transform(x)) if k else pca.mean_)


RIGHT = {
    "svd": svd,
    "eigh": eigh,
    "one by one": one_by_one,
    "sklearn": sklearn,
    "cselab": lambda x, k: ComponentsRemoved(k).fit(x).transform(x),
}


def axes_of(x, k):
    return np.linalg.svd(x, full_matrices=False)[2][:k]


def in_place(x, k):
    x -= x.mean(0)
    return eigh(x, k)


def uncentred_rows(x, k):
    axes = axes_of(x - x.mean(0), k)
    return x - x @ axes.T @ axes


def uncentred_directions(x, k):
    axes, x = axes_of(x, k), x - x.mean(0)
    return x - x @ axes.T @ axes


def smallest(x, k):
    x = x - x.mean(0)
    axes = np.linalg.eigh(x.T @ x)[1][:, :k]
    return x - x @ axes @ axes.T


def columns_of_svd(x, k):
    axes = np.linalg.svd(x, full_matrices=False)[2][:, :k].T
    return x - x @ axes.T @ axes


def rows_of_eigh(x, k):
    x = x - x.mean(0)
    axes = np.linalg.eigh(x.T @ x)[1][:, ::-1][:k].T
    return x - x @ axes @ axes.T


def prints(x, k):
    print(svd(x, k))


WRONG = [
    ("mean is still in it", uncentred_rows),
    ("added the mean again", lambda x, k: svd(x, k) + x.mean(0) if k else svd(x, k)),
    ("subtract the mean first", uncentred_directions),
    ("smallest variance", smallest),
    ("removed the rest", lambda x, k: x - x.mean(0) - svd(x, k) if k else svd(x, k)),
    ("too many", lambda x, k: svd(x, k + 1)),
    ("too few", lambda x, k: svd(x, max(k - 1, 0))),
    ("columns of what eigh returns", rows_of_eigh),
    ("as wide as the input", lambda x, k: (x - x.mean(0)) @ axes_of(x - x.mean(0), 3)[k:].T if k else svd(x, k)),
    ("not of each row", lambda x, k: x - x.mean(1, keepdims=True)),
    ("stay as they are", in_place),
    ("not its columns", lambda x, k: columns_of_svd(x - x.mean(0), k)),
    ("Try it: <lambda>(np.array([[", lambda x, k: x * 17),
    ("`return` missing", prints),
    ("The shape should be", lambda x, k: svd(x, k)[0]),
    ("Nothing of the mean was removed", lambda x, k: x - x @ axes_of(x, k).T @ axes_of(x, k) if k else svd(x, k)),
]


@pytest.mark.parametrize("answer", RIGHT.values(), ids=RIGHT)
def test_a_right_answer_is_solved(answer):
    verdict = diagnose(answer, remove_directions.STAGES)
    assert verdict.solved, verdict


@pytest.mark.parametrize(("diagnosis", "answer"), WRONG, ids=[d for d, _ in WRONG])
def test_a_wrong_answer_is_named(diagnosis, answer):
    verdict = diagnose(answer, remove_directions.STAGES)
    assert not verdict.solved and diagnosis in verdict.lines[-1], verdict
