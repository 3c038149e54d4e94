"""What a lesson tells its reader to take home holds for at least four of five seeds.

The seeds are those of the recorded numbers: of `micro` under smoke beside the notebooks, of `mini` in results/effects.
"""

import json
from math import ceil

import pytest

from cselab.lab.effects import read_effects
from cselab.lab.notebook_folder import bundled_notebooks, find_notebooks

SEEDS = range(5)
CLAIMS = {
    "00_tour": {
        "subtracting the mean brings a part of the gain for nothing": lambda r: (
            r["plain: World-STS"] < r["mean subtracted: World-STS"] < r["SimCSE: World-STS"]
        ),
        "SimCSE leaves a part of the cone, and spreads the rest": lambda r: (
            0.1 < r["SimCSE: mean cosine"] < r["plain: mean cosine"]
        ),
        "SimCSE gains on sentences unlike those it saw, too": lambda r: (
            r["SimCSE: Classroom-STS"] > r["plain: Classroom-STS"]
        ),
    },
    "01_anisotropy": {
        "averaging makes the cone": lambda r: r["mean cosine, mean of tokens"] > r["mean cosine, single tokens"] + 0.2,
        "random words lie as deep in it as sentences": lambda r: (
            r["random words: mean cosine"] > r["real: mean cosine"] - 0.03
        ),
        "another mix of words keeps a direction of its own": lambda r: (
            r["rare: after"] > 0.2 > 2 * r["random words: after"]
        ),
    },
    "02_simcse": {
        "training hands the push to fewer negatives": lambda r: (
            r["half of the push by, at 0.05, trained"] < r["half of the push by, at 0.05"]
        ),
        "without dropout the loss is lower": lambda r: (
            r["no dropout: mean loss of the last 10 steps"] < r["SimCSE: mean loss of the last 10 steps"]
        ),
        "and dev and alignment are worse": lambda r: (
            r["no dropout: gain on dev"] < r["SimCSE: gain on dev"]
            and r["no dropout: alignment"] > r["SimCSE: alignment"]
        ),
    },
    "03_whitening": {
        "equal weight gains, not the mean": lambda r: r["whitening gain on dev"] > 3 > 3 * r["mean gain on dev"],
        "the worst number of rows is the width": lambda r: r["rows with the lowest dev score"] in (128, 256),
        "it moves the cosine towards counting words": lambda r: r["all directions are more like counting than 16"],
    },
    "04_whitenedcse": {
        "the loss starts where the work is done": lambda r: (
            r["loss of a whitened batch"] < r["loss of a plain batch"] / 4
        ),
        "with one pass the loss is next to nothing, and dev stays behind": lambda r: (
            r["one pass: loss of the last ten steps"] < 0.001
            and r["one pass: dev gain at the last step"] < r["three passes: dev gain at the last step"]
        ),
        "and the cone stays more closed": lambda r: (
            r["one pass: mean cosine at the last step"] > r["three passes: mean cosine at the last step"]
        ),
    },
    "05_dropout_noise": {
        "dropout is no gentle nudge": lambda r: r["cosine of two passes"] < 0.95,
        "noise in the negatives solves the task": lambda r: (
            r["loss before training, noisy negatives"] < r["loss before training, SimCSE"] / 2
        ),
        "and the cone closes": lambda r: r["mean cosine after noisy negatives"] > r["mean cosine after SimCSE"] + 0.1,
    },
    "06_rank_bottleneck": {
        "a sentence adds one direction": lambda r: (
            (r["rank of 64 sentences"], r["rank of 64 sentences, centred"]) == (64, 63)
        ),
        "short artificial rows lift the rank as well": lambda r: r["rank with short artificial rows"] in (128, 256),
        "rows up to full rank take the pull of Barlow Twins away": lambda r: (
            r["pull of Barlow Twins, M = 0"] > 1 > 20 * r["pull of Barlow Twins, full rank"]
        ),
    },
    "07_focal_infonce": {
        "fewer negatives carry the push": lambda r: (
            r["half of the push by, Focal-InfoNCE"] < r["half of the push by, InfoNCE"]
        ),
        "its loss does not go silent": lambda r: (
            r["Focal: mean loss of the last 10 steps"] > 2 * r["SimCSE: mean loss of the last 10 steps"]
            and r["gradient norm, Focal by SimCSE"] > 1.5
        ),
        "its gain is no larger than the spread of the seeds": lambda r: (
            abs(r["Focal: gain on dev"] - r["SimCSE: gain on dev"]) < 1.6  # SimCSE: from 3.9 to 5.5
        ),
    },
    "08_alignment_uniformity": {
        "over many methods geometry does not tell the score": lambda r: (
            abs(r["uniformity and score, recorded runs"]) < 0.3 and abs(r["alignment and score, recorded runs"]) < 0.3
        ),
        "within one run of SimCSE it does": lambda r: r["SimCSE: uniformity and score over the steps"] < -0.7,
        "uniformity alone gets uniformity, and no score": lambda r: (
            r["uniformity alone: uniformity at the last step"] < r["SimCSE: uniformity at the last step"]
            and r["uniformity alone: gain of the best step"] < r["SimCSE: gain of the best step"] / 2
        ),
    },
    "09_embedding_maps": {
        "a map of noise keeps neighbours as well": lambda r: r["noise: preservation by t-SNE"] > 0.2,
        "halves of the width agree on sentences, and not on noise": lambda r: (
            r["sentences: halves agree"] > 3 * r["noise: halves agree"]
        ),
        "t-SNE makes wide and narrow alike": lambda r: (
            r["sport over cooking in the t-SNE map"] < r["sport over cooking in full width"] / 2
        ),
    },
    "10_benchmarks": {
        "on a small test the interval is wider than most gains": lambda r: r["half the interval, Classroom-STS"] > 1.5,
        "one point takes thousands of pairs": lambda r: r["pairs for one point"] > 2000,
        "another average turns the order of two rows around": lambda r: r["SimCSE, BERT less RoBERTa, by pairs"] > 0,
    },
    "11_survey": {
        "most methods touch the loss": lambda r: r["methods that touch loss"] > 2 * r["methods that touch data"],
        "the first of a table of single runs often loses the next": lambda r: 0.3 < r["the winner wins again"] < 0.8,
        "what is brought in helps where it came from": lambda r: (
            r["BT-BERT: gain on World-STS"] - r["SimCSE: gain on World-STS"]
            > r["BT-BERT: gain on Classroom-STS"] - r["SimCSE: gain on Classroom-STS"]
        ),
    },
    "12_your_own_method": {
        "training clears the control": lambda r: r["SimCSE less control, dev"] > 1,
        "two losses lie no further apart than two seeds": lambda r: abs(r["hard negatives less SimCSE, dev"]) < 1.6,
    },
}


@pytest.mark.parametrize(("lesson", "claim"), [(lesson, claim) for lesson in CLAIMS for claim in CLAIMS[lesson]])
def test_what_is_taken_home_holds_for_four_of_five_seeds(lesson, claim):
    file = bundled_notebooks() / "recorded" / f"{lesson}.smoke.json"
    records = json.loads(file.read_text(encoding="utf-8"))["records"]
    runs = [{entry["name"]: entry["seeds"][str(seed)] for entry in records} for seed in SEEDS]
    assert sum(bool(CLAIMS[lesson][claim](run)) for run in runs) >= 4


def classroom_claims():
    for file in sorted((bundled_notebooks() / "recorded").glob("*.classroom.json")):
        for claim in CLAIMS[file.name.split(".")[0]]:
            yield pytest.param(file, claim, id=f"{file.name.split('.')[0]}: {claim}")


@pytest.mark.parametrize(("file", "claim"), list(classroom_claims()))
def test_what_is_taken_home_holds_as_a_class_runs_it(file, claim):
    run = {entry["name"]: entry["value"] for entry in json.loads(file.read_text(encoding="utf-8"))["records"]}
    assert CLAIMS[file.name.split(".")[0]][claim](run)


def test_the_same_numbers_are_recorded_as_a_class_runs_them():
    for file in (bundled_notebooks() / "recorded").glob("*.classroom.json"):
        small = file.with_name(file.name.replace("classroom", "smoke"))
        here, there = (
            [(entry["name"], entry["tolerance"]) for entry in json.loads(one.read_text(encoding="utf-8"))["records"]]
            for one in (file, small)
        )
        assert here == there, file.name


def test_every_lesson_has_its_claims_and_recorded_seeds():
    assert [path.stem for path in find_notebooks(bundled_notebooks()) if path.stem[:2].isdecimal()] == list(CLAIMS)


TESTS = ("STS-B", "World-STS", "Classroom-STS")


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize(
    ("higher", "lower"),
    [
        ("SimCSE", "plain, mean subtracted"),  # lessons 00, 02, 12
        ("SimCSE", "+noise on negatives"),  # lesson 05
        ("WhitenedCSE, 3 passes", "plain, mean subtracted"),  # lesson 04
    ],
)
def test_claims_on_the_encoder_of_the_classroom_hold_for_most_seeds(higher, lower, test):
    effects = read_effects()
    above, below = effects.values(higher, test), effects.values(lower, test)
    better = [value > below.get(seed, effects.mean(lower, test)) for seed, value in above.items()]
    assert len(better) >= 4 and sum(better) >= ceil(0.8 * len(better))


def test_whitening_wins_on_sts_b_and_loses_where_shared_words_mislead():
    effects = read_effects()
    above = {test: effects.mean("plain, whitened", test) > effects.mean("SimCSE", test) for test in TESTS}
    assert above == {"STS-B": True, "World-STS": False, "Classroom-STS": False}
