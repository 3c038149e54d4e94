"""Reading an experiment: its finished jobs beside the published numbers, and what they say about the paper's claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from statistics import mean, stdev
from typing import TYPE_CHECKING, Any

import numpy as np

from cselab_lab.experiments.claims import GEOMETRY, Verdict, judge, tested
from cselab_lab.experiments.experiment import Column, Experiment, Row, get_experiment
from cselab_lab.experiments.jobs import NotPossible, job_of
from cselab_lab.experiments.profiles import Profile, get_profile
from cselab_lab.experiments.store import RESULTS, Store
from cselab_lab.resources import recorded_results
from cselab_lab.tables import table

if TYPE_CHECKING:
    from pandas import DataFrame

STAND_INS = ("STS-B", "World-STS")
"""What is looked at, in this order, where a column was not measured for want of data."""

ALWAYS = ("STS-B", "World-STS", "Classroom-STS")
"""Columns that stand beside every experiment, where they were measured."""


@dataclass(frozen=True)
class Results:
    """The finished jobs of an experiment under a profile.

    Attributes:
        experiment, profile: what was run.
        lines: by row and seed (None where nothing is drawn), the finished jobs.
        reasons: of the rows that cannot be run under this profile, why.
        other: how many lines of the file were made with other settings, and are not read.
    """

    experiment: Experiment
    profile: Profile
    lines: Mapping[str, Mapping[int | None, dict[str, Any]]]
    reasons: Mapping[str, str]
    other: int = 0

    def values(self, label: str, measure: str) -> dict[int | None, float]:
        """The measured numbers of a row by seed; without those that failed.

        Raises:
            ValueError: no such row.
        """
        self.experiment.row(label)
        over = next((column.over for column in self.experiment.columns if column.measure == measure), ()) or (measure,)
        scores = {seed: line["scores"] for seed, line in self.lines.get(label, {}).items()}
        return {
            seed: mean(of[name] for name in over) for seed, of in scores.items() if all(name in of for name in over)
        }

    def curves(self, label: str) -> dict[int | None, list[dict[str, float]]]:
        """What was seen at the evaluated steps of each seed: step, loss, score, alignment, uniformity ..."""
        self.experiment.row(label)
        return {seed: line["curve"] for seed, line in self.lines.get(label, {}).items() if "curve" in line}

    def measure(self, column: Column) -> str:
        """The number that stands for a column: its own, or where no row has it, the first stand-in that is there."""
        if column.measure == "dev":
            return f"{self.profile.dev} dev"
        return next((name for name in (column.measure, *STAND_INS) if name in self.measured), column.measure)

    @cached_property
    def measured(self) -> set[str]:
        """The numbers that at least one row has; a mean where all that it is over are there."""
        names = {name for seeds in self.lines.values() for line in seeds.values() for name in line["scores"]}
        return names | {one.measure for one in self.experiment.columns if one.over and names.issuperset(one.over)}

    def beside(self) -> DataFrame:
        """Published beside ours, a line for each row and column; then other measures, but none beside a search on dev.

        Columns: row, column (by our name), measure (what ours is: another task where the data of the published one
        are missing), published, published_spread, ours (mean), sd, n (seeds), difference (ours - published, where the
        measure is the same), published_gain and gain (over the experiment's baseline, or the row's own, seed by
        seed, for rows of the same encoder) with gain_low and gain_high (its 95 % interval), failed (seeds that broke
        down), note.
        """
        from pandas import DataFrame

        known = [column.measure for column in self.experiment.columns]
        others = [Column(name) for name in ALWAYS if name not in known]
        shape = [Column(name) for name in GEOMETRY if name not in known]
        beside = [] if self.experiment.on_dev else [one for one in (*others, *shape) if one.measure in self.measured]
        columns = (*self.experiment.columns, *beside)
        return DataFrame([self._cell(row, column) for row in self.experiment.all_rows for column in columns])

    def _cell(self, row: Row, column: Column) -> dict[str, Any]:
        measure = self.measure(column)
        values = self.values(row.label, measure)
        cell = self.experiment.cell(row, column)
        against = self.experiment.row(row.against or self.experiment.baseline)
        comparable = against.label != row.label and against.encoder == row.encoder
        base = self.experiment.cell(against, column) if comparable else None
        printed = None if cell is None else cell.value
        ours = mean(values.values()) if values else None
        gain, low, high = self._gain(row.label, against.label, measure) if comparable else (None, None, None)
        notes = [self.reasons.get(row.label, ""), cell.note if cell is not None else ""]
        return {
            "row": row.label,
            "column": column.measure,
            "measure": measure,
            "published": printed,
            "published_spread": float(cell.spread) if cell is not None and cell.spread else None,
            "ours": ours,
            "sd": stdev(values.values()) if len(values) > 1 else None,
            "n": len(values),
            "difference": _difference(ours, printed) if measure == column.measure else None,
            "published_gain": _difference(printed, None if base is None else base.value),
            "gain": gain,
            "gain_low": low,
            "gain_high": high,
            "failed": sum(line["failure"] is not None for line in self.lines.get(row.label, {}).values()),
            "note": "; ".join(filter(None, notes)),
        }

    def _gain(self, label: str, against: str, measure: str) -> tuple[float | None, float | None, float | None]:
        """The mean gain of a row over another, and its 95 % interval."""
        pairs = _paired([self.values(label, measure), self.values(against, measure)])
        gains = np.array([mine - base for mine, base in pairs])
        if not len(gains):
            return None, None, None
        if len(gains) < 2 or np.ptp(gains) == 0:
            return float(gains.mean()), None, None
        low, high, *_ = tested(gains)
        return float(gains.mean()), low, high

    def verdicts(self) -> list[Verdict]:
        """What our numbers of the first column say about each claim of the paper."""
        column = self.experiment.columns[0]
        measure = self.measure(column)
        found = []
        for claim in self.experiment.claims:
            cells = {name: self.experiment.cell(self.experiment.row(name), column) for name in claim.labels}
            printed = {name: cell.value for name, cell in cells.items() if cell is not None and cell.value is not None}
            rows = _paired([self.values(name, measure) for name in claim.labels])
            ours = [dict(zip(claim.labels, row, strict=True)) for row in rows]
            complete = len(printed) == len(claim.labels)
            found.append(judge(claim, measure, printed if complete else None, ours))
        return found

    def shown(self, column: str | None = None, form: str = "text") -> str:
        """One column as a table: published, ours ± sd (n), difference, gains; and other measures beside the first.

        Args:
            column: as in `beside`; the experiment's first when None.
            form: see `cselab_lab.tables`.

        Raises:
            ValueError: no such column; lists those there are.
        """
        frame = self.beside()
        names = list(dict.fromkeys(frame["column"]))
        first = names[0]
        column = column or first
        if column not in names:
            raise ValueError(f"{self.experiment.name} has no column {column!r}; it has {', '.join(names)}")
        chosen = frame[frame["column"] == column].set_index("row")
        measure = chosen["measure"].iloc[0]
        digits = 3 if measure in (*GEOMETRY, "effective_rank") else 2
        rows = {label: _shown(cell, measure, digits) for label, cell in chosen.iterrows()}
        for name in names[len(self.experiment.columns) :] if column == first else ():
            for label, cell in frame[frame["column"] == name].set_index("row").iterrows():
                if name != measure:
                    rows[label][name.replace("_", " ")] = _mean_and_spread(cell, 3 if name in GEOMETRY else 2)
        filled = {name for row in rows.values() for name, text in row.items() if text}
        return table({label: {k: v for k, v in row.items() if k in filled} for label, row in rows.items()}, form=form)

    def __str__(self) -> str:
        experiment, profile = self.experiment, self.profile
        base = profile.encoders["base"].name
        table_of, reasons = experiment.published, dict.fromkeys(self.reasons.values())
        lines = [
            f"{experiment.name}: {experiment.question}",
            table_of.title if table_of is not None else "No published numbers.",
            f"Here: {profile.name}, {base}, {profile.corpus}, best step by {profile.dev} dev; gains over "
            f"{experiment.baseline!r} with their 95 % interval, paired by seed; geometry on {profile.geometry} dev.",
            f"{profile.name}: {profile.purpose}.",
            "",
            self.shown(),
            "",
            *(str(verdict) for verdict in self.verdicts()),
            *(f"Published only, {reason}: {', '.join(self._with(reason))}" for reason in reasons),
        ]
        if self.other:
            lines.append(f"{self.other} lines of the results file have other settings and are not read.")
        return "\n".join(lines)

    def _with(self, reason: str) -> list[str]:
        return [label for label, found in self.reasons.items() if found == reason]

    def _repr_html_(self) -> str:
        said = "".join(f"<li>{escape(str(verdict))}</li>" for verdict in self.verdicts())
        return f"<p><b>{escape(self.experiment.question)}</b></p>{self.shown(form='html')}<ul>{said}</ul>"


def read_results(
    experiment: Experiment | str, profile: Profile | str = "classroom", folder: str | Path | None = None
) -> Results:
    """The finished jobs of an experiment, nothing run.

    Args:
        experiment, profile: which.
        folder: of the results files. By default `results` in the current directory; an experiment that was never run
            there is read as it was recorded for cselab.

    Raises:
        ValueError: an unknown experiment or profile.
        ResultsError: a damaged or foreign line in the results file, named.
    """
    experiment = get_experiment(experiment) if isinstance(experiment, str) else experiment
    profile = get_profile(profile) if isinstance(profile, str) else profile
    done = _store(folder, experiment, profile).read()
    seeds = sorted({line["seed"] for line in done.values() if line["seed"] is not None})
    lines: dict[str, dict[int | None, dict[str, Any]]] = {}
    reasons: dict[str, str] = {}
    used = set()
    for row in experiment.all_rows:
        for seed in seeds if row.seeded else [None]:
            try:
                job = job_of(experiment, row, profile, seed)
            except NotPossible as reason:
                reasons[row.label] = str(reason)
                break
            if job.hash in done:
                lines.setdefault(row.label, {})[seed] = done[job.hash]
                used.add(job.hash)
        if row.seeded and not seeds:
            try:
                job_of(experiment, row, profile, 0)
            except NotPossible as reason:
                reasons[row.label] = str(reason)
    return Results(experiment, profile, lines, reasons, len(done) - len(used))


def _store(folder: str | Path | None, experiment: Experiment, profile: Profile) -> Store:
    store = Store(folder or RESULTS, experiment.name, profile.name)
    if folder is None and not store.path.exists():
        return Store(recorded_results(), experiment.name, profile.name)
    return store


def beside(
    experiment: Experiment | str, profile: Profile | str = "classroom", folder: str | Path | None = None
) -> DataFrame:
    """Published numbers beside ours as a frame: `Results.beside` of `read_results`."""
    return read_results(experiment, profile, folder).beside()


def _paired(rows: list[dict[int | None, float]]) -> list[tuple[float, ...]]:
    """The numbers of the rows seed by seed, over the seeds that all have; a row without seeds is the same for each."""
    if any(not row for row in rows):
        return []
    drawn = [{seed for seed in row if seed is not None} for row in rows if None not in row]
    seeds: Sequence[int | None] = sorted(set.intersection(*drawn)) if drawn else [None]
    return [tuple(row[None] if None in row else row[seed] for row in rows) for seed in seeds]


def _difference(value: float | None, base: float | None) -> float | None:
    return None if value is None or base is None else value - base


def _shown(cell: Any, measure: str, digits: int) -> dict[str, str]:
    spread = "" if _none(cell["published_spread"]) else f" ± {cell['published_spread']:.2f}"
    return {
        "published": "" if _none(cell["published"]) else f"{cell['published']:.{digits}f}{spread}",
        measure.replace("_", " "): _mean_and_spread(cell, digits),
        "difference": "" if _none(cell["difference"]) else f"{cell['difference']:+.{digits}f}",
        "published gain": "" if _none(cell["published_gain"]) else f"{cell['published_gain']:+.{digits}f}",
        "gain": _gain_and_interval(cell, digits),
    }


def _mean_and_spread(cell: Any, digits: int) -> str:
    broken = f", {cell['failed']} failed" if cell["failed"] else ""
    if _none(cell["ours"]):
        return broken.removeprefix(", ")
    if _none(cell["sd"]):
        return f"{cell['ours']:.{digits}f}{broken}"
    return f"{cell['ours']:.{digits}f} ± {cell['sd']:.{digits}f} ({cell['n']}{broken})"


def _gain_and_interval(cell: Any, digits: int) -> str:
    if _none(cell["gain"]):
        return ""
    sure = "" if _none(cell["gain_low"]) else f" [{cell['gain_low']:+.{digits}f}, {cell['gain_high']:+.{digits}f}]"
    return f"{cell['gain']:+.{digits}f}{sure}"


def _none(value: Any) -> bool:
    return value is None or value != value
