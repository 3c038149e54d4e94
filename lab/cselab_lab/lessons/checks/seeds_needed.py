"""Stages for an exercise that looks for a number of seeds: the fewest with which a gain of one point is seen.

Seen means: the paired t-test over the seeds gives p < 0.05, in at least four of five tries, where the gain of a seed
is normal with mean GAIN and standard deviation SPREAD. The exercise simulates; `power` computes.
"""

from numbers import Integral
from typing import Any

from scipy.stats import nct, t

from cselab_lab.lessons.exercises import Stage

GAIN, SPREAD = 1.0, 0.75
WANTED = 0.8
SLACK = 0.02  # what a thousand simulated tries may be off


def power(seeds: int, gain: float = GAIN, spread: float = SPREAD) -> float:
    """How often a two-sided paired t-test over so many seeds gives p < 0.05.

    >>> power(2) < 0.2 < 0.95 < power(20)
    True
    """
    limit, shift = t.ppf(0.975, seeds - 1), gain / spread * seeds**0.5
    return float(nct.sf(limit, seeds - 1, shift) + nct.cdf(-limit, seeds - 1, shift))


def _whole(seeds: Any) -> bool:
    return isinstance(seeds, Integral) and not isinstance(seeds, bool)


STAGES = [
    Stage("it is a whole number", _whole, "write the number of seeds: seeds_needed = 12"),
    Stage("a spread needs two seeds at least", lambda n: n >= 2, "one difference has no spread to test it against."),
    Stage(
        "four of five tries see the gain",
        lambda n: power(int(n)) >= WANTED - SLACK,
        "too few: try found(...) with this number, and with some more.",
    ),
    Stage(
        "with one seed fewer they do not",
        lambda n: n == 2 or power(int(n) - 1) < WANTED + SLACK,
        "enough, but not the fewest: does one seed less still do?",
    ),
]
