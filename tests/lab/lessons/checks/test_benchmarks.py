"""Lesson 10: what is said of wrong answers."""

import numpy as np
import pytest
from cselab_lab.lessons.checks import benchmarks
from cselab_lab.lessons.checks.benchmarks import DEVIATION, EXPECTED, FIRST, GAIN, GOLD, SECOND, SPREAD, WANTED, power
from cselab_lab.lessons.exercises import diagnose
from right_answers import correlations, gains
from scipy.stats import kendalltau, rankdata, spearmanr, ttest_1samp
from spellings import wrong_answers


def pearson(x, y):
    return np.corrcoef(x, y)[0, 1]


def ranked(method):
    return lambda x, y: pearson(rankdata(x, method=method), rankdata(y, method=method))


def order(v):
    return np.argsort(np.argsort(v, kind="stable"), kind="stable")


def by_differences(x, y):
    return 1 - 6 * ((rankdata(x) - rankdata(y)) ** 2).sum() / (len(x) ** 3 - len(x))


def cosine(x, y):
    a, b = rankdata(x), rankdata(y)
    return a @ b / np.linalg.norm(a) / np.linalg.norm(b)


def covariance(x, y):
    a, b = rankdata(x), rankdata(y)
    return (a * b).mean() - a.mean() * b.mean()


def interval(values):
    return np.percentile(values, [2.5, 97.5])


def wrong(said, together=True, size=1.0, replace=True, score=correlations, gold_too=True):
    """The usual interval with one step done otherwise."""

    def answer(first, second, gold, resamples=1000, seed=0):
        generator, n, scores = np.random.default_rng(seed), len(gold), []
        rows = np.array([generator.choice(n, round(size * n), replace=replace) for _ in range(resamples)])
        for predicted in (first, second):
            scores.append(100 * score(predicted[rows], gold[rows] if gold_too else np.tile(gold, (resamples, 1))))
            rows = rows if together else np.array([generator.choice(n, n) for _ in range(resamples)])
        return said(*scores)

    return answer


def of_gain(one, two):
    return interval(two - one)


def bounds(one, two):
    return interval(two)[0] - interval(one)[1], interval(two)[1] - interval(one)[0]


def of_the_mean(one, two):
    error = (two - one).std() / len(one) ** 0.5
    return (two - one).mean() - 1.96 * error, (two - one).mean() + 1.96 * error


def by_pearson(predicted, gold):
    return np.array([pearson(*pair) for pair in zip(predicted, gold, strict=True)])


(FEWEST,) = [n for n in range(3, 50) if power(n) >= WANTED > power(n - 1)]
WRONG = {
    "SPEARMAN": [
        (
            "stands last gets the lower",
            lambda x, y: np.corrcoef(*(rankdata(v[::-1], "ordinal")[::-1] for v in (x, y)))[0, 1],
        ),
        ("This is Pearson's", pearson),
        ("second side is not ranked", lambda x, y: pearson(rankdata(x), y)),
        ("first side is not ranked", lambda x, y: pearson(x, rankdata(y))),
        ("argsort says", lambda x, y: pearson(np.argsort(x), np.argsort(y))),
        ("stands first gets the lower", lambda x, y: pearson(order(x), order(y))),
        ("not the lowest", ranked("min")),
        ("not the highest", ranked("max")),
        ("the next rank is left out", ranked("dense")),
        ("without ties only", by_differences),
        ("Kendall", lambda x, y: kendalltau(x, y).statistic),
        ("cosine of the ranks", cosine),
        ("covariance of the ranks", covariance),
        ("sign is the other way", lambda x, y: pearson(rankdata(x), rankdata(-y))),
        ("its square", lambda x, y: pearson(rankdata(x), rankdata(y)) ** 2),
        ("per cent", lambda x, y: 100 * spearmanr(x, y).statistic),
        ("[0, 1]", lambda x, y: np.corrcoef(rankdata(x), rankdata(y))),
        ("take the first", lambda x, y: spearmanr(x, y)),
        ("One number is wanted", lambda x, y: rankdata(x)),
    ],
    "PAIRED_BOOTSTRAP": [
        ("Draw the pairs once for both", wrong(of_gain, together=False)),
        ("gold grades must be drawn", wrong(of_gain, gold_too=False)),
        ("draw with replacement", wrong(of_gain, replace=False)),
        ("Second minus first", wrong(lambda one, two: interval(one - two))),
        ("hundredth", wrong(lambda one, two: interval(two - one) / 100)),
        ("yours are 5 and 95", wrong(lambda one, two: np.percentile(two - one, [5, 95]))),
        ("percentiles of each encoder apart", wrong(lambda one, two: interval(two) - interval(one))),
        ("low bound of one minus", wrong(bounds)),
        ("shrinks with their number", wrong(of_the_mean)),
        ("interval of the second", wrong(lambda one, two: interval(two))),
        ("no 95 % interval", wrong(lambda one, two: (min(two - one), max(two - one)))),
        ("lower bound comes first", wrong(lambda one, two: interval(two - one)[::-1])),
        ("as many pairs as there are", wrong(of_gain, size=0.5)),
        ("not Pearson's", wrong(of_gain, score=by_pearson)),
        ("The shape should be (2,)", wrong(lambda one, two: two - one)),
        ("the same seed", lambda f, s, g, resamples=1000, seed=0: interval(gains(f, s, g, resamples, None))),
        ("fixed seed", lambda f, s, g, resamples=1000, seed=0: interval(gains(f, s, g, resamples, 0))),
    ],
    "SEEDS_NEEDED": [
        ("whole number", 6.5),
        ("whole number", "six"),
        ("whole number", True),
        ("whole number", [6]),
        ("no spread", 1),
        ("no spread", 0),
        ("no spread", -4),
        ("too few", 2),
        ("too few", 3),
        ("too few", FEWEST - 1),
        ("not the fewest", FEWEST + 1),
        ("not the fewest", 30),
        ("not solved yet", ...),
    ],
}


@pytest.mark.parametrize("seed", range(5))
def test_a_right_interval_passes_whatever_it_draws(seed):
    low, high = interval(gains(FIRST, SECOND, GOLD, 4000, seed))
    assert abs(low - EXPECTED[0]) < 0.2 * SPREAD and abs(high - EXPECTED[1]) < 0.2 * SPREAD


@pytest.mark.slow
def test_the_expected_interval_is_that_of_a_slow_loop():
    generator, found = np.random.default_rng(7), []
    for _ in range(1500):
        rows = [int(generator.random() * len(GOLD)) for _ in GOLD]
        found.append(100 * (spearmanr(SECOND[rows], GOLD[rows])[0] - spearmanr(FIRST[rows], GOLD[rows])[0]))
    assert interval(found) == pytest.approx(EXPECTED, abs=0.2 * SPREAD)
    assert np.std(found) == pytest.approx(SPREAD, rel=0.1)


@pytest.mark.parametrize("seeds", [2, 4, FEWEST])
def test_the_power_is_what_a_simulation_finds(seeds):
    drawn = np.random.default_rng(1).normal(GAIN, DEVIATION, (4000, seeds))
    assert (ttest_1samp(drawn, 0, axis=1).pvalue < 0.05).mean() == pytest.approx(power(seeds), abs=0.025)


def test_one_number_is_right_and_no_simulation_of_a_thousand_tries_can_miss_it():
    assert [n for n in range(2, 60) if diagnose(n, benchmarks.SEEDS_NEEDED).solved] == [FEWEST]
    assert power(FEWEST) > WANTED + 0.01 and power(FEWEST - 1) < WANTED - 0.05


@wrong_answers(benchmarks, WRONG)
def test_a_wrong_answer_is_named(exercise, said, answer):
    verdict = diagnose(answer, exercise)
    assert not verdict.solved and said in verdict.lines[-1], verdict
