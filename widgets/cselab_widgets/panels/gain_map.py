"""Gains over a baseline as a heat map: methods by tests, in colour where the seeds decide."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

import ipywidgets
import numpy as np
import plotly.graph_objects as go

from ..kit.controls import RowOptions, choice, row_options
from ..kit.inputs import filled_frame
from ..kit.number_table import number_table
from ..kit.panel import Panel, rounded
from ..kit.theme import TEMPLATE

if TYPE_CHECKING:
    import pandas
    from cselab_lab.experiments import Profile, Results

NEEDED = ("row", "column", "gain")
KNOWN = ("gain_low", "gain_high", "published_gain")  # numbers that are shown where they are there
DECLARED = "as declared"
LINE = 26  # pixels a method
# Blue above the baseline, vermilion below: pale enough for text of any theme, and never as pale as what is undecided.
COLOURS = (
    (0, "rgba(213, 94, 0, 0.7)"),
    (0.4999, "rgba(213, 94, 0, 0.2)"),
    (0.5, "rgba(128, 128, 128, 0.06)"),
    (0.5001, "rgba(0, 114, 178, 0.2)"),
    (1, "rgba(0, 114, 178, 0.7)"),
)


@dataclass(frozen=True, eq=False)
class GainMapState:
    """Gains by method and test, and how they are ordered.

    Attributes:
        frame: a line for each method and test: row, column, gain, gain_low, gain_high, published_gain.
        baseline: what the gains are counted from.
        sort: "as declared", or a test: its largest gain on top.
        selection: lines of `frame` that were picked; their methods are told in words.
        title: what is shown.
    """

    frame: "pandas.DataFrame"
    baseline: str
    sort: str = DECLARED
    selection: tuple[int, ...] = ()
    title: str = ""

    def __post_init__(self) -> None:
        if self.sort not in (DECLARED, *self.tests):
            raise ValueError(f"sort is {self.sort!r}; choose one of {', '.join((DECLARED, *self.tests))}.")

    @property
    def tests(self) -> list[str]:
        return list(dict.fromkeys(self.frame["column"]))

    @property
    def methods(self) -> list[str]:
        """The first on top."""
        if self.sort != DECLARED:
            ordered = self.frame[self.frame["column"] == self.sort].sort_values("gain", ascending=False)
            return list(dict.fromkeys([*ordered["row"], *self.frame["row"]]))
        return list(dict.fromkeys(self.frame["row"]))

    @property
    def decided(self) -> "pandas.Series[bool]":
        """For each line, whether the interval of its gain leaves out 0."""
        return (self.frame["gain_low"] > 0) | (self.frame["gain_high"] < 0)

    @cached_property
    def lines(self) -> dict[tuple[str, str], int]:
        """The line of `frame` of a method and a test."""
        return {key: line for line, key in enumerate(zip(self.frame["row"], self.frame["column"], strict=True))}

    @property
    def chosen(self) -> list[str]:
        """The methods that were picked."""
        return list(dict.fromkeys(self.frame["row"].iloc[list(self.selection)]))


def figure(state: GainMapState) -> go.Figure:
    """A row for each method, a column for each test: the number of a gain, and its colour where it is decided."""
    tests, methods, lines = state.tests, state.methods, state.lines
    cells = [[lines.get((method, test)) for test in tests] for method in methods]
    coloured = state.frame["gain"].where(state.decided, 0.0).to_numpy()
    heat = go.Heatmap(
        z=[[None if line is None else rounded([coloured[line]])[0] for line in row] for row in cells],
        x=tests,
        y=list(range(len(methods))),
        text=[["" if line is None else f"{state.frame['gain'].iloc[line]:+.1f}" for line in row] for row in cells],
        customdata=cells,
        hovertext=[["" if line is None else _hover(state, line) for line in row] for row in cells],
        texttemplate="%{text}",
        hovertemplate="%{hovertext}<extra></extra>",
        uid="gains",
        colorscale=COLOURS,
        zmin=-_limit(coloured),
        zmax=_limit(coloured),
        showscale=False,
        xgap=1,
        ygap=1,
    )
    names = [f"<b>{escape(name)}</b>" if name in state.chosen else escape(name) for name in methods]
    plain = {"showgrid": False, "showline": False, "ticks": "", "ticklabelstandoff": 5, "automargin": True}
    layout = {
        "template": TEMPLATE,
        "height": max(200, LINE * len(methods) + 70),
        "margin": {"t": 44, "b": 16},
        "xaxis": {**plain, "side": "top", "fixedrange": True, "autotickangles": [0, 90]},
        "yaxis": {**plain, "tickvals": heat.y, "ticktext": names, "range": [len(methods) - 0.5, -0.5]},
    }
    return go.Figure(heat, layout)


def _limit(values: np.ndarray) -> float:
    """The gain of the strongest colour: the largest there is, and at least a point."""
    return max(1.0, float(np.abs(values).max(initial=0.0)))


def _hover(state: GainMapState, line: int) -> str:
    one = state.frame.iloc[line]
    words = [f"<b>{escape(str(one['row']))}</b>, {escape(str(one['column']))}"]
    words += [f"{name} {text}" for name, text in _told(one).items()]
    return "<br>".join(words)


def _told(line: Any) -> dict[str, str]:
    """A gain in words: ours with its interval, and the paper's."""
    ours = f"{line['gain']:+.2f}"
    if not np.isnan(line["gain_low"]):
        ours += f" [{line['gain_low']:+.2f}, {line['gain_high']:+.2f}]"
    published = "" if np.isnan(line["published_gain"]) else f"{line['published_gain']:+.2f}"
    return {"here": ours, "published": published} if published else {"here": ours}


def summary(state: GainMapState) -> str:
    """How many gains are decided, and the table; what is not decided stands in brackets."""
    from cselab_lab.tables import table

    decided, gain, lines = state.decided.to_numpy(), state.frame["gain"].to_numpy(), state.lines
    above, below = int((decided & (gain > 0)).sum()), int((decided & (gain < 0)).sum())
    cells = {
        method: {
            test: "" if line is None else f"{gain[line]:+.1f}" if decided[line] else f"({gain[line]:+.1f})"
            for test in state.tests
            for line in [lines.get((method, test))]
        }
        for method in state.methods
    }
    said = f"{above} of {len(gain)} lie above {state.baseline}, {below} below, {len(gain) - above - below} undecided."
    return "\n".join([f"{state.title or 'Gains'}: {said}", table(cells)])


def explain(state: GainMapState) -> str:
    """What the colours say."""
    text = f"Points more than {state.baseline}, the mean over seeds."
    if state.frame["gain_low"].isna().all():
        return text + " One seed decides nothing: there is no colour."
    return text + " Blue lies above, orange below; without colour, the 95 % interval over the seeds has 0 in it."


def details(state: GainMapState) -> str:
    """The methods that were picked, test by test, beside what is published."""
    parts = []
    for method in state.chosen:
        lines = [line for _, line in state.frame[state.frame["row"] == method].iterrows()]
        told = [_told(line) for line in lines]
        names = list(dict.fromkeys(name for cells in told for name in cells))
        tests = [escape(str(line["column"])) for line in lines]
        rows = zip(tests, ([cells.get(name, "") for name in names] for cells in told), strict=True)
        parts.append(f"<p><b>{escape(method)}</b></p>{number_table(['', *names], rows)}")
    return "".join(parts)


class GainMap(Panel):
    """Which methods gain on which tests: a heat map, in colour where the seeds decide the sign.

    Args:
        results: the results of an experiment, its name ("main-comparison"; `cselab experiment list`), whose finished
            jobs are then read, or a frame with the columns row, column, gain, and any of gain_low, gain_high,
            published_gain. The experiment's own columns are shown, without alignment and uniformity.
        profile: of a named experiment.
        baseline: what the gains of a frame are counted from, for the words; an experiment has its own.
        sort: "as declared", or a test: its largest gain on top.
        title: what it is.
        key: see `Panel`.

    Raises:
        ValueError: an unknown experiment or test, an experiment of which nothing was run, a frame without the needed
            columns, no gain at all.

    See also: `PaperBesideHere`, one column of the same experiment with its scores, curves and claims; `MethodMap`.

    >>> import pandas
    >>> frame = pandas.DataFrame({"row": ["ImSimCSE", "ImSimCSE"], "column": ["STS-B", "SICK-R"], "gain": [0.7, -0.2],
    ...                           "gain_low": [0.2, -0.9], "gain_high": [1.2, 0.5]})
    >>> GainMap(frame, baseline="SimCSE")
    Gains: 1 of 2 lie above SimCSE, 0 below, 1 undecided.
              STS-B  SICK-R
    ImSimCSE   +0.7  (-0.2)
    """

    draw = staticmethod(figure)
    describe = staticmethod(summary)
    explain = staticmethod(explain)
    details = staticmethod(details)

    def __init__(
        self,
        results: "Results | str | pandas.DataFrame" = "main-comparison",
        profile: "Profile | str" = "study",
        baseline: str = "the baseline",
        sort: str = DECLARED,
        title: str = "",
        key: str | None = None,
    ) -> None:
        if isinstance(results, str):
            from cselab_lab.experiments import read_results

            results = read_results(results, profile)
            if results.nothing:
                raise ValueError(results.nothing)
        if hasattr(results, "beside"):
            baseline = results.experiment.baseline
            title = title or f"{results.experiment.name}, profile {results.profile.name}"
            results = _of_one_baseline(results)
        super().__init__(GainMapState(_complete(results), baseline, sort, title=title), key)

    def controls(self) -> dict[str, ipywidgets.Widget]:
        state = self.state
        return {
            "sort": choice("sort by", [DECLARED, *state.tests], state.sort),
            "selection": choice("read about", self.options(state)["selection"], state.selection),
        }

    @staticmethod
    def options(state: GainMapState) -> dict[str, RowOptions]:
        """The methods, in the order shown."""
        rows = [(method, _lines_of(state, method)) for method in state.methods]
        return {"selection": row_options(rows, state.selection, "no method")}

    def clicked(self, row: int) -> None:
        """A cell was clicked: its method is told, test by test."""
        self.selection = _lines_of(self.state, self.state.frame["row"].iloc[row])

    def items(self) -> Sequence[tuple[str, str]]:
        return list(self.state.lines)

    def to_frame(self) -> "pandas.DataFrame":
        """A line for each method and test."""
        return self.state.frame.copy()


def _lines_of(state: GainMapState, method: str) -> tuple[int, ...]:
    return tuple(line for (row, _), line in state.lines.items() if row == method)


def _of_one_baseline(results: "Results") -> "pandas.DataFrame":
    """The gains over the experiment's baseline on its own columns, and on stand-ins where none of them was measured."""
    from cselab_lab.experiments.reading import GEOMETRY

    frame, experiment = results.beside(), results.experiment
    own = [row.label for row in experiment.all_rows if row.against in (None, experiment.baseline)]
    asked = [column.measure for column in experiment.columns if column.measure not in GEOMETRY]
    frame = frame[frame["row"].isin(own) & frame["column"].isin(asked)]
    measured = frame[frame["column"] == frame["measure"]]
    if measured["gain"].isna().all():
        measured = frame.assign(column=frame["measure"]).drop_duplicates(["row", "column"])
    return measured


def _complete(frame: "pandas.DataFrame") -> "pandas.DataFrame":
    """The lines that have a gain, with every known column, numbered from 0."""
    import pandas as pd

    frame = filled_frame(frame, NEEDED, dict.fromkeys(KNOWN, np.nan))
    frame = frame.dropna(subset=["gain"]).reset_index(drop=True)
    if not len(frame):
        raise ValueError("no line has a gain: run the experiment first, its baseline too (cselab experiment run).")
    if frame.duplicated(["row", "column"]).any():
        twice = frame[frame.duplicated(["row", "column"])].iloc[0]
        raise ValueError(f"{twice['row']!r} has two lines for {twice['column']!r}; give one for each row and column.")
    for name in ("gain", *KNOWN):
        frame[name] = pd.to_numeric(frame[name])
    return frame[["row", "column", "gain", *KNOWN]]
