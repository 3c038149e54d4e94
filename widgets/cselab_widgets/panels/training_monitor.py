"""A training run while it goes on: its curves, those of finished runs, and the hand on its brake."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import partial
from html import escape
from itertools import cycle, pairwise
from math import isfinite
from pathlib import Path
from threading import Condition, RLock, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any

import ipywidgets
import numpy as np
import plotly.graph_objects as go
import torch
import traitlets

from cselab.encoders.encoder import SentenceEncoder
from cselab.training import Callback, Run, StopTraining, TrainConfig, train

from ..kit.fields import shown
from ..kit.panel import Panel
from ..kit.planes import Plane, named_at_ends, rounded
from ..kit.theme import AFTER, INK, PALETTE, category_styles

if TYPE_CHECKING:
    import pandas

Row = Mapping[str, Any]
COMMANDS = ("run", "pause", "stop")
PHASES = ("nothing", "running", "paused", "stopped", "finished", "failed")
COLUMNS = {  # the score is shown, or the loss of a run without scores; the others on demand
    "score": "Dev score (higher is better)",
    "loss": "Loss",
    "alignment": "Alignment (lower is better)",
    "uniformity": "Uniformity (lower is better)",
    "effective_rank": "Effective rank",
    "gradient_norm": "Norm of the gradient",
}
LOGGED = {  # by the trainer of sentence-transformers
    "loss": "loss",
    "grad_norm": "gradient_norm",
    "eval_*spearman_cosine": "score",
    "eval_*alignment": "alignment",
    "eval_*uniformity": "uniformity",
    "eval_*effective_rank": "effective_rank",
}
GAINED = "rgba(119, 101, 200, 0.13)"  # a veil of AFTER
DASHES = ("dash", "dot", "dashdot", "longdash")  # of the terms of a loss
SECONDS = 0.5  # between two pictures of a run that is going on


@dataclass(frozen=True, eq=False)
class TrainingMonitorState:
    """The rows so far of the current run, its command, and the histories of finished runs.

    Attributes:
        name: the name of the run.
        rows: its history so far, as `cselab.training.Run` has it.
        steps: their number; None if unknown.
        phase: one of `PHASES`.
        command: "run", "pause" or "stop".
        kept: the steps whose weights were kept.
        keep: how often "keep this step" was pressed.
        error: why the run failed, in words.
        last: the rows of the run before, if this panel trained one.
        others: name -> histories of finished runs, one a seed.
        every: whether all columns are drawn, or the score.
    """

    name: str = ""
    rows: tuple[Row, ...] = ()
    steps: int | None = None
    phase: str = "nothing"
    command: str = "run"
    kept: tuple[int, ...] = ()
    keep: int = 0
    error: str = ""
    last: tuple[Row, ...] = ()
    others: Mapping[str, tuple[tuple[Row, ...], ...]] = field(default_factory=dict)
    every: bool = shown("all curves", "check", default=False)

    def __post_init__(self) -> None:
        for name, allowed in {"phase": PHASES, "command": COMMANDS}.items():
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} is {getattr(self, name)!r}; expected one of {', '.join(allowed)}.")

    @property
    def alive(self) -> bool:
        """Whether there is a run to pause, to stop, to keep a step of."""
        return self.phase in ("running", "paused")

    @property
    def terms(self) -> list[str]:
        """The named terms of the loss, where it has several."""
        first = next((row for row in self.rows if "loss" in row), {})
        before = self.rows[0].keys() if self.rows and "loss" not in self.rows[0] else set()
        names = [name for name in first if name not in COLUMNS and name not in before and "gradient_norm" not in name]
        names = [name for name in names if isinstance(first[name], float) and name != "step"]
        return names if len(names) > 1 else []


def curve(rows: Sequence[Row], column: str) -> tuple[list[int], list[float]]:
    """Steps and values of a column, where it has a finite value."""
    points = [(row["step"], row[column]) for row in rows if isfinite(row.get(column, float("nan")))]
    return [step for step, _ in points], [value for _, value in points]


def band(histories: Sequence[Sequence[Row]], column: str) -> tuple[list[int], list[float], list[float], list[float]]:
    """Steps, mean, lowest and highest of a column over several histories, at the steps that all have."""
    curves = [dict(zip(*curve(rows, column), strict=True)) for rows in histories]
    curves = [values for values in curves if values]
    steps = sorted(set.intersection(*map(set, curves))) if curves else []
    values = np.array([[values[step] for step in steps] for values in curves]).reshape(len(curves), len(steps))
    if not steps:
        return [], [], [], []
    return steps, rounded(values.mean(0)), rounded(values.min(0)), rounded(values.max(0))


def planes(state: TrainingMonitorState) -> list[Plane]:
    """A plane a column: the current run as a thick line, the last as a dotted one, finished ones with their band."""
    scored = any("score" in row for row in state.rows) or not any("loss" in row for row in state.rows)
    first = "score" if scored else "loss"
    columns = list(COLUMNS.items()) if state.every else [(first, COLUMNS[first])]
    return [_plane(state, column, title) for column, title in columns]


def summary(state: TrainingMonitorState) -> str:
    """The state of the run, the kept steps, and the best of each finished run."""
    lines = [_standing(state)]
    evaluated = [row for row in state.rows if "score" in row]
    if evaluated:
        last, best = evaluated[-1], max(evaluated, key=lambda row: row["score"])
        shape = "  ".join(
            f"{name.replace('_', ' ')} {last[name]:.3f}"
            for name in ("alignment", "uniformity", "effective_rank")
            if name in last
        )
        lines.append(
            f"  dev score {last['score']:.2f} at step {last['step']}, best {best['score']:.2f} at step "
            f"{best['step']}  {shape}".rstrip()
        )
    if state.kept:
        lines.append(f"  kept: step {', '.join(map(str, state.kept))}")
    if state.error:
        lines.append(f"  {state.error}")
    if scores := curve(state.last, "score")[1]:
        lines.append(f"  last run: best dev score {max(scores):.2f}")
    width = max(map(len, state.others), default=0)
    for name, histories in state.others.items():
        highest = [max(scores) for rows in histories if (scores := curve(rows, "score")[1])]
        seeds = f"{len(histories)} run{'s' * (len(histories) != 1)}"
        scored = f"best dev score {np.mean(highest):.2f}" if highest else "not scored"
        spread = f" ({min(highest):.2f} to {max(highest):.2f})" if len(highest) > 1 else ""
        lines.append(f"  {name:{width}}  {seeds}, {scored}{spread}")
    return "\n".join(lines)


def explain(state: TrainingMonitorState) -> str:
    """The content, and the effects of the buttons."""
    others = " The line of several finished runs is their mean, in a band from the lowest to the highest." * bool(
        state.others
    )
    others += " The dotted line is the last run." * bool(state.last)
    held = {
        "paused": " Paused: the weights are those of the step shown.",
        "stopped": " Stopped: the best weights so far are kept, in run.encoder.",
        "finished": " Finished: the best weights are kept, in run.encoder.",
        "failed": f" Failed: {state.error}",
    }.get(state.phase, "")
    loss = " A loss near 0 does not prove learning." if state.every else ""
    start = "Above the dashed line the score is better than at the start; a star marks kept weights."
    score = " The dev score of graded pairs is 100 times their rank correlation."
    return (start * (bool(state.rows) or len(state.others) == 1) + loss + others + score + held).strip()


class TrainingMonitor(Panel):
    """A training run live: pause it, stop it, keep the weights of a step, and compare it with finished runs.

    The run goes on in a thread, so the notebook stays free; the buttons are heard between cells. `wait` waits for
    the end. Where `CSELAB_HEADLESS` is set, `train` itself waits, and the figure shows the whole run.

    Args:
        runs: finished runs to compare with: name -> a history, a `Run`, or several of either (seeds), as a list
            or by seed; or a trainer of sentence-transformers, whose first metric "spearman_cosine" is the score.
        key: see `Panel`.

    Attributes:
        run: the `cselab.training.Run`; from the first step on.
        kept: step -> the encoder as it was then.

    Raises:
        ValueError: a run without rows.

    See also: `AlignmentUniformity` for two of these curves as a path.

    >>> row = {"step": 0, "score": 51.4, "alignment": 0.2, "uniformity": -1.5}
    >>> TrainingMonitor({"SimCSE": [[row], [row | {"score": 52.0}]]})
    No active run
      SimCSE  2 runs, best dev score 51.70 (51.40 to 52.00)
    """

    render = staticmethod(planes)
    alt_text = staticmethod(summary)
    explain = staticmethod(explain)

    def __init__(self, runs: Mapping[str, Any] | None = None, key: str | None = None) -> None:
        others = {str(name): _histories(str(name), given) for name, given in (runs or {}).items()}
        self._lock = RLock()
        self._moved = Condition()
        self._thread: Thread | None = None
        self._failure: BaseException | None = None
        self._drawn = 0.0
        self.run: Run | None = None
        self.kept: dict[int, SentenceEncoder] = {}
        super().__init__(TrainingMonitorState(others=others), key)

    # ---- training --------------------------------------------------------------------------------------------

    def train(
        self,
        encoder: SentenceEncoder,
        method: Any,
        corpus: Sequence[Any],
        config: TrainConfig | None = None,
        evaluator: Callable[[SentenceEncoder], Mapping[str, float]] | None = None,
        callbacks: Sequence[Callback] = (),
        output: str | Path | None = None,
        keep_in: str | Path | None = None,
        name: str | None = None,
    ) -> "TrainingMonitor":
        """Start a run, as `cselab.training.train` would, and show it; leave this as the last line of a cell.

        Args:
            encoder, method, corpus, config, evaluator, callbacks, output: see `cselab.training.train`.
            keep_in: a folder in which each kept step is saved as `step-N`, an encoder.
            name: the name of the run; the method's by default.

        Raises:
            RuntimeError: a run is still active here: `stop` it first.
            An error of `train` is shown, and raised by `wait`; where nothing is displayed, by this call.
        """
        if self._thread is not None and self._thread.is_alive():
            raise RuntimeError("a run is still active in this monitor: stop() it, or wait() for its end, first")
        headless = bool(os.environ.get("CSELAB_HEADLESS"))
        if not headless:
            _ = self.widget  # takes its place: a run that an earlier run of this cell started is stopped
        self.run, self.kept, self._failure = None, {}, None
        config = config or TrainConfig()
        title = name or (method if isinstance(method, str) else method.title)
        last = self.state.rows or self.state.last
        self.set(name=title, rows=(), phase="running", command="run", kept=(), error="", steps=config.steps, last=last)
        self._keep_in = None if keep_in is None else Path(keep_in)
        self._keeps_done = self.state.keep
        work = partial(train, encoder, method, corpus, config, evaluator, [*callbacks, self._after_row], output, False)
        if headless:
            self._work(work)
            self.wait()
        else:
            threads = torch.get_num_threads()  # sums depend on how many share them; a new thread has its own number

            def apart() -> None:
                torch.set_num_threads(threads)
                self._work(work)

            self._thread = Thread(target=apart, name="cselab training", daemon=True)
            self._thread.start()
        return self

    def pause(self) -> None:
        """Hold the run after the step it is at."""
        self.set(command="pause")

    def resume(self) -> None:
        """Let a paused run go on."""
        self.set(command="run")

    def stop(self) -> None:
        """End the run after the step it is at; it is then as a finished one, with its best weights."""
        self.set(command="stop")

    def keep_step(self) -> None:
        """Keep the weights of the step it is at, in `kept` and in the folder `keep_in`."""
        self.set(keep=self.state.keep + 1)

    def wait(self, timeout: float | None = None) -> Run | None:
        """Wait for the end of the run, and give it; None after `timeout` seconds without an end.

        Raises:
            The error of the run, such as `TrainingDiverged`.
        """
        if self._thread is not None:
            self._thread.join(timeout)
            if self._thread.is_alive():
                return None
        if self._failure is not None:
            raise self._failure
        return self.run

    def set(self, **changes: Any) -> None:
        with self._lock:  # the run and the hand may both change something
            super().set(**changes)
            if self._shell is not None:
                for name in ("command", "keep"):
                    self._shell.controls[name].disabled = not self.state.alive
        with self._moved:
            self._moved.notify_all()

    def close(self) -> None:
        """Remove the widget; a run that still goes on is stopped after its step."""
        if self._thread is not None and self._thread.is_alive():
            self.stop()
            self._thread.join()
        super().close()

    def _work(self, work: Callable[[], Run]) -> None:
        try:
            self.run = work()
        except Exception as error:
            self._failure = error
            self.set(phase="failed", error=f"{type(error).__name__}: {error}")
        else:
            phase = "finished" if self.run.stopped is None else "stopped"
            self.set(rows=tuple(self.run.history), phase=phase)

    def _after_row(self, run: Run, row: Row) -> None:
        self.run = run
        self._keep(run, row)
        if monotonic() - self._drawn > SECONDS or self.state.command != "run":
            self.set(rows=tuple(run.history))
            self._drawn = monotonic()
        if self.state.command == "pause":
            self.set(phase="paused")
            while self.state.command == "pause":
                with self._moved:
                    self._moved.wait(1.0)
                self._keep(run, row)
            self.set(phase="running")
        if self.state.command == "stop":
            raise StopTraining(f"stopped by hand at step {row['step']}")

    def _keep(self, run: Run, row: Row) -> None:
        """The action of "keep this step", done between two steps, when the weights are whole."""
        if self.state.keep == self._keeps_done:
            return
        self._keeps_done = self.state.keep
        kept = run.encoder.copy().eval()
        if row["step"] == 0 and kept.representation == "backbone":
            kept.attach_head(None)  # a head that was not trained yet cannot be saved
        self.kept[row["step"]] = kept
        if self._keep_in is not None:
            kept.save_pretrained(self._keep_in / f"step-{row['step']}")
        self.set(kept=tuple(self.kept))

    # ---- looking ---------------------------------------------------------------------------------------------

    def controls(self) -> dict[str, ipywidgets.Widget]:
        alive = self.state.alive
        return {
            "command": Brake(self.state.command, disabled=not alive),
            "keep": Press("keep this step", self.state.keep, disabled=not alive),
            **super().controls(),
        }

    def to_frame(self) -> "pandas.DataFrame":
        """A row for each row of each history, with the run's name and number."""
        import pandas as pd

        own = {self.state.name: (self.state.rows,)} if self.state.rows else {}
        return pd.DataFrame(
            [
                {"run": name, "number": number, **row}
                for name, histories in [*own.items(), *self.state.others.items()]
                for number, rows in enumerate(histories)
                for row in rows
            ]
        )


class Brake(ipywidgets.HBox):
    """Two buttons, pause (or resume) and stop; `value` is "run", "pause" or "stop"."""

    value = traitlets.Enum(COMMANDS, "run")
    disabled = traitlets.Bool()

    def __init__(self, value: str, disabled: bool = False) -> None:
        self.hold = ipywidgets.Button(icon="pause", layout={"width": "8em"})
        self.end = ipywidgets.Button(description="stop", icon="stop", layout={"width": "6em"})
        super().__init__([self.hold, self.end])
        self.hold.on_click(lambda _: self.set_trait("value", "run" if self.value == "pause" else "pause"))
        self.end.on_click(lambda _: self.set_trait("value", "stop"))
        self.observe(self._label, ["value", "disabled"])
        self.value, self.disabled = value, disabled
        self._label()

    def _label(self, _: Any = None) -> None:
        paused = self.value == "pause"
        self.hold.description, self.hold.icon = ("resume", "play") if paused else ("pause", "pause")
        self.hold.disabled = self.end.disabled = self.disabled or self.value == "stop"


class Press(ipywidgets.HBox):
    """A button; `value` counts how often it was pressed."""

    value = traitlets.Int()
    disabled = traitlets.Bool()

    def __init__(self, description: str, value: int, disabled: bool = False) -> None:
        self.button = ipywidgets.Button(description=description, icon="bookmark", layout={"width": "11em"})
        super().__init__([self.button])
        self.value = value
        traitlets.dlink((self, "disabled"), (self.button, "disabled"))
        self.disabled = disabled
        self.button.on_click(lambda _: self.set_trait("value", self.value + 1))


def _histories(name: str, given: Any) -> tuple[tuple[Row, ...], ...]:
    """One history, a run, or several of either, as histories; the log of a trainer is one history."""
    log = getattr(getattr(given, "state", given), "log_history", None)
    given = getattr(given, "history", given) if log is None else _logged(log)
    if isinstance(given, Mapping):
        given = list(given.values())
    if given and isinstance(given[0], Mapping):
        given = [given]
    histories = tuple(tuple(getattr(one, "history", one)) for one in given)
    for rows in histories or ((),):
        if not rows or any("step" not in row for row in rows):
            raise ValueError(
                f"runs[{name!r}] has no rows with a 'step'; give a run, its history, or several of either."
            )
    return histories


def _logged(log: Sequence[Row]) -> list[Row]:
    """The log of a trainer of sentence-transformers as the rows of a run; of several evaluators the first counts."""
    rows: dict[int, Any] = {}
    for logged in log:
        for name, value in logged.items():
            for pattern, column in LOGGED.items():
                if fnmatchcase(name, pattern):
                    row = rows.setdefault(logged["step"], {"step": logged["step"]})
                    row.setdefault(column, 100 * value if column == "score" else value)
    return list(rows.values())


def _plane(state: TrainingMonitorState, column: str, title: str) -> Plane:
    named = column == "score"
    alone = len(state.others) == 1 and not state.rows  # drawn as the live run would be
    bands, lines = [], []
    steps, values = curve(state.rows, column)
    for name, style in category_styles(state.others).items():
        color = AFTER if alone else style.color
        at, mean, low, high = band(state.others[name], column)
        bands.append(
            go.Scatter(
                x=at + at[::-1],
                y=high + low[::-1],
                uid=f"{column}: {name}: band",
                mode="lines",
                line={"color": color, "width": 0},
                fill="toself",
                fillcolor=color,
                opacity=0.18,
                hoverinfo="skip",
                visible=len(state.others[name]) > 1,
            )
        )
        if alone:
            steps, values = at, mean
        else:
            lines.append(_line(f"{column}: {name}", at, mean, {"color": color, "width": 2.5}, name))
    lines.append(_line(f"{column}: last", *curve(state.last, column), {"color": INK, "dash": "dot"}, "last run"))
    since = {"fill": "tonexty", "fillcolor": GAINED} if named else {}  # the gain since the start
    start = (steps[:1] + steps[-1:], values[:1] * 2) if named else ([], [])
    lines.append(_line(f"{column}: start", *start, {"color": INK, "dash": "dash"}, "start", mode="lines"))
    name = next(iter(state.others)) if alone else state.name or "run"
    lines.append(_line(f"{column}: live", steps, values, {"color": AFTER, "width": 2.5}, name, **since))
    room = _room([*bands, *lines]) if named else None
    traces = [*bands, *(named_at_ends(lines, "names", room[1] - room[0]) if room else lines)]
    for term, dash in zip(state.terms if column == "loss" else [], cycle(DASHES)):
        line = {"color": PALETTE[7], "dash": dash, "width": 2}
        traces.append(_line(f"term: {term}", *curve(state.rows, term), line, term.replace("_", " "), showlegend=True))
    at_step = dict(zip(steps, values, strict=True))
    best = [steps[int(np.argmax(values))]] if named and values else []  # its weights are kept, too
    marked = sorted({*state.kept, *best} & at_step.keys())
    traces.append(
        go.Scatter(
            x=marked,
            y=rounded(at_step[step] for step in marked),
            uid=f"{column}: kept",
            mode="markers",
            cliponaxis=False,
            marker={"symbol": "star", "size": 17, "color": AFTER, "line": {"color": "#ffffff", "width": 1.5}},
            hovertemplate="kept: step %{x}<extra></extra>",
        )
    )
    what = title.split(" (")[0]
    answer = f"{what}: not measured yet" if state.rows and not values else title
    if named and state.others and not state.rows:
        answer = _ends(state) or title
        answer += _gain(values, steps) if alone and values else ""
    elif state.rows and values:
        answer = f"{what} {values[-1]:{'.1f' if named else '.3g'}} at step {steps[-1]}"
        answer += _gain(values, steps) if named else ""
    y = {
        "title": {"text": title},
        **({"range": room} if named else {"rangemode": "normal" if column == "uniformity" else "tozero"}),
    }
    return Plane(answer, traces, {"title": {"text": "step"}, "rangemode": "tozero"}, y)


def _ends(state: TrainingMonitorState) -> str:
    """The last dev scores of finished runs; methods are undecided whose runs overlap, or of which one ran once."""
    ends, told, counts = [], [], []
    for name, histories in state.others.items():
        *_, low, high = band(histories, "score")
        if low:
            ends.append((low[-1], high[-1]))
            told.append(f"{escape(name)}\u00a0{low[-1]:.1f}" + f"\u00a0to\u00a0{high[-1]:.1f}" * (low[-1] < high[-1]))
            counts.append(len(histories))
    few, many = min(counts, default=0), max(counts, default=0)
    runs = f"{few} to {many} runs" if few < many else f"{few} run{'s' * (few > 1)}"
    overlap = len(ends) > 1 and (few < 2 or any(low <= high for (_, high), (low, _) in pairwise(sorted(ends))))
    found = f"{'Undecided' if overlap else 'Dev score at the end'}, {runs}{' each' * (len(ends) > 1)}"
    return f"{found}: {', '.join(told)}" if told else ""


def _gain(values: Sequence[float], steps: Sequence[int]) -> str:
    """The change since the start, and the best step unless it is the last."""
    best = steps[int(np.argmax(values))]
    change = f", {values[-1] - values[0]:+.1f} since the start" if len(values) > 1 else ""
    return change + (f", best {max(values):.1f} at step {best}" if best != steps[-1] else "")


def _room(traces: Sequence[go.Scatter]) -> list[float] | None:
    """An axis of at least six points, so that a tenth of a point does not look like a gain."""
    values = [value for trace in traces for value in trace.y]
    spare = max(0.5, 3 - (max(values) - min(values)) / 2) if values else 0
    return [min(values) - spare, max(values) + spare] if values else None


def _line(
    uid: str, steps: list[int], values: list[float], line: Mapping[str, Any], name: str, **options: Any
) -> go.Scatter:
    hover = f"step %{{x}}: %{{y:.4g}}<extra>{escape(name)}</extra>"
    mode = "lines+markers" if len(steps) < 40 else "lines"
    given = {"mode": mode, "marker": {"size": 6}, "cliponaxis": False, "showlegend": False, **options}
    return go.Scatter(x=steps, y=rounded(values), uid=uid, line=line, name=escape(name), hovertemplate=hover, **given)


def _standing(state: TrainingMonitorState) -> str:
    if not state.rows:
        return "No active run" if state.phase == "nothing" else f"{state.name}: {state.phase}"
    last = state.rows[-1]
    of = f" of {state.steps}" if state.steps else ""
    loss = f", loss {last['loss']:.4f}" if "loss" in last else ""
    terms = "".join(f", {name.replace('_', ' ')} {last[name]:.4f}" for name in state.terms if name in last)
    return f"{state.name}: {state.phase}, step {last['step']}{of}{loss}{terms}"
