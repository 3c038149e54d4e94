"""Which of many systems differ significantly: p-values that count all pairs, and intervals of ranks.

Arrays in: a number for each system and unit (a task, a seed, a fold), or the predictions of each for the same rows.

See also: `cselab.metrics.significance` for two systems.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Shaped

from cselab._util.arguments import NonNegativeInt, PositiveInt, checked

from .significance import BLOCK, LEAST_ROWS, defined, require_finite, require_rows, resampled, score

LEVEL = 0.05

FEW = 10
"""Units below which a bootstrap is too coarse, and Student's t with Holm replaces it."""

LARGEST = 1e100
"""Of larger scores the squares overflow."""

Systems = Float[np.ndarray, "m n"]
Square = Float[np.ndarray, "m m"]
Tests = Float[np.ndarray, " k"]  # a number for each of k tests


@dataclass(frozen=True, eq=False)
class Ranking:
    """Many systems compared, each pair counted.

    Attributes:
        scores: the scores of each system.
        p_values: the p-values of each pair, two-sided, for all pairs together; below `LEVEL` a pair differs
            significantly.
        test: the method of the p-values.
    """

    scores: Float[np.ndarray, " m"]
    p_values: Square
    test: str

    @property
    def better(self) -> Bool[np.ndarray, "m m"]:
        """Entry ij: system i is significantly better than j."""
        return (self.p_values < LEVEL) & (self.scores[:, None] > self.scores[None])

    @property
    def intervals(self) -> list[tuple[int, int]]:
        """The ranks that each system may have, 1 the best.

            from 1 + the number of better systems to m - the number of worse systems

        With probability 0.95 all of them contain the true ranks; truly equal systems share
        a set of true ranks (Mohamad, Goeman and van Zwet 2019).
        """
        above, below = self.better.sum(axis=0), self.better.sum(axis=1)
        return [(1 + int(up), len(self.scores) - int(down)) for up, down in zip(above, below, strict=True)]

    @property
    def groups(self) -> list[list[int]]:
        """The largest runs of systems, best first, without a significant difference inside; a system may be in
        several.
        """
        order = np.argsort(-self.scores, kind="stable")
        apart, groups, last = (self.p_values < LEVEL)[np.ix_(order, order)], [], 0
        for first in range(len(order)):
            end = first + 1
            while end < len(order) and not apart[first:end, end].any():
                end += 1
            if end > last:
                groups.append(order[first:end].tolist())
                last = end
        return groups

    @property
    def tied_neighbours(self) -> tuple[int, int]:
        """The number of systems that do not differ significantly from the next one, and the number of systems with a
        next one.
        """
        order = np.argsort(-self.scores, kind="stable")
        tied = int((self.p_values[order[:-1], order[1:]] >= LEVEL).sum())
        return tied, len(order) - 1


@checked
def rank_means(scores: Systems, resamples: PositiveInt = 2000, seed: NonNegativeInt = 0) -> Ranking:
    """Systems by their mean over units, which all of them share: tasks, seeds, folds.

    With ten units or more: paired bootstrap over units of the largest studentised difference, step by step (Romano and
    Wolf 2005). With fewer: paired t-tests, corrected by Holm (1979).

    Args:
        scores: one row per system, one column per unit.

    Raises:
        ValueError: fewer than two systems or units, a number that is missing or not finite, or above `LARGEST`.

    >>> ranking = rank_means(np.array([[1.0, 1.2, 0.9, 1.1], [1.1, 1.1, 1.0, 1.1], [3.0, 3.1, 2.9, 3.3]]))
    >>> ranking.intervals, ranking.groups
    ([(2, 3), (2, 3), (1, 1)], [[2], [1, 0]])
    """
    m, n = scores.shape
    if m < 2 or n < 2:
        raise ValueError(f"at least two systems with two shared units each are needed, got {m} and {n}")
    require_finite("scores", scores)
    if np.abs(scores).max() > LARGEST:
        raise ValueError(f"a score of {np.abs(scores).max():g}: scores above {LARGEST:g} cannot be compared")
    rows, columns = np.triu_indices(m, 1)
    differences = scores[rows] - scores[columns]
    means = differences.mean(axis=1)
    errors = np.maximum(differences.std(axis=1, ddof=1) / np.sqrt(n), 1e-12 * max(1.0, float(np.abs(scores).max())))
    if n < FEW:
        from scipy.stats import t as student

        p_values, test = holm(2 * student.sf(np.abs(means / errors), n - 1)), "paired t-tests by Holm"
    else:
        null = _studentised(differences - means[:, None], resamples, seed)
        p_values, test = step_down(np.abs(means / errors), null), "bootstrap over units, step-down over all pairs"
    return Ranking(scores.mean(axis=1), _square(m, p_values), test)


@checked
def rank_predictions(
    predicted: Systems, gold: Shaped[np.ndarray, " n"], resamples: PositiveInt = 1000, seed: NonNegativeInt = 0
) -> Ranking:
    """Systems by the Spearman correlation of their predictions for the same rows.

    All are scored on the same resampled rows. A difference is divided by its standard deviation over the resamples,
    and compared with the largest difference by chance over all pairs, step by step (Romano and Wolf 2005).

    Raises:
        ValueError: fewer than two systems, fewer than `LEAST_ROWS` rows, a number that is not
            finite.
        UndefinedCorrelation: see `cselab.metrics.significance.correlation`.
    """
    m = len(predicted)
    if m < 2:
        raise ValueError(f"at least two systems are needed, got {m}")
    require_rows(gold, *predicted, least=LEAST_ROWS)
    scores = np.array([score(one, gold) for one in predicted])
    draws = defined(resampled(list(predicted), gold, "spearman", None, resamples, seed))
    rows, columns = np.triu_indices(m, 1)
    apart, drawn = scores[rows] - scores[columns], draws[rows] - draws[columns]
    errors = np.maximum(drawn.std(axis=1), 1e-12)
    null = (np.abs(drawn - apart[:, None]) / errors[:, None]).T
    p_values = step_down(np.abs(apart) / errors, null)
    return Ranking(scores, _square(m, p_values), "bootstrap over rows, step-down over all pairs")


def holm(p_values: Tests) -> Tests:
    """P-values of k tests after Holm: the smallest times k, the next times k - 1 ..., each at least the one before.

    Holm 1979: the chance that any true hypothesis falls below 0.05 is at most 0.05, whatever the
    dependence between the tests.

    Raises:
        ValueError: a number that is not between 0 and 1.

    >>> holm(np.array([0.04, 0.01, 0.03]))
    array([0.06, 0.03, 0.06])
    """
    p_values = np.asarray(p_values, dtype=float)
    if not ((p_values >= 0) & (p_values <= 1)).all():
        raise ValueError(f"p-values lie between 0 and 1, got {p_values.tolist()}")
    order = np.argsort(p_values, kind="stable")
    times = np.arange(len(order), 0, -1)
    adjusted = np.empty(len(order))
    adjusted[order] = np.maximum.accumulate(np.minimum(1.0, times * p_values[order]))
    return adjusted


def step_down(statistics: Tests, null: Float[np.ndarray, "b k"]) -> Tests:
    """Adjusted p-values of k statistics by their joint distribution under chance (Romano and Wolf 2005, Algorithm 4.1).

    As Holm's, but the largest remaining statistic is compared with the largest that chance gives to any of them,
    so that dependent tests cost little power.

    Args:
        statistics: large values speak against the null hypothesis.
        null: the same statistics in b draws from chance.
    """
    order = np.argsort(-statistics, kind="stable")
    largest = np.maximum.accumulate(null[:, order[::-1]], axis=1)[:, ::-1]
    shares = (1 + (largest >= statistics[order]).sum(axis=0)) / (len(null) + 1)
    adjusted = np.empty(len(statistics))
    adjusted[order] = np.maximum.accumulate(shares)
    return adjusted


def _studentised(centred: Float[np.ndarray, "k n"], resamples: int, seed: int) -> Float[np.ndarray, "b k"]:
    """|t| of each centred difference on the same resampled units."""
    generator, (k, n) = np.random.default_rng(seed), centred.shape
    statistics = np.empty((resamples, k))
    step = max(1, BLOCK // k)
    squares = centred**2
    for start in range(0, resamples, step):
        block = slice(start, min(start + step, resamples))
        times = generator.multinomial(n, np.full(n, 1 / n), size=block.stop - start) / n
        means = times @ centred.T
        spread = np.maximum(times @ squares.T - means**2, 0) / (n - 1)
        statistics[block] = np.abs(means) / np.sqrt(np.maximum(spread, 1e-24))
    return statistics


def _square(m: int, p_values: Tests) -> Square:
    whole = np.ones((m, m))
    rows, columns = np.triu_indices(m, 1)
    whole[rows, columns] = whole[columns, rows] = p_values
    return whole
