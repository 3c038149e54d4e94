"""Lesson 04: what is said of wrong answers."""

import torch
from cselab_lab.lessons.checks import whitenedcse
from cselab_lab.lessons.exercises import diagnose
from right_answers import sgw_by_split, zca_rows
from spellings import wrong_answers

from cselab.sgw import covariance, whitening_matrix


def not_undone(x, num_groups, permutation):
    return sgw_by_split(x, num_groups, permutation)[:, permutation]


def first_matrix(x, num_groups, permutation):
    parts = x[:, permutation].split(x.shape[1] // num_groups, dim=1)
    matrix = whitening_matrix(covariance(parts[0]))
    return torch.cat([(part - part.mean(0)) @ matrix for part in parts], dim=1)[:, permutation.argsort()]


def by(whiten):
    return lambda x, k, p: sgw_by_split(x, k, p, whiten)


WRONG = {
    "SGW": [
        ("Undo the permutation", not_undone),
        ("takes its inverse", lambda x, k, p: not_undone(x, k, p)[:, p]),
        ("the wrong way round", lambda x, k, p: sgw_by_split(x, k, p.argsort())),
        ("were not shuffled", lambda x, k, p: sgw_by_split(x, k, torch.arange(len(p)))),
        ("whiten each group alone", lambda x, k, p: zca_rows(x)),
        ("you took it for the channels", lambda x, k, p: sgw_by_split(x, x.shape[1] // k, p)),
        ("that of the first group", first_matrix),
        ("PCA whitening", by(lambda z: (z - z.mean(0)) @ whitening_matrix(covariance(z), kind="pca"))),
        ("not by N - 1", by(lambda z: (z - z.mean(0)) @ whitening_matrix(covariance(z, divisor="n-1")))),
        ("Divide the covariance by N, the", by(lambda z: (z - z.mean(0)) @ whitening_matrix(len(z) * covariance(z)))),
        ("The mean must be gone", by(lambda z: z @ whitening_matrix(covariance(z)))),
        ("scaled alone", by(lambda z: (z - z.mean(0)) / z.std(0, correction=0))),
        ("still in their order", lambda x, k, p: sgw_by_split(x, k, p).roll(1, 0)),
        ("The shape should be", lambda x, k, p: sgw_by_split(x, k, p).T[:1]),
        ("called with a Tensor of shape (8, 4)", lambda x, k, p: torch.zeros_like(x) + 17),
    ],
    "UNSEEN_CHANGE": [
        ("The mean cosine was", lambda x: x),
        ("The mean cosine was", lambda x: 5 * x),
        ("The mean cosine was", lambda x: x + 0.1),
        ("it sees what you did", lambda x: x + torch.randn(x.shape, generator=torch.Generator().manual_seed(3))),
        ("it sees what you did", lambda x: x.abs() + 100),
        ("it sees what you did", lambda x: x / x.norm(dim=1, keepdim=True) + 100),
        ("it sees what you did", lambda x: torch.ones_like(x)),
        ("the same shape", lambda x: x.mean(0)),
        ("Your code raised IndexError", lambda x: x[99]),
        ("`return` missing", lambda x: None),
    ],
}


@wrong_answers(whitenedcse, WRONG)
def test_a_wrong_answer_is_named(exercise, said, answer):
    verdict = diagnose(answer, exercise)
    assert not verdict.solved and said in verdict.lines[-1], verdict
