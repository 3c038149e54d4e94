"""An experiment of a paper beside ours: published, ours, difference, claims; or a map of the gains in all columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go

from ..kit.controls import RowOptions, row_options
from ..kit.fields import State, shown
from ..kit.inputs import filled_frame
from ..kit.number_table import number_table
from ..kit.panel import Panel, rounded
from ..kit.planes import above
from ..kit.theme import INK, PALETTE, TEMPLATE

if TYPE_CHECKING:
    import pandas
    from cselab_lab.experiments import Profile, Results

VIEWS = ("numbers", "gains")
NEEDED = {"numbers": ("row", "published", "ours"), "gains": ("row", "column", "gain")}
KNOWN = {  # the columns that are shown, and what stands for one that is not there
    "column": "score",
    "measure": "score",
    "published": np.nan,
    "ours": np.nan,
    "published_spread": np.nan,
    "sd": np.nan,
    "n": 0,
    "difference": np.nan,
    "gain": np.nan,
    "gain_low": np.nan,
    "gain_high": np.nan,
    "published_gain": np.nan,
    "failed": 0,
    "note": "",
}
SORTED = ("as published", "published", "ours", "difference", "gain")
LINE = 30  # pixels a row
CELL = 26  # pixels a row of the map of gains
PAPER, HERE = PALETTE[1], PALETTE[0]
# Blue above the baseline, vermilion below: pale enough for text of any theme, and never as pale as what is undecided.
COLOURS = (
    (0, "rgba(213, 94, 0, 0.7)"),
    (0.4999, "rgba(213, 94, 0, 0.2)"),
    (0.5, "rgba(128, 128, 128, 0.06)"),
    (0.5001, "rgba(0, 114, 178, 0.2)"),
    (1, "rgba(0, 114, 178, 0.7)"),
)


@dataclass(frozen=True, eq=False)
class PaperBesideHereState(State):
    """The numbers of an experiment, and how they are looked at.

    Attributes:
        frame: a line for each row and column, as `read_results(...).to_frame()` makes it.
        column: which of its columns is shown.
        sort: one of `orders`; the largest first.
        selection: lines of `frame` that were picked; the last one's curves are shown, or all tests of their rows.
        curves: by row and seed, what was seen while it trained: rows with "step" and "score".
        verdicts: what is said about each claim.
        title: what the experiment is.
        view: one of `VIEWS`: the numbers of one column, or a map of the gains in all columns.
        baseline: what the gains are counted from.
    """

    frame: "pandas.DataFrame"
    column: str = shown("column", "list", "columns", where="of_one_column")
    sort: str = shown("sort by", "list", "orders", SORTED[0])
    selection: tuple[int, ...] = shown("row", "rows", (), ())
    curves: Mapping[str, Mapping[Any, Sequence[Mapping[str, float]]]] = field(default_factory=dict)
    verdicts: tuple[str, ...] = ()
    title: str = ""
    view: str = VIEWS[0]
    baseline: str = "the baseline"

    @property
    def of_one_column(self) -> bool:
        return self.view == "numbers"

    @property
    def orders(self) -> tuple[str, ...]:
        """What rows can be sorted by."""
        return SORTED if self.view == "numbers" else (SORTED[0], *self.columns)

    @property
    def columns(self) -> list[str]:
        return list(dict.fromkeys(self.frame["column"]))

    @cached_property
    def shown(self) -> "pandas.DataFrame":
        """The lines of the column, sorted; those without the number sorted by come last. The index is `frame`'s."""
        lines = self.frame[self.frame["column"] == self.column]
        if self.sort == SORTED[0]:
            return lines
        return lines.sort_values(self.sort, ascending=False, na_position="last", kind="stable")

    @property
    def measure(self) -> str:
        """What ours is; another task than the published one where its data are missing."""
        return str(self.shown["measure"].iloc[0])

    @cached_property
    def row(self) -> str | None:
        """The row whose curves are shown: that picked last, else the first that has any."""
        if self.selection:
            return str(self.frame["row"].iloc[self.selection[-1]])
        return next((row for row in self.shown["row"] if self.curves.get(row)), None)

    @cached_property
    def rows(self) -> list[str]:
        """The rows of the map of gains, the first on top."""
        column = self.frame[self.frame["column"] == self.sort].sort_values("gain", ascending=False)
        return list(dict.fromkeys([*column["row"], *self.frame["row"]]))

    @property
    def decided(self) -> "pandas.Series[bool]":
        """For each line, whether the interval of its gain excludes 0."""
        return (self.frame["gain_low"] > 0) | (self.frame["gain_high"] < 0)

    @cached_property
    def lines(self) -> dict[tuple[str, str], int]:
        """The line of `frame` of a row and a column."""
        return {key: line for line, key in enumerate(zip(self.frame["row"], self.frame["column"], strict=True))}

    def lines_of(self, row: str) -> tuple[int, ...]:
        """The lines of a row, in all columns."""
        return tuple(line for (of, _), line in self.lines.items() if of == row)

    @property
    def chosen(self) -> list[str]:
        """The rows that were picked."""
        return list(dict.fromkeys(self.frame["row"].iloc[list(self.selection)]))


def figure(state: PaperBesideHereState) -> go.Figure:
    """The numbers of a column, or the map of gains."""
    return _gains(state) if state.view == "gains" else _numbers(state)


def _numbers(state: PaperBesideHereState) -> go.Figure:
    """A line for each row: published (diamond) and ours (dot, one standard deviation); beside it a row's curves."""
    lines = state.shown.iloc[::-1]  # the first on top
    places = list(range(len(lines)))
    together = lines.dropna(subset=["published", "ours"])
    at = {index: place for place, index in enumerate(lines.index)}
    between = {
        "x": [z for _, one in together.iterrows() for z in (*rounded([one.published, one.ours]), None)],
        "y": [z for index in together.index for z in (at[index], at[index], None)],
    }
    right = 0.56 if state.curves else 1.0
    traces = [
        go.Scatter(
            **between,
            uid="difference",
            mode="lines",
            line={"color": INK, "width": 1},
            hoverinfo="skip",
            showlegend=False,
        ),
        _dots("published", PAPER, "diamond-open", lines, "published", "published_spread", places),
        _dots("ours", HERE, "circle", lines, "ours", "sd", places),
        go.Scatter(
            x=[
                value
                for row in state.selection
                if row in at
                for value in (state.frame["published"].iloc[row], state.frame["ours"].iloc[row])
            ],
            y=[at[row] for row in state.selection if row in at for _ in range(2)],
            uid="picked",
            mode="markers",
            marker={"symbol": "circle-open", "size": 18, "color": INK, "line": {"width": 1.5}},
            hoverinfo="skip",
            showlegend=False,
        ),
    ]
    layout = {
        "template": TEMPLATE,
        "height": max(320, LINE * len(lines) + 130),
        "xaxis": {"title": {"text": _unit(state)}, "domain": [0.0, right], "anchor": "y"},
        "yaxis": {
            "tickvals": places,
            "ticktext": ["<br>".join(map(escape, wrap(str(row), 34))) for row in lines["row"]],
            "range": [-0.6, len(lines) - 0.4],
            "automargin": True,
            "anchor": "x",
            "domain": [0.0, 1.0],
            "ticks": "",
        },
        "legend": {"orientation": "h", "x": 0, "y": 1, "yref": "container", "yanchor": "top"},
    }
    if state.curves:
        traces += _curves(state)
        layout["xaxis2"] = {"title": {"text": "step"}, "domain": [right + 0.12, 1.0], "anchor": "y2"}
        layout["yaxis2"] = {"title": {"text": "dev score"}, "domain": [0.0, 1.0], "anchor": "x2"}
        layout["annotations"] = [above(escape(state.row or "no curve"), of="2")]
    return go.Figure(traces, layout)


def _gains(state: PaperBesideHereState) -> go.Figure:
    """A cell for each row and column: the number of a gain, in colour where the seeds decide its sign."""
    tests, methods, lines = state.columns, state.rows, state.lines
    cells = [[lines.get((method, test)) for test in tests] for method in methods]
    coloured = state.frame["gain"].where(state.decided, 0.0).to_numpy()
    heat = go.Heatmap(
        z=[[None if line is None else rounded([coloured[line]])[0] for line in row] for row in cells],
        x=tests,
        y=list(range(len(methods))),
        text=[["" if line is None else f"{state.frame['gain'].iloc[line]:+.1f}" for line in row] for row in cells],
        customdata=cells,
        hovertext=[["" if line is None else _gain_hover(state, line) for line in row] for row in cells],
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
        "height": max(200, CELL * len(methods) + 70),
        "margin": {"t": 44, "b": 16},
        "xaxis": {**plain, "side": "top", "fixedrange": True, "autotickangles": [0, 90]},
        "yaxis": {**plain, "tickvals": heat.y, "ticktext": names, "range": [len(methods) - 0.5, -0.5]},
    }
    return go.Figure(heat, layout)


def _limit(values: np.ndarray) -> float:
    """The gain of the strongest colour: the largest there is, and at least a point."""
    return max(1.0, float(np.abs(values).max(initial=0.0)))


def _gain_hover(state: PaperBesideHereState, line: int) -> str:
    one = state.frame.iloc[line]
    words = [f"<b>{escape(str(one['row']))}</b>, {escape(str(one['column']))}"]
    words += [f"{name} {text}" for name, text in _gain_in_words(one).items()]
    return "<br>".join(words)


def _gain_in_words(line: Any) -> dict[str, str]:
    """A gain in words: ours with its interval, and the paper's."""
    ours = _in_words(line)["gain"]
    published = "" if np.isnan(line["published_gain"]) else f"{line['published_gain']:+.2f}"
    return {"here": ours, "published": published} if published else {"here": ours}


def summary(state: PaperBesideHereState) -> str:
    """The table in text, and the verdicts."""
    from cselab_lab.tables import table

    if state.view == "gains":
        return _gains_in_words(state)
    cells = {
        row: {name: text for name, text in texts.items() if name != "note"} for row, texts in _cells(state).items()
    }
    lines = [f"{state.title or 'Published beside ours'}: {state.column}", table(cells)]
    return "\n".join([*lines, *state.verdicts])


def _gains_in_words(state: PaperBesideHereState) -> str:
    """How many gains are decided, and the table; what is not decided is in brackets."""
    from cselab_lab.tables import table

    decided, gain, lines = state.decided.to_numpy(), state.frame["gain"].to_numpy(), state.lines
    above, below = int((decided & (gain > 0)).sum()), int((decided & (gain < 0)).sum())
    cells = {
        method: {
            test: "" if line is None else f"{gain[line]:+.1f}" if decided[line] else f"({gain[line]:+.1f})"
            for test in state.columns
            for line in [lines.get((method, test))]
        }
        for method in state.rows
    }
    said = f"{above} of {len(gain)} lie above {state.baseline}, {below} below, {len(gain) - above - below} undecided."
    return "\n".join([f"{state.title or 'Gains'}: {said}", table(cells)])


def explain(state: PaperBesideHereState) -> str:
    """What is seen."""
    if state.view == "gains":
        return _gains_explained(state)
    text = "Diamonds: as published; dots: here, mean over seeds, the bar one standard deviation."
    if state.shown["ours"].isna().all():
        text = "Diamonds: as published. Nothing was run here yet: cselab experiment run."
    elif state.measure != state.column:
        text += f" Ours is {state.measure}, for want of the published number's data: compare order, not size."
    if state.curves:
        text += " Click a row for its curves."
    return text


def _gains_explained(state: PaperBesideHereState) -> str:
    """What the colours say."""
    text = f"Points more than {state.baseline}, the mean over seeds."
    if state.frame["gain_low"].isna().all():
        return text + " One seed decides nothing: there is no colour."
    return text + " Blue lies above, orange below; without colour, the 95 % interval over the seeds has 0 in it."


def details(state: PaperBesideHereState) -> str:
    """The verdicts on the paper's claims, and the table; or the gains of the rows that were picked."""
    if state.view == "gains":
        return _gains_of_chosen(state)
    said = "".join(f"<li>{escape(verdict)}</li>" for verdict in state.verdicts)
    cells = _cells(state)
    names = list(dict.fromkeys(name for row in cells.values() for name in row if name != "note"))
    rows = ((escape(row), [escape(texts[name]) for name in names]) for row, texts in cells.items())
    title = f"<p><b>{escape(state.title)}</b></p>" if state.title else ""
    return title + (f"<ul>{said}</ul>" if said else "") + number_table(["", *names], rows) + _notes(cells)


def _gains_of_chosen(state: PaperBesideHereState) -> str:
    """The rows that were picked, column by column, next to what is published."""
    parts = []
    for method in state.chosen:
        lines = [line for _, line in state.frame[state.frame["row"] == method].iterrows()]
        told = [_gain_in_words(line) for line in lines]
        names = list(dict.fromkeys(name for cells in told for name in cells))
        tests = [escape(str(line["column"])) for line in lines]
        rows = zip(tests, ([cells.get(name, "") for name in names] for cells in told), strict=True)
        parts.append(f"<p><b>{escape(method)}</b></p>{number_table(['', *names], rows)}")
    return "".join(parts)


def _notes(cells: Mapping[str, Mapping[str, str]]) -> str:
    """What is noted of rows, each note once: a column of them would leave the numbers no room."""
    rows: dict[str, list[str]] = {}
    for row, texts in cells.items():
        if texts.get("note"):
            rows.setdefault(texts["note"], []).append(row)
    return "".join(f"<p><b>{escape(', '.join(of))}</b>: {escape(note)}</p>" for note, of in rows.items())


class PaperBesideHere(Panel):
    """Published numbers beside ours: spread, difference, gain, and whether the paper's claims hold here.

    With `view="gains"` a heat map of rows by columns: the gains over the baseline, in colour where the seeds decide the
    sign. A click on a cell shows the published gains next to ours.

    Args:
        results: the results of an experiment, its name ("imsimcse-table1"; `cselab experiment list`), whose finished
            jobs are then read, or a frame with the columns row, published, ours, and any of column, measure,
            published_spread, sd, n, difference, gain, gain_low, gain_high, published_gain, failed, note. For the view
            "gains" it needs row, column and gain.
        profile: of a named experiment.
        column: which of the experiment's columns to show; the first by default.
        sort: "as published", or by "published", "ours", "difference", "gain", the largest first; gains by a column.
        curves: for a frame: row -> {seed: history}, or a run or list of runs.
        verdicts: for a frame: lines about the claims.
        title: what it is.
        view: "numbers", or "gains".
        baseline: what the gains of a frame are counted from, for the words; an experiment has its own.
        key: see `Panel`.

    Raises:
        ValueError: an unknown experiment, a frame without the needed columns or without lines, an unknown column.

    See also: `cselab_lab.experiments`, which runs them; `TrainingMonitor`, for a run while it goes on.

    >>> import pandas
    >>> frame = pandas.DataFrame({"row": ["SimCSE", "ImSimCSE"], "published": [76.3, 78.1], "ours": [58.2, 58.9]})
    >>> print(PaperBesideHere(frame))
    Published beside ours: score
              published   ours
    SimCSE        76.30  58.20
    ImSimCSE      78.10  58.90
    >>> frame = pandas.DataFrame({"row": ["ImSimCSE", "ImSimCSE"], "column": ["STS-B", "SICK-R"], "gain": [0.7, -0.2],
    ...                           "gain_low": [0.2, -0.9], "gain_high": [1.2, 0.5]})
    >>> PaperBesideHere(frame, view="gains", baseline="SimCSE")
    Gains: 1 of 2 lie above SimCSE, 0 below, 1 undecided.
              STS-B  SICK-R
    ImSimCSE   +0.7  (-0.2)
    """

    holds = PaperBesideHereState

    def __init__(
        self,
        results: "Results | str | pandas.DataFrame" = "imsimcse-table1",
        profile: "Profile | str" = "study",
        column: str | None = None,
        curves: Mapping[str, Any] | None = None,
        verdicts: Sequence[Any] = (),
        title: str = "",
        view: str = VIEWS[0],
        baseline: str = "the baseline",
        key: str | None = None,
        **shown: Any,
    ) -> None:
        if view not in VIEWS:
            raise ValueError(f"view is {view!r}; choose 'numbers' or 'gains'.")
        if isinstance(results, str):
            from cselab_lab.experiments import read_results

            results = read_results(results, profile)
        if hasattr(results, "to_frame"):
            title = title or f"{results.experiment.name}, profile {results.profile.name}"
            baseline = results.experiment.baseline
        if hasattr(results, "to_frame") and view == "gains":
            if getattr(results, "nothing", None):
                raise ValueError(results.nothing)
            frame = _of_one_baseline(results)
        elif hasattr(results, "to_frame"):
            frame, verdicts = results.to_frame(), results.verdicts()
            curves = {row: results.curves(row) for row in dict.fromkeys(frame["row"])}
        else:
            frame = results
            curves = {row: _seeds(given) for row, given in (curves or {}).items()}
        frame = _complete(frame, view)
        super().__init__(
            PaperBesideHereState(
                frame,
                str(frame["column"].iloc[0]) if column is None else column,
                curves={row: seeds for row, seeds in (curves or {}).items() if seeds},
                verdicts=tuple(map(_said, verdicts)),
                title=title,
                view=view,
                baseline=baseline,
                **shown,
            ),
            key,
        )

    def clicked(self, row: int) -> None:
        """A row was clicked: its curves are shown, or its gains in all columns."""
        of = self.state.frame["row"].iloc[row]
        self.selection = self.state.lines_of(of) if self.state.view == "gains" else (row,)

    @staticmethod
    def options(state: PaperBesideHereState) -> dict[str, RowOptions]:
        """The rows that can be picked, in the order shown: those that have curves, or all of the map of gains."""
        if state.view == "gains":
            every = [(row, state.lines_of(row)) for row in state.rows]
            return {"selection": row_options(every, state.selection, "no row")}
        if not state.curves:
            return {}
        rows: RowOptions = [
            (str(row), (int(line),)) for line, row in state.shown["row"].items() if state.curves.get(row)
        ]
        return {"selection": row_options(rows, state.selection, f"the first: {replace(state, selection=()).row}")}

    def items(self) -> Sequence[tuple[str, str]]:
        return list(zip(self.state.frame["row"], self.state.frame["column"], strict=True))

    def to_frame(self) -> "pandas.DataFrame":
        """A line for each row and column, all of them."""
        return self.state.frame.copy()

    def to_latex(self) -> str:
        """The table of the column shown, with booktabs."""
        from cselab_lab.tables import table

        return table(_cells(self.state), form="latex")

    def save(self, path: str | Path) -> list[Path]:
        """As `Panel.save`, and .tex: the table of the column shown, with booktabs."""
        path = Path(path)
        if path.suffix != ".tex":
            return super().save(path)
        path.write_text(self.to_latex() + "\n", encoding="utf-8")
        return [path]

    def _changed(self, changes: Mapping[str, Any]) -> PaperBesideHereState:
        """A row that was picked in one column stays picked in another."""
        before, state = self.state, super()._changed(changes)
        if "column" in changes and "selection" not in changes:
            rows = {before.frame["row"].iloc[line] for line in before.selection}
            lines = state.frame[state.frame["row"].isin(rows) & (state.frame["column"] == state.column)]
            state = replace(state, selection=tuple(map(int, lines.index)))
        return state


def _said(verdict: Any) -> str:
    """A verdict as a sentence: its number counts towards the claim, so that a claim of a loss has no plus before it."""
    from cselab_lab.experiments.results import GEOMETRY

    if isinstance(verdict, str):
        return verdict
    in_points = verdict.unit != "tau" and verdict.measure not in GEOMETRY
    digits, unit = (1, f" {verdict.unit}") if in_points else (2, "")

    def amount(value: float) -> str:
        return f"{abs(value):.{digits}f}{unit}, {'as claimed' if value > 0 else 'the other way'}"

    said = f"{verdict.claim}: {verdict.answer}"
    if verdict.ours is not None:
        said += f". {verdict.measure} here: {amount(verdict.ours)}"
    if verdict.interval is not None:
        low, high = (f"{end:.{digits}f}" for end in verdict.interval)
        said += f" (95 % interval {low} to {high} over {verdict.seeds} seeds)"
    return said if verdict.published is None else f"{said}; in the paper: {amount(verdict.published)}"


def _of_one_baseline(results: "Results") -> "pandas.DataFrame":
    """The gains over the experiment's baseline on its own columns, and on stand-ins where none of them was measured."""
    from cselab_lab.experiments.results import GEOMETRY

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

    frame = filled_frame(frame, NEEDED[view], KNOWN)
    if not len(frame):
        raise ValueError("the frame has no lines; there is nothing to compare.")
    for name in (name for name, one in KNOWN.items() if isinstance(one, float)):
        frame[name] = pd.to_numeric(frame[name])
    if view == "numbers":
        return frame
    frame = frame.dropna(subset=["gain"]).reset_index(drop=True)
    if not len(frame):
        raise ValueError("no line has a gain: run the experiment first, its baseline too (cselab experiment run).")
    if frame.duplicated(["row", "column"]).any():
        twice = frame[frame.duplicated(["row", "column"])].iloc[0]
        raise ValueError(f"{twice['row']!r} has two lines for {twice['column']!r}; give one for each row and column.")
    return frame


def _seeds(given: Any) -> dict[Any, Sequence[Mapping[str, float]]]:
    """Curves by seed, from {seed: history}, a run, or several runs."""
    if not isinstance(given, Mapping):
        given = dict(enumerate([given] if hasattr(given, "history") else given))
    return {seed: one.history if hasattr(one, "history") else one for seed, one in given.items()}


def _dots(
    name: str, color: str, symbol: str, lines: "pandas.DataFrame", column: str, spread: str, places: list[int]
) -> go.Scatter:
    """A dot for each row that has the number, with its spread as a bar."""
    spreads = lines[spread].fillna(0).to_numpy(dtype=float)
    return go.Scatter(
        x=lines[column].to_numpy(dtype=float),
        y=places,
        error_x={
            "type": "data",
            "array": spreads,
            "thickness": 1.5,
            "width": 4,
            "color": color,
            "visible": bool(spreads.any()),
        },
        customdata=lines.index.to_numpy(),
        text=[_hover(line) for _, line in lines.iterrows()],
        hovertemplate="%{text}<extra></extra>",
        uid=name,
        name=name,
        showlegend=bool(lines[column].notna().any()),
        mode="markers",
        marker={"color": color, "symbol": symbol, "size": 10, "line": {"width": 2 if "open" in symbol else 0}},
    )


def _hover(line: Any) -> str:
    parts = [f"<b>{escape(str(line['row']))}</b>", *(f"{name} {value}" for name, value in _in_words(line).items())]
    return "<br>".join(escape(part) if number else part for number, part in enumerate(parts))


def _in_words(line: Any) -> dict[str, str]:
    """What is known of a line, as it is read."""

    def number(name: str, form: str = ".2f") -> str:
        return "" if np.isnan(line[name]) else format(line[name], form)

    ours = number("ours")
    if ours and number("sd"):
        ours += f" ± {number('sd')} ({line['n']})"
    if line["failed"]:
        ours += f", {line['failed']} failed"
    published = number("published")
    if published and number("published_spread"):
        published += f" ± {number('published_spread')}"
    gain = number("gain", "+.2f")
    if gain and number("gain_low"):
        gain += f" [{number('gain_low', '+.2f')}, {number('gain_high', '+.2f')}]"
    texts = {
        "published": published,
        "ours": ours,
        "difference": number("difference", "+.2f"),
        "gain": gain,
        "note": str(line["note"]),
    }
    return {name: text for name, text in texts.items() if text}


def _cells(state: PaperBesideHereState) -> dict[str, dict[str, str]]:
    """The table of the column shown: only what some row has, in one order."""
    rows = {str(line["row"]): _in_words(line) for _, line in state.shown.iterrows()}
    order = [
        name
        for name in ("published", "ours", "difference", "gain", "note")
        if any(name in row for row in rows.values())
    ]
    return {row: {name: cells.get(name, "") for name in order} for row, cells in rows.items()}


def _unit(state: PaperBesideHereState) -> str:
    if state.measure == state.column or state.shown["ours"].isna().all():
        return state.column
    return f"{state.column} (ours: {state.measure})"


def _curves(state: PaperBesideHereState) -> list[go.Scatter]:
    """The dev score over the steps: all seeds as one trace, and their mean."""
    seeds = state.curves.get(state.row, {}) if state.row else {}
    scored = {seed: {row["step"]: row["score"] for row in rows if "score" in row} for seed, rows in seeds.items()}
    x, y, text = [], [], []
    for seed, scores in scored.items():
        x += [*scores, None]
        y += [*rounded(scores.values()), None]
        text += [f"seed {seed}"] * len(scores) + [""]
    common = sorted(set.intersection(*map(set, scored.values()))) if scored else []
    placed = {"xaxis": "x2", "yaxis": "y2", "showlegend": False}
    return [
        go.Scatter(
            x=x,
            y=y,
            text=text,
            hovertemplate="%{text}, step %{x}: %{y:.2f}<extra></extra>",
            uid="curves: seeds",
            mode="lines",
            opacity=0.6,
            line={"color": HERE, "width": 1},
            **placed,
        ),
        go.Scatter(
            x=common,
            y=rounded(float(np.mean([scores[step] for scores in scored.values()])) for step in common),
            hovertemplate="mean, step %{x}: %{y:.2f}<extra></extra>",
            uid="curves: mean",
            mode="lines+markers",
            line={"color": HERE, "width": 2.5},
            marker={"size": 5},
            **placed,
        ),
    ]
