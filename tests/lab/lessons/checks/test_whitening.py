"""Lesson 03: what is said of wrong answers."""

import numpy as np
import pytest
import torch
from cselab_lab.lessons.checks import whitening
from cselab_lab.lessons.exercises import diagnose, numbers_of
from right_answers import by_eigenvalues, choice_with_cselab, score, zca_by_eigh
from scipy.stats import pearsonr, spearmanr
from spellings import wrong_answers


def cov(x, divisor=0):
    z = x.double() - x.double().mean(0)
    return z.T @ z / (len(x) - divisor)


def made(scale, end=lambda u, s: u @ torch.diag(s) @ u.T, of=cov):
    def answer(x, eps=0.0):
        values, axes = torch.linalg.eigh(of(x))
        return end(axes, scale(values.clamp(min=0), eps))

    return answer


def usual(values, eps):
    return (values + eps) ** -0.5


def choosing(
    chosen, scored="test", k_of=max, fit=lambda corpus, dev, test: corpus, cosine=True, correlation=spearmanr, **w
):
    """An answer that chooses k on one of the two sets of pairs, and scores one; with a mistake in between."""

    def answer(corpus, dev, test, ks):
        rows, sets = fit(corpus, dev, test), {"dev": dev, "test": test}

        def of(k, name):
            return score(by_eigenvalues(rows, k, **w), sets[name], correlation, cosine)

        best = k_of(ks, key=lambda k: of(k, chosen))
        return best, of(best, scored)

    return answer


def changed(change):
    return lambda corpus, dev, test, ks: change(*choice_with_cselab(corpus, dev, test, ks), ks)


WRONG = {
    "ZCA": [
        ("not by N - 1", made(usual, of=lambda x: cov(x, 1))),
        ("Subtract the mean", made(usual, of=lambda x: x.double().T @ x.double() / len(x))),
        ("The exponent is -1/2", made(lambda v, eps: (v + eps) ** 0.5)),
        ("square root is missing", made(lambda v, eps: 1 / (v + eps))),
        ("covariance itself", made(lambda v, eps: v + eps)),
        ("PCA whitening", made(usual, lambda u, s: u @ torch.diag(s))),
        ("without the turn back", made(usual, lambda u, s: torch.diag(s) @ u.T)),
        ("must be transposed", made(usual, lambda u, s: u @ torch.diag(s) @ u)),
        ("Each channel was scaled alone", lambda x, eps=0.0: torch.diag((cov(x).diagonal() + eps) ** -0.5)),
        ("added it to the standard deviations", made(lambda v, eps: 1 / (v.sqrt() + eps))),
        ("under the root, added to the variances", made(lambda v, eps: v**-0.5 + eps)),
        ("eps is not used", made(lambda v, eps: v**-0.5)),
        ("not the whitened rows", lambda x, eps=0.0: (x - x.mean(0)) @ zca_by_eigh(x, eps)),
        ("The shape should be", lambda x, eps=0.0: zca_by_eigh(x, eps)[0]),
        ("The shape should be (2, 2), it is (4, 4)", made(lambda v, eps: v + 1, of=lambda x: x @ x.T)),
    ],
    "CHOICE": [
        ("chose k on the test pairs", choosing("test")),
        ("is the score on dev", choosing("dev", "dev")),
        ("not its place", changed(lambda k, found, ks: (ks.index(k), found))),
        ("do not multiply by 100", changed(lambda k, found, ks: (k, 100 * found))),
        ("First k, then", changed(lambda k, found, ks: (found, k))),
        ("you took the lowest", choosing("dev", k_of=min)),
        ("the first of the ks", choosing("dev", k_of=lambda ks, key: ks[0])),
        ("the last of the ks", choosing("dev", k_of=lambda ks, key: ks[-1])),
        ("the largest k", choosing("dev", k_of=lambda ks, key: max(ks))),
        ("the smallest k", choosing("dev", k_of=lambda ks, key: min(ks))),
        ("not on the dev pairs", choosing("dev", fit=lambda corpus, dev, test: np.concatenate(dev[:2]))),
        ("not on the test pairs", choosing("dev", fit=lambda corpus, dev, test: np.concatenate(test[:2]))),
        ("eigh gives the smallest first", choosing("dev", order=slice(None))),
        ("not scaled to variance 1", choosing("dev", power=0.0)),
        ("the roots of the variances", choosing("dev", power=-1.0)),
        ("Subtract the mean", choosing("dev", centre=False)),
        ("Compare by the cosine", choosing("dev", cosine=False)),
        ("this is Pearson", choosing("dev", correlation=pearsonr)),
        ("The shape should be", lambda corpus, dev, test, ks: (1, 2, 3)),
        ("rounded", changed(lambda k, found, ks: (k, round(found, 2)))),
    ],
}


def test_the_expected_matrices_whiten_their_clouds():
    for example in whitening.ZCA.examples[:3]:
        w = torch.from_numpy(numbers_of(example.expected))
        assert torch.allclose(w.T @ cov(example.arguments[0]) @ w, torch.eye(len(w), dtype=torch.float64), atol=1e-5)
        assert torch.equal(w, w.T)


def test_dev_and_test_would_choose_differently_and_the_expected_scores_come_from_elsewhere():
    for example in whitening.CHOICE.examples:
        assert choice_with_cselab(*example.arguments) == pytest.approx(example.expected)
    corpus, dev, test, ks = example.arguments
    assert choice_with_cselab(corpus, dev, test, ks)[0] != choice_with_cselab(corpus, test, dev, ks)[0]


@wrong_answers(whitening, WRONG)
def test_a_wrong_answer_is_named(exercise, said, answer):
    verdict = diagnose(answer, exercise)
    assert not verdict.solved and said in verdict.lines[-1], verdict
