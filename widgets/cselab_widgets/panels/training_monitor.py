"""A training run while it goes on: its curves, those of finished runs, and the hand on its brake."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import partial
from html import escape, unescape
from math import isfinite
from pathlib import Path
from threading import Condition, RLock, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

import ipywidgets
import numpy as np
import plotly.graph_objects as go
import torch
import traitlets

from cselab.encoders.encoder import SentenceEncoder
from cselab.training import Callback, Run, StopTraining, TrainConfig, train

from ..kit.panel import Panel
from ..kit.planes import Plane, named_at_ends, rounded, written
from ..kit.theme import AFTER, INK, category_styles

if TYPE_CHECKING:
    import pandas

Row = Mapping[str, Any]
COMMANDS = ("run", "pause", "stop")
PRESSED = {"pause": lambda _: "pause", "resume": lambda _: "run", "stop": lambda _: "stop"}
COLUMNS = {"score": "Dev score (higher is better)", "loss": "Loss"}  # the loss of a run without scores
LOGGED = {  # by the trainer of sentence-transformers
    "loss": "loss",
    "grad_norm": "gradient_norm",
    "eval_*spearman_cosine": "score",
    "eval_*alignment": "alignment",
    "eval_*uniformity": "uniformity",
    "eval_*effective_rank": "effective_rank",
}
SECONDS = 0.5  # between two pictures of a run that is going on


class Method(NamedTuple):
    """The runs of a name; `uid` tells the current run from a finished one."""

    uid: str
    name: str
    color: str
    runs: Sequence[Sequence[Row]]


@dataclass(frozen=True, eq=False)
class TrainingMonitorState:
    """The rows so far of the current run, its command, and the histories of finished runs.

    Attributes:
        name: the name of the run.
        rows: its history so far, as `cselab.training.Run` has it.
        steps: their number; None if unknown.
        phase: "nothing", "running", "paused", "stopped", "finished" or "failed".
        command: "run", "pause" or "stop".
        kept: the steps whose weights were kept.
        keep: how often "keep this step" was pressed.
        error: why the run failed, in words.
        others: name -> histories of finished runs, one a seed.
    """

    name: str = ""
    rows: tuple[Row, ...] = ()
    steps: int | None = None
    phase: str = "nothing"
    command: str = "run"
    kept: tuple[int, ...] = ()
    keep: int = 0
    error: str = ""
    others: Mapping[str, tuple[tuple[Row, ...], ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.command not in COMMANDS:
            raise ValueError(f"command is {self.command!r}; expected one of {', '.join(COMMANDS)}.")

    @property
    def alive(self) -> bool:
        """Whether there is a run to pause, to stop, to keep a step of."""
        return self.phase in ("running", "paused")

    @property
    def methods(self) -> list["Method"]:
        """Finished runs by their name, and last the current run."""
        styles = category_styles(self.others)
        finished = [Method(name, name, styles[name].color, runs) for name, runs in self.others.items()]
        return finished + ([Method("live", self.name or "run", AFTER, (self.rows,))] if self.rows or self.alive else [])

    @property
    def told(self) -> "Method | None":
        """The method that the title speaks of: the current run, or the only one."""
        return self.methods[-1] if self.rows or self.alive or len(self.others) == 1 else None


def curve(rows: Sequence[Row], column: str) -> tuple[list[int], list[float]]:
    """Steps and values of a column, where it has a finite value."""
    points = [(row["step"], row[column]) for row in rows if isfinite(row.get(column, float("nan")))]
    return [step for step, _ in points], [value for _, value in points]


def over_runs(runs: Sequence[Sequence[Row]], column: str) -> tuple[list[int], list[float], list[float], list[float]]:
    """Steps, mean, lowest and highest of a column over several histories, at the steps that all have."""
    curves = [dict(zip(*curve(rows, column), strict=True)) for rows in runs]
    curves = [values for values in curves if values]
    steps = sorted(set.intersection(*map(set, curves))) if curves else []
    values = np.array([[values[step] for step in steps] for values in curves]).reshape(len(curves), len(steps))
    if not steps:
        return [], [], [], []
    return steps, rounded(values.mean(0)), rounded(values.min(0)), rounded(values.max(0))


def planes(state: TrainingMonitorState) -> list[Plane]:
    """The current run and the mean of finished ones as lines, the runs of a method as a band."""
    scored = any("score" in row for row in state.rows) or not any("loss" in row for row in state.rows)
    return [column_plane(state, *[*COLUMNS.items()][not scored])]


def summary(state: TrainingMonitorState) -> str:
    """The state of the run, the answer of the picture, the kept steps, and the best of each finished run."""
    lines = [_standing(state)]
    if state.methods:
        lines.append(f"  {unescape(planes(state)[0].title)}")
    if state.kept:
        lines.append(f"  kept: step {', '.join(map(str, state.kept))}")
    if state.error:
        lines.append(f"  {state.error}")
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
    others = "A band holds all runs of a method; a line is their mean. " * any(
        len(method.runs) > 1 for method in state.methods
    )
    held = {
        "paused": " Paused: the weights are those of the step shown.",
        "stopped": " Stopped: the best weights so far are kept, in run.encoder.",
        "finished": " Finished: the best weights are kept, in run.encoder.",
        "failed": f" Failed: {state.error}",
    }.get(state.phase, "")
    star = "The star: the weights that are kept. " * bool(state.told and len(state.told.runs) == 1)
    score = "The dev score of graded pairs is 100 times their rank correlation."
    return others + star + score + held


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
      SimCSE, mean of 2 runs, has dev score 51.7 at step 0
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
        name: str | None = None,
    ) -> "TrainingMonitor":
        """Start a run, as `cselab.training.train` would, and show it; leave this as the last line of a cell.

        Args:
            encoder, method, corpus, config, evaluator, callbacks, output: see `cselab.training.train`.
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
        self.set(name=title, rows=(), phase="running", command="run", kept=(), error="", steps=config.steps)
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
        """Keep the weights of the step it is at, in `kept`."""
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
        self.set(kept=tuple(self.kept))

    # ---- looking ---------------------------------------------------------------------------------------------

    def controls(self) -> dict[str, ipywidgets.Widget]:
        alive = self.state.alive
        return {
            "command": Buttons(self.state.command, PRESSED, not alive),
            "keep": Buttons(self.state.keep, {"keep this step": lambda count: count + 1}, not alive),
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


class Buttons(ipywidgets.HBox):
    """Buttons that each change a value: name -> the new value by the old one."""

    value = traitlets.Any()

    def __init__(self, value: Any, pressed: Mapping[str, Callable[[Any], Any]], disabled: bool) -> None:
        super().__init__([ipywidgets.Button(description=name, layout={"width": "auto"}) for name in pressed])
        self.value, self.disabled = value, disabled
        for button, change in zip(self.children, pressed.values(), strict=True):
            button.on_click(lambda _, change=change: self.set_trait("value", change(self.value)))

    @property
    def disabled(self) -> bool:
        return self.children[0].disabled

    @disabled.setter
    def disabled(self, disabled: bool) -> None:
        for button in self.children:
            button.disabled = disabled


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


def column_plane(state: TrainingMonitorState, column: str, title: str) -> Plane:
    """The curves of a column over the steps."""
    scored, told = column == "score", state.told
    runs, lines, steps, values = [], [], [], []
    for method in state.methods:
        at, mean, low, high = over_runs(method.runs, column)
        uid = f"{column}: {method.uid}"
        band = {"fill": "toself", "fillcolor": f"{method.color}30", "line": {"width": 0}, "hoverinfo": "skip"}
        runs.append(go.Scatter(x=at + at[::-1], y=high + low[::-1], uid=f"{uid}: runs", mode="lines", **band))
        end = f" {mean[-1]:.1f}" if scored and mean else ""
        lines.append(_line(uid, at, mean, {"color": method.color, "width": 3}, method.name + end))
        if method == told:
            steps, values = at, mean
    start = (steps[:1] + steps[-1:], values[:1] * 2) if scored else ([], [])
    room = _room([*runs, *lines]) if scored else None
    named = f"start {start[1][0]:.1f}" if start[1] else "start"
    lines.append(_line(f"{column}: start", *start, {"color": INK, "dash": "dash"}, named, mode="lines"))
    if told:
        lines[-1].update(fill="tonexty", fillcolor=f"{told.color}22")
    traces = [*runs, *(named_at_ends(lines, "names", room[1] - room[0]) if room else lines)]
    single = told is not None and len(told.runs) == 1
    best = [steps[int(np.argmax(values))]] if scored and single and values else []  # its weights are kept, too
    at_step = dict(zip(steps, values, strict=True))
    marked = sorted({*state.kept, *best} & at_step.keys())
    traces.append(
        go.Scatter(
            x=marked,
            y=rounded(at_step[step] for step in marked),
            uid=f"{column}: kept",
            mode="markers",
            cliponaxis=False,
            marker={"symbol": "star", "size": 17, "color": told.color if told else INK},
            hovertemplate="kept: step %{x}<extra></extra>",
        )
    )
    if told and best and best != steps[:1]:
        ends = [values[0], at_step[best[0]]]
        gain = f"<b>{round(ends[1], 1) - round(ends[0], 1):+.1f}</b>\u2002"  # of the numbers that are shown
        traces += [
            go.Scatter(x=best * 2, y=ends, uid="gain", mode="lines", line={"color": told.color, "dash": "dot"}),
            written(best, [sum(ends) / 2], [gain], "gain: number", "middle left"),
        ]
    what = title.split(" (")[0]
    answer = (scored and not told and _ahead(state)) or (f"{what}: not measured yet" if told else title)
    if told and values:
        name = escape(told.name) + f", mean of {len(told.runs)} runs," * (len(told.runs) > 1)
        answer = _told(what, steps, values, name if scored else "")
    y = {
        "title": {"text": title},
        **({"range": room} if scored else {"rangemode": "normal" if column == "uniformity" else "tozero"}),
    }
    return Plane(answer, traces, {"title": {"text": "step"}, "rangemode": "tozero"}, y)


def _told(what: str, steps: Sequence[int], values: Sequence[float], scored: str) -> str:
    """The way of a curve from its start to its end; of a score (of `scored`), its best step, too."""
    first, last, best = values[0], values[-1], int(np.argmax(values))
    if not scored:
        way = "falls" if last < first else "rises"
        return f"{what} {way} from {first:.3g} to {last:.3g}" if len(values) > 1 else f"{what} {last:.3g}"
    told = best or len(values) - 1  # the end, if nothing is better than the start
    gain = f"{round(values[told], 1) - round(first, 1):+.1f}"  # of the numbers that are shown
    if told < len(values) - 1:
        return f"{scored} peaks at step {steps[told]} (dev score {values[told]:.1f}, {gain}), ends at {last:.1f}"
    return f"{scored} has dev score {last:.1f} at step {steps[told]}" + f" ({gain})" * bool(told)


def _ahead(state: TrainingMonitorState) -> str:
    """The method that ends highest, and the reason if that is undecided: one ran once, or runs of two overlap."""
    ends: list[tuple[float, float, float, int, str]] = []
    for name, histories in state.others.items():
        _, mean, low, high = over_runs(histories, "score")
        if mean:
            ends.append((mean[-1], low[-1], high[-1], len(histories), escape(name)))
    if not ends:
        return ""
    (end, lowest, _, _, best), *others = sorted(ends, reverse=True)
    few, many = (of(count for *_, count, _ in ends) for of in (min, max))
    overlap = "; runs overlap" * any(highest >= lowest for _, _, highest, *_ in others)
    undecided = "; one run decides nothing" if few < 2 else overlap
    beside = f"; {others[0][-1]} at {others[0][0]:.1f}" if len(others) == 1 else ""
    runs = f"{few} to {many} runs" if few < many else f"{few} run{'s' * (few > 1)}"
    return f"{best} ends highest, dev score {end:.1f}{beside} ({runs} each){undecided}"


def _room(traces: Sequence[go.Scatter]) -> list[float] | None:
    """An axis of at least six points, so that a tenth of a point does not look like a gain."""
    values = [value for trace in traces for value in trace.y if value is not None]
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
    return f"{state.name}: {state.phase}, step {last['step']}{of}{loss}"
