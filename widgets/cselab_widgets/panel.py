"""What all panels share: a state, a pure figure of it, and the thin shell that shows both.

A panel is written in four pieces, each testable without a browser:

    @dataclass(frozen=True, eq=False)
    class NoiseState: ...                          # what is shown; __post_init__ checks it

    def figure(state) -> go.Figure: ...            # pure; always the same traces, in the same order
    def summary(state) -> str: ...                 # the same in words, for a page without plots

    class Noise(Panel):                            # the shell: takes what users have, names the controls
        draw = staticmethod(figure)
        describe = staticmethod(summary)

        def controls(self):
            return {"step": Scrubber(self.state.steps, self.state.step)}

Three rules for the figure: each trace has a fixed `uid`, by which Plotly knows it again from one state to the
next; coordinates are `rounded`, so that pages are small and runs comparable; and up to `SVG_POINTS` points are
drawn as SVG, because a page holds only a handful of WebGL plots.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from typing import Any

import ipywidgets
import plotly.graph_objects as go
from IPython import get_ipython

from .page import figure_to_html
from .plot import Plot, as_json

SVG_POINTS = 2000


class Panel:
    """A state and the widget, the HTML and the text that show it.

    Leave a panel as the last line of a cell (or `display` it) to see it. Running the cell again closes
    the panel the cell showed before; `key` names the place instead where a cell is not known.

    Attributes:
        state: what is shown now; a frozen dataclass. Change it by `set`.
    """

    draw: Callable[[Any], go.Figure]
    describe: Callable[[Any], str]

    def __init__(self, state: Any, key: str | None = None):
        self.state = state
        self._key = key
        self._shell: _Shell | None = None

    def controls(self) -> Mapping[str, ipywidgets.Widget]:
        """Widgets by the field of the state that their `value` sets. None by default."""
        return {}

    def figure(self, **changes: Any) -> go.Figure:
        """The figure as it is now or would be after `changes`; a Plotly figure of its own, to keep or save."""
        return self.draw(self._changed(changes))

    def summary(self) -> str:
        """What the figure shows now, in words."""
        return self.describe(self.state)

    def page_figure(self) -> go.Figure:
        """The figure for a page without a kernel; a panel with steps gives a `film`."""
        return self.figure()

    def set(self, **changes: Any) -> None:
        """Change fields of the state; what is on the screen follows. The controls call nothing else.

        Raises:
            TypeError: a name is not a field of the state.
            ValueError: the state rejects a value.
        """
        state = self._changed(changes)
        figure = self.draw(state)  # first, so that a state that cannot be drawn is not taken on
        self.state = state
        if self._shell is not None:
            self._shell.show(state, figure)

    def _changed(self, changes: Mapping[str, Any]) -> Any:
        allowed = [field.name for field in fields(self.state)]
        for name in changes:
            if name not in allowed:
                raise TypeError(f"{type(self).__name__} has no {name!r} to set; it has {', '.join(allowed)}.")
        return replace(self.state, **changes)

    @property
    def widget(self) -> ipywidgets.VBox:
        """The controls above the figure; made when first asked for."""
        if self._shell is None:
            self._shell = _Shell(self)
            _take_place(self, self._key)
        return self._shell.box

    def close(self) -> None:
        """Remove the widget, in the kernel and on the screen. Showing the panel again makes a new one."""
        if self._shell is not None:
            self._shell.close()
            self._shell = None

    def __repr__(self) -> str:
        return self.summary()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """The live widget; where it is not alive, the figure for JupyterLab, for pages, and in words.

        JupyterLab (4.6) takes the first as long as its kernel runs and the second in a notebook opened again; a
        page made by nbconvert shows the third, provided that the notebook stores no widget state.
        """
        summary, still = self.summary(), as_json(self.page_figure())
        return {
            **self.widget._repr_mimebundle_(),
            "application/vnd.plotly.v1+json": still,
            "text/html": figure_to_html(still, summary),
            "text/plain": summary,
        }


class _Shell:
    """A panel's widgets: the controls bound to `panel.set`, a line for errors, the plot."""

    def __init__(self, panel: Panel):
        self.controls = dict(panel.controls())
        for name, control in self.controls.items():
            control.observe(self._setter(panel, name), names="value")
        # JupyterLab shows an exception of a callback nowhere near the cell.
        self.error = ipywidgets.Label()
        self.plot = Plot(panel.figure())
        row = ipywidgets.HBox([*self.controls.values(), self.error], layout={"flex_flow": "row wrap"})
        self.box = ipywidgets.VBox([row, self.plot])

    def _setter(self, panel: Panel, name: str) -> Callable[[Any], None]:
        def on_change(change: Any) -> None:
            if change.new == getattr(panel.state, name):
                return
            try:
                panel.set(**{name: change.new})
            except Exception as error:
                self.error.value = str(error)
                raise

        return on_change

    def show(self, state: Any, figure: go.Figure) -> None:
        """Bring plot and controls to `state`."""
        self.error.value = ""
        self.plot.show(figure)
        for name, control in self.controls.items():
            control.value = getattr(state, name)

    def close(self) -> None:
        for widget in _family(self.box):
            widget.close()


def _family(widget: ipywidgets.Widget) -> Iterable[ipywidgets.Widget]:
    """A widget and all inside it: closing a box leaves its children open."""
    for child in getattr(widget, "children", ()):
        yield from _family(child)
    yield widget


def rounded(values: Iterable[float]) -> list[float]:
    """Coordinates to four decimals, finer than a screen: small pages, the same on every machine."""
    return [round(float(value), 4) for value in values]


# Which panels are open where: place -> (the run of the cell that showed them, the panels).
_open: dict[str, tuple[str | None, list[Panel]]] = {}


def _take_place(panel: Panel, key: str | None) -> None:
    """Close the panels that an earlier run left at this panel's place, and put it there."""
    place, run = (f"key {key}", None) if key is not None else _running_cell()
    if place is None:
        return
    earlier_run, panels = _open.get(place, (None, []))
    if key is not None or run != earlier_run:
        for earlier in panels:
            if earlier is not panel:
                earlier.close()
        panels = []
    _open[place] = (run, [*panels, panel])


def _running_cell() -> tuple[str | None, str | None]:
    """The id of the cell being run and of this run of it, as a notebook tells them; else None."""
    shell = get_ipython()
    parent = shell.get_parent() if hasattr(shell, "get_parent") else {}
    cell = parent.get("metadata", {}).get("cellId")
    return (f"cell {cell}", parent["header"]["msg_id"]) if cell else (None, None)
