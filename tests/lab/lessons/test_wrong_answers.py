"""Exercises whose checks are more than examples: each check refuses a wrong answer and says why."""

from fractions import Fraction

import numpy as np
import pytest
import torch
from cells import cells_in
from cselab_lab.lessons.checks import alignment_uniformity, benchmarks, embedding_maps, tour, whitenedcse, whitening
from cselab_lab.lessons.checks.benchmarks import (
    DEVIATION,
    EXPECTED,
    FIRST,
    GAIN,
    GOLD,
    SECOND,
    SPREAD,
    WANTED,
    power,
    scores,
)
from cselab_lab.lessons.checks.encoders import cosine
from cselab_lab.lessons.checks.focal_infonce import by_factors, differences
from cselab_lab.lessons.checks.sentences import say_the_same
from cselab_lab.lessons.exercises import diagnose, numbers_of
from scipy.stats import spearmanr, ttest_1samp
from spellings import every_exercise, solution_of
from torch.nn.functional import normalize

from cselab.losses import focal_info_nce
from cselab.methods import MixCSE, SNCSEDropout
from cselab.metrics import cosine_gradients

PREDICTED = {"columns": ("sentence", "negation"), "texts": 24, "candidates": 9}
FEWEST = 7


class Both(MixCSE, SNCSEDropout):
    """The mixed negatives come after the denials."""


def with_column(rows, value):
    return np.hstack([rows, np.full((len(rows), 1), value)])


def normed(x):
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def interval(gains):
    return np.percentile(gains, [2.5, 97.5])


def resampled(ends, gain=lambda first, second, gold: scores(second, gold) - scores(first, gold)):
    """A paired bootstrap, whose gains and their ends may be wrong."""

    def of(first, second, gold, resamples=1000, seed=0):
        rows = np.random.default_rng(seed).integers(len(gold), size=(resamples, len(gold)))
        return ends(100 * gain(first[rows], second[rows], gold[rows]))

    return of


FIRST_CELL, ANSWERS = cells_in("lab/lessons/wrong_answers.md")


@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")  # the answers' own
@pytest.mark.parametrize("name, words, cell", [(name, *one) for name, answers in ANSWERS.items() for one in answers])
def test_a_wrong_answer_is_refused_and_told_why(name, words, cell, kernel):
    verdict = diagnose(kernel(cell), every_exercise()[name])
    assert not verdict.solved and words[0] in verdict.lines[-1], verdict


@pytest.mark.parametrize(
    "prediction",
    [
        {"columns": ["negation", "sentence"]},
        {"columns": {"negation", "sentence"}},
        {"columns": "sentence, negation"},
        {"texts": 24.0, "candidates": np.array([9])},
        {"texts": [24], "candidates": Fraction(9)},
        {"texts": torch.tensor(24), "candidates": np.int64(9)},
    ],
)
def test_a_prediction_may_be_written_in_several_ways(prediction):
    assert diagnose((Both, {**PREDICTED, **prediction}), every_exercise()["survey.COMPOSED_METHOD"]).solved


def test_a_pair_too_far_apart_is_shown_its_cosine():
    pair = ("A dog barks.", "The tax rises.")
    line = diagnose(pair, tour.FOOLED).lines[-1]
    assert f"{cosine(pair):.3f}" in line and f"{cosine(tour.COOKS):.3f}" in line


DIFFERENT = """
The man sings. / The manager sings.
He bought a car. / He brought a car.
The cat sleeps. / The cat does not sleep.
The dog bit the man. / The man bit the dog.
The girl hugs the boy. / The girl is hugged by the boy.
Anna and the boy hug the dog. / Anna and the dog hug the boy.
"""


@pytest.mark.parametrize("pair", DIFFERENT.strip().splitlines())
def test_sentences_that_may_differ_are_not_called_the_same(pair):
    assert say_the_same(*pair.split(" / ")) == ""


def test_the_expected_matrices_whiten_their_clouds():
    for example in whitening.ZCA.examples[:3]:
        w = torch.from_numpy(numbers_of(example.expected))
        covariance = torch.from_numpy(np.cov(example.arguments[0].numpy(), rowvar=False, bias=True))
        assert torch.allclose(w.T @ covariance @ w, torch.eye(len(w), dtype=torch.float64), atol=1e-5)


def scored_by_svd(corpus, pairs, k):
    mean = corpus.mean(0)
    _, singular, directions = np.linalg.svd(corpus - mean, full_matrices=False)
    a, b = (normed((side - mean) @ (directions.T / singular)[:, :k]) for side in pairs[:2])
    return spearmanr((a * b).sum(1), pairs[2])[0]


def test_the_expected_choices_are_those_by_a_singular_value_decomposition():
    for example in whitening.CHOICE.examples:
        corpus, dev, test, ks = example.arguments
        best = max(ks, key=lambda k: scored_by_svd(corpus, dev, k))
        assert (best, scored_by_svd(corpus, test, best)) == pytest.approx(example.expected, abs=1e-4)


def test_the_expected_shares_of_neighbours_are_counted_row_by_row():
    for example in embedding_maps.PRESERVATION.examples:
        vectors, points, k = example.arguments
        kept = 0
        for i, row in enumerate(vectors):
            others = [j for j in range(len(vectors)) if j != i]
            in_full = sorted(others, key=lambda j: -(row @ vectors[j]) / np.linalg.norm(vectors[j]))[:k]
            in_map = sorted(others, key=lambda j: ((points[i] - points[j]) ** 2).sum())[:k]
            kept += len({*in_full} & {*in_map})
        assert kept / k / len(vectors) == pytest.approx(example.expected)


def test_dev_and_test_choose_different_dimensions():
    corpus, dev, test, ks = whitening.CHOICE.examples[-1].arguments
    choice = solution_of("whitening.CHOICE")
    assert choice(corpus, dev, test, ks)[0] != choice(corpus, test, dev, ks)[0]


def test_focal_infonce_expects_the_values_of_the_library():
    rows, columns = (
        normalize(torch.randn(5, 8, generator=torch.Generator().manual_seed(seed)).double()) for seed in (0, 1)
    )
    table = (rows @ columns.T).tolist()
    assert by_factors(table, 0.1, 0.4) == pytest.approx(
        focal_info_nce(rows, columns, 0.1, m=0.4).total.item(), abs=1e-9
    )
    gradients = 5 * cosine_gradients(lambda a, b: focal_info_nce(a, b, 0.5, m=0.3).total, rows, columns)
    expected = torch.tensor(differences(table, 0.5, 0.3), dtype=torch.float64)
    torch.testing.assert_close(gradients, expected, atol=1e-5, rtol=1e-5)


def test_a_cone_that_says_nothing_keeps_the_order_exactly():
    assert diagnose(lambda rows: with_column(normed(rows), 10.0), alignment_uniformity.CONE).solved
    assert diagnose(lambda rows: with_column(normed(rows), 10.0)[:, ::-1], alignment_uniformity.CONE).solved


@pytest.mark.parametrize("change", [lambda x: 1e-6 * x + 100, lambda x: x + 1e9, lambda x: 3 - 2 * x + 1e4])
def test_a_shift_and_any_one_factor_are_not_seen(change):
    assert diagnose(change, whitenedcse.UNSEEN_CHANGE).solved


def test_a_map_of_noise_shows_clusters_at_perplexity_4():
    assert diagnose({"perplexity": 4}, embedding_maps.ISLANDS_IN_NOISE).solved


def test_the_expected_interval_is_that_of_a_slow_loop():
    generator, gains = np.random.default_rng(7), []
    for _ in range(1500):
        rows = [int(generator.random() * len(GOLD)) for _ in GOLD]
        gains.append(100 * (spearmanr(SECOND[rows], GOLD[rows])[0] - spearmanr(FIRST[rows], GOLD[rows])[0]))
    assert interval(gains) == pytest.approx(EXPECTED, abs=0.2 * SPREAD)
    assert np.std(gains) == pytest.approx(SPREAD, rel=0.1)


def test_an_interval_may_come_from_sorted_gains():
    """The ends are two of the gains, and the places of the two are not equally far from the middle."""
    answer = resampled(lambda gains: np.sort(gains)[[len(gains) // 40, 39 * len(gains) // 40 - (len(gains) > 1)]])
    assert diagnose(answer, benchmarks.PAIRED_BOOTSTRAP).solved


@pytest.mark.parametrize("seeds", [2, 4, FEWEST])
def test_the_power_is_what_a_simulation_finds(seeds):
    gains = np.random.default_rng(1).normal(GAIN, DEVIATION, (4000, seeds))
    assert (ttest_1samp(gains, 0, axis=1).pvalue < 0.05).mean() == pytest.approx(power(seeds), abs=0.025)


def test_one_number_of_seeds_is_right():
    assert [n for n in range(2, 60) if diagnose(n, benchmarks.SEEDS_NEEDED).solved] == [FEWEST]
    assert power(FEWEST) > WANTED + 0.01 and power(FEWEST - 1) < WANTED - 0.05
