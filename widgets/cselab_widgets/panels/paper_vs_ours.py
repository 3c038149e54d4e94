"""A paper's experiment compared with ours: published gains, our gains, verdicts; or a map of all gains."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from html import escape, unescape
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go

from ..kit.fields import State, shown
from ..kit.inputs import filled_frame
from ..kit.panel import Panel
from ..kit.planes import Plane, written
from ..kit.theme import INK, ROLES, TICK

if TYPE_CHECKING:
    import pandas
    from cselab_lab.experiments import Profile, Results

VIEWS = ("numbers", "gains")
KNOWN = {  # the columns that are shown, and what stands for one that is not there
    "column": "score",
    "gain_low": np.nan,
    "gain_high": np.nan,
    "published_gain": np.nan,
    "note": "",
}
LINE = 33  # pixels a row
NAMED = 3  # rows: a title counts more of them
CELL = 26  # pixels a row of the map of gains
PAPER, HERE = ROLES["published"], ROLES["ours"]
# Blue above the baseline, vermilion below: pale enough for text of any theme, and never as pale as what is undecided.
COLOURS = (
    (0, "rgba(213, 94, 0, 0.6)"),
    (0.4999, "rgba(213, 94, 0, 0.2)"),
    (0.5, "rgba(128, 128, 128, 0.06)"),
    (0.5001, "rgba(0, 114, 178, 0.2)"),
    (1, "rgba(0, 114, 178, 0.6)"),
)


@dataclass(frozen=True, eq=False)
class PaperVsOursState(State):
    """The numbers of an experiment, and how they are looked at.

    Attributes:
        frame: a line for each row and column, as `read_results(...).to_frame()` makes it.
        column: which of its columns is shown.
        view: one of `VIEWS`: the numbers of one column, or a map of the gains in all columns.
        baseline: the row from which gains are counted.
        question: the question of the experiment, and `terms` the meaning of its rows.
        untrained: its rows without training.
    """

    frame: "pandas.DataFrame"
    column: str = shown("column", "list", "columns", where="of_one_column")
    view: str = VIEWS[0]
    baseline: str = "the baseline"
    question: str = ""
    terms: str = ""
    untrained: Collection[str] = ()

    @property
    def of_one_column(self) -> bool:
        return self.view == "numbers"

    @property
    def columns(self) -> list[str]:
        return list(dict.fromkeys(self.frame["column"]))

    @cached_property
    def shown(self) -> "pandas.DataFrame":
        """The lines of the column, in their order."""
        return self.frame[self.frame["column"] == self.column]

    @property
    def measure(self) -> str:
        """The task of our number: a substitute if the data of the published task are missing."""
        return str(self.shown["measure"].iloc[0])

    @cached_property
    def tests(self) -> list[str]:
        """The columns of the map of gains: an average, then the rest in their order."""
        return sorted(self.columns, key=lambda test: not test.startswith("Avg"))

    @cached_property
    def rows(self) -> list[str]:
        """The rows of the map of gains, the largest gain of the first test on top; those of single runs last."""
        rows = dict.fromkeys([*self.first_test["row"], *self.frame["row"]])
        return sorted(rows, key=lambda row: row in self.single)

    @cached_property
    def first_test(self) -> "pandas.DataFrame":
        """The lines of the first test, the largest gain on top."""
        return self.frame[self.frame["column"] == self.tests[0]].sort_values("gain", ascending=False)

    @cached_property
    def single(self) -> set[str]:
        """The rows of which no gain has an interval."""
        return {*self.frame["row"]} - {*self.frame["row"][self.frame["gain_low"].notna()]}

    @property
    def decided(self) -> "pandas.Series[bool]":
        """For each line, whether the interval of its gain excludes 0."""
        return (self.frame["gain_low"] > 0) | (self.frame["gain_high"] < 0)

    def table(self, values: "pandas.Series") -> "pandas.DataFrame":
        """Values of the lines of `frame` as a table: the rows of the map of gains by its columns."""
        table = self.frame.assign(value=values).pivot(index="row", columns="column", values="value")
        return table.loc[self.rows, self.tests]


def planes(state: PaperVsOursState) -> list[Plane]:
    """The numbers of a column, or the map of gains."""
    return _gains(state) if state.view == "gains" else _numbers(state)


def _numbers(state: PaperVsOursState) -> list[Plane]:
    """A line for each row: the published gain (diamond) and ours (dot with a bar), both numbers, and the verdict."""
    lines = state.shown.dropna(subset=["published_gain", "gain"], how="all").iloc[::-1]  # the first on top
    lines = lines.sort_values(
        "published_gain", key=lambda gain: gain.notna(), kind="stable"
    )  # at the bottom: ours only
    bare = lines["published_gain"].isna().sum()
    places = [place + 0.5 * (place >= bare) for place in range(len(lines))]
    traces = [
        _dots("published", PAPER, "diamond-open", lines, "published_gain", places),
        _dots("ours", HERE, "circle", lines, "gain", places),
    ]
    reach = np.array([[dots.x + dots.error_x.array, dots.x - dots.error_x.arrayminus] for dots in traces])
    values = [*reach[np.isfinite(reach)], 0.0]
    room = 0.06 * float(np.ptp(values)) or 1.0
    ends = [min(values) - room, max(values) + room]
    text = []
    for _, line in lines.iterrows():
        numbers = [(one or "\u2013").rjust(6, "\u2007") for one in _signed(line)]
        text.append("\u00a0\u00a0".join(["", *numbers, "\u2003" + _judged(state, line)]))
    heads = "\u00a0\u00a0\u2007\u200apaper\u00a0\u00a0\u2007\u2007\u200a\u200aours\u00a0\u00a0\u2003verdict"
    traces.append(written(ends[1:] * (len(text) + 1), [*places, len(lines) + 0.5], [*text, heads], "numbers"))
    across = {"title": {"text": _unit(state)}, "range": ends, "zeroline": True, "zerolinecolor": INK}
    up = {
        "tickvals": places,
        "ticktext": ["<br>".join(map(escape, wrap(str(row), 34))) for row in lines["row"]],
        "range": [-0.7, len(lines) + 1],
        "ticks": "",
    }
    mark = "<span><span style='color: {}'>{}</span> {}</span>"
    key = f"<span style='flex: 1 0 100%'>{escape(state.question)}</span>" * bool(state.question)
    key += mark.format(PAPER, "\u25c7", "paper") + mark.format(
        HERE, "\u25cf", "ours, with the 95 % interval of its seeds"
    )
    return [Plane(answer(state), traces, across, up, tall=round(LINE * (len(lines) + 1.7)), key=key)]


def _signed(line: "pandas.Series") -> list[str]:
    """The published gain and ours."""
    return ["" if np.isnan(line[name]) else f"{line[name]:+.1f}" for name in ("published_gain", "gain")]


def _judged(state: PaperVsOursState, line: "pandas.Series") -> str:
    """The verdict, or else that a row is a baseline without training."""
    return verdict(line) or "not trained" * (line["row"] in state.untrained)


def verdict(line: "pandas.Series") -> str:
    """The sign and the size of our gain compared with the paper's, as far as the interval decides."""
    ours, low, high, paper = line[["gain", "gain_low", "gain_high", "published_gain"]]
    if np.isnan(paper * ours):
        return ""
    if np.isnan(low):
        return "one run"
    if low <= 0 <= high:
        return "undecided"
    if ours * paper < 0:
        return "opposite sign"
    return "compatible" if low <= paper <= high else f"same sign, {'smaller' if abs(ours) < abs(paper) else 'larger'}"


def answer(state: PaperVsOursState) -> str:
    """The title: the rows above and below the baseline, whether the paper has them there, and the undecided ones."""
    baseline, gains = escape(state.baseline), state.shown["gain"].dropna()
    told = state.shown.apply(verdict, axis=1)
    judged, told = state.shown[told != ""], told[told != ""]
    undecided = told.str.startswith(("undecided", "one run"))
    above = judged["gain"] > 0
    sides = {f"above {baseline}": above & ~undecided, f"below {baseline}": ~above & ~undecided, "undecided": undecided}
    title = "; ".join(_side(side, judged[rows], told) for side, rows in sides.items() if rows.any())
    if title:
        return title[0].upper() + title[1:]
    if len(gains):
        return f"{(gains > 0).sum()} of {len(gains)} rows lie above {baseline}"
    return f"No gain over {baseline} was measured yet"


def _side(side: str, group: "pandas.DataFrame", told: "pandas.Series") -> str:
    """The rows on one side of the baseline, by name or by number, and whether the paper has them there."""
    names = ", ".join(group["row"])
    is_short = len(group) <= NAMED and not group["row"].str.contains(",").any()
    rows = escape(names) if is_short else f"{len(group)} of {len(told)} rows"
    if side == "undecided":
        return f"{side}: {rows}"
    alike = (told[group.index] != "opposite sign").sum()
    paper = {len(group): "as in the paper", 0: "unlike the paper"}.get(alike, f"{alike} as in the paper")
    return f"{side}: {rows} ({paper})"


def _gains(state: PaperVsOursState) -> list[Plane]:
    """A cell for each row and column: the number of a gain, in colour where the seeds decide its sign."""
    tests, frame = state.tests, state.frame
    methods = state.rows[: -len(state.single) or None] or state.rows
    coloured = frame["gain"].where(state.decided, 0.0)
    limit = max(1.0, float(coloured.abs().max()))
    texts = (frame.apply(_in_cell, axis=1, first=tests[0]), frame.apply(_gain_in_words, axis=1))
    inside, told = (state.table(text).loc[methods].fillna("").to_numpy().tolist() for text in texts)
    heat = go.Heatmap(
        z=state.table(coloured.round(4)).loc[methods].to_numpy(),
        x=tests,
        y=list(range(len(methods))),
        text=inside,
        hovertext=told,
        texttemplate="%{text}",
        textfont={"size": TICK},
        hoverinfo="text",
        uid="gains",
        colorscale=COLOURS,
        zmin=-limit,
        zmax=limit,
        showscale=False,
        xgap=1,
        ygap=1,
    )
    plain = {"showgrid": False, "showline": False, "ticks": "", "ticklabelstandoff": 5, "automargin": True}
    across = {**plain, "side": "top", "fixedrange": True, "tickvals": tests}
    across["ticktext"] = [_bold(test, escape(test)) for test in tests]
    up = {**plain, "tickvals": heat.y, "ticktext": [*map(escape, methods)], "range": [len(methods) - 0.5, -0.5]}
    title, first = f"Gains over {state.baseline}", state.first_test.set_index("row")
    if methods[0] in first.index:
        gain, *interval = first.loc[methods[0], ["gain", "gain_low", "gain_high"]]
        near = sum(first["gain"].between(*interval))  # with its own
        title = f"{methods[0]} gains most over {state.baseline}, {gain:+.1f} in {tests[0]}"
        title += f"; {near} rows lie within its interval" * (near > 1)
    return [Plane(escape(title), [heat], across, up, tall=CELL * len(methods), key=_key(state))]


def _in_cell(one: Mapping[str, Any], first: str) -> str:
    """A gain; in the first column with half of its interval, which a narrow page omits."""
    half = (one["gain_high"] - one["gain_low"]) / 2
    text = f"{one['gain']:+.1f}" + (f" \u00b1 {half:.1f}" if one["column"] == first and half > 0 else "")
    return _bold(one["column"], text)


def _bold(test: str, text: str) -> str:
    """A text of a column; that of an average is bold."""
    return f"<b>{text}</b>" if test.startswith("Avg") else text


def _key(state: PaperVsOursState) -> str:
    """The meaning of the colours, above the map; nothing of single runs."""
    if state.frame["gain_low"].isna().all():
        return ""
    chip = "<span style='background: {}; padding: 0 6px'>{}</span>"
    colours = chip.format(COLOURS[-1][1], "above " + escape(state.baseline)) + chip.format(COLOURS[0][1], "below")
    return f"{colours}<span>no colour: the 95 % interval contains 0; \u00b1: half of the interval</span>"


def _gain_in_words(one: Mapping[str, Any]) -> str:
    """A gain, its interval, and the paper's gain."""
    interval = "one run" if np.isnan(one["gain_low"]) else f"{one['gain_low']:+.1f} to\u00a0{one['gain_high']:+.1f}"
    paper = "not reported" if np.isnan(one["published_gain"]) else f"{one['published_gain']:+.1f}"
    told = (
        f"{escape(str(one['column']))}: {one['gain']:+.1f} points<br>95 % interval: {interval}<br>in the paper: {paper}"
    )
    return f"<b>{escape(str(one['row']))}</b><br>{told}"


def summary(state: PaperVsOursState) -> str:
    """The title and the table in text."""
    from cselab_lab.tables import table

    if state.view == "gains":
        return _gains_in_words(state)
    rows = {
        str(line["row"]): {"paper": paper, "ours": ours + _interval(line), "verdict": _judged(state, line)}
        for _, line in state.shown.iterrows()
        for paper, ours in [_signed(line)]
    }
    return f"{state.column}: {unescape(answer(state))}\n{table(rows)}"


def _interval(line: "pandas.Series") -> str:
    return "" if np.isnan(line["gain_low"]) else f" [{line['gain_low']:+.1f}, {line['gain_high']:+.1f}]"


def _gains_in_words(state: PaperVsOursState) -> str:
    """The title, and the table with undecided gains in brackets."""
    from cselab_lab.tables import table

    gains = state.frame["gain"].map("{:+.1f}".format)
    cells = state.table(gains.where(state.decided, "(" + gains + ")")).fillna("").to_dict("index")
    return f"{unescape(_gains(state)[0].title)}\n{table(cells)}"


def explain(state: PaperVsOursState) -> str:
    """The explanation of the picture."""
    if state.view == "gains":
        return ""
    if state.shown["gain"].isna().all():
        return "This experiment has not been run here: use cselab experiment run."
    words = "Undecided: the interval contains 0. Compatible: it contains the paper's gain."
    text = f"{state.terms} {words} A wide interval means few seeds, or seeds that disagree.".strip()
    if state.measure != state.column:
        text += f" Ours is {state.measure}, because the published number's data are missing: compare order, not size."
    return text


def details(state: PaperVsOursState) -> str:
    """The notes of rows; or the gains of single runs."""
    if state.view == "gains":
        return _single_runs(state) if len(state.single) < len(state.rows) else ""
    notes = state.shown[state.shown["note"] != ""].groupby("note", sort=False)["row"]
    told = "".join(f"<p><b>{escape(', '.join(map(str, rows)))}</b>: {escape(note)}</p>" for note, rows in notes)
    return f"<details><summary>Notes on rows</summary>{told}</details>" * bool(told)


def _single_runs(state: PaperVsOursState) -> str:
    """The gains of rows of single runs, which have no interval, in a fold."""
    table = state.table(state.frame["gain"]).loc[[row for row in state.rows if row in state.single]]
    text = table.to_html(index_names=False, float_format="{:+.1f}".format, na_rep="", border=0)
    return f"<details><summary>{len(table)} rows of single runs, not tested</summary>{text}</details>" * bool(
        len(table)
    )


class PaperVsOurs(Panel):
    """Published gains over the baseline compared with ours: a verdict on the sign and the size of each.

    With `view="gains"` a heat map of rows by columns: the gains over the baseline, in colour where the seeds decide the
    sign.

    Args:
        results: the results of an experiment, its name ("imsimcse-table1"; `cselab experiment list`), whose finished
            jobs are then read, or a frame with the columns row, gain, and any of column, measure, gain_low, gain_high,
            published_gain, note.
        profile: of a named experiment.
        column: which of the experiment's columns to show; the first by default.
        view: "numbers", or "gains".
        baseline: the row from which gains of a frame are counted, for the words; an experiment has its own.
        key: see `Panel`.

    Raises:
        ValueError: an unknown experiment, a frame without the needed columns or without lines, an unknown column.

    See also: `cselab_lab.experiments`, which runs them; `TrainingMonitor`, for a run while it goes on.

    >>> import pandas
    >>> frame = pandas.DataFrame({"row": ["ImSimCSE"], "gain": [0.7], "gain_low": [0.2], "gain_high": [1.2],
    ...                           "published_gain": [1.8]})
    >>> print(PaperVsOurs(frame))
    score: Above the baseline: ImSimCSE (as in the paper)
              paper  ours               verdict
    ImSimCSE  +1.8   +0.7 [+0.2, +1.2]  same sign, smaller
    >>> frame = pandas.DataFrame({"row": ["ImSimCSE", "ImSimCSE"], "column": ["STS-B", "SICK-R"], "gain": [0.7, -0.2],
    ...                           "gain_low": [0.2, -0.9], "gain_high": [1.2, 0.5]})
    >>> PaperVsOurs(frame, view="gains", baseline="SimCSE")
    ImSimCSE gains most over SimCSE, +0.7 in STS-B
              STS-B  SICK-R
    ImSimCSE   +0.7  (-0.2)
    """

    state_class = PaperVsOursState
    render = staticmethod(planes)
    alt_text = staticmethod(summary)
    explain = staticmethod(explain)
    details = staticmethod(details)

    def __init__(
        self,
        results: "Results | str | pandas.DataFrame" = "imsimcse-table1",
        profile: "Profile | str" = "study",
        column: str | None = None,
        view: str = VIEWS[0],
        baseline: str = "the baseline",
        key: str | None = None,
    ) -> None:
        if view not in VIEWS:
            raise ValueError(f"view is {view!r}; choose 'numbers' or 'gains'.")
        words: dict[str, Any] = {}
        if isinstance(results, str):
            from cselab_lab.experiments import read_results

            results = read_results(results, profile)
        if hasattr(results, "to_frame"):
            baseline = results.experiment.baseline
            words = {"question": results.experiment.question, "terms": results.experiment.terms}
            words["untrained"] = [row.label for row in results.experiment.all_rows if row.method is None]
            if view == "gains" and getattr(results, "nothing", None):
                raise ValueError(results.nothing)
            results = results.to_frame() if view == "numbers" else _of_one_baseline(results)
        frame = _complete(results, view)
        super().__init__(
            PaperVsOursState(
                frame, str(frame["column"].iloc[0]) if column is None else column, view=view, baseline=baseline, **words
            ),
            key,
        )

    def to_frame(self) -> "pandas.DataFrame":
        """A line for each row and column, all of them."""
        return self.state.frame.copy()


def _of_one_baseline(results: "Results") -> "pandas.DataFrame":
    """The gains over the experiment's baseline on its own columns, or on substitutes where none was measured."""
    from cselab_lab.experiments.verdicts import GEOMETRY

    frame, experiment = results.to_frame(), results.experiment
    own = [row.label for row in experiment.all_rows if row.against in (None, experiment.baseline)]
    asked = [column.measure for column in experiment.columns if column.measure not in GEOMETRY]
    frame = frame[frame["row"].isin(own) & frame["column"].isin(asked)]
    measured = frame[frame["column"] == frame["measure"]]
    if measured["gain"].isna().all():
        measured = frame.assign(column=frame["measure"]).drop_duplicates(["row", "column"])
    return measured


def _complete(frame: "pandas.DataFrame", view: str) -> "pandas.DataFrame":
    """A frame of our own with every known column, numbers as numbers, lines numbered from 0."""
    import pandas as pd

    frame = filled_frame(frame, ("row", "gain"), KNOWN)
    if not len(frame):
        raise ValueError("the frame has no lines; nothing to compare.")
    frame = filled_frame(frame, (), {"measure": frame["column"]})
    for name in ("gain", "gain_low", "gain_high", "published_gain"):
        frame[name] = pd.to_numeric(frame[name])
    if view == "numbers":
        return frame
    frame = frame.dropna(subset=["gain"]).reset_index(drop=True)
    if not len(frame):
        raise ValueError("no line has a gain; run the experiment and its baseline first (cselab experiment run).")
    twice = frame[frame.duplicated(["row", "column"])]
    if len(twice):
        raise ValueError(
            f"{twice['row'].iloc[0]!r} has two lines for {twice['column'].iloc[0]!r}; give one for each row and column."
        )
    return frame


def _dots(name: str, color: str, symbol: str, lines: "pandas.DataFrame", column: str, places: list[int]) -> go.Scatter:
    """A dot for each row that has the number; ours with the bar of its interval."""
    value = lines[column]
    high, low = (lines["gain_high"], lines["gain_low"]) if column == "gain" else (value, value)
    bars = {name: one.fillna(0).to_numpy(float) for name, one in (("array", high - value), ("arrayminus", value - low))}
    return go.Scatter(
        x=value.to_numpy(dtype=float),
        y=places,
        error_x={"type": "data", "thickness": 1.5, "width": 4, "color": color, "visible": column == "gain", **bars},
        hoverinfo="x",
        uid=name,
        mode="markers",
        cliponaxis=False,
        marker={"color": color, "symbol": symbol, "size": 10, "line": {"width": 2 if "open" in symbol else 0}},
    )


def _unit(state: PaperVsOursState) -> str:
    from cselab_lab.experiments.verdicts import GEOMETRY

    what, baseline = state.column, escape(state.baseline)
    what = f"{what} minus that of {baseline}" if what in GEOMETRY else f"points of {what} over {baseline}"
    if state.measure == state.column or state.shown["gain"].isna().all():
        return what
    return f"{what} (ours: {state.measure})"
