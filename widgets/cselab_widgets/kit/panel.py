"""The base of all panels: a state, the pure planes of it, and the thin shell that shows both.

A panel is written in three pieces, each testable without a browser:

    @dataclass(frozen=True, eq=False)
    class NoiseState(State):                       # its fields describe their controls (fields.py)
        steps: list[int]
        step: int = shown("step", "steps", "steps")

    def planes(state) -> list[Plane]: ...          # pure; always the same traces, in the same order

    class Noise(Panel):                            # the shell: its arguments are the users' objects
        state_class = NoiseState
        render = staticmethod(planes)

`explain` is the line under the planes, `details` is HTML under that line, and `alt_text` is the content in words; all
have a default.

Rules for a plane:
* each trace has a fixed `uid`, which identifies it from one state to the next;
* costly constants (hover texts, projections) are made once, in the state, not in the plane;
* coordinates are `rounded`, so that pages are small and runs comparable, or, beyond some hundreds, numpy arrays,
  which travel as bytes; up to `SVG_POINTS` points are drawn as SVG, because a page holds only a handful of WebGL plots;
* points carry their row number of `to_frame()` as `customdata`, or the step to which a click goes;
* figure.js puts `columns` planes side by side, two below 1,000 pixels, and one below 700; it finds room for the legend.
"""

import inspect
import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import MISSING, fields
from html import unescape
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import ipywidgets
import numpy as np
import plotly.graph_objects as go
import traitlets

from cselab._util.writing import write_text

from .cell_registry import replace_earlier
from .fields import changed, shown_fields
from .page import figure_to_html, heading, whole_page
from .planes import Plane
from .plot import CONFIG, as_json
from .shell import Shell
from .static_export import export

if TYPE_CHECKING:
    import pandas

SVG_POINTS = 2000
TALL = 420  # pixels: the place of a panel on a page before it is drawn


class Panel(traitlets.HasTraits):
    """A state and the widget, the HTML and the text that show it.

    Leave a panel as the last line of a cell (or `display` it) to see it. Running the cell again closes
    the panel the cell showed before; `key` names the place instead where a cell is not known.

    Attributes:
        state: the state shown now; a frozen dataclass. Change it by `set`; `observe(f, "state")` to hear of changes.
        selection: the rows of `to_frame()` that are picked out, by lasso or click, or by setting it from Python.

    See also: `link`, which makes panels move together.
    """

    state_class: ClassVar[type] = object  # the class of its state
    render: Callable[[Any], list[Plane]]
    columns: int = 3  # planes side by side, at most
    questions: Mapping[str, Sequence[int]] = MappingProxyType({})  # tabs, and the planes of each by number
    clicks: ClassVar[str] = "selection"  # the control that a click on a point sets, on a page
    static_grid: ClassVar[Sequence[str]] = ()  # controls that a page combines; by default all that it has room for

    state = traitlets.Any()
    selection = traitlets.Tuple()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "state_class" in vars(cls):
            cls.__signature__ = _with_fields(inspect.signature(cls.__init__), cls.state_class)  # type: ignore[attr-defined]

    def __init__(self, state: Any, key: str | None = None) -> None:
        super().__init__()
        self.state = state
        self._key = key
        self._shell: Shell | None = None
        if hasattr(state, "selection"):
            self.selection = state.selection

    # ---- what a panel may say of itself --------------------------------------------------------------------

    def controls(self) -> Mapping[str, ipywidgets.Widget]:
        """Widgets by the field of the state that their `value` sets; by default made from the fields."""
        offered = self.options(self.state)
        made = {name: one.widget(name, self.state, offered.get(name)) for name, one in shown_fields(self.state).items()}
        return {name: widget for name, widget in made.items() if widget is not None}

    @staticmethod
    def options(state: Any) -> Mapping[str, Sequence[Any]]:
        """The current options of controls whose values change with the state, by field: values, or (label, value)."""
        return {}

    def alt_text(self, state: Any) -> str:
        """The content in words, for a page without plots: by default the titles of the planes and the words below."""
        texts = (text for plane in self.render(state) for text in (plane.title, plane.words))
        return unescape("\n".join(filter(None, texts)))

    @staticmethod
    def explain(state: Any) -> str:
        """The line under the plot: its content, and which way is better."""
        return ""

    @staticmethod
    def details(state: Any) -> str:
        """HTML under that line, such as a table of the clicked rows."""
        return ""

    def busy_message(self, changes: Mapping[str, Any]) -> str:
        """The text near the controls before changes that need seconds; empty by default."""
        return ""

    def items(self) -> Sequence[Hashable]:
        """A key for each row of `to_frame()`, such as its sentence: by these, linked panels share a selection."""
        return range(len(self.to_frame()))

    def selected(self, rows: tuple[int, ...]) -> None:
        """Rows were lassoed in the plot; none: the lasso was removed."""
        self.selection = tuple(sorted(set(rows)))

    def clicked(self, row: int) -> None:
        """A point was clicked in the plot."""
        self.selection = (row,)

    def page_values(self) -> Mapping[str, Sequence[Any]]:
        """The control values on a page without a kernel: by default all of a list, and a few of a slider."""
        return {}

    # ---- looking and changing ------------------------------------------------------------------------------

    def planes(self, **changes: Any) -> list[Plane]:
        """The current planes, or the planes after `changes`."""
        return self.render(self._changed(changes))

    def figure(self, plane: int = 0, **changes: Any) -> go.Figure:
        """A plane by its number, as a new Plotly figure to keep or save; the title of plane 0 is the panel's answer."""
        return self.planes(**changes)[plane].figure()

    def summary(self) -> str:
        """The content of the planes in words."""
        return self.alt_text(self.state)

    def set(self, **changes: Any) -> None:
        """Change fields of the state; the screen follows. The controls call nothing else.

        Raises:
            TypeError: a name is not a field of the state.
            ValueError: the state rejects a value.
        """
        if self._shell is not None:
            self._shell.wait(self.busy_message(changes))
        state = self._changed(changes)
        planes = self.render(state)  # first, so that a state that cannot be drawn is not taken on
        self.state = state
        if self._shell is not None:
            self._shell.show(state, planes)
        if hasattr(state, "selection"):
            self.selection = state.selection

    def _changed(self, changes: Mapping[str, Any]) -> Any:
        return changed(self, changes)

    @traitlets.validate("selection")
    def _check_selection(self, proposal: Any) -> tuple[int, ...]:
        rows = tuple(map(int, proposal["value"]))
        count = len(self.items()) if rows else 0
        for row in rows:
            if not 0 <= row < count:
                raise ValueError(f"selection holds {row}; the rows are numbered 0 to {count - 1}.")
        return rows

    @traitlets.observe("selection")
    def _selection_changed(self, change: Any) -> None:
        if getattr(self.state, "selection", change["new"]) != change["new"]:
            self.set(selection=change["new"])

    # ---- taking it away ------------------------------------------------------------------------------------

    def to_frame(self) -> "pandas.DataFrame":
        """The content as a table: here a row for each point drawn, with its trace."""
        import pandas as pd

        parts = []
        for number, trace in enumerate(trace for plane in self.planes() for trace in plane.traces):
            columns = {axis: trace[axis] for axis in "xy" if axis in trace and trace[axis] is not None}
            if columns and np.ndim(next(iter(columns.values()))) == 1:
                name = trace.name or trace.uid or str(number)
                parts.append(pd.DataFrame({"trace": name, **{axis: list(v) for axis, v in columns.items()}}))
        return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=["trace", "x", "y"])

    def picked(self) -> "pandas.DataFrame":
        """The rows of `to_frame()` that are selected."""
        return self.to_frame().iloc[list(self.selection)]

    def save(self, path: str | Path) -> None:
        """Write the content to a file whose ending gives the format.

        .csv    the table of `to_frame()`
        .html   the picture as a page to read offline

        An SVG is made by the browser: "save picture" under the plot. `figure()`, of Plotly, has further formats.

        Raises:
            ValueError: an unknown ending.
        """
        path = Path(path)
        match path.suffix:
            case ".csv":
                write_text(path, self.to_frame().to_csv(index=False))
            case ".html":
                write_text(path, whole_page(self._html(answering=True), heading(self)))
            case other:
                raise ValueError(
                    f"path ends in {other!r}; it must end in .csv or .html. "
                    'For an SVG press "save picture" under the plot.'
                )

    # ---- being shown ---------------------------------------------------------------------------------------

    @property
    def widget(self) -> ipywidgets.VBox:
        """The controls, the planes and the words below them; made when first asked for."""
        if self._shell is None:
            self._shell = Shell(self)
            replace_earlier(self, self._key)
        return self._shell.box

    def close(self) -> None:
        """Remove the widget, in the kernel and on the screen. Showing the panel again makes a new one."""
        if self._shell is not None:
            self._shell.close()
            self._shell = None

    def __repr__(self) -> str:
        return self.summary()

    def _html(self, answering: bool) -> str:
        """The panel on a page; `answering` keeps its controls, so the panel is drawn some dozens of times."""
        words = {"summary": self.summary(), "note": self.explain(self.state), "details": self.details(self.state)}
        return figure_to_html(TALL, words, export(self, answering))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """The live widget; where it is not alive, its first plane for JupyterLab, all for pages, and in words.

        JupyterLab (4.6) shows the first as long as its kernel runs. In a notebook opened again the extension in
        `widgets/jupyter` shows the second, a still; without the extension it prints "model not found";
        a page made by nbconvert shows the third, provided that the notebook stores no widget state. Its controls
        answer where the notebook was run to make a page, by `cselab notebooks run`: to
        draw all that they show takes a while.
        """
        return {
            **self.widget._repr_mimebundle_(),
            "application/vnd.plotly.v1+json": {**as_json(self.planes()[:1])[0], "config": CONFIG},
            "text/html": self._html(answering=bool(os.environ.get("CSELAB_HEADLESS"))),
            "text/plain": self.summary(),
        }


def _with_fields(signature: inspect.Signature, state: type) -> inspect.Signature:
    """The signature of a constructor without `self`, in which the state's shown fields replace `**shown`."""
    own = [one for one in list(signature.parameters.values())[1:] if one.kind is not one.VAR_KEYWORD]
    if len(own) + 1 == len(signature.parameters):
        return signature.replace(parameters=own)
    named = {one.name for one in own}
    further = [
        inspect.Parameter(one.name, inspect.Parameter.KEYWORD_ONLY, default=one.default, annotation=one.type)
        for one in fields(state)
        if "shown" in one.metadata and one.name not in named and one.default is not MISSING and one.name != "selection"
    ]
    return signature.replace(parameters=[*own, *further])
