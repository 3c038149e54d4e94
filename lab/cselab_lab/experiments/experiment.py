"""What an experiment is: a question, the published table that answers it, rows to run, columns to measure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean
from typing import TYPE_CHECKING, Any

from cselab._util.choices import check_choice
from cselab_lab.experiments.claims import Claim
from cselab_lab.experiments.published import PAPERS, Cell, PublishedTable, published_table

if TYPE_CHECKING:
    from cselab_lab.experiments.profiles import Profile


@dataclass(frozen=True)
class Size:
    """What a hyper-parameter may be a share of: the encoder's width and the sentences in a batch."""

    width: int
    batch: int


Parameter = Any
"""A value; a function of the `Size` that gives one, for papers whose numbers belong to a width of 768; or a `Row`,
which is trained first, with the same seed: the value is the folder of its encoder."""


def channels_a_group(channels: int) -> Callable[[Size], int]:
    """The number of groups that puts so many channels into each: the paper's k = 768 / channels.

    Raises:
        ValueError: when called with a width that they do not divide.
    """

    def groups(size: Size) -> int:
        if size.width % channels:
            raise ValueError(f"groups of {channels} channels do not divide the width of {size.width}")
        return size.width // channels

    return groups


def missing_rank(share: float) -> Callable[[Size], int]:
    """So many rows that N + M goes this share of the way from the batch N to the width D: ImSimCSE's M / 704."""
    return lambda size: round(share * max(0, size.width - size.batch))


def times(factor: float) -> Callable[[float], float]:
    """So many times what the profile's recipe says, to three digits.

    >>> times(1 / 3)(3e-4)
    0.0001
    """
    return lambda value: float(f"{factor * value:.3g}")


@dataclass(frozen=True)
class Row:
    """One row: an encoder, what trains it, and what is done to its vectors.

    Args:
        label: its name in our tables.
        method: a registered method; None trains nothing.
        parameters: of the method; a function of the `Size` where the paper's number depends on it, or another row
            where the method needs an encoder that is trained already, as DCLR its guide.
        published: the row of the published table, or (row, column) where the paper's rows are our columns; None
            where the paper has none.
        encoder: which of the profile's encoders: "base", "large", "roberta", "roberta-large" ...
        pooling: other than the recipe's.
        posthoc: one of `cselab.transforms.NAMES`, such as "without 4" (components), fitted on training sentences.
        reference: instead of an encoder: "random", "word overlap" or "static".
        recipe: fields of `TrainConfig` that differ from the profile's recipe; a function of the profile's value where
            it is a multiple of that, such as `times(3)`.
        rate: of the profile's learning rate, for a method that wants another order of magnitude; the recipe of its own
            paper, where the profile takes that, has it already.
        against: the label of the row that its gain is counted from, where it is not the experiment's baseline.
    """

    label: str
    method: str | None = None
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    published: str | tuple[str, str] | None = None
    encoder: str = "base"
    pooling: str | None = None
    posthoc: str | None = None
    reference: str | None = None
    recipe: Mapping[str, Any] = field(default_factory=dict)
    rate: float = 1.0
    against: str | None = None

    @property
    def seeded(self) -> bool:
        """Whether anything is drawn at random, so that it runs once a seed."""
        return self.method is not None


@dataclass(frozen=True)
class Column:
    """One column: a measured number, and the column of the published table beside it.

    `measure` is a task ("STS-B", "SICK-R", "MR" ...), "Avg." of the seven STS sets, "STS-B dev", "dev" (the pairs of
    the profile that select the best step), or one of "alignment", "uniformity", "mean_cosine", "effective_rank". With
    `over` it is a name for the mean over those columns, ours and the paper's.
    """

    measure: str
    published: str | None = None
    over: tuple[str, ...] = ()


DEV = "STS-B dev"
"""The column of a table that compares values of a hyper-parameter."""

SEVEN = tuple(Column(name, name) for name in ("Avg.", "STS12", "STS13", "STS14", "STS15", "STS16", "STS-B", "SICK-R"))
"""The columns of every STS table, the average first."""

TRANSFER = ("MR", "CR", "SST-2", "TREC", "MRPC", "SUBJ", "MPQA")
"""The columns of every transfer table."""

AVERAGE = (Column("Avg.", "STS-Avg."),)
"""The one column of WhitenedCSE's ablations."""

PLAIN = Row("plain")
CENTRED = Row("plain, mean subtracted", posthoc="centred")

GUIDED = {"guide": Row("SimCSE", "simcse")}
"""DCLR's guide: SimCSE, trained on the same corpus with the same seed."""

UNGUIDED = Row("DCLR, without its guide", "dclr")
"""DCLR that asks itself which negatives are false."""


@dataclass(frozen=True)
class Experiment:
    """A question and how it is answered.

    Args:
        name: the paper and its table, such as "imsimcse-table1": the published numbers are those; or any other name.
        question: in one sentence.
        rows: what is run; the plain encoder, as it is and with its mean subtracted, stands before them.
        columns: what is measured; the first one is what the verdict is about.
        claims: what the paper claims, each as something that can be counted.
        baseline: the label of the row that gains are counted from.
        suites: in place of the similarity sets of the profile, where their data are.
        margins: by measure, what difference counts as small, where it is not that of `claims.MARGINS`.
        headlines: the claims that are stated without their neighbours, in a README say; their rows run with more seeds
            where the profile has `headline_seeds`.
    """

    name: str
    question: str
    rows: tuple[Row, ...]
    columns: tuple[Column, ...] = SEVEN
    claims: tuple[Claim, ...] = ()
    baseline: str = "plain"
    suites: tuple[str, ...] = ()
    margins: Mapping[str, float] = field(default_factory=dict)
    headlines: tuple[str, ...] = ()

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

    @property
    def on_dev(self) -> bool:
        """Whether it asks about dev pairs alone, as a search for hyper-parameters does: no STS test set is scored."""
        return all(column.measure in (DEV, "dev") for column in self.columns)

    @property
    def all_rows(self) -> tuple[Row, ...]:
        """The rows, with the plain encoder and its centred vectors before them."""
        mine = [row.label for row in self.rows]
        return tuple(row for row in (PLAIN, CENTRED) if row.label not in mine) + self.rows

    def seeds(self, row: Row, profile: Profile) -> tuple[int, ...]:
        """The seeds of a row where nobody says which."""
        labels = [label for claim in self.claims if claim.claim in self.headlines for label in claim.labels]
        return (row.label in labels and profile.headline_seeds) or profile.seeds

    def row(self, label: str) -> Row:
        """The row of that label.

        Raises:
            ValueError: no such row; lists those there are.
        """
        return self._named("row", {row.label: row for row in self.all_rows}, label)

    def against(self, row: Row) -> Row:
        """The row that its gain is counted from."""
        return self.row(row.against or self.baseline)

    def column(self, measure: str) -> Column:
        """The column of that measure.

        Raises:
            ValueError: no such column; lists those there are.
        """
        return self._named("column", {column.measure: column for column in self.columns}, measure)

    def _named(self, what: str, there: Mapping[str, Any], name: str) -> Any:
        if name not in there:
            raise ValueError(f"{self.name} has no {what} {name!r}; its {what}s are: {', '.join(map(repr, there))}")
        return there[name]

    @property
    def published(self) -> PublishedTable | None:
        """The table of the paper that the name says; None where it says none."""
        paper, _, number = self.name.partition("-table")
        return published_table(paper, int(number)) if paper in PAPERS and number.isdigit() else None

    def cell(self, row: Row, column: Column) -> Cell | None:
        """The published number for a row and a column, where there is one."""
        if self.published is None or row.published is None:
            return None
        if isinstance(row.published, tuple):
            return self.published.cell(*row.published) if column == self.columns[0] else None
        if column.over:
            cells = [self.published.cell(row.published, name) for name in column.over]
            return _mean_of(cells, column.measure)
        return None if column.published is None else self.published.cell(row.published, column.published)


def _mean_of(cells: Sequence[Cell], column: str) -> Cell | None:
    """The mean of printed numbers as a cell, with the notes of all; None where one of them is lost."""
    values = [cell.value for cell in cells if cell.value is not None]
    if len(values) < len(cells):
        return None
    own = f"mean of the printed {', '.join(cell.column for cell in cells)}"
    notes = [f"{cell.column}: {cell.note}" for cell in cells if cell.note]
    return Cell(cells[0].row, column, f"{mean(values):.2f}", "", cells[0].unit, "; ".join([own, *notes]))


EXPERIMENTS: dict[str, Experiment] = {}


def declare(experiment: Experiment) -> Experiment:
    """Make an experiment known by its name to the command line, the notebooks and the tests."""
    EXPERIMENTS[experiment.name] = experiment
    return experiment


def get_experiment(name: str) -> Experiment:
    """An experiment by its name.

    Raises:
        ValueError: an unknown name; lists the known.
    """
    check_choice("experiment", name, EXPERIMENTS, likeness=0.75)
    return EXPERIMENTS[name]
