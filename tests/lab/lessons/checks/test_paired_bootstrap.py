"""The check of the paired bootstrap: right answers pass whatever they draw, each wrong one is named."""

import numpy as np
import pytest
from cselab_lab.lessons.checks import paired_bootstrap
from cselab_lab.lessons.checks.paired_bootstrap import EXPECTED, FIRST, GOLD, SECOND, SPREAD
from cselab_lab.lessons.exercises import diagnose
from scipy.stats import rankdata, spearmanr

from cselab.metrics.significance import paired_bootstrap as by_cselab


def scored(predicted, gold):
    """Spearman's correlation of each row."""
    a, b = rankdata(predicted, axis=1), rankdata(gold, axis=1)
    a, b = a - a.mean(1, keepdims=True), b - b.mean(1, keepdims=True)
    return (a * b).sum(1) / np.sqrt((a**2).sum(1) * (b**2).sum(1))


def gains(first, second, gold, resamples, seed, stream="choice"):
    generator = np.random.default_rng(seed)
    n = len(gold)
    if stream == "choice":
        rows = np.array([generator.choice(n, n) for _ in range(resamples)])
    else:  # another way to draw, which gives other rows
        rows = (generator.random((resamples, n)) * n).astype(int)
    return 100 * (scored(second[rows], gold[rows]) - scored(first[rows], gold[rows]))


def by_sorting(first, second, gold, resamples=1000, seed=0):
    ordered = np.sort(gains(first, second, gold, resamples, seed, "floats"))
    cut = round(0.025 * resamples)
    return float(ordered[cut]), float(ordered[-1 - cut])


RIGHT = {
    "percentile": lambda f, s, g, resamples=1000, seed=0: np.percentile(gains(f, s, g, resamples, seed), [2.5, 97.5]),
    "sorting": by_sorting,
    "normal": lambda f, s, g, resamples=1000, seed=0: (
        gains(f, s, g, resamples, seed).mean() + 1.96 * np.array([-1, 1]) * gains(f, s, g, resamples, seed).std()
    ),
    "cselab": lambda f, s, g, resamples=1000, seed=0: by_cselab(f, s, g, resamples=resamples, seed=seed).interval,
}


def of(first, second, gold, resamples, seed, together=True, size=1.0, replace=True):
    generator = np.random.default_rng(seed)
    n, scores = len(gold), []
    rows = np.array([generator.choice(n, round(size * n), replace=replace) for _ in range(resamples)])
    for predicted in (first, second):
        scores.append(100 * scored(predicted[rows], gold[rows]))
        if not together:
            rows = np.array([generator.choice(n, n) for _ in range(resamples)])
    return scores


def interval(values):
    return np.percentile(values, [2.5, 97.5])


def wrong(said, **how):
    """The usual interval with one step done otherwise."""

    def answer(first, second, gold, resamples=1000, seed=0):
        one, two = of(first, second, gold, resamples, seed, **how)
        return said(one, two)

    return answer


def bounds(one, two):
    return interval(two)[0] - interval(one)[1], interval(two)[1] - interval(one)[0]


def of_the_mean(one, two):
    error = (two - one).std() / len(one) ** 0.5
    return (two - one).mean() - 1.96 * error, (two - one).mean() + 1.96 * error


def gold_stays(first, second, gold, resamples=1000, seed=0):
    rows = np.random.default_rng(seed).integers(len(gold), size=(resamples, len(gold)))
    same = np.tile(gold, (resamples, 1))
    return interval(100 * (scored(second[rows], same) - scored(first[rows], same)))


def pearson(first, second, gold, resamples=1000, seed=0):
    generator, found = np.random.default_rng(seed), []
    for _ in range(resamples):
        rows = generator.integers(len(gold), size=len(gold))
        r = [np.corrcoef(predicted[rows], gold[rows])[0, 1] for predicted in (first, second)]
        found.append(100 * (r[1] - r[0]))
    return interval(found)


def fixed_seed(first, second, gold, resamples=1000, seed=0):
    return interval(gains(first, second, gold, resamples, 0))


def no_seed(first, second, gold, resamples=1000, seed=0):
    return interval(gains(first, second, gold, resamples, None))


WRONG = [
    ("Draw the pairs once for both", wrong(lambda one, two: interval(two - one), together=False)),
    ("gold grades must be drawn", gold_stays),
    ("draw with replacement", wrong(lambda one, two: interval(two - one), replace=False)),
    ("Second minus first", wrong(lambda one, two: interval(one - two))),
    ("In points", wrong(lambda one, two: interval(two - one) / 100)),
    ("yours are 5 and 95", wrong(lambda one, two: np.percentile(two - one, [5, 95]))),
    ("percentiles of each encoder apart", wrong(lambda one, two: interval(two) - interval(one))),
    ("low bound of one minus", wrong(bounds)),
    ("shrinks with their number", wrong(of_the_mean)),
    ("interval of the second", wrong(lambda one, two: interval(two))),
    ("no 95 % interval", wrong(lambda one, two: (min(two - one), max(two - one)))),
    ("lower bound comes first", wrong(lambda one, two: interval(two - one)[::-1])),
    ("as many pairs as there are", wrong(lambda one, two: interval(two - one), size=0.5)),
    ("not Pearson's", pearson),
    ("The shape should be (2,)", wrong(lambda one, two: two - one)),
    ("the same seed", no_seed),
    ("fixed seed", fixed_seed),
    ("`return` missing", lambda f, s, g, resamples=1000, seed=0: None),
]


@pytest.mark.parametrize("answer", RIGHT.values(), ids=RIGHT)
def test_a_right_answer_is_solved(answer):
    verdict = diagnose(answer, paired_bootstrap.STAGES)
    assert verdict.solved, verdict


@pytest.mark.parametrize(("diagnosis", "answer"), WRONG, ids=[d for d, _ in WRONG])
def test_a_wrong_answer_is_named(diagnosis, answer):
    verdict = diagnose(answer, paired_bootstrap.STAGES)
    assert not verdict.solved and diagnosis in verdict.lines[-1], verdict


@pytest.mark.parametrize("seed", range(5))
def test_a_right_answer_passes_whatever_it_draws(seed):
    low, high = np.percentile(gains(FIRST, SECOND, GOLD, 4000, seed), [2.5, 97.5])
    assert abs(low - EXPECTED[0]) < 0.2 * SPREAD and abs(high - EXPECTED[1]) < 0.2 * SPREAD


def test_the_expected_interval_is_that_of_a_slow_loop():
    generator, found = np.random.default_rng(7), []
    for _ in range(1500):
        rows = [int(generator.random() * len(GOLD)) for _ in GOLD]
        found.append(100 * (spearmanr(SECOND[rows], GOLD[rows])[0] - spearmanr(FIRST[rows], GOLD[rows])[0]))
    assert np.percentile(found, [2.5, 97.5]) == pytest.approx(EXPECTED, abs=0.2 * SPREAD)
    assert np.std(found) == pytest.approx(SPREAD, rel=0.1)
