"""Which of many systems differ significantly: p-values that count all pairs, and intervals of ranks.

Arrays in: a number for each system and unit (a task, a seed, a fold).

See also: `cselab.metrics.significance` for two systems.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from cselab._util.arguments import NonNegativeInt, PositiveInt, checked

from .significance import ROUNDING, blocks, is_constant, near_one, require_finite

LEVEL = 0.05

FEW_UNITS = 10
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
        untested: pairs of systems with the same difference in every unit. There is no spread to test against, so their
            p-value is 1; `cselab.metrics.paired_t_test` refuses such a pair.
    """

    scores: Float[np.ndarray, " m"]
    p_values: Square
    test: str
    untested: Sequence[tuple[int, int]] = ()

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
        """Groups of systems, best first: two systems share a group if and only if they do not differ significantly.

        A system may be in several groups: the letters of a compact display (Piepho 2004). Each group is as large as
        possible.
        """
        order = np.argsort(-self.scores, kind="stable")
        tied = (self.p_values >= LEVEL)[np.ix_(order, order)]
        without_group, groups = np.triu(tied), []
        for first in range(len(order)):
            while without_group[first].any():
                second = int(without_group[first].argmax())
                group, fitting = [first, second], tied[first] & tied[second]
                fitting[group] = False
                while fitting.any():
                    group.append(int(fitting.argmax()))
                    fitting &= tied[group[-1]]
                    fitting[group[-1]] = False
                group = sorted(set(group))
                without_group[np.ix_(group, group)] = False
                groups.append(group)
        return [order[group].tolist() for group in sorted(groups)]

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
    Wolf 2005). With fewer: paired t-tests, corrected by Holm (1979). A pair whose difference is the same in every unit
    is not tested.

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
    scores = scores.astype(np.float64)
    if np.abs(scores).max() > LARGEST:
        raise ValueError(f"a score of {np.abs(scores).max():g}: scores above {LARGEST:g} cannot be compared")
    rows, columns = np.triu_indices(m, 1)
    scaled, _ = near_one(scores)
    differences = scaled[rows] - scaled[columns]
    means = differences.mean(axis=1)
    constant = is_constant(differences, scaled)
    errors = np.where(constant, 1.0, differences.std(axis=1, ddof=1) / np.sqrt(n))
    statistics = np.where(constant, 0.0, np.abs(means) / errors)
    if n < FEW_UNITS:
        from scipy.stats import t as student

        p_values, test = holm(2 * student.sf(statistics, n - 1)), "paired t-tests by Holm"
    else:
        null = _studentised(differences - means[:, None], resamples, seed)
        p_values, test = step_down(statistics, null), "bootstrap over units, step-down over all pairs"
    untested = constant & (np.abs(means) > ROUNDING * np.abs(scaled).max())
    p_values[constant] = 1.0
    pairs = list(zip(rows[untested].tolist(), columns[untested].tolist(), strict=True))
    return Ranking(scores.mean(axis=1), _square(m, p_values), test, pairs)


@checked
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


def step_down(statistics: Tests, null: Iterable[Float[np.ndarray, "_b k"]]) -> Tests:
    """Adjusted p-values of k statistics by their joint distribution under chance (Romano and Wolf 2005, Algorithm 4.1).

    As Holm's, but the largest remaining statistic is compared with the largest that chance gives to any of them,
    so that dependent tests cost little power.

    Args:
        statistics: large values speak against the null hypothesis.
        null: the same statistics in draws from chance, block by block, so that memory holds one block.
    """
    order = np.argsort(-statistics, kind="stable")
    reached, draws = np.zeros(len(order)), 0
    for block in null:
        largest = np.maximum.accumulate(block[:, order[::-1]], axis=1)[:, ::-1]
        reached += (largest >= statistics[order]).sum(axis=0)
        draws += len(block)
    adjusted = np.empty(len(statistics))
    adjusted[order] = np.maximum.accumulate((1 + reached) / (draws + 1))
    return adjusted


def _studentised(centred: Float[np.ndarray, "k n"], resamples: int, seed: int) -> Iterator[Float[np.ndarray, "_b k"]]:
    """|t| of each centred difference on the same resampled units, block by block.

    It is 0 where a resample has no spread: where a difference is large in one unit only, many resamples lack this unit.
    """
    generator, (k, n) = np.random.default_rng(seed), centred.shape
    squares = centred**2
    least = ROUNDING * squares.mean(axis=1)
    for block in blocks(resamples, k):
        times = generator.multinomial(n, np.full(n, 1 / n), size=block.stop - block.start) / n
        means = times @ centred.T
        spread = np.maximum(times @ squares.T - means**2, 0)
        spreads = spread > least
        yield np.divide(np.abs(means), np.sqrt(spread / (n - 1)), out=np.zeros_like(means), where=spreads)


def _square(m: int, p_values: Tests) -> Square:
    whole = np.ones((m, m))
    rows, columns = np.triu_indices(m, 1)
    whole[rows, columns] = whole[columns, rows] = p_values
    return whole
