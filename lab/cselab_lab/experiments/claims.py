"""What "the same direction" means: a number for each seed that is above 0 where the claim holds, and the test of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

GEOMETRY = ("alignment", "uniformity", "mean_cosine")
"""Measures that are not in points."""

Values = Mapping[str, float]
"""The measured (or published) number of each row, by its label."""


@dataclass(frozen=True)
class Above:
    """One row scores above another: the difference of the two.

    >>> Above("noise in the negatives costs points", "SimCSE", "+noise").statistic({"SimCSE": 50.0, "+noise": 47.0})
    3.0
    """

    claim: str
    higher: str
    lower: str
    unit = "points"

    @property
    def labels(self) -> tuple[str, ...]:
        return (self.higher, self.lower)

    def statistic(self, values: Values) -> float:
        return values[self.higher] - values[self.lower]


@dataclass(frozen=True)
class Trend:
    """The numbers rise from the first row to the last: the slope of the line through them, a row apart.

    >>> Trend("more rows help", ("M = 0", "half", "full")).statistic({"M = 0": 64.0, "half": 71.0, "full": 76.0})
    6.0
    """

    claim: str
    labels: tuple[str, ...]
    unit = "points a row"

    def statistic(self, values: Values) -> float:
        places = np.arange(len(self.labels)) - (len(self.labels) - 1) / 2
        return float(places @ [values[label] for label in self.labels] / (places @ places))


@dataclass(frozen=True)
class Order:
    """The rows stand in this order, from the lowest to the highest: Kendall's tau, 1 for this, -1 for the reverse.

    >>> Order("parts add up", ("none", "one", "both")).statistic({"none": 1.0, "one": 3.0, "both": 2.0})
    0.333...
    """

    claim: str
    labels: tuple[str, ...]
    unit = "tau"

    def statistic(self, values: Values) -> float:
        row = [values[label] for label in self.labels]
        signs = [np.sign(row[b] - row[a]) for a in range(len(row)) for b in range(a + 1, len(row))]
        return float(np.mean(signs))


Claim = Above | Trend | Order


@dataclass(frozen=True)
class Verdict:
    """Whether a claim holds here, and how sure that is.

    Attributes:
        claim, unit, measure: what was claimed, in which unit, on which number.
        published: the statistic of the paper's numbers, or None.
        ours: the mean of the statistic over the seeds; None where rows are missing.
        interval: its 95 % interval over the seeds (Student's t), or None with fewer than two.
        p_value: of the paired t-test; `p_exact` of the exact test over all changes of sign.
        seeds: how many.
    """

    claim: str
    unit: str
    measure: str
    published: float | None
    ours: float | None = None
    interval: tuple[float, float] | None = None
    p_value: float | None = None
    p_exact: float | None = None
    seeds: int = 0

    @property
    def answer(self) -> str:
        """Where the interval lies, in words.

        "holds here" or "the opposite here" where it leaves out 0; "no effect here" where it has 0 and leaves out what
        the paper found; "undecided" where it has both, so that more seeds are needed; "one run only"; "not run".
        """
        if self.ours is None:
            return "not run"
        if self.interval is None:
            return "one run only"
        low, high = self.interval
        if low > 0 or high < 0:
            return "holds here" if low > 0 else "the opposite here"
        return "undecided" if self.published is None or low <= self.published <= high else "no effect here"

    def __str__(self) -> str:
        paper = "" if self.published is None else f"; the paper has {self.published:+.{self._digits}f}"
        if self.ours is None:
            return f"{self.claim}: not run{paper}"
        sure = "one seed, no interval" if self.seeds == 1 else "the same with every seed"
        if self.interval is not None:
            low, high = (f"{bound:+.{self._digits}f}" for bound in self.interval)
            sure = f"95 % interval {low} to {high} over {self.seeds} seeds"
            if self.p_value is not None:
                sure += f", p = {self.p_value:.2g}, exact {self.p_exact:.2g}"
        unit = self.unit.removeprefix("points").strip() if self.measure in GEOMETRY else self.unit
        ours = f"{self.ours:+.{self._digits}f} {unit} of {self.measure}".replace("  ", " ")
        return f"{self.claim}: {self.answer}, {ours} ({sure}){paper}"

    @property
    def _digits(self) -> int:
        return 2 if self.unit == "tau" or self.measure in GEOMETRY else 1


def judge(claim: Claim, measure: str, published: Values | None, ours: Sequence[Values]) -> Verdict:
    """Hold a claim against the numbers of each seed.

    The statistic is computed seed by seed, so that what a seed does to all rows alike drops out. Two tests over the
    seeds: Student's t of the mean, and the permutation test that changes signs (exact; with 5 seeds no smaller
    than 2 / 32).

    Args:
        published: the paper's numbers by row, or None where it does not have them all.
        ours: ours by row, one mapping a seed.
    """
    paper = None if published is None else claim.statistic(published)
    found = Verdict(claim.claim, claim.unit, measure, paper)
    if not ours:
        return found
    sample = np.array([claim.statistic(values) for values in ours])
    found = Verdict(claim.claim, claim.unit, measure, paper, float(sample.mean()), seeds=len(sample))
    if len(sample) < 2:
        return found
    if np.ptp(sample) <= 1e-12 * max(1.0, float(np.abs(sample).max())):
        value = float(sample.mean())
        return replace(found, interval=(value, value))
    low, high, p_value, p_exact = tested(sample)
    return replace(found, interval=(low, high), p_value=p_value, p_exact=p_exact)


def tested(sample: np.ndarray) -> tuple[float, float, float, float]:
    """The 95 % interval of the mean, and two p-values of its being 0: Student's, and exact over changes of sign.

    >>> low, high, student, exact = tested(np.array([1.0, 2.0, 3.0]))
    >>> round(low, 2), round(high, 2), round(student, 3), exact
    (-0.48, 4.48, 0.074, 0.25)
    """
    from scipy.stats import permutation_test, ttest_1samp

    test = ttest_1samp(sample, 0.0)
    low, high = test.confidence_interval(0.95)
    exact = permutation_test((sample,), np.mean, permutation_type="samples", vectorized=True, rng=0)
    return float(low), float(high), float(test.pvalue), float(exact.pvalue)
