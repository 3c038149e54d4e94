"""Exercises whose checks are more than examples: each check refuses a wrong answer and says why."""

import math
from fractions import Fraction

import numpy as np
import pytest
import torch
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
from cselab_lab.lessons.checks.encoders import cosine, plain
from cselab_lab.lessons.checks.focal_infonce import by_hand, differences
from cselab_lab.lessons.checks.sentences import say_the_same
from cselab_lab.lessons.exercises import diagnose, numbers_of
from pandas import DataFrame
from scipy.stats import mstats, spearmanr, ttest_1samp
from spellings import every_exercise, solution_of
from torch.nn.functional import cross_entropy, normalize

from cselab.evaluators import RandomEncoder
from cselab.losses import focal_info_nce
from cselab.methods import Contrastive, MixCSE, SNCSEDropout
from cselab.metrics import cosine_gradients

GIRL = "The girl hugs the boy."
PREDICTED = {"columns": ("sentence", "negation"), "texts": 24, "candidates": 9}
FEWEST = 7
generator = np.random.default_rng(1)
another_name = spearmanr


class Both(MixCSE, SNCSEDropout):
    """The mixed negatives come after the denials."""


class Forgetful(MixCSE, SNCSEDropout):
    """Views without `super()`: the denials are lost before the loss needs them."""

    def views(self, encode, batch):
        return Contrastive.views(self, encode, batch)


class LossOfNothing(MixCSE, SNCSEDropout):
    """A loss that returns nothing."""

    def loss(self, v):
        super().loss(v)


class ViewsOfTwo(MixCSE, SNCSEDropout):
    """A list instead of `Views`."""

    def views(self, encode, batch):
        return list(encode(*[self.column(batch, "sentence")] * 2))


class Unfinished(MixCSE, SNCSEDropout):
    """A loss that raises an exception."""

    def loss(self, v):
        raise NotImplementedError


class OneColumn(MixCSE, SNCSEDropout):
    """A column too few."""

    columns = ("sentence",)


class Encoding:
    """An encoder from a function of the texts."""

    def __init__(self, encode):
        self.encode = encode


class CentredOnWhatItSees:
    def encode(self, sentences, **options):
        vectors = plain().encode(sentences)
        return vectors - vectors.mean(axis=0)


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


def drawn_from(low, high, first, second, gold, resamples=1000, seed=0):
    """A paired bootstrap that leaves out the first or the last pair."""
    generator, size = np.random.default_rng(seed), (resamples, len(gold))
    rows = generator.integers(low, high, size=size)
    return interval(100 * (scores(second[rows], gold[rows]) - scores(first[rows], gold[rows])))


def shares(a, b, t):
    return (normalize(a) @ normalize(b).T / t).softmax(1)


def off_diagonal(c):
    return (c - torch.diag(c.diag())).square()


def with_epsilon_outside_the_root(anchor, positive, temperature=5.0):
    a, p = ((view - view.mean(0)) / (view.std(0, correction=0) + 1e-5) for view in (anchor, positive))
    return cross_entropy(a.T @ p / len(anchor) / temperature, torch.arange(anchor.shape[1]))


def log_weights(cosines, beta):
    return solution_of("your_own_method.LOG_WEIGHTS")(cosines, beta).clone()


def log_weights_of_one_mean(cosines, beta):
    own, n = torch.eye(len(cosines), dtype=torch.bool), len(cosines)
    scaled = beta * cosines.detach()
    return (scaled - scaled[~own].logsumexp(0) + math.log(n * (n - 1))).masked_fill(own, 0.0)


def removal_from_the_mean_of_all(x, k):
    centred = x - x.mean()
    directions = np.linalg.svd(centred, full_matrices=False)[2][:k]
    return centred - centred @ directions.T @ directions


def removal_of_one(x, k):
    centred = x - x.mean(axis=0)
    direction = np.linalg.svd(centred, full_matrices=False)[2][k : k + 1]
    return centred - centred @ direction.T @ direction


def removal_as_coordinates(x, k):
    centred = x - x.mean(axis=0)
    return (
        np.linalg.svd(centred, full_matrices=False)[0] * ([0] * k + [1] * (x.shape[1] - k)) * np.linalg.svd(centred)[1]
    )


WRONG = {
    "tour.FOOLED": [
        ("in brackets", "The girl hugs the boy. The boy hugs the girl."),
        ("in brackets", (GIRL, "The boy hugs the girl.", "The dog sleeps.")),
        ("no word with a meaning", (GIRL, "")),
        ("Change the meaning", (GIRL, "A girl is hugging a boy.")),
        ("'teh' is 'the', misspelt", (GIRL, "Teh girl hugs the boy.")),
        ("cannot read one sentence", ("asdf qwer zxcv", "asdf qwer zxcw")),
        ("cannot read one sentence", ("Der Mann sieht den Hund.", "Der Hund sieht den Mann.")),
        ("cannot read one sentence", ("Die Katze schläft heute.", "Die Katze schläft heute nicht.")),
        ("cannot read one sentence", ("Le chat mange la souris.", "La souris mange le chat.")),
        ("cannot read one sentence", ("El perro muerde al hombre.", "El hombre muerde al perro.")),
        ("cannot read one sentence", ("De hond bijt de man.", "De man bijt de hond.")),
        ("cannot read one sentence", ("The dog bit the man.", "Der Mann sieht den Hund.")),
        ("too long", ("dog " * 400, "dog " * 401)),
        ("small words differ", ("A dog is in the garden.", "There is a dog in the garden.")),
        ("'girl' and 'lass' mean the same", (GIRL, "The lass hugs the boy.")),
        ("like the passive", (GIRL, "The boy is being hugged by the girl.")),
        ("before and after 'and'", ("The girl and the boy sing.", "The boy and the girl sing.")),
        ("from end to end", ("At night the girl sings a song.", "The girl sings a song at night.")),
        ("'cook' and 'chef' mean the same", ("The cook peels an onion.", "The chef peels an onion.")),
        ("'boy' stands twice in a row", (GIRL, "The girl hugs the boy boy.")),
        ("'not' stands twice in a row", ("The dog barks.", "The dog does not not bark.")),
        ("No sentence ends with 'the'", (GIRL, "Girl the hugs boy the.")),
        ("Keep most words", ("The cook peels an onion.", "The tax rises every summer.")),
    ],
    "tour.INFO_NCE": [
        ("of the positive by the temperature", lambda c, t=0.05: ((c / t).logsumexp(1) - c.diag()).mean()),
        ("add nothing to a share", lambda c, t=0.05: -((c / t).softmax(1).diag() + 1e-8).log().mean()),
        ("add nothing to a share", lambda c, t=0.05: -(c / t).softmax(1).diag().clamp(min=1e-4).log().mean()),
    ],
    "simcse.LOSS": [
        ("The log of the share is missing", lambda a, b, t=0.05: -shares(a, b, t).diag().mean()),
        ("add nothing to a share", lambda a, b, t=0.05: -(shares(a, b, t).diag() + 1e-8).log().mean()),
    ],
    "anisotropy.MEAN_COSINE": [
        (
            "computed every cosine of two rows",
            lambda x: ((normed(x) @ normed(x).T).sum() - len(x)) / len(x) / (len(x) - 1),
        ),
        (
            "not their width",
            lambda x: (normed(x).sum(0) @ normed(x).sum(0) - x.shape[1]) / np.prod(x.shape[1] - np.arange(2)),
        ),
        ("Square the length", lambda x: (np.linalg.norm(normed(x).sum(0)) - len(x)) / (len(x) * (len(x) - 1))),
    ],
    "anisotropy.REMOVAL": [
        ("coordinates along the directions", removal_as_coordinates),
        ("`k` changes nothing", lambda x, k: x - x.mean(axis=0)),
        ("Your `k` is one too large", lambda x, k: solution_of("anisotropy.REMOVAL")(x, k + 1)),
        ("over the whole table", removal_from_the_mean_of_all),
        ("Your `k` is one too small", lambda x, k: solution_of("anisotropy.REMOVAL")(x, k - 1)),
        ("plus or minus", lambda x, k: 2 * (x - x.mean(axis=0)) - solution_of("anisotropy.REMOVAL")(x, k)),
        ("one direction", removal_of_one),
        ("Do not scale the rows", lambda x, k: solution_of("anisotropy.REMOVAL")(normed(x), k)),
    ],
    "simcse.VIEWS": [
        ("a list of 1 (shapes (8, 32))", lambda n, ids, mask: [n(ids.repeat(2, 1), mask.repeat(2, 1))]),
        (
            "a different sentence's view",
            lambda n, ids, mask: n(ids.repeat_interleave(2, 0), mask.repeat(2, 1)).chunk(2),
        ),
        ("not a second pass", lambda n, ids, mask: [n(ids, mask)] * 2),
        ("no attribute 'eval'", lambda n, ids, mask: [n(ids, mask), n.eval()(ids, mask)]),
        ("no detach()", lambda n, ids, mask: (n(ids, mask).detach(), n(ids, mask))),
        ("The mask belongs to the ids", lambda n, ids, mask: n(ids.repeat(2, 1), torch.ones(2 * len(ids), 1)).chunk(2)),
        ("without a change", lambda n, ids, mask: [normalize(n(ids, mask)) for _ in range(2)]),
        ("the first argument has the ids", lambda n, ids, mask: n(mask.repeat(2, 1), ids.repeat(2, 1)).chunk(2)),
        ("Do not seed", lambda n, ids, mask: torch.manual_seed(1) and [n(ids, mask) for _ in range(2)]),
    ],
    "whitenedcse.UNSEEN_CHANGE": [
        ("The mean cosine was", lambda x: 5 * x),
        ("it depends on your change", lambda x: x * torch.linspace(1, 3, x.shape[1]) + 100),
        ("it depends on your change", lambda x: 100 + x * torch.tensor([2.0] + [1.0] * (x.shape[1] - 1))),
        ("The shape should be (64, 16), it is (16,)", lambda x: x.mean(0)),
    ],
    "dropout_noise.OFF_DROPOUT": [
        ("Do not detach", lambda a, p, c, *more: solution_of("dropout_noise.OFF_DROPOUT")(a, p, c.detach(), *more))
    ],
    "rank_bottleneck.BARLOW_TWINS": [
        ("added, not subtracted", lambda c, w=0.012: (1 - c.diag()).square().sum() - w * off_diagonal(c).sum())
    ],
    "rank_bottleneck.DIMENSION_CONTRAST": [("not to the deviation", with_epsilon_outside_the_root)],
    "focal_infonce.CONSTANT": [
        ("This is the gradient of Focal-InfoNCE", lambda *arguments: solution_of("focal_infonce.FOCAL")(*arguments)),
        ("Detach only the factors", lambda *a: solution_of("focal_infonce.CONSTANT")(*a).detach()),
    ],
    "alignment_uniformity.ALIGNMENT": [
        ("not the difference", lambda x, y, grades, t=4: normalize(x - y)[grades > t].square().sum(1).mean()),
        ("Square first", lambda x, y, grades, t=4: (normalize(x) - normalize(y))[grades > t].sum(1).square().mean()),
        ("plus or minus", lambda x, y, grades, t=4: (normalize(x) + normalize(y))[grades > t].square().sum(1).mean()),
        ("both sides", lambda x, y, grades, t=4: (normalize(x) - y)[grades > t].square().sum(1).mean()),
        ("both sides", lambda x, y, grades, t=4: (x - normalize(y))[grades > t].square().sum(1).mean()),
        (
            "`threshold` changes nothing",
            lambda x, y, grades, t=4: solution_of("alignment_uniformity.ALIGNMENT")(x, y, grades),
        ),
    ],
    "modern_encoders.LAST_TOKEN": [("made of several tokens", lambda layer, mask: layer.mean(1))],
    "alignment_uniformity.CONE": [
        ("Scaling the rows changes no cosine", normed),
        ("the same large part", lambda rows: with_column(normed(rows), 1.0)),
        ("gone, or lost in rounding", lambda rows: with_column(normed(rows), 1e6)),
        ("add the same to every row", lambda rows: 100 + generator.standard_normal(rows.shape)),
        ("long rows must not count for more", lambda rows: with_column(rows, 100.0)),
        ("at a right angle to all of them", lambda rows: normed(rows) + 3.0),
    ],
    "embedding_maps.ISLANDS_IN_NOISE": [
        ("write it as dict", [("perplexity", 3)]),
        ("leave the rest", dict(perplexity=3, random_state=7)),
        ("below the number of rows, 150", dict(perplexity=150)),
        ("How many neighbours has a dot", dict(perplexity=30)),
    ],
    "benchmarks.SEEDS_NEEDED": [
        ("whole number", 6.5),
        ("whole number", True),
        ("no spread", 1),
        ("too few", FEWEST - 1),
        ("not the fewest", FEWEST + 1),
    ],
    "benchmarks.SPEARMAN": [
        ("spearmanr is for comparison", lambda x, y: another_name(x, y).statistic),
        ("spearmanr is for comparison", lambda x, y: float(mstats.spearmanr(x, y).statistic)),
        ("and so is method", lambda x, y: DataFrame({"x": x, "y": y}).corr("spearman").iloc[0, 1]),
    ],
    "focal_infonce.FOCAL": [
        (
            "a positive and negatives below 0",
            lambda c, t=0.07, m=0.3: cross_entropy(
                (c * (c + m)).diagonal_scatter(c.diag() * c.diag().abs()) / t, torch.arange(len(c))
            ),
        )
    ],
    "focal_infonce.FOCAL_GRADIENT": [
        ("size of tensor", lambda c, t, m: solution_of("focal_infonce.FOCAL_GRADIENT")(c, t, m) + 0 * torch.eye(3))
    ],
    "benchmarks.PAIRED_BOOTSTRAP": [
        ("The gains are not symmetric", resampled(lambda gains: gains.mean() + np.array([-1.96, 1.96]) * gains.std())),
        *[
            ("counts from 0 to 100", resampled(lambda gains, ends=ends: np.percentile(gains, ends)))
            for ends in ([0.025, 0.975], [0, 95], [5, 100], [0.5, 99.5])
        ],
        ("keep the sign of each gain", resampled(lambda gains: interval(abs(gains)))),
        ("Row 19 of 20 is never drawn", lambda *arguments: drawn_from(0, 19, *arguments)),
        ("Row 0 of 20 is never drawn", lambda *arguments: drawn_from(1, 20, *arguments)),
        ("generator once, before the loop", resampled(lambda gains: gains[[0, 0]])),
        (
            "Draw with replacement",
            lambda one, two, gold, *_: [100 * (spearmanr(two, gold)[0] - spearmanr(one, gold)[0])] * 2,
        ),
        ("number of resamples fixed", lambda *arguments: resampled(interval)(*arguments[:3], 2000, *arguments[4:])),
        (
            "returned 2 numbers [-6",  # and not "the interval of the second's score"
            resampled(interval, lambda first, second, gold: scores(second - first, gold)),
        ),
    ],
    "survey.COMPOSED_METHOD": [
        ("give the class itself", (Both(), PREDICTED)),
        ("MixCSE reads sentence, has a loss of info_nce, and", (MixCSE, PREDICTED)),
        ("bidirectional_margin, and mixed negatives: False", (SNCSEDropout, PREDICTED)),
        ("`loss` of LossOfNothing returned a NoneType", (LossOfNothing, PREDICTED)),
        ("`views` of ViewsOfTwo returned a list of 2", (ViewsOfTwo, PREDICTED)),
        ("A step of Unfinished raised NotImplementedError()", (Unfinished, PREDICTED)),
        ("OneColumn reads sentence, has", (OneColumn, PREDICTED)),
        ("Your prediction is None. Count", (Both, {**PREDICTED, "columns": None})),
        ("inherit from both", (Forgetful, PREDICTED)),
        ("reads more than a sentence", (Both, {**PREDICTED, "columns": ("sentence",)})),
        ("The denials are encoded, too", (Both, {**PREDICTED, "texts": 16})),
        ("InfoNCE does not use it as a negative", (Both, {**PREDICTED, "candidates": 10})),
        ("Count again", (Both, {**PREDICTED, "candidates": 3})),
        ("The prediction is a dictionary", (Both, 24)),
    ],
    "your_own_method.LOG_WEIGHTS": [
        ("its own mean", log_weights_of_one_mean),
        (
            ".detach()",
            lambda c, beta: (
                (beta * c).masked_fill(torch.eye(len(c)).bool(), -torch.inf).log_softmax(1) + np.log(len(c) - 1)
            ).masked_fill(torch.eye(len(c)).bool(), 0.0),
        ),
        *[
            ("Only the diagonal is wrong", lambda c, beta, value=value: log_weights(c, beta).fill_diagonal_(value))
            for value in (-math.inf, math.nan, -1e9, 1.0)
        ],
        ("`beta` changes nothing", lambda c, beta: log_weights(c, 1.0)),
        (
            "leave the diagonal out",
            lambda c, beta: ((beta * c).detach().log_softmax(1) + math.log(len(c) - 1)).fill_diagonal_(0),
        ),
    ],
    "your_own_method.BEAT_CONTROL": [
        ("too low; ", RandomEncoder()),
        ("encode returned a NoneType, None", Encoding(lambda texts: None)),
        ("encode returned an array of shape (1, 4)", Encoding(lambda texts: np.ones((1, 4)))),
        ("two rows of finite numbers", Encoding(lambda texts: np.full((len(texts), 4), np.nan))),
        ("It is the function <lambda>; trying it raised AttributeError", lambda texts: plain().encode(texts)),
        ("It is an Encoding; trying it raised ZeroDivisionError", Encoding(lambda texts: 1 / 0)),
        ("fit on training sentences", CentredOnWhatItSees()),
        (".encode(list)", "mini"),
    ],
}


@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")  # the answers' own
@pytest.mark.parametrize(
    ("name", "message", "answer"),
    [
        pytest.param(name, *wrong, id=f"{name}-{at}-{wrong[0]}")
        for name, answers in WRONG.items()
        for at, wrong in enumerate(answers)
    ],
)
def test_a_wrong_answer_is_refused_and_told_why(name, message, answer):
    verdict = diagnose(answer, every_exercise()[name])
    assert not verdict.solved and message in verdict.lines[-1], verdict


@pytest.mark.parametrize(
    "prediction",
    [
        {"columns": ["negation", "sentence"]},
        {"columns": {"negation", "sentence"}},
        {"columns": "sentence, negation"},
        {"texts": "24", "candidates": 9.0},
        {"texts": [24], "candidates": Fraction(9)},
        {"texts": torch.tensor(24), "candidates": np.int64(9)},
    ],
)
def test_a_prediction_may_be_written_in_several_ways(prediction):
    assert diagnose((Both, {**PREDICTED, **prediction}), every_exercise()["survey.COMPOSED_METHOD"]).solved


def test_a_pair_too_far_apart_is_shown_its_cosine_and_the_one_to_beat():
    pair = ("A dog barks.", "The tax rises.")
    line = diagnose(pair, tour.FOOLED).lines[-1]
    assert f"{cosine(pair):.3f}" in line and f"{cosine(tour.COOKS):.3f}" in line


@pytest.mark.parametrize(
    "pair",
    [
        ("The man sings.", "The manager sings."),
        ("He bought a car.", "He brought a car."),
        ("The cat sleeps.", "The cat does not sleep."),
        ("The dog bit the man.", "The man bit the dog."),
        ("The girl hugs the boy.", "The girl is hugged by the boy."),
        ("Anna and the boy hug the dog.", "Anna and the dog hug the boy."),
    ],
)
def test_sentences_that_may_say_different_things_are_not_called_the_same(pair):
    assert say_the_same(*pair) == ""


def test_the_expected_matrices_whiten_their_clouds():
    for example in whitening.ZCA.examples[:3]:
        w = torch.from_numpy(numbers_of(example.expected))
        covariance = torch.from_numpy(np.cov(example.arguments[0].numpy(), rowvar=False, bias=True))
        assert torch.allclose(w.T @ covariance @ w, torch.eye(len(w), dtype=torch.float64), atol=1e-5)


def test_dev_and_test_would_choose_different_numbers_of_dimensions():
    corpus, dev, test, ks = whitening.CHOICE.examples[-1].arguments
    choice = solution_of("whitening.CHOICE")
    assert choice(corpus, dev, test, ks)[0] != choice(corpus, test, dev, ks)[0]


def test_the_expected_values_of_focal_infonce_are_those_of_the_library():
    rows, columns = (
        normalize(torch.randn(5, 8, generator=torch.Generator().manual_seed(seed)).double()) for seed in (0, 1)
    )
    table = (rows @ columns.T).tolist()
    assert by_hand(table, 0.1, 0.4) == pytest.approx(focal_info_nce(rows, columns, 0.1, m=0.4).total.item(), abs=1e-9)
    gradients = 5 * cosine_gradients(lambda a, b: focal_info_nce(a, b, 0.5, m=0.3).total, rows, columns)
    expected = torch.tensor(differences(table, 0.5, 0.3), dtype=torch.float64)
    torch.testing.assert_close(gradients, expected, atol=1e-5, rtol=1e-5)


def test_a_cone_that_says_nothing_keeps_the_order_exactly():
    assert diagnose(lambda rows: with_column(normed(rows), 10.0), alignment_uniformity.CONE).solved
    assert diagnose(lambda rows: with_column(normed(rows), 10.0)[:, ::-1], alignment_uniformity.CONE).solved


@pytest.mark.parametrize("change", [lambda x: 1e-6 * x + 100, lambda x: x + 1e9, lambda x: 3 - 2 * x + 1e4])
def test_a_shift_and_any_one_factor_are_not_seen(change):
    assert diagnose(change, whitenedcse.UNSEEN_CHANGE).solved


def test_a_map_of_noise_shows_clusters_at_the_perplexity_of_section_1():
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
