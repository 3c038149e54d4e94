"""The check of ZCA whitening: right answers pass however they are written, each wrong one gets the right diagnosis."""

import numpy as np
import pytest
import torch
from cselab_lab.lessons.checks import zca
from cselab_lab.lessons.exercises import diagnose

from cselab.sgw import covariance, whitening_matrix


def cov(x, divisor=0):
    z = x.double() - x.double().mean(0)
    return z.T @ z / (len(x) - divisor)


def with_eigh(x, eps=0.0):
    values, axes = torch.linalg.eigh(cov(x))
    return axes @ torch.diag((values + eps) ** -0.5) @ axes.T


def with_numpy(x, eps=0.0):
    values, axes = np.linalg.eigh(np.cov(x.numpy(), rowvar=False, bias=True))
    return axes / np.sqrt(values + eps) @ axes.T


def with_singular_values(x, eps=0.0):
    z = x.double() - x.double().mean(0)
    _, singular, axes = torch.linalg.svd(z, full_matrices=False)
    return axes.T @ torch.diag((singular**2 / len(x) + eps).rsqrt()) @ axes


RIGHT = {
    "eigh": with_eigh,
    "numpy": with_numpy,
    "svd": with_singular_values,
    "cselab": lambda x, eps=0.0: whitening_matrix(covariance(x), eps=eps),
}


def eigen(x, divisor=0):
    return torch.linalg.eigh(cov(x, divisor))


def uncentred(x, eps=0.0):
    values, axes = torch.linalg.eigh(x.double().T @ x.double() / len(x))
    return axes @ torch.diag((values + eps) ** -0.5) @ axes.T


def turned(x, power, eps=0.0, divisor=0):
    values, axes = eigen(x, divisor)
    return axes @ torch.diag((values + eps) ** power) @ axes.T


def pca(x, eps=0.0):
    values, axes = eigen(x)
    return axes @ torch.diag((values + eps) ** -0.5)


def no_transpose(x, eps=0.0):
    values, axes = eigen(x)
    return axes @ torch.diag((values + eps) ** -0.5) @ axes


def outside_the_root(x, eps=0.0):
    values, axes = eigen(x)
    return axes @ torch.diag(1 / (values.clamp(min=0).sqrt() + eps)) @ axes.T


def after_the_power(x, eps=0.0):
    values, axes = eigen(x)
    return axes @ torch.diag(values.clamp(min=0) ** -0.5 + eps) @ axes.T


def prints(x, eps=0.0):
    print(with_eigh(x, eps))


WRONG = [
    ("not by N - 1", lambda x, eps=0.0: turned(x, -0.5, eps, divisor=1)),
    ("Subtract the mean", uncentred),
    ("The exponent is -1/2", lambda x, eps=0.0: turned(x, 0.5, eps)),
    ("square root is missing", lambda x, eps=0.0: turned(x, -1.0, eps)),
    ("covariance itself", lambda x, eps=0.0: turned(x, 1.0, eps)),
    ("PCA whitening", pca),
    ("without the turn back", lambda x, eps=0.0: pca(x, eps).T),
    ("must be transposed", no_transpose),
    ("Each channel was scaled alone", lambda x, eps=0.0: torch.diag((cov(x).diagonal() + eps) ** -0.5)),
    ("added it to the standard deviations", outside_the_root),
    ("eps is not used", lambda x, eps=0.0: turned(x, -0.5)),
    ("not the whitened rows", lambda x, eps=0.0: (x.double() - x.double().mean(0)) @ with_eigh(x, eps)),
    ("`return` missing", prints),
    ("The shape should be", lambda x, eps=0.0: with_eigh(x, eps)[0]),
    ("Try it: ", lambda x, eps=0.0: 17 * torch.eye(x.shape[1])),
]


@pytest.mark.parametrize("answer", RIGHT.values(), ids=RIGHT)
def test_a_right_answer_is_solved(answer):
    verdict = diagnose(answer, zca.STAGES)
    assert verdict.solved, verdict


@pytest.mark.parametrize(("diagnosis", "answer"), WRONG, ids=[d for d, _ in WRONG])
def test_a_wrong_answer_is_named(diagnosis, answer):
    verdict = diagnose(answer, zca.STAGES)
    assert not verdict.solved and diagnosis in verdict.lines[-1]


def test_the_expected_matrices_whiten_their_clouds():
    for stage in zca.STAGES[:3]:
        w = stage.expected.double()
        assert torch.allclose(w.T @ cov(stage.arguments[0]) @ w, torch.eye(len(w), dtype=torch.float64), atol=1e-5)
        assert torch.equal(w, w.T)
