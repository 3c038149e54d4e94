"""The widgets of one panel: its controls, a line for errors, the plot, a line of explanation, details."""

from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import Any

import ipywidgets

from .controls import show_value
from .fields import hidden_controls, shown_fields
from .planes import Plane
from .plot import Plot


class Shell:
    """Binds the controls of a `Panel` to `panel.set`, and its plot to `panel.clicked` and `panel.selected`."""

    def __init__(self, panel: Any) -> None:
        self.panel = panel
        self._showing = False
        self.controls, fields = dict(panel.controls()), shown_fields(panel.state)
        for name, control in self.controls.items():
            control.observe(self._setter(name), names="value")
            for style in fields[name].classes if name in fields else ():
                control.add_class(style)
        # JupyterLab shows an exception of a callback nowhere near the cell.
        self.error = ipywidgets.Label().add_class("cselab-error")
        self.plot = Plot(
            panel.planes(),
            panel.alt_text(panel.state),
            self._heard,
            columns=panel.columns,
            questions=[[question, list(planes)] for question, planes in panel.questions.items()],
        )
        self.note = ipywidgets.HTML().add_class("cselab-note")
        self.details = ipywidgets.HTML().add_class("cselab-details")
        self.row = ipywidgets.HBox([*self.controls.values(), self.error]).add_class("cselab-controls")
        self.box = ipywidgets.VBox([self.row, self.plot, self.note, self.details]).add_class("cselab-panel")
        self._tell(panel.state)

    def wait(self, words: str) -> None:
        """Name the computation that runs, until the next picture or error."""
        self.error.value = words
        (self.error.add_class if words else self.error.remove_class)("cselab-waiting")

    def show(self, state: Any, planes: Sequence[Plane]) -> None:
        """Bring plot, words and controls to `state`."""
        self.wait("")
        self.plot.show(planes, self.panel.alt_text(state))
        self._tell(state)
        self._showing = True  # a control that is given other options first goes to one of them by itself
        try:
            for name, options in self.panel.options(state).items():
                if tuple(self.controls[name].options) != tuple(options):
                    self.controls[name].options = options
            for name, control in self.controls.items():
                show_value(control, getattr(state, name))
        finally:
            self._showing = False

    def _tell(self, state: Any) -> None:
        hidden = hidden_controls(state)
        for name, control in self.controls.items():
            (control.add_class if name in hidden else control.remove_class)("cselab-empty")
        for widget, text in ((self.note, escape(self.panel.explain(state))), (self.details, self.panel.details(state))):
            widget.value = text
            (widget.remove_class if text else widget.add_class)("cselab-empty")

    def close(self) -> None:
        for widget in family(self.box):
            widget.close()

    def _setter(self, name: str) -> Callable[[Any], None]:
        def on_change(change: Any) -> None:
            if not self._showing and change.new != getattr(self.panel.state, name):
                self._try(lambda: self.panel.set(**{name: change.new}))

        return on_change

    def _heard(self, event: str, rows: Sequence[int]) -> None:
        if event == "select":
            self._try(lambda: self.panel.selected(tuple(rows)))
        elif rows:
            self._try(lambda: self.panel.clicked(rows[0]))

    def _try(self, act: Callable[[], None]) -> None:
        try:
            act()
        except Exception as error:
            self.wait("")
            self.error.value = str(error)
            raise


def family(widget: ipywidgets.Widget) -> Iterable[ipywidgets.Widget]:
    """A widget with its children, its layout, its style: closing it leaves them all open."""
    for value in (getattr(widget, name) for name in widget.keys):
        for part in value if isinstance(value, list | tuple) else (value,):
            if isinstance(part, ipywidgets.Widget):
                yield from family(part)
    yield widget
