"""The check of shuffled group whitening: right answers pass however they are written, each wrong one is named."""

import pytest
import torch
from cselab_lab.lessons.checks import shuffled_groups
from cselab_lab.lessons.exercises import diagnose

from cselab.sgw import covariance, shuffled_group_whiten, whitening_matrix


def zca(z):
    return (z - z.mean(0)) @ whitening_matrix(covariance(z))


def with_a_loop(x, num_groups, permutation):
    found = torch.empty_like(x)
    for channels in permutation.chunk(num_groups):
        found[:, channels] = zca(x[:, channels])
    return found


def with_split(x, num_groups, permutation, whiten=zca):
    parts = x[:, permutation].split(x.shape[1] // num_groups, dim=1)
    return torch.cat([whiten(part) for part in parts], dim=1)[:, permutation.argsort()]


def with_svd(z):
    z = z - z.mean(0)
    left, _, right = torch.linalg.svd(z, full_matrices=False)
    return left @ right * len(z) ** 0.5


RIGHT = {
    "a loop": with_a_loop,
    "split": with_split,
    "singular vectors": lambda x, k, p: with_split(x, k, p, with_svd),
    "cselab": lambda x, k, p: shuffled_group_whiten(x, k, p, eps=0.0),
}


def not_undone(x, num_groups, permutation):
    return with_split(x, num_groups, permutation)[:, permutation]


def undone_twice_forward(x, num_groups, permutation):
    return not_undone(x, num_groups, permutation)[:, permutation]


def first_matrix(x, num_groups, permutation):
    parts = x[:, permutation].split(x.shape[1] // num_groups, dim=1)
    matrix = whitening_matrix(covariance(parts[0]))
    return torch.cat([(part - part.mean(0)) @ matrix for part in parts], dim=1)[:, permutation.argsort()]


def pca(z):
    return (z - z.mean(0)) @ whitening_matrix(covariance(z), kind="pca")


def by_n_minus_1(z):
    return (z - z.mean(0)) @ whitening_matrix(covariance(z, divisor="n-1"))


def prints(x, num_groups, permutation):
    print(with_split(x, num_groups, permutation))


WRONG = [
    ("Undo the permutation", not_undone),
    ("takes its inverse", undone_twice_forward),
    ("the wrong way round", lambda x, k, p: with_split(x, k, p.argsort())),
    ("were not shuffled", lambda x, k, p: with_split(x, k, torch.arange(len(p)))),
    ("whiten each group alone", lambda x, k, p: zca(x)),
    ("you took it for the channels", lambda x, k, p: with_split(x, x.shape[1] // k, p)),
    ("that of the first group", first_matrix),
    ("PCA whitening", lambda x, k, p: with_split(x, k, p, pca)),
    ("not by N - 1", lambda x, k, p: with_split(x, k, p, by_n_minus_1)),
    ("The mean must be gone", lambda x, k, p: with_split(x, k, p, lambda z: z @ whitening_matrix(covariance(z)))),
    ("scaled alone", lambda x, k, p: with_split(x, k, p, lambda z: (z - z.mean(0)) / z.std(0, correction=0))),
    ("`return` missing", prints),
    ("The shape should be", lambda x, k, p: with_split(x, k, p).T[:1]),
    ("Try it: ", lambda x, k, p: torch.zeros_like(x) + 17),
]


@pytest.mark.parametrize("answer", RIGHT.values(), ids=RIGHT)
def test_a_right_answer_is_solved(answer):
    verdict = diagnose(answer, shuffled_groups.STAGES)
    assert verdict.solved, verdict


@pytest.mark.parametrize(("diagnosis", "answer"), WRONG, ids=[d for d, _ in WRONG])
def test_a_wrong_answer_is_named(diagnosis, answer):
    verdict = diagnose(answer, shuffled_groups.STAGES)
    assert not verdict.solved and diagnosis in verdict.lines[-1], verdict
