"""The check of k chosen on dev: right answers pass however they are written, each wrong one is named."""

import numpy as np
import pytest
from cselab_lab.lessons.checks import whitening_dimensions
from cselab_lab.lessons.exercises import diagnose
from scipy.stats import pearsonr, spearmanr

from cselab.transforms import BertWhitening


def spearman(whiten, pairs, cosine=True, correlation=spearmanr):
    a, b = whiten(pairs[0]), whiten(pairs[1])
    lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1) if cosine else 1
    return correlation((a * b).sum(1) / lengths, pairs[2])[0]


def with_cselab(corpus, dev, test, ks):
    fitted = {k: BertWhitening(k).fit(corpus).transform for k in ks}
    best = max(ks, key=lambda k: spearman(fitted[k], dev))
    return best, spearman(fitted[best], test)


def by_eigenvalues(rows, k, power=-0.5, order=slice(None, None, -1), centre=True):
    values, axes = np.linalg.eigh(np.cov(rows, rowvar=False))
    kernel = (axes[:, order] * values[order] ** power)[:, :k]
    return lambda x: (x - rows.mean(0) * centre) @ kernel


def with_a_loop(corpus, dev, test, ks):
    best, highest = None, -2
    for k in ks:
        score = spearman(by_eigenvalues(corpus, k), dev)
        if score > highest:
            best, highest = k, score
    return np.array([best, spearman(by_eigenvalues(corpus, best), test)])


RIGHT = {"cselab": with_cselab, "a loop": with_a_loop}


def choosing(
    chosen, scored="test", k_of=max, fit=lambda corpus, dev, test: corpus, cosine=True, correlation=spearmanr, **w
):
    """An answer that chooses k on one of the two sets of pairs, and scores one; with a mistake in between."""

    def answer(corpus, dev, test, ks):
        rows, sets = fit(corpus, dev, test), {"dev": dev, "test": test}

        def score(k, name):
            return spearman(by_eigenvalues(rows, k, **w), sets[name], cosine, correlation)

        best = k_of(ks, key=lambda k: score(k, chosen))
        return best, score(best, scored)

    return answer


def place(corpus, dev, test, ks):
    k, score = with_cselab(corpus, dev, test, ks)
    return ks.index(k), score


def times_100(corpus, dev, test, ks):
    k, score = with_cselab(corpus, dev, test, ks)
    return k, 100 * score


def prints(corpus, dev, test, ks):
    print(with_cselab(corpus, dev, test, ks))


WRONG = [
    ("chose k on the test pairs", choosing("test")),
    ("is the score on dev", choosing("dev", "dev")),
    ("not its place", place),
    ("do not multiply by 100", times_100),
    ("you took the lowest", choosing("dev", k_of=min)),
    ("the first of the ks", choosing("dev", k_of=lambda ks, key: ks[0])),
    ("the last of the ks", choosing("dev", k_of=lambda ks, key: ks[-1])),
    ("not on the dev pairs", choosing("dev", fit=lambda corpus, dev, test: np.concatenate(dev[:2]))),
    ("not on the test pairs", choosing("dev", fit=lambda corpus, dev, test: np.concatenate(test[:2]))),
    ("eigh gives the smallest first", choosing("dev", order=slice(None))),
    ("not scaled to variance 1", choosing("dev", power=0.0)),
    ("the roots of the variances", choosing("dev", power=-1.0)),
    ("Subtract the mean", choosing("dev", centre=False)),
    ("Compare by the cosine", choosing("dev", cosine=False)),
    ("this is Pearson", choosing("dev", correlation=pearsonr)),
    ("`return` missing", prints),
    ("The shape should be", lambda corpus, dev, test, ks: (1, 2, 3)),
    ("Try it: ", lambda corpus, dev, test, ks: (17, 0.5)),
]


@pytest.mark.parametrize("answer", RIGHT.values(), ids=RIGHT)
def test_a_right_answer_is_solved(answer):
    verdict = diagnose(answer, whitening_dimensions.STAGES)
    assert verdict.solved, verdict


@pytest.mark.parametrize(("diagnosis", "answer"), WRONG, ids=[d for d, _ in WRONG])
def test_a_wrong_answer_is_named(diagnosis, answer):
    verdict = diagnose(answer, whitening_dimensions.STAGES)
    assert not verdict.solved and diagnosis in verdict.lines[-1]


def test_dev_and_test_would_choose_differently():
    *_, last = whitening_dimensions.STAGES
    corpus, dev, test, ks = last.arguments
    assert with_cselab(corpus, dev, test, ks)[0] != with_cselab(corpus, test, dev, ks)[0]
