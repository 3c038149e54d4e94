"""An experiment of a paper beside ours: published, ours, spread, difference, and whether the claims hold."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import ipywidgets
import numpy as np
import plotly.graph_objects as go

from ..kit.controls import RowOptions, choice, row_options
from ..kit.inputs import filled_frame
from ..kit.number_table import number_table
from ..kit.panel import Panel, rounded
from ..kit.planes import above
from ..kit.theme import INK, OKABE_ITO, TEMPLATE

if TYPE_CHECKING:
    import pandas
    from cselab_lab.experiments import Profile, Results

NEEDED = ("row", "published", "ours")
KNOWN = {  # the columns that are shown, and what stands for one that is not there
    "column": "score",
    "measure": "score",
    "published_spread": np.nan,
    "sd": np.nan,
    "n": 0,
    "difference": np.nan,
    "gain": np.nan,
    "gain_low": np.nan,
    "gain_high": np.nan,
    "failed": 0,
    "note": "",
}
SORTED = ("as published", "published", "ours", "difference", "gain")
LINE = 30  # pixels a row
PAPER, HERE = OKABE_ITO[1], OKABE_ITO[0]


@dataclass(frozen=True, eq=False)
class PaperBesideHereState:
    """The numbers of an experiment, and how they are looked at.

    Attributes:
        frame: a line for each row and column, as `cselab_lab.experiments.beside` makes it.
        column: which of its columns is shown.
        sort: one of `SORTED`; the largest first.
        selection: lines of `frame` that were picked; the last one's curves are shown.
        curves: by row and seed, what was seen while it trained: rows with "step" and "score".
        verdicts: what is said about each claim.
        title: what the experiment is.
    """

    frame: "pandas.DataFrame"
    column: str
    sort: str = SORTED[0]
    selection: tuple[int, ...] = ()
    curves: Mapping[str, Mapping[Any, Sequence[Mapping[str, float]]]] = field(default_factory=dict)
    verdicts: tuple[str, ...] = ()
    title: str = ""

    def __post_init__(self) -> None:
        if self.column not in self.columns:
            raise ValueError(f"column is {self.column!r}; there are {', '.join(self.columns)}.")
        if self.sort not in SORTED:
            raise ValueError(f"sort is {self.sort!r}; choose one of {', '.join(SORTED)}.")

    @property
    def columns(self) -> list[str]:
        return list(dict.fromkeys(self.frame["column"]))

    @property
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

    @property
    def row(self) -> str | None:
        """The row whose curves are shown: that picked last, else the first that has any."""
        if self.selection:
            return str(self.frame["row"].iloc[self.selection[-1]])
        return next((row for row in self.shown["row"] if self.curves.get(row)), None)


def figure(state: PaperBesideHereState) -> go.Figure:
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


def summary(state: PaperBesideHereState) -> str:
    """The table in text, and the verdicts."""
    from cselab_lab.tables import table

    cells = {
        row: {name: text for name, text in texts.items() if name != "note"} for row, texts in _cells(state).items()
    }
    lines = [f"{state.title or 'Published beside ours'}: {state.column}", table(cells)]
    return "\n".join([*lines, *state.verdicts])


def explain(state: PaperBesideHereState) -> str:
    """What is seen."""
    text = "Diamonds: as published; dots: here, mean over seeds, the bar one standard deviation."
    if state.shown["ours"].isna().all():
        text = "Diamonds: as published. Nothing was run here yet: cselab experiment run."
    elif state.measure != state.column:
        text += f" Ours is {state.measure}, for want of the published number's data: compare order, not size."
    if state.curves:
        text += " Click a row for its curves."
    return text


def details(state: PaperBesideHereState) -> str:
    """The verdicts on the paper's claims, and the table."""
    said = "".join(f"<li>{escape(verdict)}</li>" for verdict in state.verdicts)
    cells = _cells(state)
    names = list(dict.fromkeys(name for row in cells.values() for name in row if name != "note"))
    rows = ((escape(row), [escape(texts[name]) for name in names]) for row, texts in cells.items())
    title = f"<p><b>{escape(state.title)}</b></p>" if state.title else ""
    return title + (f"<ul>{said}</ul>" if said else "") + number_table(["", *names], rows) + _notes(cells)


def _notes(cells: Mapping[str, Mapping[str, str]]) -> str:
    """What is noted of rows, each note once: a column of them would leave the numbers no room."""
    rows: dict[str, list[str]] = {}
    for row, texts in cells.items():
        if texts.get("note"):
            rows.setdefault(texts["note"], []).append(row)
    return "".join(f"<p><b>{escape(', '.join(of))}</b>: {escape(note)}</p>" for note, of in rows.items())


class PaperBesideHere(Panel):
    """Published numbers beside ours: spread, difference, gain, and whether the paper's claims hold here.

    Args:
        results: the results of an experiment, its name ("imsimcse-table1"; `cselab experiment list`), whose finished
            jobs are then read, or a frame with the columns row, published, ours, and any of column, measure,
            published_spread, sd, n, difference, gain, gain_low, gain_high, failed, note.
        profile: of a named experiment.
        column: which of the experiment's columns to show; the first by default.
        sort: "as published", or by "published", "ours", "difference", "gain", the largest first.
        curves: for a frame: row -> {seed: history}, or a run or list of runs.
        verdicts: for a frame: lines about the claims.
        title: what it is.
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
    """

    draw = staticmethod(figure)
    describe = staticmethod(summary)
    explain = staticmethod(explain)
    details = staticmethod(details)

    def __init__(
        self,
        results: "Results | str | pandas.DataFrame" = "imsimcse-table1",
        profile: "Profile | str" = "study",
        column: str | None = None,
        sort: str = SORTED[0],
        curves: Mapping[str, Any] | None = None,
        verdicts: Sequence[Any] = (),
        title: str = "",
        key: str | None = None,
    ) -> None:
        if isinstance(results, str):
            from cselab_lab.experiments import read_results

            results = read_results(results, profile)
        if hasattr(results, "beside"):
            frame, verdicts = results.beside(), results.verdicts()
            curves = {row: results.curves(row) for row in dict.fromkeys(frame["row"])}
            title = title or f"{results.experiment.name}, profile {results.profile.name}"
        else:
            frame = results
            curves = {row: _seeds(given) for row, given in (curves or {}).items()}
        frame = _complete(frame)
        super().__init__(
            PaperBesideHereState(
                frame,
                str(frame["column"].iloc[0]) if column is None else column,
                sort,
                curves={row: seeds for row, seeds in curves.items() if seeds},
                verdicts=tuple(map(_said, verdicts)),
                title=title,
            ),
            key,
        )

    def controls(self) -> dict[str, ipywidgets.Widget]:
        state, rows = self.state, self.options(self.state)
        return {
            **({"column": choice("column", state.columns, state.column)} if len(state.columns) > 1 else {}),
            "sort": choice("sort by", SORTED, state.sort),
            **{name: choice("curves of", options, state.selection) for name, options in rows.items()},
        }

    @staticmethod
    def options(state: PaperBesideHereState) -> dict[str, RowOptions]:
        """The rows that have curves, in the order shown."""
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
    from cselab_lab.experiments.claims import GEOMETRY

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


def _complete(frame: "pandas.DataFrame") -> "pandas.DataFrame":
    """A frame of our own with every known column, numbers as numbers, lines numbered from 0."""
    import pandas as pd

    frame = filled_frame(frame, NEEDED, KNOWN)
    if not len(frame):
        raise ValueError("the frame has no lines; there is nothing to compare.")
    for name in ("published", "ours", *(name for name, one in KNOWN.items() if isinstance(one, float))):
        frame[name] = pd.to_numeric(frame[name])
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
    parts = [f"<b>{escape(str(line['row']))}</b>", *(f"{name} {value}" for name, value in _numbers(line).items())]
    return "<br>".join(escape(part) if number else part for number, part in enumerate(parts))


def _numbers(line: Any) -> dict[str, str]:
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
    rows = {str(line["row"]): _numbers(line) for _, line in state.shown.iterrows()}
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
