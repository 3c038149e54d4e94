"""Tables of scores, and which of their systems can be told apart at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

import numpy as np

from cselab.data import DataError
from cselab.metrics.ranking import Ranking, rank_means, rank_predictions

if TYPE_CHECKING:
    import pandas

GOLD = ("gold", "score", "label", "gold_score")
SYSTEM = ("system", "model", "model_name", "method", "encoder")
VALUE = ("score", "value", "main_score")


@dataclass(frozen=True, eq=False)
class TieTable:
    """Systems by rank, with the ranks that they may have.

    Attributes:
        names: of the systems, as they were given.
        ranking: see `cselab.metrics.Ranking`.
        units: what the scores are over: "tasks", "seeds", "rows" ..., and how many.
        left_out: what was not counted, and why.
    """

    names: Sequence[str]
    ranking: Ranking
    units: str
    left_out: str = ""

    def rows(self) -> dict[str, dict[str, Any]]:
        """A line for each system, best first. Two systems that share a letter cannot be told apart."""
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

    def to_frame(self) -> pandas.DataFrame:
        """The rows as a pandas DataFrame."""
        from pandas import DataFrame

        return DataFrame.from_dict(self.rows(), orient="index")

    def note(self) -> str:
        """What the table says, and how it was found."""
        tied, of = self.ranking.tied_neighbours
        lines = [
            f"{tied} of {of} neighbours cannot be told apart. Ranks hold for all systems together with 95 % "
            "confidence; systems that share a letter are tied.",
            f"{self.ranking.test}, {self.units}.",
        ]
        return "\n".join([*lines, self.left_out] if self.left_out else lines)

    def __str__(self) -> str:
        from cselab_lab.tables import table

        return f"{table(self.rows())}\n\n{self.note()}"


def tie_table(scores: str | Path | pandas.DataFrame | Mapping[str, Mapping[str, float]], seed: int = 0) -> TieTable:
    """Which systems of a table can be told apart.

    Args:
        scores: a row a system and a column a task, seed or fold, as a DataFrame, `{system: {task: score}}`, or a file
            (.csv, .tsv); a file of three columns, system, task (or seed) and score; a table with a row a sentence pair,
            one column the gold score (called gold), the others what each system predicted; or a folder of MTEB's
            result files (`cselab.integrations.mteb`).
        seed: of the bootstrap.

    Raises:
        DataError: a file that is none of these; names what is missing.
        ValueError: fewer than two systems, or fewer than two units that all of them have.

    >>> print(tie_table({"a": {"x": 60.1, "y": 70.2, "z": 50.0}, "b": {"x": 60.0, "y": 70.4, "z": 50.3}}).note())
    1 of 1 neighbours cannot be told apart. Ranks hold for all systems together with 95 % confidence; ...
    paired t-tests by Holm, over 3 units.
    """
    frame, what = _frame(scores)
    gold = next((name for name in frame.columns if str(name).lower() == GOLD[0]), None)
    if gold is not None:
        predicted = frame.drop(columns=gold).select_dtypes("number")
        _check(predicted, what)
        ranking = rank_predictions(predicted.to_numpy(float).T, frame[gold].to_numpy(float), seed=seed)
        scaled = Ranking(100 * ranking.scores, ranking.p_values, ranking.test, ranking.level)
        return TieTable([str(name) for name in predicted], scaled, f"Spearman over {len(frame)} rows")
    table = _wide(frame, what).select_dtypes("number")
    whole = table.dropna(axis="columns")
    gone = [str(name) for name in table.columns if name not in whole.columns]
    left_out = f"Left out, as not every system has a score: {', '.join(gone)}." if gone else ""
    if len(whole) < 2 or whole.shape[1] < 2:
        raise ValueError(
            f"{what}: {len(whole)} systems and {whole.shape[1]} tasks or seeds that all of them have; two of each are "
            f"needed. {left_out}".strip()
        )
    ranking = rank_means(whole.to_numpy(float), seed=seed)
    return TieTable([str(name) for name in whole.index], ranking, f"over {whole.shape[1]} units", left_out)


def _frame(scores: Any) -> tuple[pandas.DataFrame, str]:
    """The table, and what to call it in an error."""
    from pandas import DataFrame, read_csv
    from pandas.errors import EmptyDataError, ParserError

    if isinstance(scores, DataFrame):
        return scores, "the table"
    if isinstance(scores, Mapping):
        return DataFrame.from_dict(scores, orient="index"), "the table"
    file = Path(scores)
    if file.is_dir() or file.suffix == ".json":
        from cselab.integrations.mteb import read_results

        by_model = {name: one.scores for name, one in read_results(file).items()}
        return DataFrame.from_dict(by_model, orient="index"), str(file)
    try:
        return read_csv(file, sep="\t" if file.suffix == ".tsv" else ","), str(file)
    except FileNotFoundError:
        raise DataError(f"{file}: no such file; wanted is a table (.csv, .tsv) or a folder of MTEB's results") from None
    except (EmptyDataError, ParserError, UnicodeDecodeError) as error:
        raise DataError(f"{file}: not a table of comma-separated columns ({error})") from None


def _wide(frame: pandas.DataFrame, what: str) -> pandas.DataFrame:
    """A row a system, a column a unit."""
    lower = {str(name).lower(): name for name in frame.columns}
    system = next((lower[name] for name in SYSTEM if name in lower), None)
    value = next((lower[name] for name in VALUE if name in lower), None)
    words = [name for name in frame.columns if frame[name].dtype.kind not in "fiub"]
    if system is not None and value is not None and len(frame.columns) >= 3:
        units = [name for name in frame.columns if name not in (system, value)]
        twice = int(frame.duplicated([system, *units]).sum())
        if twice:
            raise DataError(f"{what}: {twice} rows repeat a system and {', '.join(map(str, units))}: keep one of each")
        return frame.pivot(index=system, columns=units, values=value)
    if words:
        return frame.set_index(words[0] if system is None else system)
    if isinstance(frame.index[0], str):
        return frame
    raise DataError(
        f"{what}: no column holds the names of the systems; a row a system with its name first, or the columns system, "
        "task and score, or a row a sentence pair with a column gold"
    )


def _check(predicted: pandas.DataFrame, what: str) -> None:
    if predicted.shape[1] < 2:
        raise DataError(f"{what}: beside gold it needs a column of numbers for each of two or more systems")
    if predicted.isna().any(axis=None):
        raise DataError(f"{what}: {int(predicted.isna().sum().sum())} predictions are missing")


def _letter(number: int) -> str:
    """a ... z, then a2 ...

    >>> _letter(0), _letter(27)
    ('a', 'b2')
    """
    turn, place = divmod(number, len(ascii_lowercase))
    return ascii_lowercase[place] + (str(turn + 1) if turn else "")
