"""The report of an experiment: our numbers next to the published ones, as tables and sentences."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from pathlib import Path
from statistics import mean, stdev
from typing import TYPE_CHECKING, Any

import numpy as np

from cselab_lab.tables import table

from .experiment import DEV, Column, Experiment, Row, get_experiment
from .identity import statement
from .plan import Profile, expand_rows, get_profile, recipe_source
from .store import RESULTS, JobRecord, JobSpec, Store, recorded_results
from .verdicts import GEOMETRY, Hypothesis, ManyTests, Verdict, intervals, judge, signed

if TYPE_CHECKING:
    from pandas import DataFrame

    from .published import Cell

BySeed = dict[int | None, float]
"""A number for each seed."""

STAND_INS = ("STS-B", "World-STS", DEV)
"""The measures that replace, in this order, a column without data."""

ALWAYS = ("STS-B", "World-STS", "Classroom-STS")
"""Columns that every table has, where they were measured."""


@dataclass(frozen=True)
class Results:
    """The finished jobs of an experiment under a profile.

    Attributes:
        experiment, profile: the experiment and its profile.
        lines: the finished jobs by row and seed (None if nothing is drawn).
        reasons: why a row cannot be run under this profile.
        other: the number of lines with different settings, which are not read.
        specs: what each row asks, without the seed.
    """

    experiment: Experiment
    profile: Profile
    lines: Mapping[str, Mapping[int | None, JobRecord]]
    reasons: Mapping[str, str]
    other: int = 0
    specs: Mapping[str, JobSpec] = field(default_factory=dict)

    @property
    def nothing(self) -> str:
        """A note that no row was run; empty if lines exist."""
        return "" if self.lines else f"{self.experiment.name} was not run under {self.profile.name}"

    def values(self, label: str, measure: str) -> BySeed:
        """The measured numbers of a row by seed, without failed runs.

        Raises:
            ValueError: no such row.
        """
        over = next((column.over for column in self.experiment.columns if column.measure == measure), ()) or (measure,)
        scores = {seed: record.scores for seed, record in self._seeds(label).items()}
        return {seed: mean(of[name] for name in over) for seed, of in scores.items() if of.keys() >= set(over)}

    def _seeds(self, label: str) -> Mapping[int | None, JobRecord]:
        if label not in self.lines:
            self.experiment.row(label)  # raises, with the nearest label
        return self.lines.get(label, {})

    def mean(self, label: str, measure: str) -> float:
        """The mean of `values`.

        Raises:
            ValueError: no such row, or none of its seeds has that number.
        """
        if not (values := self.values(label, measure)):
            raise ValueError(f"{label!r} has no {measure!r}; it has {', '.join(sorted(self.measured))}")
        return mean(values.values())

    def over(self, label: str, baseline: str, measure: str) -> BySeed:
        """The gain of a row over a second one, for their shared seeds; a row without seeds is paired with each."""
        pairs = _paired([self.values(label, measure), self.values(baseline, measure)])
        return {seed: mine - base for seed, (mine, base) in pairs.items()}

    def table(self, labels: Sequence[str], metrics: Sequence[str], form: str = "text") -> str:
        """Chosen rows and measures: mean ± standard deviation (seeds)."""
        rows = {
            label: {
                measure.replace("_", " "): _mean_and_spread(_moments(self.values(label, measure)), measure)
                for measure in metrics
            }
            for label in labels
        }
        return table(rows, form=form)

    def curves(self, label: str) -> dict[int | None, list[dict[str, float]]]:
        """The evaluated steps of each seed: step, loss, score, alignment, uniformity ..."""
        return {seed: record.curve for seed, record in self._seeds(label).items() if record.curve is not None}

    def measure(self, column: Column) -> str:
        """The number for a column: its own, or the first measured replacement if no row has the column."""
        return next((name for name in (column.measure, *STAND_INS) if name in self.measured), column.measure)

    @property
    def _records(self) -> list[JobRecord]:
        return [record for seeds in self.lines.values() for record in seeds.values()]

    @cached_property
    def measured(self) -> set[str]:
        """The numbers of at least one row; a mean only if all its parts exist."""
        names = {name for record in self._records for name in record.scores}
        return names | {one.measure for one in self.experiment.columns if one.over and names.issuperset(one.over)}

    def to_frame(self, *only: str) -> "DataFrame":
        """Published numbers and ours, one line per row and column, then further measures (except in a search on dev).

        With `only`, these columns.

        Columns: row, column (by our name), measure (of our number: a different task if the data of the published one
        are missing), published, published_spread, ours (mean), sd, n (seeds), difference (ours - published, for the
        same measure), published_gain and gain (over the experiment's baseline, or the row's own, seed by seed, for
        rows of the same encoder) with gain_low and gain_high (its 95 % interval), failed (seeds that broke down),
        note.
        """
        from pandas import DataFrame

        return DataFrame(self._cells(only))

    def _cells(self, only: Sequence[str] = ()) -> list[dict[str, Any]]:
        known = [column.measure for column in self.experiment.columns]
        more = [name for name in (*ALWAYS, *GEOMETRY) if name not in known and name in self.measured]
        columns = (*self.experiment.columns, *(Column(name) for name in more if DEV not in self.experiment.suites))
        columns = tuple(column for column in columns if not only or column.measure in only)
        printed = self.experiment.cells(columns)
        cells = [self._cell(row, column, printed) for row in self.experiment.all_rows for column in columns]
        for cell, (low, high) in zip(cells, intervals([cell.pop("gains") for cell in cells]), strict=True):
            cell |= {"gain_low": low, "gain_high": high}
        return cells

    def _cell(self, row: Row, column: Column, printed: "Mapping[tuple[str, str], Cell]") -> dict[str, Any]:
        measure = self.measure(column)
        moments = _moments(self.values(row.label, measure))
        cell = printed[row.label, column.measure]
        against = self.experiment.by_label[row.against or self.experiment.baseline]
        published_gain, gains = None, list[float]()
        if against.label != row.label and against.encoder == row.encoder:
            published_gain = _difference(cell.value, printed[against.label, column.measure].value)
            gains = list(self.over(row.label, against.label, measure).values())
        return {
            "row": row.label,
            "column": column.measure,
            "measure": measure,
            "published": cell.value,
            "published_spread": cell.deviation,
            **moments,
            "difference": _difference(moments["ours"], cell.value) if measure == column.measure else None,
            "published_gain": published_gain,
            "gain": float(np.mean(gains)) if gains else None,
            "gain_low": None,  # of all cells at once
            "gain_high": None,
            "gains": gains,
            "failed": sum(record.failure is not None for record in self._seeds(row.label).values()),
            "note": "; ".join(filter(None, (self.reasons.get(row.label), cell.note))),
        }

    def verdicts(self, column: str | None = None) -> list[Verdict]:
        """Our numbers of a column compared with each claim of the paper; None means the claim's own column.

        Raises:
            ValueError: no such column; lists those there are.
        """
        first = self.experiment.columns[0].measure
        chosen = [self.experiment.column(column or claim.on or first) for claim in self.experiment.claims]
        printed = self.experiment.cells(list(dict.fromkeys(chosen)))
        return [
            self._verdict(claim, self.measure(own), {label: printed[label, own.measure] for label in claim.labels})
            for claim, own in zip(self.experiment.claims, chosen, strict=True)
        ]

    def _verdict(self, claim: Hypothesis, measure: str, cells: "Mapping[str, Cell]") -> Verdict:
        printed = {name: cell.value for name, cell in cells.items() if cell.value is not None}
        spreads = {name: cell.deviation for name, cell in cells.items() if cell.deviation is not None}
        rows = _paired([self.values(name, measure) for name in claim.labels]).values()
        return judge(
            claim,
            measure,
            printed if len(printed) == len(claim.labels) else None,
            [dict(zip(claim.labels, row, strict=True)) for row in rows],
            spreads,
        )

    def shown(self, column: str | None = None, form: str = "text") -> str:
        """One column as a table: published, ours ± sd (n), difference, gains; and further measures after the first.

        Numbers in brackets lead to the notes below: doubts about a published cell, or the reason why a row cannot run.
        LaTeX and CSV have the table only.

        Args:
            column: as in `to_frame`; the experiment's first when None.
            form: see `cselab_lab.tables`.

        Raises:
            ValueError: no such column; lists those there are.
        """
        cells: dict[str, dict[str, dict[str, Any]]] = defaultdict(dict)
        for cell in self._cells():
            cells[cell["column"]][cell["row"]] = cell
        names = list(cells)
        column = column or names[0]
        if column not in names:
            raise ValueError(f"{self.experiment.name} has no column {column!r}; it has {', '.join(names)}")
        noted = dict.fromkeys(cell["note"] for cell in cells[column].values() if cell["note"])
        notes = [] if form in ("latex", "tex", "csv") else list(noted)
        own = self.profile.encoders["base"].name if self.profile.own_encoder else ""
        rows = {
            label: _shown_settings(self.specs.get(label), self.experiment.shows) | _table_cells(cell, notes, own)
            for label, cell in cells[column].items()
        }
        for name in names[len(self.experiment.columns) :] if column == names[0] else ():
            for label, cell in cells[name].items():
                if name != cell["measure"] or name not in rows[label]:
                    rows[label][name.replace("_", " ")] = _mean_and_spread(cell, name)
        filled = {name for row in rows.values() for name, text in row.items() if text}
        shown = table({label: {k: v for k, v in row.items() if k in filled} for label, row in rows.items()}, form=form)
        below = [f"[{number}] {note}" for number, note in enumerate(notes, start=1)]
        if form == "html":
            return shown + "".join(f"<p>{escape(note)}</p>" for note in below)
        return ("\n" if form == "text" else "\n\n").join([shown, *below])

    def sentences(self) -> list[str]:
        """A sentence for each claim, and how many tests that makes; or first that nothing was run."""
        verdicts = self.verdicts()
        tests = ManyTests.of(verdicts)
        counted = str(tests) if len(tests.raw) > 1 else ""
        return [line for line in (self.nothing, *map(tests.sentence, verdicts), counted) if line]

    def identities(self) -> list[str]:
        """A sentence on each encoder and text that does not come with cselab: whether it is the published one."""
        used = {row.encoder for row in self.experiment.all_rows if row.label in self.lines} | {"base"}
        rows = {of.spec.corpus: of.corpus_rows for of in self._records if of.corpus_rows is not None}
        found = [("encoder", encoder.name) for name, encoder in self.profile.encoders.items() if name in used]
        found += [("corpus", name) for name in rows or (self.profile.corpus,)]
        known = self.profile.hashes
        return [text for kind, name in found if (text := statement(kind, name, known.get(name), rows.get(name)))]

    def citations(self) -> list[str]:
        """One line for a paper for each claim that was tested: effect, interval, seeds, test, Holm, sources."""
        verdicts = self.verdicts()
        tests = ManyTests.of(verdicts)
        sources = self._sources()
        return [f"{verdict.citation(tests)}; {sources}." for verdict in verdicts if verdict.p_value is not None]

    def _sources(self) -> str:
        """The encoder and the corpus with the beginning of their SHA-256, and the version of cselab."""
        weights = {(of.spec.encoder, of.spec.weights or "not verified") for of in self._records if of.spec.encoder}
        texts = {
            (of.spec.corpus, (of.spec.corpus_sha256 or of.corpus_hash or "not recorded")[:16])
            for of in self._records
            if of.spec.corpus
        }
        named = [f"encoder {name} ({digest})" for name, digest in sorted(weights)]
        named += [f"corpus {name} ({digest})" for name, digest in sorted(texts)]
        versions = sorted({str(of.versions.get("cselab")) for of in self._records})
        return ", ".join([*named, f"cselab {' and '.join(versions)}"])

    def recipes(self) -> list[str]:
        """Whose recipe each row was trained by, one sentence each, if the profile has not one for all."""
        by_recipe: dict[str, list[str]] = defaultdict(list)
        for row in self.experiment.all_rows:
            by_recipe[recipe_source(row, self.profile)].append(row.label)
        return [f"By {source}: {', '.join(labels)}" for source, labels in by_recipe.items() if source]

    def __str__(self) -> str:
        experiment, profile, printed = self.experiment, self.profile, self.experiment.published
        base = profile.encoders["base"].name
        lines = [
            f"{experiment.name}: {experiment.question}",
            "No published numbers." if printed is None else printed.title,
            f"Here: {profile.name}, {base}, {profile.corpus}, best step after 0 by {profile.dev} dev; gains over "
            f"{experiment.baseline!r} with their 95 % interval, paired by seed; geometry on {profile.geometry} dev.",
            f"{profile.name}: {profile.purpose}.",
            *self.identities(),
            "",
            self.shown(),
            "",
            *self.sentences(),
            *self.recipes(),
        ]
        if self.other:
            lines.append(f"{self.other} lines of the results file have different settings and are ignored.")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{escape(line)}</li>" for line in self.sentences())
        return f"<p><b>{escape(self.experiment.question)}</b></p>{self.shown(form='html')}<ul>{items}</ul>"


def read_results(
    experiment: Experiment | str, profile: Profile | str = "study", folder: str | Path | None = None
) -> Results:
    """The finished jobs of an experiment, nothing run.

    Args:
        experiment, profile: which.
        folder: the folder of the results files. By default `results` in the current directory; without local lines, the
            records that come with cselab are read.

    Raises:
        ValueError: an unknown experiment or profile.
        ResultsError: a damaged or foreign line in the results file, named.
    """
    experiment, profile = get_experiment(experiment), get_profile(profile)
    store = Store(folder or RESULTS, experiment.name, profile.name)
    if folder is None and not store.path.exists():
        store = Store(recorded_results(), experiment.name, profile.name)
    found = store.read()
    hashes = {of.spec.corpus: of.spec.corpus_sha256 for of in found.values() if of.spec.corpus_sha256}
    profile = replace(profile, hashes={**hashes, **profile.hashes})  # hashes of texts that the plan does not know
    specs, reasons = expand_rows(experiment, profile)
    seeds = {record.seed for record in found.values()}
    lines, other = {}, set(found)
    for label, spec in specs.items():
        asked = {spec.with_seed(seed).hash for seed in seeds} & found.keys()
        if asked:
            lines[label] = {record.seed: record for job, record in found.items() if job in asked}
            other -= asked
    return Results(experiment, profile, lines, reasons, len(other), specs)


def _paired(rows: list[BySeed]) -> dict[int | None, tuple[float, ...]]:
    """The numbers of the rows by seed, over the seeds that all have; a row without seeds is the same for each."""
    if any(not row for row in rows):
        return {}
    drawn = [{seed for seed in row if seed is not None} for row in rows if None not in row]
    seeds: Sequence[int | None] = sorted(set.intersection(*drawn)) if drawn else [None]
    return {seed: tuple(row[None] if None in row else row[seed] for row in rows) for seed in seeds}


def _difference(value: float | None, base: float | None) -> float | None:
    return None if value is None or base is None else value - base


def _moments(by_seed: Mapping[int | None, float]) -> dict[str, Any]:
    """The mean as ours, the standard deviation, and how many."""
    values = list(by_seed.values())
    spread = stdev(values) if len(values) > 1 else None
    return {"ours": mean(values) if values else None, "sd": spread, "n": len(values)}


def _shown_settings(spec: JobSpec | None, names: Sequence[str]) -> dict[str, str]:
    """The chosen settings of a row as the cells of a table."""
    settings = spec.to_json() if spec and names else {}
    flat = settings | settings.get("parameters", {}) | settings.get("recipe", {})
    return {name: f"{flat.get(name) or ''}" for name in names}


def _table_cells(cell: Mapping[str, Any], notes: Sequence[str], own_encoder: str) -> dict[str, str]:
    """A line of `to_frame` as the cells of a table; the name of an encoder of one's own stands over its numbers."""
    measure = cell["measure"]
    spread = "" if cell["published_spread"] is None else f" ± {cell['published_spread']:.2f}"
    mark = f" [{notes.index(cell['note']) + 1}]" if cell["note"] in notes else ""
    low, high = (_number(cell[bound], measure, signs=True) for bound in ("gain_low", "gain_high"))
    return {
        "published": (_number(cell["published"], measure) + spread + mark).strip(),
        measure.replace("_", " ") + (own_encoder and f", {own_encoder}"): _mean_and_spread(cell, measure),
        "difference": _number(cell["difference"], measure, signs=True),
        "published gain": _number(cell["published_gain"], measure, signs=True),
        "gain": _number(cell["gain"], measure, signs=True) + (f" [{low}, {high}]" if low else ""),
    }


def _mean_and_spread(cell: Mapping[str, Any], measure: str) -> str:
    broken = f", {cell['failed']} failed" if cell.get("failed") else ""
    if cell["ours"] is None:
        return broken.removeprefix(", ")
    many = "" if cell["sd"] is None else f" ± {_number(cell['sd'], measure)} ({cell['n']}{broken})"
    return _number(cell["ours"], measure) + (many or broken)


def _number(value: Any, measure: str, signs: bool = False) -> str:
    digits = 3 if measure in GEOMETRY else 2
    return "" if value is None else signed(value, digits) if signs else f"{value:.{digits}f}"
