"""What was measured once of the papers' effects, for lessons that show many runs and compute none of them.

results/effects.jsonl has a line for each run of `benchmarks/effects.py`: `mini`, [CLS] with the head, 60 steps on half
world, half Simple English Wikipedia; the best step by STS-B dev; scores of the tests, and the geometry of STS-B.

See also: `results/effects.md`, the same as one table with its tests; `cselab_lab.experiments`, tables of the papers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import mean, stdev
from typing import Any

from cselab_lab.resources import recorded_results
from cselab_lab.tables import table

USUAL = "half-world:20000"  # the corpus of all rows but one
SCORES = ("STS-B", "World-STS", "Classroom-STS")


@dataclass(frozen=True)
class Effects:
    """Recorded runs by row ("SimCSE", "plain, whitened", ...) and seed (None where nothing is drawn)."""

    lines: Mapping[str, Mapping[int | None, Mapping[str, Any]]]

    def values(self, row: str, measure: str) -> dict[int | None, float]:
        """One number of a row by seed: "STS-B", "STS-B dev", "mean cosine", "effective rank" ...

        Raises:
            ValueError: no such row or measure; lists those there are.
        """
        scores = {seed: line["scores"] for seed, line in self._row(row).items()}
        known = next(iter(scores.values()))
        if measure not in known:
            raise ValueError(f"{row!r} has no {measure!r}; it has {', '.join(known)}")
        return {seed: found[measure] for seed, found in scores.items()}

    def mean(self, row: str, measure: str) -> float:
        """The mean of `values` over the seeds."""
        return mean(self.values(row, measure).values())

    def over(self, row: str, baseline: str, measure: str) -> dict[int | None, float]:
        """What a row has more than another one, for the seeds of both; a row without seeds stands beside each."""
        found, beneath = self.values(row, measure), self.values(baseline, measure)
        drawn = sorted({seed for seed in (*found, *beneath) if seed is not None})
        seeds: list[int | None] = [*drawn] or [None]
        pairs = {seed: (found.get(seed, found.get(None)), beneath.get(seed, beneath.get(None))) for seed in seeds}
        return {seed: a - b for seed, (a, b) in pairs.items() if a is not None and b is not None}

    def losses(self, row: str) -> dict[int | None, list[float]]:
        """The loss of each step, by seed; a row that trains nothing has none."""
        return {seed: line["loss"] for seed, line in self._row(row).items() if "loss" in line}

    def curves(self, row: str) -> dict[int | None, list[tuple[int, float, float]]]:
        """Step, STS-B dev score and mean cosine at the evaluated steps, by seed."""
        return {seed: [tuple(at) for at in line["curve"]] for seed, line in self._row(row).items() if "curve" in line}

    def table(self, rows: Sequence[str], measures: Sequence[str] = SCORES) -> str:
        """Mean ± standard deviation over the seeds, and how many seeds there are."""
        return table({row: self._cells(row, measures) for row in rows})

    def _cells(self, row: str, measures: Sequence[str]) -> dict[str, str]:
        found = {measure: list(self.values(row, measure).values()) for measure in measures}
        seeds = [seed for seed in self._row(row) if seed is not None]
        spread = {name: f" ± {stdev(of):.1f}" if len(of) > 1 else "" for name, of in found.items()}
        return {"seeds": str(len(seeds) or "")} | {name: f"{mean(of):.1f}{spread[name]}" for name, of in found.items()}

    def _row(self, row: str) -> Mapping[int | None, Mapping[str, Any]]:
        if row not in self.lines:
            raise ValueError(f"no recorded row {row!r}; there are {', '.join(self.lines)}")
        return self.lines[row]


@cache
def read_effects(corpus: str = USUAL) -> Effects:
    """The recorded runs that were trained on one corpus.

    >>> effects = read_effects()
    >>> effects.mean("SimCSE", "STS-B") > effects.mean("plain", "STS-B")
    True
    """
    path = recorded_results() / "effects.jsonl"
    lines: dict[str, dict[int | None, Any]] = {}
    for line in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
        if line["corpus"] == corpus:
            lines.setdefault(line["row"], {})[line.get("seed")] = line
    if not lines:
        raise ValueError(f"nothing is recorded for the corpus {corpus!r}")
    return Effects(lines)
