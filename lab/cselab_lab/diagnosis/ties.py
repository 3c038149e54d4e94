"""Tables of scores, and the systems in them that tie."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

import numpy as np

from cselab.data import DataError
from cselab.data.tables import read_table
from cselab.metrics.ranking import Ranking, rank_means

if TYPE_CHECKING:
    import pandas

SYSTEM = ("system", "model", "model_name", "method", "encoder")
VALUE = ("score", "value", "main_score")
TASK = ("task", "dataset", "benchmark", "seed", "fold", "metric")
EMPTY = ("", "-", "–", "—", "n/a", "na", "nan", "none", "null", "?")
SCORE = re.compile(r"^[*_†‡^\s]*([-+]?\d*\.?\d+(?:e[-+]?\d+)?)\s*%?(?:\s*(?:±|\+/-|\().*)?[*_†‡^\s]*$", re.IGNORECASE)
"""A number as tables print one: bold, with a star, a per cent sign or its spread behind it."""

NO_TASK = re.compile(
    r"(id|index|unnamed.*|#|rank.*|.*\brank|place|.*\bdim(ension)?s?\b.*|.*param.*|.*memory.*|.*tokens?\b.*|.*size.*|year|.*\bloss\b.*"
    r"|.*\b(seconds|time|epochs?|steps?|batch|lr|latency|throughput|speed|layers?|context (length|window)|vocab\w*)\b.*"
    r"|.*\b(cost|price|usd|co2\w*|carbon|energy|emissions?|licen[cs]\w*|coverage|downloads?|likes|votes|released?)\b.*"
    r"|zero.?shot\W*|.*\btasks? (run|done|covered)\b.*|(avg|average|mean|overall|total|macro|micro)\b.*)\.?",
    re.IGNORECASE,
)
"""Names of columns that are not tasks: size of a model, rank, cost, mean over the tasks."""

FEWEST = 4
"""Systems above which all of them hardly have a whole number as their score by chance."""


@dataclass(frozen=True, eq=False)
class TieTable:
    """Systems by rank, with their possible ranks.

    Attributes:
        names: the names of the systems.
        ranking: see `cselab.metrics.Ranking`.
        units: the number of tasks, seeds or folds.
        left_out: columns that were not counted, and the reasons.
    """

    names: Sequence[str]
    ranking: Ranking
    units: str
    left_out: str = ""

    def rows(self) -> dict[str, dict[str, Any]]:
        """A row for each system, best first. Two systems are tied if and only if they have a common letter."""
        scores, intervals, groups = self.ranking.scores, self.ranking.intervals, self.ranking.groups
        letters = [""] * len(self.names)
        for number, group in enumerate(groups):
            for one in group:
                letters[one] += _letter(number)
        order = np.argsort(-scores, kind="stable")
        after = {one: float(self.ranking.p_values[one, two]) for one, two in pairwise(order)}
        return {
            self.names[one]: {
                "score": float(scores[one]),
                "rank": str(place),
                "ranks": "{} to {}".format(*intervals[one]),
                "ties": letters[one],
                "p to the next": f"{after[one]:.3g}" if one in after else "",
            }
            for place, one in enumerate(order.tolist(), start=1)
        }

    def note(self) -> str:
        """A summary of the table, and the test."""
        tied, of = self.ranking.tied_neighbours
        lines = [
            f"{tied} of {of} neighbours are tied. Ranks hold for all systems together with 95 % "
            "confidence; two systems are tied if and only if they have a common letter.",
            f"{self.ranking.test}, {self.units}.",
        ]
        if self.ranking.untested:
            one, two = (self.names[system] for system in self.ranking.untested[0])
            lines.append(
                f"Not tested, as the difference is the same everywhere, without spread: {len(self.ranking.untested)} "
                f"pairs, such as {one} and {two}. They count as tied."
            )
        return "\n".join([*lines, self.left_out] if self.left_out else lines)

    def __str__(self) -> str:
        from cselab_lab.tables import table

        return f"{table(self.rows())}\n\n{self.note()}"


def tie_table(scores: "str | Path | pandas.DataFrame | Mapping[str, Mapping[str, float]]") -> TieTable:
    """Find the systems in a table that tie.

    Args:
        scores: a row per system and a column per task, seed or fold, as a DataFrame, `{system: {task: score}}`, or a
            file (.csv, .tsv ...); a file of three columns, system, task (or seed) and score; or a folder of MTEB's
            result files (`cselab.integrations.mteb`).

    Raises:
        DataError: a file in none of these forms; the message names the missing part.
        ValueError: fewer than two systems, or fewer than two shared units.

    >>> print(tie_table({"a": {"x": 60.1, "y": 70.2, "z": 50.0}, "b": {"x": 60.0, "y": 70.4, "z": 50.3}}).note())
    1 of 1 neighbours are tied. Ranks hold for all systems together with 95 % confidence; ...
    paired t-tests by Holm, over 3 units.
    """
    frame, what, notes, known = _frame(scores)
    if twice := [str(name) for name in frame.columns[frame.columns.duplicated()]]:
        raise DataError(f"{what}: several columns are called {', '.join(twice)}: rename them, or keep one of each")
    table, more = (frame, []) if known else _tasks(_wide(frame, what), what)
    notes += more
    if len(table) < 2 or table.shape[1] < 2:
        raise ValueError(
            f"{what}: systems: {len(table)}; shared tasks or seeds: {table.shape[1]}; expected at least "
            f"two of each. {' '.join(notes)}".strip()
        )
    ranking = rank_means(table.to_numpy(float))
    return TieTable([str(name) for name in table.index], ranking, f"over {table.shape[1]} units", "\n".join(notes))


def _frame(scores: Any) -> "tuple[pandas.DataFrame, str, list[str], bool]":
    """The table, its name for errors, notes on omitted columns, and whether all are tasks, as in MTEB's results."""
    from pandas import DataFrame

    if isinstance(scores, DataFrame):
        return scores, "the table", [], False
    if isinstance(scores, Mapping):
        return DataFrame.from_dict(scores, orient="index"), "the table", [], False
    if not isinstance(scores, str | Path):
        raise TypeError(
            f"scores are {scores!r:.60}; expected a file or folder, a DataFrame, or {{system: {{task: score}}}}"
        )
    file = Path(scores)
    if file.is_dir() or file.suffix == ".json":
        from cselab.evaluators.comparison import shared_scores
        from cselab.integrations.mteb import read_results

        by_model = read_results(file)
        shared, notes = shared_scores([of_model.records for of_model in by_model.values()])
        return DataFrame(shared, index=list(by_model)), str(file), notes, True
    names, rows = read_table(file)
    columns = [name or f"unnamed {place}" for place, name in enumerate(names)]
    return DataFrame((row for _, row in rows if any(row)), columns=columns), str(file), [], False


def _parsed(column: "pandas.Series") -> "tuple[pandas.Series, pandas.Series]":
    """The numbers of a column, NaN for text and for empty cells; and whether each cell is text.

    >>> from pandas import Series
    >>> numbers, is_text = _parsed(Series(["**70.1***", "70.1 ± 0.2", "70.1 %", "–", "70,1"]))
    >>> numbers.tolist(), is_text.tolist()
    ([70.1, 70.1, 70.1, nan, nan], [False, False, False, False, True])
    """
    from pandas import to_numeric

    cells = column.map(str).str.strip()
    numbers = to_numeric(cells.str.extract(SCORE, expand=False))
    return numbers, numbers.isna() & column.notna() & ~cells.str.lower().isin(EMPTY)


def _numbers(column: "pandas.Series", what: str) -> "pandas.Series":
    """A column as numbers; all NaN if it holds words.

    Raises:
        DataError: a column of numbers with text in some cells; the message names the first.
    """
    numbers, is_text = _parsed(column)
    if not is_text.any():
        return numbers
    if is_text.mean() < 0.5:
        place = is_text.to_numpy().argmax()
        raise DataError(
            f"{what}: {column.name} of the system {column.index[place]} is {column.iloc[place]!r}, which is not a "
            "number"
        )
    return numbers.mask(numbers.notna())


def _wide(frame: "pandas.DataFrame", what: str) -> "pandas.DataFrame":
    """A row per system, a column per unit."""
    lower = {str(name).strip().lower(): name for name in frame.columns}
    system, value = (next((lower[name] for name in names if name in lower), None) for names in (SYSTEM, VALUE))
    if system is not None and value is not None and len(frame.columns) >= 3:
        units = [lower[name] for name in TASK if name in lower] or [
            name for name in frame.columns if name not in (system, value)
        ]
        again = int(frame.duplicated([system, *units]).sum())
        if again:
            raise DataError(f"{what}: {again} rows repeat a system and {', '.join(map(str, units))}: keep one of each")
        wide = frame.pivot(index=system, columns=units, values=value)
        wide.columns = [name if isinstance(name, str) else " ".join(map(str, np.atleast_1d(name))) for name in wide]
        return wide
    if system is None:
        system = next((name for name in frame.columns if _parsed(frame[name])[1].mean() > 0.5), None)
    if system is not None:
        frame = frame.set_index(system)
    elif frame.empty or not isinstance(frame.index[0], str):
        raise DataError(
            f"{what}: no column holds the names of the systems; expected a row per system with its name first, or the "
            "columns system, task and score"
        )
    frame.index = frame.index.map(lambda name: str(name).strip())
    repeated = list(dict.fromkeys(frame.index[frame.index.duplicated()]))
    if repeated or "" in frame.index:
        why = f"{', '.join(repeated)} twice or more" if repeated and repeated != [""] else "a row without a name"
        raise DataError(f"{what}: the table has {why}: each system needs one row with a unique name")
    return frame


def _tasks(table: "pandas.DataFrame", what: str) -> "tuple[pandas.DataFrame, list[str]]":
    """The columns with scores of all systems for a task, and notes on omitted columns."""
    why: dict[str, list[str]] = {}
    numbers = table.apply(lambda column: _numbers(column, what))

    def leave_out(reason: str, names: Sequence[Any]) -> None:
        nonlocal numbers
        if len(names):
            why[reason] = [str(name) for name in names]
            numbers = numbers.drop(columns=names)

    leave_out("not tasks by their names", [name for name in numbers if NO_TASK.fullmatch(str(name).strip())])
    leave_out("not numbers", [name for name in numbers if numbers[name].isna().all()])
    leave_out("not every system has a score", [name for name in numbers if numbers[name].isna().any()])
    written = {name: _written(table[name]) for name in numbers}
    usual = Counter(written.values()).most_common(1)
    for reason, place in (("a share (%), unlike the rest", 1), ("whole numbers, unlike the rest", 0)):
        few = len(numbers) < FEWEST and place == 0
        if usual and usual[0][1] > numbers.shape[1] / 2 and not few:
            leave_out(reason, [name for name in numbers if written[name][place] > usual[0][0][place]])
    leave_out("scores outside -100 to 100", [name for name in numbers if not (numbers[name].abs() <= 100).all()])
    fractions = [name for name in numbers if (numbers[name].abs() <= 1).all()]
    if len(fractions) < numbers.shape[1]:
        leave_out("in a different unit", fractions)
    leave_out("means of the tasks", [name for name in numbers if _is_mean(numbers, name)])
    return numbers, [f"Left out, as {reason}: {', '.join(names)}." for reason, names in why.items()]


def _written(column: "pandas.Series") -> tuple[bool, bool]:
    """Whether all cells are whole numbers, and whether all have a per cent sign: scores of a table are alike in this.

    >>> from pandas import Series
    >>> _written(Series(["99%", "100%"])), _written(Series([60.12, 71.0])), _written(Series(["60.0", "71.0"]))
    ((True, True), (False, False), (False, False))
    """
    cells = column.map(str).str.strip()
    if column.dtype.kind == "f":
        cells = cells.str.removesuffix(".0")
    return not cells.str.contains(r"\d*\.\d").any(), bool(cells.str.endswith("%").all())


def _is_mean(numbers: "pandas.DataFrame", name: Any) -> bool:
    """Whether a column is the mean of the rest, to two decimals."""
    others = numbers.drop(columns=name)
    return others.shape[1] >= 2 and bool((abs(others.mean(axis=1) - numbers[name]) < 0.0501).all())


def _letter(number: int) -> str:
    """a ... z, then a2 ...

    >>> _letter(0), _letter(27)
    ('a', 'b2')
    """
    turn, place = divmod(number, len(ascii_lowercase))
    return ascii_lowercase[place] + (str(turn + 1) if turn else "")
