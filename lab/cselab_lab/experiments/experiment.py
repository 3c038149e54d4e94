"""An experiment as a paper declares it: its question, rows and columns, and the claims that its numbers can answer."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from statistics import mean
from typing import TYPE_CHECKING, Any

from cselab._util.choices import check_choice, did_you_mean

from .published import NO_CELL, PAPERS, Cell, PublishedTable, published_table

if TYPE_CHECKING:
    from .plan import Profile

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

    def statistics(self, rows: Iterable[Values]) -> tuple[float, ...]:
        """The statistic of each seed's numbers."""
        return tuple(self.statistic(values) for values in rows)

    def spread(self, spreads: Values) -> float:
        """The standard deviation of the statistic, from those of the rows; a row without one counts as exact."""
        return math.hypot(
            *(weight * spreads.get(label, 0.0) for weight, label in zip(self.weights, self.labels, strict=True))
        )

    def margin(self, margin: float) -> float:
        """The limit of small differences, in the unit of the statistic, if rows may differ by `margin`."""
        return margin


class Above(Hypothesis):
    """One row scores above a second row: their difference.

    >>> Above("noise in the negatives costs points", "SimCSE", "+noise").statistic({"SimCSE": 50.0, "+noise": 47.0})
    3.0
    """

    def __init__(self, claim: str, higher: str, lower: str, on: str = "") -> None:
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


# ------------------------------------------------------------------------------------------------ rows, experiments


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

GUIDED = {"guide": Row("SimCSE", "simcse")}
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
    def all_rows(self) -> tuple[Row, ...]:
        """The rows, with the plain encoder and its centred vectors before them."""
        declared = [row.label for row in self.rows]
        return tuple(row for row in (PLAIN, CENTRED) if row.label not in declared) + self.rows

    def seeds(self, row: Row, profile: "Profile") -> tuple[int, ...]:
        """The default seeds of a drawn row."""
        labels = [label for claim in self.claims if claim.claim in self.headlines for label in claim.labels]
        return (row.label in labels and profile.headline_seeds) or profile.seeds

    def row(self, label: str) -> Row:
        """The row with this label.

        Raises:
            ValueError: an unknown row; lists the known ones.
        """
        return self._named("row", {row.label: row for row in self.all_rows}, label)

    def labels(self, pattern: str) -> list[str]:
        """The labels that a pattern with * matches, or the row with this label.

        Raises:
            ValueError: no row matches; lists the known ones.
        """
        if "*" not in pattern:
            return [self.row(pattern).label]
        found = [row.label for row in self.all_rows if fnmatchcase(row.label, pattern.replace("[", "[[]"))]
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

    @property
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
