"""What a paper claims, as a statistic of rows, and the verdict of our seeds on it: its interval and tests.

Known without numpy, so that experiments can be listed at once.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

# ------------------------------------------------------------------------------------------------ claims

Values = Mapping[str, float]
"""The measured (or published) number of each row, by its label."""


@dataclass(frozen=True)
class Hypothesis:
    """Something that a paper claims about some rows: a weighted sum of their numbers, positive where the claim holds.

    Attributes:
        claim: the claim in words.
        labels: the labels of the rows.
        on: the column that is judged; empty for the experiment's first.
        unit: the unit of the statistic.
        small: whether the claim is smallness.
    """

    claim: str
    labels: tuple[str, ...]
    on: str = ""
    unit = "points"
    small = False

    @property
    def weights(self) -> Sequence[float]:
        """The factor of each row's number in the statistic."""
        raise NotImplementedError

    def statistic(self, values: Values) -> float:
        """The number that is claimed to be positive."""
        return sum(weight * values[label] for weight, label in zip(self.weights, self.labels, strict=True))

    def spread(self, spreads: Values) -> float:
        """The standard deviation of the statistic, from those of the rows; a row without one counts as exact."""
        return math.hypot(
            *(weight * spreads.get(label, 0.0) for weight, label in zip(self.weights, self.labels, strict=True))
        )

    def margin(self, margin: float) -> float:
        """The limit of small differences, in the unit of the statistic, if rows may differ by `margin`."""
        return margin


class Above(Hypothesis):
    """One row scores above a second row, the papers' baseline where none is named: their difference.

    >>> Above("noise in the negatives costs points", "SimCSE", "+noise").statistic({"SimCSE": 50.0, "+noise": 47.0})
    3.0
    """

    def __init__(self, claim: str, higher: str, lower: str = "SimCSE", on: str = "") -> None:
        super().__init__(claim, (higher, lower), on)

    @property
    def weights(self) -> Sequence[float]:
        return 1.0, -1.0


class Equivalent(Above):
    """Two rows differ by less than the margin: a claim of smallness, such as "a third view hardly helps"."""

    small = True


class Trend(Hypothesis):
    """The numbers rise from the first row to the last: the slope of the line through them, a row apart.

    >>> Trend("more rows help", ("M = 0", "half", "full")).statistic({"M = 0": 64.0, "half": 71.0, "full": 76.0})
    6.0
    """

    unit = "points a row"

    @property
    def weights(self) -> Sequence[float]:
        places = [place - (len(self.labels) - 1) / 2 for place in range(len(self.labels))]
        return [place / sum(place**2 for place in places) for place in places]

    def margin(self, margin: float) -> float:
        """A slope that adds up to the margin from the first row to the last."""
        return margin / (len(self.labels) - 1)


class Order(Hypothesis):
    """The rows are in this order, from the lowest to the highest: Kendall's tau, 1 for this, -1 for the reverse.

    >>> Order("parts add up", ("none", "one", "both")).statistic({"none": 1.0, "one": 3.0, "both": 2.0})
    0.333...
    """

    unit = "tau"

    def statistic(self, values: Values) -> float:
        row = [values[label] for label in self.labels]
        signs = [(row[b] > row[a]) - (row[b] < row[a]) for a in range(len(row)) for b in range(a + 1, len(row))]
        return mean(map(float, signs))

    def spread(self, spreads: Values) -> float:
        """Unknown for an order."""
        return 0.0

    def margin(self, margin: float) -> float:
        """No order is small."""
        return 0.0


# ------------------------------------------------------------------------------------------------ verdicts

MARGIN = 0.5
"""Points: a difference within it is called small. Below every gain of an STS average that WhitenedCSE, ImSimCSE and
Focal-InfoNCE print for their method (the least is 0.6). We chose it on 23 November 2026 (commit de56ea7), before any
line of `study` was made."""

MARGINS = {"alignment": 0.02, "uniformity": 0.1, "mean_cosine": 0.02}
"""The same for measures that are not in points."""

GEOMETRY = tuple(MARGINS)

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
        import numpy as np

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

        * "compatible with the paper": the claimed direction, and the interval reaches the paper's number, within the
          paper's own spread.
        * "the same direction, smaller" or "larger": the interval does not reach the paper's number. "the same
          direction" by itself where the paper prints no number; "the same direction, smaller than D" where the whole
          interval is within the margin D.
        * "smaller than D": the interval includes 0 and is within the margin: no relevant difference.
        * "the opposite": the opposite direction; for a claim of smallness, the whole interval is beyond the margin.
        * "undecided": the interval includes 0 and exceeds the margin. "undecided, short of the paper" where the
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
        if low > 0 and size.startswith("compatible"):
            return size
        if low > 0 or high < 0:
            direction = "the same direction" if low > 0 else "the opposite"
            return ", ".join(filter(None, (direction, limit if within else size if low > 0 else "")))
        if within:
            return limit
        return "undecided, short of the paper" if size == "smaller" else "undecided"

    @property
    def _size_in_the_paper(self) -> str:
        if self.published is None or self.interval is None:
            return ""
        if self.interval[1] < self.published - self.published_spread:
            return "smaller"
        return "larger" if self.interval[0] > self.published + self.published_spread else "compatible with the paper"

    def record(self) -> dict[str, Any]:
        """All fields, for JSON."""
        return vars(self) | {"ours": self.ours, "seeds": self.seeds, "answer": self.answer}

    def sentence(self, by_holm: float | None = None) -> str:
        """The verdict in words, with the p-value after Holm over the tests of a page, if any."""
        parts = [f"{self.claim}: {self.answer}{self._measured(by_holm)}"]
        if self.published is not None:
            spread = f" ± {self.published_spread:.{self.digits}f}" if self.published_spread else ""
            parts.append(f"the paper has {signed(self.published, self.digits)}{spread}")
        return "; ".join(parts)

    __str__ = sentence

    def _measured(self, by_holm: float | None) -> str:
        if self.ours is None:
            return ""
        certainty = "one seed, no interval" if self.seeds == 1 else "the same with every seed"
        if self.interval is not None and self.p_value is not None and self.p_exact is not None:
            certainty = f"{self._between} over {self.seeds} seeds, p = {self.p_value:.2g}"
            certainty += "" if by_holm is None else f", {by_holm:.2g} by Holm"
            certainty += f", exact {self.p_exact:.2g}"
            certainty += ", the least possible" * (self.p_exact <= 2.0 ** (1 - self.seeds) * 1.001)
        return f", {self._effect} ({certainty})"

    def citation(self, tests: "ManyTests") -> str:
        """Effect, 95 % interval, paired seeds, test and Holm's correction in one sentence without its end."""
        if self.test is None:
            return f"{self.claim}: {self.answer}"
        return (
            f"{self.claim}: {self._effect}, {self._between} ({self.seeds} paired seeds; paired t-test, p = "
            f"{self.p_value:.2g}, {tests.by_holm[self.test]:.2g} by Holm over {len(tests.raw)} tests)"
        )

    @property
    def _effect(self) -> str:
        return f"{signed(self.ours or 0.0, self.digits)} {self._unit} of {self.measure}".replace("  ", " ")

    @property
    def _between(self) -> str:
        return "95 % interval " + " to ".join(signed(bound, self.digits) for bound in self.interval or ())

    @property
    def _unit(self) -> str:
        return self.unit.removeprefix("points").strip() if self.measure in GEOMETRY else self.unit

    @property
    def digits(self) -> int:
        """The decimals of its numbers."""
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
    import numpy as np

    margin = claim.margin(MARGINS.get(measure, MARGIN))
    paper = None if published is None else claim.statistic(published)
    spread = 0.0 if published is None else claim.spread(spreads or {})
    sample = tuple(claim.statistic(values) for values in ours)
    known = (claim.claim, claim.unit, measure, margin, claim.small, paper, spread, sample)
    if len(sample) < 2:
        return Verdict(*known)
    if max(sample) - min(sample) <= 1e-12 * max(1.0, *map(abs, sample)):
        return Verdict(*known, interval=(sample[0], sample[0]))
    low, high, p_value, p_exact = tested(np.array(sample))
    return Verdict(*known, interval=(low, high), p_value=p_value, p_exact=p_exact)


def tested(sample: "np.ndarray") -> tuple[float, float, float, float]:
    """The 95 % interval of the mean, and the p-values of Student's test and of the exact sign-flip test.

    >>> import numpy as np
    >>> low, high, student, exact = tested(np.array([1.0, 2.0, 3.0]))
    >>> round(low, 2), round(high, 2), round(student, 3), exact
    (-0.48, 4.48, 0.074, 0.25)
    """
    import numpy as np
    from scipy.stats import permutation_test, ttest_1samp

    exact = permutation_test((sample,), np.mean, permutation_type="samples", vectorized=True, rng=0)
    return *interval(sample), float(ttest_1samp(sample, 0.0).pvalue), float(exact.pvalue)


def intervals(samples: Iterable[Sequence[float]]) -> list[tuple[float, float] | tuple[None, None]]:
    """The interval of the mean of each sample; none for one number, or for equal ones."""
    import numpy as np

    return [interval(np.array(one)) if len(one) > 1 and max(one) > min(one) else (None, None) for one in samples]


def interval(sample: "np.ndarray") -> tuple[float, float]:
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
        import numpy as np

        from cselab.metrics.ranking import holm

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
