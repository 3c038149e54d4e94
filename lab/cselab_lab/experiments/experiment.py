"""An experiment as it is declared: its question, rows, columns and claims, and the published numbers."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from statistics import mean
from typing import Any

from cselab._util.arguments import check_choice, did_you_mean

from .published import NO_CELL, PAPERS, Cell, PublishedTable, published_table
from .verdicts import Hypothesis


@dataclass(frozen=True)
class Size:
    """The sizes for shares in hyper-parameters: the encoder's width and the sentences in a batch."""

    width: int
    batch: int


def channels_a_group(channels: int) -> Callable[[Size], int]:
    """The number of groups with `channels` channels: the paper's k = 768 / channels.

    Raises:
        ValueError: when called with a width that they do not divide.
    """

    def groups(size: Size) -> int:
        if size.width % channels:
            raise ValueError(f"groups of {channels} channels do not divide the width of {size.width}")
        return size.width // channels

    return groups


def missing_rank(share: float) -> Callable[[Size], int]:
    """The number of rows M for which N + M covers this share of the way from the batch N to the width D: ImSimCSE's M
    / 704.
    """
    return lambda size: round(share * max(0, size.width - size.batch))


def times(factor: float) -> Callable[[float], float]:
    """A multiple of the value in the profile's recipe, to three digits.

    >>> times(1 / 3)(3e-4)
    0.0001
    """
    return lambda value: float(f"{factor * value:.3g}")


@dataclass(frozen=True)
class Row:
    """One row: an encoder, its training, and the transform of its vectors.

    Args:
        label: its name in our tables.
        method: a registered method; None trains nothing.
        parameters: the parameters of the method: values; functions of the `Size` where the paper's number belongs to a
            width of 768; or a `Row`, which is trained first with the same seed, as DCLR's guide: the value is the
            folder of its encoder.
        published: the row of the published table, or (row, column) where the paper's rows are our columns; None
            where the paper has none.
        encoder: which of the profile's encoders: "base", "large", "roberta", "roberta-large" ...
        pooling: if it differs from the recipe's.
        corpus: if it differs from the profile's, under a profile that trains on a text: "nli".
        posthoc: one of `cselab.transforms.NAMES`, such as "without 4" (components), fitted on training sentences.
        reference: instead of an encoder: "random", "word overlap", "static" or "random weights", which draws with the
            seed.
        recipe: fields of `TrainConfig` that differ from the profile's recipe; a function of the profile's value where
            it is a multiple of that, such as `times(3)`.
        rate: factor of the profile's learning rate, for a method that needs a different order of magnitude; the recipe
            of its paper, if the profile uses that, already has it.
        against: the label of the row that its gain is counted from, where it is not the experiment's baseline.
    """

    label: str
    method: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    published: str | tuple[str, str] | None = None
    encoder: str = "base"
    pooling: str | None = None
    corpus: str | None = None
    posthoc: str | None = None
    reference: str | None = None
    recipe: Mapping[str, Any] = field(default_factory=dict)
    rate: float = 1.0
    against: str | None = None

    @property
    def drawn(self) -> bool:
        """Whether it has a seed."""
        return self.method is not None or self.reference == "random weights"


@dataclass(frozen=True)
class Column:
    """One column: a measured number, and the column of the published table for it.

    `measure` is a task ("STS-B", "SICK-R", "MR" ...), "Avg." of the seven STS sets, "STS-B dev", or one of
    "alignment", "uniformity", "mean_cosine", "effective_rank". With `over` it is a name for the mean over those
    columns, ours and the paper's.
    """

    measure: str
    published: str | None = None
    over: tuple[str, ...] = ()


DEV = "STS-B dev"
"""The column, and the suite, of a table that compares values of a hyper-parameter: no test set is scored."""

STS_COLUMNS = tuple(
    Column(name, name) for name in ("Avg.", "STS12", "STS13", "STS14", "STS15", "STS16", "STS-B", "SICK-R")
)
"""The columns of every STS table, the average first."""

TRANSFER = ("MR", "CR", "SST-2", "TREC", "MRPC", "SUBJ", "MPQA")
"""The columns of every transfer table."""

AVERAGE = (Column("Avg.", "STS-Avg."),)
"""The column of WhitenedCSE's ablations."""

PLAIN = Row("plain")
CENTRED = Row("plain, mean subtracted", posthoc="centred")

SIMCSE = Row("SimCSE", "simcse")
GUIDED = {"guide": SIMCSE}
"""DCLR's guide: SimCSE, trained on the same corpus with the same seed."""

UNGUIDED = Row("DCLR, without its guide", "dclr")
"""DCLR that decides by its own encoder which negatives are false."""


@dataclass(frozen=True)
class Experiment:
    """A question and how it is answered.

    Args:
        name: the paper and its table, such as "imsimcse-table1", whose published numbers apply; or any different name.
        question: the question in one sentence.
        rows: the rows to run, after the plain encoder, unchanged and with its mean subtracted.
        columns: the measured columns; the first one is the verdict's.
        claims: the paper's claims as statistics.
        baseline: the label of the row that gains are counted from.
        suites: instead of the similarity sets of the profile, where their data are.
        headlines: the claims that are stated without their neighbours, such as in a README; their rows run with more
            seeds where the profile has `headline_seeds`.
        terms: the meaning of the rows' names, where a reader cannot guess it.
        shows: the settings that its table has before the numbers, where rows differ in them: "pooling", "head", "lr".
    """

    name: str
    question: str
    rows: tuple[Row, ...]
    columns: tuple[Column, ...] = STS_COLUMNS
    claims: tuple[Hypothesis, ...] = ()
    baseline: str = "plain"
    suites: tuple[str, ...] = ("sts",)
    headlines: tuple[str, ...] = ()
    shows: tuple[str, ...] = ()
    terms: str = ""

    def __post_init__(self) -> None:
        labels = [row.label for row in self.all_rows]
        named = [label for claim in self.claims for label in claim.labels]
        for name in (self.baseline, *named, *(row.against for row in self.rows if row.against)):
            if name not in labels:
                raise ValueError(f"{self.name}: no row is called {name!r}; the rows are: {', '.join(labels)}")
        if len(set(labels)) < len(labels):
            raise ValueError(f"{self.name}: two rows have the same label")
        if unknown := set(self.headlines) - {claim.claim for claim in self.claims}:
            raise ValueError(f"{self.name}: no claim is called {sorted(unknown)[0]!r}")
        for row in self.all_rows:
            self.cell(row, self.columns[0])

    @cached_property
    def all_rows(self) -> tuple[Row, ...]:
        """The rows, with the plain encoder and its centred vectors before them."""
        declared = [row.label for row in self.rows]
        return tuple(row for row in (PLAIN, CENTRED) if row.label not in declared) + self.rows

    @cached_property
    def by_label(self) -> dict[str, Row]:
        """All rows by their label."""
        return {row.label: row for row in self.all_rows}

    @property
    def headline_labels(self) -> set[str]:
        """The labels of the rows of `headlines`."""
        return {label for claim in self.claims if claim.claim in self.headlines for label in claim.labels}

    def row(self, label: str) -> Row:
        """The row with this label.

        Raises:
            ValueError: an unknown row; lists the known ones.
        """
        return self._named("row", self.by_label, label)

    def labels(self, pattern: str) -> list[str]:
        """The labels that a pattern with * matches, or the row with this label.

        Raises:
            ValueError: no row matches; lists the known ones.
        """
        found = [label for label in self.by_label if fnmatchcase(label, pattern.replace("[", "[[]"))]
        return found or [self.row(pattern).label]

    def against(self, row: Row) -> Row:
        """The row that its gain is counted from."""
        return self.row(row.against or self.baseline)

    def column(self, measure: str) -> Column:
        """The column with this measure.

        Raises:
            ValueError: an unknown column; lists the known ones.
        """
        return self._named("column", {column.measure: column for column in self.columns}, measure)

    def _named(self, kind: str, known: Mapping[str, Any], name: str) -> Any:
        if name not in known:
            close = [one for one in known if name.lower() in one.lower()] or known  # "SimCSE" is near "ImSimCSE"
            raise ValueError(
                f"{self.name} has no {kind} {name!r}.{did_you_mean(name, close)} "
                f"Its {kind}s are: {', '.join(map(repr, known))}"
            )
        return known[name]

    @cached_property
    def published(self) -> PublishedTable | None:
        """The table of the paper in the experiment's name; None for a different name."""
        paper, _, number = self.name.partition("+")[0].partition("-table")  # "+": a row of one's own
        return (
            published_table(paper, int(number)) if paper in PAPERS and number.isdecimal() and len(number) < 9 else None
        )

    def cells(self, columns: Sequence[Column]) -> dict[tuple[str, str], Cell]:
        """The published number of every row in these columns, by the row's label and the column's measure."""
        return {(row.label, column.measure): self.cell(row, column) for row in self.all_rows for column in columns}

    def cell(self, row: Row, column: Column) -> Cell:
        """The published number for a row and a column; a cell without a number if there is none."""
        table = self.published
        if table is None or row.published is None:
            return NO_CELL
        if isinstance(row.published, tuple):
            return table.cell(*row.published) if column == self.columns[0] else NO_CELL
        if column.over:
            return _mean_of([table.cell(row.published, name) for name in column.over], column.measure)
        if not column.published:
            return NO_CELL
        place = row.published, column.published
        return table.by_place.get(place) or table.cell(*place)  # which raises


def _mean_of(cells: Sequence[Cell], column: str) -> Cell:
    """The mean of printed numbers as a cell, with the notes of all; without a number where one of them is lost."""
    values = [cell.value for cell in cells if cell.value is not None]
    if len(values) < len(cells):
        return NO_CELL
    own = f"mean of the printed {', '.join(cell.column for cell in cells)}"
    notes = [f"{cell.column}: {cell.note}" for cell in cells if cell.note]
    return Cell(cells[0].row, column, f"{mean(values):.2f}", "", cells[0].unit, "; ".join([own, *notes]))


EXPERIMENTS: dict[str, Experiment] = {}


def with_rows(experiment: str | Experiment, *methods: str) -> Experiment:
    """An experiment with rows of one's own, under a name that says which, so that its results have files of their own.

    Args:
        methods: METHOD, or METHOD:NAME=VALUE,NAME=VALUE with hyper-parameters.

    Raises:
        ValueError: an unknown experiment, method or hyper-parameter, or a value of a wrong type.

    >>> with_rows("imsimcse-figure1", "focal", "simcse:temperature=0.1").name
    'imsimcse-figure1+focal+simcse-temperature=0.1'
    """
    from cselab.methods import get_method
    from cselab_lab.parameters import typed_parameters

    experiment = get_experiment(experiment)
    rows = []
    for text in methods:
        name, _, given = text.partition(":")
        method = get_method(name)
        settings = dict(part.partition("=")[::2] for part in given.split(",") if part)
        typed = typed_parameters(name, {"variant": "default", **method.hyperparameters()}, settings)
        label = ", ".join((f"added: {name}", *(f"{key} = {value}" for key, value in typed.items())))
        rows.append(Row(label, name, typed))
    named = "".join(f"+{re.sub(r'[^A-Za-z0-9_.=-]+', '-', text)}" for text in methods)
    return replace(experiment, name=experiment.name + named, rows=(*experiment.rows, *rows))


def declare(experiment: Experiment) -> Experiment:
    """Make an experiment known by its name to the command line, the notebooks and the tests."""
    EXPERIMENTS[experiment.name] = experiment
    return experiment


def get_experiment(name: str | Experiment) -> Experiment:
    """An experiment by its name; an experiment itself is returned.

    Raises:
        ValueError: an unknown name; the message lists the known ones.
    """
    if isinstance(name, Experiment):
        return name
    check_choice("experiment", name, EXPERIMENTS, likeness=0.75)
    return EXPERIMENTS[name]
