"""The check of the number of seeds: what the test's power says, which a simulation confirms."""

import numpy as np
import pytest
from cselab_lab.lessons.checks import seeds_needed
from cselab_lab.lessons.checks.seeds_needed import GAIN, SPREAD, WANTED, power
from cselab_lab.lessons.exercises import diagnose
from scipy.stats import ttest_1samp

(FEWEST,) = [n for n in range(3, 50) if power(n) >= WANTED > power(n - 1)]


def simulated(seeds, tries=4000):
    gains = np.random.default_rng(1).normal(GAIN, SPREAD, (tries, seeds))
    return float((ttest_1samp(gains, 0, axis=1).pvalue < 0.05).mean())


@pytest.mark.parametrize("seeds", [2, 4, FEWEST])
def test_the_power_is_what_a_simulation_finds(seeds):
    assert simulated(seeds) == pytest.approx(power(seeds), abs=0.025)


def test_one_number_is_right_and_no_simulation_of_a_thousand_tries_can_miss_it():
    solved = [n for n in range(2, 60) if diagnose(n, seeds_needed.STAGES).solved]
    assert solved == [FEWEST]
    assert power(FEWEST) > WANTED + 0.01 and power(FEWEST - 1) < WANTED - 0.05


@pytest.mark.parametrize(
    ("diagnosis", "answer"),
    [
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
)
def test_a_wrong_number_is_named(diagnosis, answer):
    verdict = diagnose(answer, seeds_needed.STAGES)
    assert not verdict.solved and diagnosis in verdict.lines[-1]


def test_a_number_of_numpy_will_do():
    assert diagnose(np.int64(FEWEST), seeds_needed.STAGES).solved
