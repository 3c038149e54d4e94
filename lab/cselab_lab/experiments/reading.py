"""Reading an experiment: its finished jobs beside the published numbers, and what they say about the paper's claims."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from statistics import mean, stdev
from typing import TYPE_CHECKING, Any

import numpy as np

from cselab_lab.experiments.claims import GEOMETRY, Claim, ManyTests, Verdict, judge, signed, tested
from cselab_lab.experiments.experiment import Column, Experiment, Row, get_experiment
from cselab_lab.experiments.jobs import laid_out, of_seed, settings_hash, whose_recipe
from cselab_lab.experiments.profiles import PROFILES, Profile, get_profile
from cselab_lab.experiments.store import RESULTS, Store, recorded_results
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
        lines: by row and seed (None where nothing is drawn), the finished jobs; rows that have some.
        reasons: of the rows that cannot be run under this profile, why.
        other: how many lines of the file were made with other settings, and are not read.
        elsewhere: where there are no lines, the profiles that have some.
    """

    experiment: Experiment
    profile: Profile
    lines: Mapping[str, Mapping[int | None, dict[str, Any]]]
    reasons: Mapping[str, str]
    other: int = 0
    elsewhere: Sequence[str] = ()

    @property
    def nothing(self) -> str:
        """That no row was run, and under which profiles some were; empty where there are lines."""
        if self.lines:
            return ""
        others = f"; there are lines of {', '.join(self.elsewhere)}" if self.elsewhere else ""
        return f"nothing of {self.experiment.name} was run under {self.profile.name}{others}"

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

    def mean(self, label: str, measure: str) -> float:
        """The mean of `values`.

        Raises:
            ValueError: no such row, or none of its seeds has that number.
        """
        if not (values := self.values(label, measure)):
            raise ValueError(f"{label!r} has no {measure!r}; measured were {', '.join(sorted(self.measured))}")
        return mean(values.values())

    def over(self, label: str, baseline: str, measure: str) -> dict[int | None, float]:
        """What a row has more than another one, for the seeds of both; a row without seeds stands beside each."""
        pairs = _paired([self.values(label, measure), self.values(baseline, measure)])
        return {seed: mine - base for seed, (mine, base) in pairs.items()}

    def table(self, labels: Sequence[str], metrics: Sequence[str], form: str = "text") -> str:
        """Rows and measures of one's choice: mean ± standard deviation (seeds)."""
        return table({label: self._summary(label, metrics) for label in labels}, form=form)

    def _summary(self, label: str, metrics: Sequence[str]) -> dict[str, str]:
        values = {measure: list(self.values(label, measure).values()) for measure in metrics}
        return {measure.replace("_", " "): _mean_and_spread(_moments(of), measure) for measure, of in values.items()}

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

    def to_frame(self) -> DataFrame:
        """The same as `beside`, by the name that all tables here have for it."""
        return self.beside()

    def _cell(self, row: Row, column: Column) -> dict[str, Any]:
        measure = self.measure(column)
        moments = _moments(list(self.values(row.label, measure).values()))
        cell = self.experiment.cell(row, column)
        against = self.experiment.against(row)
        comparable = against.label != row.label and against.encoder == row.encoder
        base = self.experiment.cell(against, column) if comparable else None
        printed = None if cell is None else cell.value
        gain, low, high = self._gain(row.label, against.label, measure) if comparable else (None, None, None)
        notes = [
            self.reasons.get(row.label, ""),
            cell.note if cell is not None else "",
            self._mixed(row.label, against.label),
        ]
        return {
            "row": row.label,
            "column": column.measure,
            "measure": measure,
            "published": printed,
            "published_spread": float(cell.spread) if cell is not None and cell.spread else None,
            **moments,
            "difference": _difference(moments["ours"], printed) if measure == column.measure else None,
            "published_gain": _difference(printed, None if base is None else base.value),
            "gain": gain,
            "gain_low": low,
            "gain_high": high,
            "failed": sum(line["failure"] is not None for line in self.lines.get(row.label, {}).values()),
            "note": "; ".join(filter(None, notes)),
        }

    def _mixed(self, label: str, against: str) -> str:
        """A note where seeds that stand together drew their dropout masks in two ways (`compute.PASSES`)."""
        lines = [line for row in {label, against} for line in self.lines.get(row, {}).values()]
        kinds = {line.get("passes", "one") for line in lines if "method" in line["settings"]}
        return "some seeds were trained in one pass a batch, others in parts by length" if len(kinds) > 1 else ""

    def _gain(self, label: str, against: str, measure: str) -> tuple[float | None, float | None, float | None]:
        """The mean gain of a row over another, and its 95 % interval."""
        gains = np.array(list(self.over(label, against, measure).values()))
        if not len(gains):
            return None, None, None
        if len(gains) < 2 or np.ptp(gains) == 0:
            return float(gains.mean()), None, None
        low, high, *_ = tested(gains)
        return float(gains.mean()), low, high

    def verdicts(self, column: str | None = None) -> list[Verdict]:
        """What our numbers of a column, the first when None, say about each claim of the paper.

        Raises:
            ValueError: no such column; lists those there are.
        """
        chosen = self.experiment.columns[0] if column is None else self.experiment.column(column)
        measure = self.measure(chosen)
        return [self._verdict(claim, chosen, measure) for claim in self.experiment.claims]

    def _verdict(self, claim: Claim, column: Column, measure: str) -> Verdict:
        cells = {name: self.experiment.cell(self.experiment.row(name), column) for name in claim.labels}
        printed = {name: cell.value for name, cell in cells.items() if cell is not None and cell.value is not None}
        spreads = {name: float(cell.spread) for name, cell in cells.items() if cell is not None and cell.spread}
        rows = _paired([self.values(name, measure) for name in claim.labels]).values()
        return judge(
            claim,
            measure,
            printed if len(printed) == len(claim.labels) else None,
            [dict(zip(claim.labels, row, strict=True)) for row in rows],
            margin=self.experiment.margins.get(measure),
            spreads=spreads,
        )

    def shown(self, column: str | None = None, form: str = "text") -> str:
        """One column as a table: published, ours ± sd (n), difference, gains; and other measures beside the first.

        Numbers in brackets lead to the notes below: what is doubtful about a published cell, why a row cannot be run.
        LaTeX and CSV have the table alone.

        Args:
            column: as in `beside`; the experiment's first when None.
            form: see `cselab_lab.tables`.

        Raises:
            ValueError: no such column; lists those there are.
        """
        frame = self.beside()
        names = list(dict.fromkeys(frame["column"]))
        column = column or names[0]
        if column not in names:
            raise ValueError(f"{self.experiment.name} has no column {column!r}; it has {', '.join(names)}")
        chosen = frame[frame["column"] == column].set_index("row")
        notes = [] if form in ("latex", "tex", "csv") else [note for note in dict.fromkeys(chosen["note"]) if note]
        rows = {label: _shown(cell, cell["measure"], notes) for label, cell in chosen.iterrows()}
        for name in names[len(self.experiment.columns) :] if column == names[0] else ():
            for label, cell in frame[frame["column"] == name].set_index("row").iterrows():
                if name != cell["measure"] or name not in rows[label]:
                    rows[label][name.replace("_", " ")] = _mean_and_spread(cell, name)
        filled = {name for row in rows.values() for name, text in row.items() if text}
        shown = table({label: {k: v for k, v in row.items() if k in filled} for label, row in rows.items()}, form=form)
        below = [f"[{number}] {note}" for number, note in enumerate(notes, start=1)]
        if form == "html":
            return shown + "".join(f"<p>{escape(note)}</p>" for note in below)
        return ("\n" if form == "text" else "\n\n").join([shown, *below])

    def said(self) -> list[str]:
        """What becomes of each claim, a sentence each, and how many tests that makes; or first that nothing was run."""
        verdicts = self.verdicts()
        tests = ManyTests.of(verdicts)
        counted = str(tests) if len(tests.raw) > 1 else ""
        return [line for line in (self.nothing, *map(tests.said, verdicts), counted) if line]

    def recipes(self) -> list[str]:
        """Whose recipe each row was trained by, a sentence each, where the profile has not one for all."""
        by_recipe: dict[str, list[str]] = defaultdict(list)
        for row in self.experiment.all_rows:
            by_recipe[whose_recipe(row, self.profile)].append(row.label)
        return [f"By {whose}: {', '.join(by_recipe[whose])}" for whose in by_recipe if whose]

    def __str__(self) -> str:
        experiment, profile, printed = self.experiment, self.profile, self.experiment.published
        base, dev = profile.encoders["base"].name, "" if profile.geometry.endswith("test") else " dev"
        lines = [
            f"{experiment.name}: {experiment.question}",
            "No published numbers." if printed is None else printed.title,
            f"Here: {profile.name}, {base}, {profile.corpus}, best step by {profile.dev} dev; gains over "
            f"{experiment.baseline!r} with their 95 % interval, paired by seed; geometry on {profile.geometry}{dev}.",
            f"{profile.name}: {profile.purpose}.",
            "",
            self.shown(),
            "",
            *self.said(),
            *self.recipes(),
        ]
        if self.other:
            lines.append(f"{self.other} lines of the results file have other settings and are not read.")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        said = "".join(f"<li>{escape(line)}</li>" for line in self.said())
        return f"<p><b>{escape(self.experiment.question)}</b></p>{self.shown(form='html')}<ul>{said}</ul>"


def read_results(
    experiment: Experiment | str, profile: Profile | str = "study", folder: str | Path | None = None
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
    recorded: dict[str, dict[int | None, dict[str, Any]]] = defaultdict(dict)
    for line in _store(folder, experiment, profile).read().values():
        recorded[_without_seed(line["settings"])][line["seed"]] = line
    possible, reasons = laid_out(experiment, profile)
    of_row = {label: _without_seed(settings) for label, settings in possible.items()}
    lines = {label: recorded[key] for label, key in of_row.items() if key in recorded}
    other = sum(len(seeds) for key, seeds in recorded.items() if key not in of_row.values())
    others = () if lines else [one for one in PROFILES.values() if _store(folder, experiment, one).path.exists()]
    return Results(experiment, profile, lines, reasons, other, [one.name for one in others])


def _without_seed(settings: dict[str, Any]) -> str:
    """What the lines of a row share, whatever their seed."""
    return settings_hash(of_seed(settings, None) if "recipe" in settings else settings)


def _store(folder: str | Path | None, experiment: Experiment, profile: Profile) -> Store:
    store = Store(folder or RESULTS, experiment.name, profile.name)
    if folder is None and not store.path.exists():
        return Store(recorded_results(), experiment.name, profile.name)
    return store


def beside(
    experiment: Experiment | str, profile: Profile | str = "study", folder: str | Path | None = None
) -> DataFrame:
    """Published numbers beside ours as a frame: `Results.beside` of `read_results`."""
    return read_results(experiment, profile, folder).beside()


def _paired(rows: list[dict[int | None, float]]) -> dict[int | None, tuple[float, ...]]:
    """The numbers of the rows by seed, over the seeds that all have; a row without seeds is the same for each."""
    if any(not row for row in rows):
        return {}
    drawn = [{seed for seed in row if seed is not None} for row in rows if None not in row]
    seeds: Sequence[int | None] = sorted(set.intersection(*drawn)) if drawn else [None]
    return {seed: tuple(row[None] if None in row else row[seed] for row in rows) for seed in seeds}


def _difference(value: float | None, base: float | None) -> float | None:
    return None if value is None or base is None else value - base


def _moments(values: Sequence[float]) -> dict[str, Any]:
    """The mean as ours, the standard deviation, and how many."""
    spread = stdev(values) if len(values) > 1 else None
    return {"ours": mean(values) if values else None, "sd": spread, "n": len(values)}


def _shown(cell: Any, measure: str, notes: Sequence[str]) -> dict[str, str]:
    spread = "" if _none(cell["published_spread"]) else f" ± {cell['published_spread']:.2f}"
    mark = f" [{notes.index(cell['note']) + 1}]" if cell["note"] in notes else ""
    ends = [] if _none(cell["gain_low"]) else [_change(cell["gain_low"], measure), _change(cell["gain_high"], measure)]
    return {
        "published": (_number(cell["published"], measure) + spread + mark).strip(),
        measure.replace("_", " "): _mean_and_spread(cell, measure),
        "difference": _change(cell["difference"], measure),
        "published gain": _change(cell["published_gain"], measure),
        "gain": _change(cell["gain"], measure) + (f" [{', '.join(ends)}]" if ends else ""),
    }


def _mean_and_spread(cell: Any, measure: str) -> str:
    broken = f", {cell['failed']} failed" if cell.get("failed") else ""
    if _none(cell["ours"]):
        return broken.removeprefix(", ")
    many = "" if _none(cell["sd"]) else f" ± {_number(cell['sd'], measure)} ({cell['n']}{broken})"
    return _number(cell["ours"], measure) + (many or broken)


def _number(value: Any, measure: str) -> str:
    return "" if _none(value) else f"{value:.{3 if measure in GEOMETRY else 2}f}"


def _change(value: Any, measure: str) -> str:
    return "" if _none(value) else signed(value, 3 if measure in GEOMETRY else 2)


def _none(value: Any) -> bool:
    return value is None or value != value
