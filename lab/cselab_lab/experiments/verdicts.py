"""The verdict of the seeds on a claim: its statistic, interval and tests, and how many tests a page has."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cselab.metrics.ranking import holm

from .experiment import Hypothesis, Values

GEOMETRY = ("alignment", "uniformity", "mean_cosine")
"""Measures that are not in points."""

MARGIN = 0.5
"""Points: a difference within it is called small. Below every gain of an STS average that WhitenedCSE, ImSimCSE and
Focal-InfoNCE print for their method (the least is 0.6). We chose it on 23 November 2026 (commit de56ea7), before any
line of `study` was made."""

MARGINS = {"alignment": 0.02, "uniformity": 0.1, "mean_cosine": 0.02}
"""The same for measures that are not in points."""

Test = tuple[str, str, tuple[float, ...]]
"""A measure, a unit, and the statistic of each seed."""


@dataclass(frozen=True)
class Verdict:
    """The evidence of the seeds for a claim.

    Attributes:
        claim, unit, measure: the claim, its unit, and its measure.
        margin: a statistic within ± this margin is small; 0 without a margin.
        small: whether the claim is smallness (`Equivalent`).
        published: the statistic of the paper's numbers, or None; `published_spread` its standard deviation as far as
            the paper prints some.
        sample: the statistic of each seed.
        interval: the 95 % interval of its mean (Student's t), or None with fewer than two seeds.
        p_value: the p-value of the paired t-test; `p_exact` of the exact sign-flip test.
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
        """The number of seeds."""
        return len(self.sample)

    @property
    def test(self) -> Test | None:
        """Equal for two verdicts whose test is the same: on the same numbers, whichever row comes first."""
        if self.p_value is None:
            return None
        return self.measure, self.unit, max(tuple(round(sign * x, 9) for x in self.sample) for sign in (1, -1))

    @property
    def answer(self) -> str:
        """Direction and size, each as far as the interval decides it.

        * "as large as in the paper": the claimed direction, and the interval reaches the paper's number, within the
          paper's own spread.
        * "the same direction, smaller" or "larger": the interval does not reach the paper's number. "the same
          direction" by itself where the paper prints no number; "the same direction, smaller than D" where the whole
          interval is within the margin D.
        * "smaller than D": the interval includes 0 and is within the margin: no relevant difference.
        * "the opposite": the opposite direction; for a claim of smallness, the whole interval is beyond the margin.
        * "undecided": the interval includes 0 and exceeds the margin. "undecided, smaller than in the paper" where the
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
        size = self._size_in_the_paper
        if low > 0 and size.startswith("as large"):
            return size
        if low > 0 or high < 0:
            direction = "the same direction" if low > 0 else "the opposite"
            return ", ".join(filter(None, (direction, limit if within else size if low > 0 else "")))
        if within:
            return limit
        return "undecided, smaller than in the paper" if size == "smaller" else "undecided"

    @property
    def _size_in_the_paper(self) -> str:
        if self.published is None or self.interval is None:
            return ""
        if self.interval[1] < self.published - self.published_spread:
            return "smaller"
        return "larger" if self.interval[0] > self.published + self.published_spread else "as large as in the paper"

    def record(self) -> dict[str, Any]:
        """All fields, for JSON."""
        return vars(self) | {"ours": self.ours, "seeds": self.seeds, "answer": self.answer}

    def __str__(self) -> str:
        return self.sentence()

    def sentence(self, by_holm: float | None = None) -> str:
        """The verdict in words, with the p-value after Holm over the tests of a page, if any."""
        parts = [f"{self.claim}: {self.answer}{self._measured(by_holm)}"]
        if self.published is not None:
            spread = f" ± {self.published_spread:.{self._digits}f}" if self.published_spread else ""
            parts.append(f"the paper has {signed(self.published, self._digits)}{spread}")
        return "; ".join(parts)

    def _measured(self, by_holm: float | None) -> str:
        if self.ours is None:
            return ""
        certainty = "one seed, no interval" if self.seeds == 1 else "the same with every seed"
        if self.interval is not None and self.p_value is not None and self.p_exact is not None:
            low, high = (signed(bound, self._digits) for bound in self.interval)
            certainty = f"95 % interval {low} to {high} over {self.seeds} seeds, p = {self.p_value:.2g}"
            certainty += "" if by_holm is None else f", {by_holm:.2g} by Holm"
            certainty += f", exact {self.p_exact:.2g}"
            certainty += ", the least possible" * (self.p_exact <= 2.0 ** (1 - self.seeds) * 1.001)
        return f", {signed(self.ours, self._digits)} {self._unit} of {self.measure} ({certainty})".replace("  ", " ")

    def citation(self, tests: "ManyTests") -> str:
        """Effect, 95 % interval, paired seeds, test and Holm's correction in one sentence without its end."""
        if self.test is None or self.interval is None or self.ours is None:
            return f"{self.claim}: {self.answer}"
        low, high = (signed(bound, self._digits) for bound in self.interval)
        return (
            f"{self.claim}: {signed(self.ours, self._digits)} {self._unit} of {self.measure}, 95 % interval {low} to "
            f"{high} ({self.seeds} paired seeds; paired t-test, p = {self.p_value:.2g}, "
            f"{tests.by_holm[self.test]:.2g} by Holm over {len(tests.raw)} tests)"
        ).replace("  ", " ")

    @property
    def _unit(self) -> str:
        return self.unit.removeprefix("points").strip() if self.measure in GEOMETRY else self.unit

    @property
    def _digits(self) -> int:
        return 2 if self.unit == "tau" or self.measure in GEOMETRY else 1


def signed(value: float, digits: int) -> str:
    """A number with its sign, and with enough digits to differ from 0.

    >>> signed(0.5, 1), signed(-0.031, 1), signed(0.0, 1)
    ('+0.5', '-0.03', '+0.0')
    """
    while digits < 9 and value and not float(f"{value:.{digits}f}"):
        digits += 1
    return f"{value + 0.0:+.{digits}f}"


def judge(
    claim: Hypothesis, measure: str, published: Values | None, ours: Sequence[Values], spreads: Values | None = None
) -> Verdict:
    """Compare a claim with the numbers of each seed.

    The statistic is computed seed by seed, so that the common effect of a seed on all rows cancels. Two tests over the
    seeds: Student's t of the mean, and the permutation test that changes signs (exact; with 5 seeds no smaller
    than 2 / 32).

    Args:
        published: the paper's numbers by row, or None where it does not have them all.
        ours: ours by row, one mapping per seed.
        spreads: the standard deviations that the paper prints, by row.
    """
    margin = claim.margin(MARGINS.get(measure, MARGIN))
    paper = None if published is None else claim.statistic(published)
    spread = 0.0 if published is None else claim.spread(spreads or {})
    sample = claim.statistics(ours)
    known = (claim.claim, claim.unit, measure, margin, claim.small, paper, spread, sample)
    if len(sample) < 2:
        return Verdict(*known)
    if np.ptp(sample) <= 1e-12 * max(1.0, *map(abs, sample)):
        return Verdict(*known, interval=(sample[0], sample[0]))
    low, high, p_value, p_exact = tested(np.array(sample))
    return Verdict(*known, interval=(low, high), p_value=p_value, p_exact=p_exact)


def tested(sample: np.ndarray) -> tuple[float, float, float, float]:
    """The 95 % interval of the mean, and the p-values of Student's test and of the exact sign-flip test.

    >>> low, high, student, exact = tested(np.array([1.0, 2.0, 3.0]))
    >>> round(low, 2), round(high, 2), round(student, 3), exact
    (-0.48, 4.48, 0.074, 0.25)
    """
    from scipy.stats import permutation_test, ttest_1samp

    exact = permutation_test((sample,), np.mean, permutation_type="samples", vectorized=True, rng=0)
    return *interval(sample), float(ttest_1samp(sample, 0.0).pvalue), float(exact.pvalue)


def interval(sample: np.ndarray) -> tuple[float, float]:
    """The 95 % interval of the mean, by Student's t."""
    from scipy.special import stdtrit  # sooner imported than `scipy.stats`

    half = stdtrit(len(sample) - 1, 0.975) * sample.std(ddof=1) / len(sample) ** 0.5
    return float(sample.mean() - half), float(sample.mean() + half)


@dataclass(frozen=True)
class ManyTests:
    """The tests behind many verdicts, each once, with their p-values by Holm (1979): one mistake in 20 such pages.

    A claim that two tables share is one test. The smallest of m p-values is multiplied by m, the next by m - 1, and so
    on, each at least the one before; at most 1.
    """

    claims: int
    raw: dict[Test, float]
    by_holm: dict[Test, float]

    @classmethod
    def of(cls, verdicts: Iterable[Verdict]) -> "ManyTests":
        """Holm-corrected p-values of all verdicts of a table or page."""
        verdicts = list(verdicts)
        raw = {one.test: one.p_value for one in verdicts if one.test is not None and one.p_value is not None}
        adjusted = holm(np.array(list(raw.values()))).tolist()
        return cls(len(verdicts), raw, dict(zip(raw, adjusted, strict=True)))

    def sentence(self, verdict: Verdict) -> str:
        """One of the verdicts in words."""
        return verdict.sentence(None if verdict.test is None else self.by_holm.get(verdict.test))

    def __str__(self) -> str:
        low, chance = sum(p < 0.05 for p in self.raw.values()), 0.05 * len(self.raw)
        kept = sum(p < 0.05 for p in self.by_holm.values())
        return (
            f"{self.claims} claims make {len(self.raw)} different tests: {low} have p < 0.05 (expected by "
            f"chance: {chance:.1f}), and {kept} remain significant after Holm over all tests."
        )
