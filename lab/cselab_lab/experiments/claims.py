"""What a paper claims, as a number for each seed, and what the seeds say about it: direction and size apart.

Size is held against the paper's number, and against a margin that is the same for all (`MARGINS`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import hypot
from typing import Any

import numpy as np

from cselab.metrics.ranking import holm

GEOMETRY = ("alignment", "uniformity", "mean_cosine")
"""Measures that are not in points."""

MARGIN = 0.5
"""Points: a difference within it is called small. Below every gain of an STS average that WhitenedCSE, ImSimCSE and
Focal-InfoNCE print for their method (the least is 0.6). It was chosen on 23 November 2026 (commit de56ea7), before
any line of `study` was made."""

MARGINS = {"alignment": 0.02, "uniformity": 0.1, "mean_cosine": 0.02}
"""The same for measures that are not in points; an experiment may declare its own (`Experiment.margins`)."""

Values = Mapping[str, float]
"""The measured (or published) number of each row, by its label."""

Test = tuple[str, str, tuple[float, ...]]
"""A measure, a unit, and the statistic of each seed."""


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
    small = False

    @property
    def labels(self) -> tuple[str, ...]:
        return (self.higher, self.lower)

    def statistic(self, values: Values) -> float:
        return values[self.higher] - values[self.lower]

    def spread(self, spreads: Values) -> float:
        """The standard deviation of the difference of single runs, from those of the rows."""
        return hypot(*(spreads.get(label, 0.0) for label in self.labels))

    def margin(self, margin: float) -> float:
        """What counts as small, in the unit of the statistic."""
        return margin


@dataclass(frozen=True)
class Negligible(Above):
    """Two rows differ by less than the margin: a claim of smallness, such as "a third view hardly helps"."""

    small = True


@dataclass(frozen=True)
class Trend:
    """The numbers rise from the first row to the last: the slope of the line through them, a row apart.

    >>> Trend("more rows help", ("M = 0", "half", "full")).statistic({"M = 0": 64.0, "half": 71.0, "full": 76.0})
    6.0
    """

    claim: str
    labels: tuple[str, ...]
    unit = "points a row"
    small = False

    @property
    def _weights(self) -> np.ndarray:
        places = np.arange(len(self.labels)) - (len(self.labels) - 1) / 2
        return places / (places @ places)

    def statistic(self, values: Values) -> float:
        return float(self._weights @ [values[label] for label in self.labels])

    def spread(self, spreads: Values) -> float:
        """The standard deviation of the slope, from those of the rows."""
        return float(np.linalg.norm(self._weights * [spreads.get(label, 0.0) for label in self.labels]))

    def margin(self, margin: float) -> float:
        """What counts as small: a slope that adds up to the margin from the first row to the last."""
        return margin / (len(self.labels) - 1)


@dataclass(frozen=True)
class Order:
    """The rows stand in this order, from the lowest to the highest: Kendall's tau, 1 for this, -1 for the reverse.

    >>> Order("parts add up", ("none", "one", "both")).statistic({"none": 1.0, "one": 3.0, "both": 2.0})
    0.333...
    """

    claim: str
    labels: tuple[str, ...]
    unit = "tau"
    small = False

    def statistic(self, values: Values) -> float:
        row = [values[label] for label in self.labels]
        signs = [np.sign(row[b] - row[a]) for a in range(len(row)) for b in range(a + 1, len(row))]
        return float(np.mean(signs))

    def spread(self, spreads: Values) -> float:
        """None is known of an order."""
        return 0.0

    def margin(self, margin: float) -> float:
        """No order is small."""
        return 0.0


Claim = Above | Trend | Order


@dataclass(frozen=True)
class Verdict:
    """What the seeds say about a claim.

    Attributes:
        claim, unit, measure: what was claimed, in which unit, on which number.
        margin: a statistic within it, on both sides of 0, is small; 0 where there is none.
        small: whether smallness is what is claimed (`Negligible`).
        published: the statistic of the paper's numbers, or None; `published_spread` its standard deviation as far as
            the paper prints some.
        sample: the statistic of each seed.
        interval: the 95 % interval of its mean (Student's t), or None with fewer than two seeds.
        p_value: of the paired t-test; `p_exact` of the exact test over all changes of sign.
    """

    claim: str
    unit: str
    measure: str
    margin: float
    small: bool = False
    published: float | None = None
    published_spread: float = 0.0
    sample: tuple[float, ...] = ()
    interval: tuple[float, float] | None = None
    p_value: float | None = None
    p_exact: float | None = None

    @property
    def ours(self) -> float | None:
        """The mean over the seeds."""
        return float(np.mean(self.sample)) if self.sample else None

    @property
    def seeds(self) -> int:
        """How many."""
        return len(self.sample)

    @property
    def test(self) -> Test | None:
        """What two verdicts share whose test is the same: on the same numbers, whichever row stands first."""
        if self.p_value is None:
            return None
        return self.measure, self.unit, max(tuple(round(sign * x, 9) for x in self.sample) for sign in (1, -1))

    @property
    def answer(self) -> str:
        """Direction and size, each as far as the interval decides it.

        * "as large as in the paper": the direction that was claimed, and the interval reaches the paper's number, give
          or take the paper's own spread.
        * "the same direction, smaller" or "larger": it does not reach it. "the same direction" alone where the paper
          prints no number; "the same direction, smaller than D" where the whole interval is within the margin D.
        * "smaller than D": it has 0 in it and is within the margin: there is no difference worth the name.
        * "the opposite": the other direction; of a claim of smallness, that all of it lies beyond the margin.
        * "undecided": it has 0 in it and more than the margin. "undecided, smaller than in the paper" where the
          paper's number lies above it.
        * "one run only", "not run".
        """
        if self.interval is None:
            return "one run only" if self.sample else "not run"
        low, high = self.interval
        limit = f"smaller than {self.margin:g} {self._unit}".rstrip()
        within = -self.margin < low and high < self.margin
        if self.small:
            return limit if within else "the opposite" if low >= self.margin or high <= -self.margin else "undecided"
        beside = self._beside_the_paper
        if low > 0 and beside.startswith("as large"):
            return beside
        if low > 0 or high < 0:
            size = limit if within else beside if low > 0 else ""
            return ", ".join(filter(None, ("the same direction" if low > 0 else "the opposite", size)))
        if within:
            return limit
        return "undecided, smaller than in the paper" if beside == "smaller" else "undecided"

    @property
    def _beside_the_paper(self) -> str:
        if self.published is None or self.interval is None:
            return ""
        if self.interval[1] < self.published - self.published_spread:
            return "smaller"
        return "larger" if self.interval[0] > self.published + self.published_spread else "as large as in the paper"

    def record(self) -> dict[str, Any]:
        """All of it as JSON has it."""
        return vars(self) | {"ours": self.ours, "seeds": self.seeds, "answer": self.answer}

    def __str__(self) -> str:
        return self.said()

    def said(self, by_holm: float | None = None) -> str:
        """The sentence; with the p-value by Holm over the tests of a page, where there is one."""
        parts = [f"{self.claim}: {self.answer}{self._measured(by_holm)}"]
        if self.published is not None:
            spread = f" ± {self.published_spread:.{self._digits}f}" if self.published_spread else ""
            parts.append(f"the paper has {signed(self.published, self._digits)}{spread}")
        return "; ".join(parts)

    def _measured(self, by_holm: float | None) -> str:
        if self.ours is None:
            return ""
        sure = "one seed, no interval" if self.seeds == 1 else "the same with every seed"
        if self.interval is not None and self.p_value is not None:
            low, high = (signed(bound, self._digits) for bound in self.interval)
            sure = f"95 % interval {low} to {high} over {self.seeds} seeds, p = {self.p_value:.2g}"
            sure += "" if by_holm is None else f", {by_holm:.2g} by Holm"
            sure += f", exact {self.p_exact:.2g}{self._least}"
        return f", {signed(self.ours, self._digits)} {self._unit} of {self.measure} ({sure})".replace("  ", " ")

    @property
    def _least(self) -> str:
        least = self.p_exact is not None and self.p_exact <= 2.0 ** (1 - self.seeds) * 1.001
        return ", the least possible" if least else ""

    @property
    def _unit(self) -> str:
        return self.unit.removeprefix("points").strip() if self.measure in GEOMETRY else self.unit

    @property
    def _digits(self) -> int:
        return 2 if self.unit == "tau" or self.measure in GEOMETRY else 1


def signed(value: float, digits: int) -> str:
    """A number with its sign, and with as many more digits as it takes to be other than 0.

    >>> signed(0.5, 1), signed(-0.031, 1), signed(0.0, 1)
    ('+0.5', '-0.03', '+0.0')
    """
    while digits < 9 and value and not float(f"{value:.{digits}f}"):
        digits += 1
    return f"{value + 0.0:+.{digits}f}"


def judge(
    claim: Claim,
    measure: str,
    published: Values | None,
    ours: Sequence[Values],
    *,
    margin: float | None = None,
    spreads: Values | None = None,
) -> Verdict:
    """Hold a claim against the numbers of each seed.

    The statistic is computed seed by seed, so that what a seed does to all rows alike drops out. Two tests over the
    seeds: Student's t of the mean, and the permutation test that changes signs (exact; with 5 seeds no smaller
    than 2 / 32).

    Args:
        published: the paper's numbers by row, or None where it does not have them all.
        ours: ours by row, one mapping a seed.
        margin: what counts as small, on that measure; default: `MARGINS`.
        spreads: the standard deviations that the paper prints, by row.
    """
    margin = claim.margin(MARGINS.get(measure, MARGIN) if margin is None else margin)
    paper = None if published is None else claim.statistic(published)
    spread = 0.0 if published is None else claim.spread(spreads or {})
    sample = tuple(claim.statistic(values) for values in ours)
    asked = (claim.claim, claim.unit, measure, margin, claim.small, paper, spread, sample)
    if len(sample) < 2:
        return Verdict(*asked)
    if np.ptp(sample) <= 1e-12 * max(1.0, *map(abs, sample)):
        return Verdict(*asked, interval=(sample[0], sample[0]))
    low, high, p_value, p_exact = tested(np.array(sample))
    return Verdict(*asked, interval=(low, high), p_value=p_value, p_exact=p_exact)


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


@dataclass(frozen=True)
class ManyTests:
    """The tests behind many verdicts, each once, with their p-values by Holm (1979): one mistake in 20 such pages.

    A claim that two tables share is one test. The smallest of m p-values is multiplied by m, the next by m - 1, and so
    on, none falling below the one before; at most 1.
    """

    claims: int
    raw: dict[Test, float]
    by_holm: dict[Test, float]

    @classmethod
    def of(cls, verdicts: Iterable[Verdict]) -> ManyTests:
        """Of all verdicts of a table or page."""
        verdicts = list(verdicts)
        raw = {one.test: one.p_value for one in verdicts if one.test is not None and one.p_value is not None}
        adjusted = holm(np.array(list(raw.values()))).tolist()
        return cls(len(verdicts), raw, dict(zip(raw, adjusted, strict=True)))

    def said(self, verdict: Verdict) -> str:
        """The sentence of one of them."""
        return verdict.said(None if verdict.test is None else self.by_holm.get(verdict.test))

    def __str__(self) -> str:
        low, chance = sum(p < 0.05 for p in self.raw.values()), 0.05 * len(self.raw)
        kept = sum(p < 0.05 for p in self.by_holm.values())
        return (
            f"{self.claims} claims make {len(self.raw)} different tests: {low} have p < 0.05 (by chance alone "
            f"{chance:.1f} would), and {kept} still by Holm, which counts them all."
        )
