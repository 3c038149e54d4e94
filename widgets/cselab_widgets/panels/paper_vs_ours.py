"""A paper's experiment compared with ours: published gains, our gains, claims; or a map of all gains."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go

from ..kit.fields import State, shown
from ..kit.inputs import filled_frame
from ..kit.panel import Panel
from ..kit.planes import Plane, rounded, written
from ..kit.theme import INK, ROLES

if TYPE_CHECKING:
    import pandas
    from cselab_lab.experiments import Profile, Results
    from cselab_lab.experiments.verdicts import Hypothesis, Verdict

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
    "gain": np.nan,
    "gain_low": np.nan,
    "gain_high": np.nan,
    "published_gain": np.nan,
    "failed": 0,
    "note": "",
}
LINE = 33  # pixels a row
CELL = 26  # pixels a row of the map of gains
SOME = 8  # claims that stand open
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
        verdicts: the verdict on each claim.
        title: the name of the experiment.
        view: one of `VIEWS`: the numbers of one column, or a map of the gains in all columns.
        baseline: the row from which gains are counted.
        question: the question of the experiment.
        told: the title of the first column: which claims hold.
    """

    frame: "pandas.DataFrame"
    column: str = shown("column", "list", "columns", where="of_one_column")
    verdicts: tuple[str, ...] = ()
    title: str = ""
    view: str = VIEWS[0]
    baseline: str = "the baseline"
    question: str = ""
    told: str = ""

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
    def of_gains(self) -> bool:
        """Whether effects are drawn, gains over the baseline, and not scores, which differ more between encoders."""
        return bool(self.shown["gain"].notna().any())

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
    def tied(self) -> set[str]:
        """The rows whose interval of the first test reaches that of the row on top, and this row."""
        first = self.first_test
        return {*first["row"][first["gain_high"] >= first["gain_low"][first["row"] == self.rows[0]].max()]}

    @cached_property
    def single(self) -> set[str]:
        """The rows of which no gain has an interval."""
        return {*self.frame["row"]} - {*self.frame["row"][self.frame["gain_low"].notna()]}

    @property
    def decided(self) -> "pandas.Series[bool]":
        """For each line, whether the interval of its gain excludes 0."""
        return (self.frame["gain_low"] > 0) | (self.frame["gain_high"] < 0)

    @cached_property
    def lines(self) -> dict[tuple[str, str], int]:
        """The line of `frame` of a row and a column."""
        return {key: line for line, key in enumerate(zip(self.frame["row"], self.frame["column"], strict=True))}


def planes(state: PaperVsOursState) -> list[Plane]:
    """The numbers of a column, or the map of gains."""
    return _gains(state) if state.view == "gains" else _numbers(state)


def _numbers(state: PaperVsOursState) -> list[Plane]:
    """A line for each row: published (diamond) and ours (dot with a bar)."""
    theirs, ours = ("published_gain", "gain") if state.of_gains else ("published", "ours")
    lines = state.shown.dropna(subset=[theirs, ours], how="all").iloc[::-1]  # the first on top
    lines = lines.sort_values(
        theirs, key=lambda gain: gain.notna(), kind="stable"
    )  # at the bottom those that the paper has not
    bare = lines[theirs].isna().sum()
    places = [place + 0.5 * (place >= bare) for place in range(len(lines))]
    traces = [
        _dots("published", PAPER, "diamond-open", lines, theirs, places),
        _dots("ours", HERE, "circle", lines, ours, places),
    ]
    reach = np.array([[dots.x + dots.error_x.array, dots.x - dots.error_x.arrayminus] for dots in traces])
    values = [*reach[np.isfinite(reach)], *[0.0] * state.of_gains] or [0.0, 1.0]
    room = 0.06 * float(np.ptp(values)) or 1.0
    ends = [min(values) - room, max(values) + room]
    text = _beside(lines, theirs, ours, "+z.1f" if state.of_gains else ".1f")
    traces.append(written(ends[1:] * len(text), [*places, len(lines) + 0.5], text, "numbers"))
    across = {"title": {"text": _unit(state)}, "range": ends, "zeroline": state.of_gains, "zerolinecolor": INK}
    up = {
        "tickvals": places,
        "ticktext": ["<br>".join(map(escape, wrap(str(row), 34))) for row in lines["row"]],
        "range": [-0.7, len(lines) + 1],
        "ticks": "",
    }
    return [Plane(answer(state), traces, across, up, tall=round(LINE * (len(lines) + 1.7)), key=escape(state.question))]


def _beside(lines: "pandas.DataFrame", theirs: str, ours: str, form: str) -> list[str]:
    """The numbers of each row in columns, and above them the heads, which are the legend."""
    heads = {
        theirs: f'<span style="color:{PAPER}">\u25c7</span>\u00a0paper',
        ours: f'<span style="color:{HERE}">\u25cf</span>\u00a0ours',
    }
    heads = {name: head for name, head in heads.items() if lines[name].notna().any()}
    cells = [["" if np.isnan(one) else format(one, form) for one in row] for row in lines[[*heads]].to_numpy(float)]
    wide = [[cell.rjust(6, "\u2007") for cell in row] for row in cells]
    return ["\u00a0\u00a0" + "\u00a0\u00a0".join(row) for row in [*wide, heads.values()]]


def answer(state: PaperVsOursState) -> str:
    """The title: which of the paper's claims hold; of other columns, how many gains have the paper's sign."""
    if state.told and state.column == state.columns[0]:
        return state.told
    both = state.shown.dropna(subset=["gain", "published_gain"])
    gains = state.shown["gain"].dropna()
    if len(both):
        same = (both["gain"] * both["published_gain"] > 0).sum()
        return f"{same} of {len(both)} gains over {escape(state.baseline)} have the paper's sign"
    above = f"{(gains > 0).sum()} of {len(gains)} rows lie above {escape(state.baseline)}"
    return above if state.of_gains else "Published and ours"


def _gains(state: PaperVsOursState) -> list[Plane]:
    """A cell for each row and column: the number of a gain, in colour where the seeds decide its sign."""
    tests, methods, lines = state.tests, state.rows[: -len(state.single) or None] or state.rows, state.lines
    cells = [[lines.get((method, test)) for test in tests] for method in methods]
    coloured, rows = state.frame["gain"].where(state.decided, 0.0).to_numpy(), state.frame.to_dict("records")
    limit = max(1.0, float(np.abs(coloured).max(initial=0.0)))
    heat = go.Heatmap(
        z=[[None if line is None else rounded([coloured[line]])[0] for line in row] for row in cells],
        x=tests,
        y=list(range(len(methods))),
        text=[["" if line is None else f"{rows[line]['gain']:+.1f}" for line in row] for row in cells],
        hovertext=[["" if line is None else _gain_in_words(rows[line]) for line in row] for row in cells],
        texttemplate="%{text}",
        textfont={"size": 13},
        hoverinfo="text",
        uid="gains",
        colorscale=COLOURS,
        zmin=-limit,
        zmax=limit,
        showscale=False,
        xgap=1,
        ygap=1,
    )
    others = state.tied - {methods[0]}
    names = [escape(name) + " \u2248" * (name in others) for name in methods]
    plain = {"showgrid": False, "showline": False, "ticks": "", "ticklabelstandoff": 5, "automargin": True}
    across = {**plain, "side": "top", "fixedrange": True}
    up = {**plain, "tickvals": heat.y, "ticktext": names, "range": [len(methods) - 0.5, -0.5]}
    best, title = lines.get((methods[0], tests[0])), counted(state)
    if best is not None:
        title = f"{methods[0]} gains most over {state.baseline}, {rows[best]['gain']:+.1f} in {tests[0]}"
        title += f"; {len(others)} more (\u2248) tie with it" * bool(others)
    return [Plane(escape(title), [heat], across, up, tall=CELL * len(methods), key=_key(state))]


def _key(state: PaperVsOursState) -> str:
    """The meaning of the colours, above the map; nothing of single runs."""
    if state.frame["gain_low"].isna().all():
        return ""
    chip = "<span style='background: {}; padding: 0 6px'>{}</span>"
    colours = chip.format(COLOURS[-1][1], "above " + escape(state.baseline)) + chip.format(COLOURS[0][1], "below")
    tie = "; \u2248: the interval reaches that of the best" * (len(state.tied) > 1)
    return f"{colours}<span>no colour: the 95 % interval contains 0{tie}</span>"


def _gain_in_words(one: Mapping[str, Any]) -> str:
    """A gain, its interval, and the paper's gain."""
    interval = "one run" if np.isnan(one["gain_low"]) else f"{one['gain_low']:+.1f} to\u00a0{one['gain_high']:+.1f}"
    paper = "not reported" if np.isnan(one["published_gain"]) else f"{one['published_gain']:+.1f}"
    told = (
        f"{escape(str(one['column']))}: {one['gain']:+.1f} points<br>95 % interval: {interval}<br>in the paper: {paper}"
    )
    return f"<b>{escape(str(one['row']))}</b><br>{told}"


def summary(state: PaperVsOursState) -> str:
    """The table in text, and the verdicts."""
    from cselab_lab.tables import table

    if state.view == "gains":
        return _gains_in_words(state)
    lines = [f"{state.title or 'Published and ours'}: {state.column}", table(_cells(state))]
    return "\n".join([*lines, *state.verdicts])


def counted(state: PaperVsOursState) -> str:
    """The numbers of gains of tests above and below the baseline; those with an interval, where there are any."""
    tests = state.frame[~state.frame["column"].str.startswith("Avg")]
    known = tests["gain_low"].notna()
    gain = tests["gain"].where(state.decided | ~known.any(), 0)
    up, down, of = int((gain > 0).sum()), int((gain < 0).sum()), int(known.sum()) or len(gain)
    single = "" if known.any() else " of single runs"
    told = f"{up} of {of} gains{single} on single data sets lie above {state.baseline}, {down} below"
    return f"{told}, {of - up - down} undecided" if known.any() else told


def _gains_in_words(state: PaperVsOursState) -> str:
    """The number of decided gains, and the table with undecided gains in brackets."""
    from cselab_lab.tables import table

    decided, gain, lines = state.decided.to_numpy(), state.frame["gain"].to_numpy(), state.lines
    cells = {
        method: {
            test: "" if line is None else f"{gain[line]:+.1f}" if decided[line] else f"({gain[line]:+.1f})"
            for test in state.tests
            for line in [lines.get((method, test))]
        }
        for method in state.rows
    }
    return "\n".join([f"{state.title or 'Gains'}: {counted(state)}", table(cells)])


def explain(state: PaperVsOursState) -> str:
    """The explanation of the picture."""
    if state.view == "gains":
        return ""
    bar = "the 95 % interval" if state.of_gains else "one standard deviation"
    text = f"Ours is the mean over seeds; a bar is {bar}."
    if state.shown["ours"].isna().all():
        text = "This experiment has not been run here: use cselab experiment run."
    elif state.measure != state.column:
        text += f" Ours is {state.measure}, because the published number's data are missing: compare order, not size."
    return text


def details(state: PaperVsOursState) -> str:
    """The verdicts on the paper's claims, and the notes of rows; or the gains of single runs."""
    if state.view == "gains":
        return _single_runs(state) if len(state.single) < len(state.rows) else ""
    said = "".join(f"<li>{escape(verdict)}</li>" for verdict in state.verdicts)
    notes = state.shown[state.shown["note"] != ""].groupby("note", sort=False)["row"]
    told = "".join(f"<p><b>{escape(', '.join(map(str, rows)))}</b>: {escape(note)}</p>" for note, rows in notes)
    opened = " open" * (len(state.verdicts) <= SOME)
    claims = f"<details{opened}><summary>The paper's claims, here</summary><ul>{said}</ul></details>"
    return claims * bool(said) + f"<details><summary>Notes on rows</summary>{told}</details>" * bool(told)


def _single_runs(state: PaperVsOursState) -> str:
    """The gains of rows of single runs, which have no interval, in a fold."""
    table = state.frame.pivot(index="row", columns="column", values="gain")
    table = table.loc[[row for row in state.rows if row in state.single], state.tests]
    text = table.to_html(index_names=False, float_format="{:+.1f}".format, na_rep="", border=0)
    return f"<details><summary>{len(table)} rows of single runs, not tested</summary>{text}</details>" * bool(
        len(table)
    )


class PaperVsOurs(Panel):
    """Published gains over the baseline compared with ours, and whether the paper's claims hold here.

    With `view="gains"` a heat map of rows by columns: the gains over the baseline, in colour where the seeds decide the
    sign.

    Args:
        results: the results of an experiment, its name ("imsimcse-table1"; `cselab experiment list`), whose finished
            jobs are then read, or a frame with the columns row, published, ours, and any of column, measure,
            published_spread, sd, n, gain, gain_low, gain_high, published_gain, failed, note. For the view
            "gains" it needs row, column and gain.
        profile: of a named experiment.
        column: which of the experiment's columns to show; the first by default.
        verdicts: for a frame: lines about the claims.
        title: its name.
        view: "numbers", or "gains".
        baseline: the row from which gains of a frame are counted, for the words; an experiment has its own.
        key: see `Panel`.

    Raises:
        ValueError: an unknown experiment, a frame without the needed columns or without lines, an unknown column.

    See also: `cselab_lab.experiments`, which runs them; `TrainingMonitor`, for a run while it goes on.

    >>> import pandas
    >>> frame = pandas.DataFrame({"row": ["SimCSE", "ImSimCSE"], "published": [76.3, 78.1], "ours": [58.2, 58.9]})
    >>> print(PaperVsOurs(frame))
    Published and ours: score
                published    ours
    SimCSE          76.30   58.20
    ImSimCSE        78.10   58.90
    >>> frame = pandas.DataFrame({"row": ["ImSimCSE", "ImSimCSE"], "column": ["STS-B", "SICK-R"], "gain": [0.7, -0.2],
    ...                           "gain_low": [0.2, -0.9], "gain_high": [1.2, 0.5]})
    >>> PaperVsOurs(frame, view="gains", baseline="SimCSE")
    Gains: 1 of 2 gains on single data sets lie above SimCSE, 0 below, 1 undecided
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
        verdicts: Sequence[Any] = (),
        title: str = "",
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
            title = title or f"{results.experiment.name}, profile {results.profile.name}"
            baseline = results.experiment.baseline
            words["question"] = results.experiment.question
            if view == "gains" and getattr(results, "nothing", None):
                raise ValueError(results.nothing)
            if view == "numbers":
                found, places = results.verdicts(), [row.label for row in results.experiment.all_rows]
                of = zip(results.experiment.claims, found, strict=True)
                said = {_said(verdict, claim, baseline): max(map(places.index, claim.labels)) for claim, verdict in of}
                verdicts, words["told"] = sorted(said, key=lambda one: said[one]), _told(found)
            results = results.to_frame() if view == "numbers" else _of_one_baseline(results)
        frame = _complete(results, view)
        super().__init__(
            PaperVsOursState(
                frame,
                str(frame["column"].iloc[0]) if column is None else column,
                verdicts=tuple(map(str, verdicts)),
                title=title,
                view=view,
                baseline=baseline,
                **words,
            ),
            key,
        )

    def to_frame(self) -> "pandas.DataFrame":
        """A line for each row and column, all of them."""
        return self.state.frame.copy()


def _said(verdict: "Verdict", claim: "Hypothesis", baseline: str) -> str:
    """A verdict with its numbers; where a row is compared with the baseline, of this row's gain."""
    from cselab_lab.experiments.verdicts import Above

    higher, lower = claim.labels[0], claim.labels[-1]
    of_row = isinstance(claim, Above) and baseline in claim.labels
    name, sign = (lower, -1) if of_row and higher == baseline else (higher if of_row else verdict.claim, 1)
    numbers = ", ".join(
        f"{where} {sign * value:+.{verdict.digits}f}"
        for where, value in (("here", verdict.ours), ("paper", verdict.published))
        if value is not None
    )
    words = verdict.answer + f" ({numbers})" * bool(numbers)
    return re.sub(r"(?<!\w)-(?=\w)", "\u2212", f"{name}: {words}")


def _told(verdicts: "Sequence[Verdict]") -> str:
    """The first claim that holds, and how many do; nothing before a run."""
    ran = [verdict for verdict in verdicts if verdict.sample]
    said = "compatible", "the same direction"
    held = [verdict for verdict in ran if verdict.answer.startswith("smaller" if verdict.small else said)]
    if not held:
        return f"None of {len(ran)} claims holds here" * bool(ran)
    too = ", too," * (held[0].published is not None)
    many = f"; {len(held)} of {len(ran)} claims hold in direction" * (len(ran) > 1)
    return escape(f"Here{too} {held[0].claim}{many}")


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

    frame = filled_frame(frame, NEEDED[view], KNOWN)
    if not len(frame):
        raise ValueError("the frame has no lines; nothing to compare.")
    for name in (name for name, one in KNOWN.items() if isinstance(one, float)):
        frame[name] = pd.to_numeric(frame[name])
    if view == "numbers":
        return frame
    frame = frame.dropna(subset=["gain"]).reset_index(drop=True)
    if not len(frame):
        raise ValueError("no line has a gain; run the experiment and its baseline first (cselab experiment run).")
    if frame.duplicated(["row", "column"]).any():
        twice = frame[frame.duplicated(["row", "column"])].iloc[0]
        raise ValueError(f"{twice['row']!r} has two lines for {twice['column']!r}; give one for each row and column.")
    return frame


SPREAD = {"published": "published_spread", "ours": "sd"}  # one standard deviation


def _dots(name: str, color: str, symbol: str, lines: "pandas.DataFrame", column: str, places: list[int]) -> go.Scatter:
    """A dot for each row that has the number, with a bar: the interval of a gain, the standard deviation of a score."""
    value = lines[column]
    up = down = lines[SPREAD[column]] if column in SPREAD else 0 * value
    if column == "gain":
        up, down = lines["gain_high"] - value, value - lines["gain_low"]
    bars = {"array": up.fillna(0).to_numpy(float), "arrayminus": down.fillna(0).to_numpy(float)}
    return go.Scatter(
        x=value.to_numpy(dtype=float),
        y=places,
        error_x={"type": "data", "thickness": 1.5, "width": 4, "color": color, "visible": bool(up.any()), **bars},
        hoverinfo="x",
        uid=name,
        mode="markers",
        cliponaxis=False,
        marker={"color": color, "symbol": symbol, "size": 10, "line": {"width": 2 if "open" in symbol else 0}},
    )


def _cells(state: PaperVsOursState) -> dict[str, dict[str, str]]:
    """The table of the column shown: only fields that some row has, in one order."""

    def number(line: "pandas.Series", name: str, spread: str) -> str:
        deviation = "" if np.isnan(line[spread]) else f" ± {line[spread]:.2f}"
        return "" if np.isnan(line[name]) else f"{line[name]:.2f}{deviation}"

    rows: dict[str, dict[str, str]] = {}
    for _, line in state.shown.iterrows():
        gain = "" if np.isnan(line["gain"]) else f"{line['gain']:+.2f}"
        if not np.isnan(line["gain_low"]):
            gain += f" [{line['gain_low']:+.2f}, {line['gain_high']:+.2f}]"
        failed = f", {line['failed']} failed" * bool(line["failed"])
        ours = number(line, "ours", "sd")
        ours += f" ({line['n']})" * (line["n"] > 1) + failed
        rows[str(line["row"])] = {
            "published": number(line, "published", "published_spread"),
            "ours": ours,
            "gain": gain,
        }
    order = [name for name in next(iter(rows.values())) if any(row[name] for row in rows.values())]
    return {row: {name: cells[name] for name in order} for row, cells in rows.items()}


def _unit(state: PaperVsOursState) -> str:
    from cselab_lab.experiments.verdicts import GEOMETRY

    what, baseline = state.column, escape(state.baseline)
    if state.of_gains:
        what = f"{what} minus that of {baseline}" if what in GEOMETRY else f"points of {what} over {baseline}"
    if state.measure == state.column or state.shown["ours"].isna().all():
        return what
    return f"{what} (ours: {state.measure})"
