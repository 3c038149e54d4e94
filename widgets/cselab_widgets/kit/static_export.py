"""The contents of a panel in a page, so that its controls answer without a kernel.

Python draws the panel for values of its controls, and the page holds the distinct parts of all these pictures once: a
trace, a layout, a line of words that does not depend on a control costs nothing more for each of its values. Where
there are too many values to combine, they are carried one at a time about the current state.
"""

import base64
import gzip
import json
import re
from collections.abc import Mapping, Sequence
from itertools import product
from math import prod
from typing import Any, NamedTuple

import ipywidgets

from .fields import hidden_controls, shown_fields
from .plot import CONFIG, as_json
from .shell import family

STATES = 160  # pictures of a panel, at most
CONTROL_VALUES = 60  # of all its controls together
BYTES = 1_200_000  # of a panel's parts together, before they are packed; no picture is added beyond
FEW = 12  # values of a slider
SMALL = 48  # letters: parts shorter than that are repeated rather than named

as_text = json.JSONEncoder(separators=(",", ":")).encode

Option = tuple[str, Any]


class Control(NamedTuple):
    """A control as a page shows it, of `all` values some.

    `kind` is "list", "slider", "steps" (one that plays), "check" or "text"; `hides`: it is hidden in some states.
    """

    name: str
    label: str
    kind: str
    options: list[Option]
    classes: Sequence[str] = ()
    hides: bool = False


def export(panel: Any, answering: bool) -> dict[str, Any]:
    """A `Panel` as the argument of page_figure.js; without controls unless `answering`."""
    controls = controls_of(panel) if answering else []
    states = render_states(panel, controls)
    shown = [_held(control, states) for control in controls]
    return {
        "controls": [one._asdict() for one in shown if one.kind == "text" or len(one.options) > 1],
        "state": {control.name: getattr(panel.state, control.name) for control in controls},
        "clicks": panel.clicks,
        "config": CONFIG,
        "columns": panel.columns,
        "questions": [[question, list(planes)] for question, planes in panel.questions.items()],
        "packed": packed(states),
    }


def packed(value: Any) -> str:
    """JSON as gzip as base64, which page_figure.js opens: of pictures a fifth is left."""
    return base64.b64encode(gzip.compress(as_text(value).encode(), 6, mtime=0)).decode()


def _held(control: Control, rendered: Mapping[str, Any]) -> Control:
    """The control with the values that occur in some picture."""
    if control.kind == "text":
        return control
    place = list(rendered["values"]).index(control.name)
    numbers = {int(numbers.split(",")[place]) for numbers in rendered["states"]}
    kept = {value for number, value in enumerate(rendered["values"][control.name]) if number in numbers}
    return control._replace(options=[one for one in control.options if one[1] in kept])


def controls_of(panel: Any) -> list[Control]:
    """The panel's controls with the values that a page may carry.

    The values of `page_values`, else lists whole and of sliders a few. Buttons are for a kernel.
    """
    widgets, chosen, fields = panel.controls(), panel.page_values(), shown_fields(panel.state)
    controls = []
    for name, widget in widgets.items():
        control = _control(name, widget)
        if control is not None:
            now = getattr(panel.state, name)
            if name in chosen:
                values = [*chosen[name], *([] if now in chosen[name] or control.kind == "list" else [now])]
                values = sorted(values) if control.kind == "slider" else values
                labels = {value: label for label, value in control.options}
                options = [(labels.get(value, str(value)), value) for value in values]
            elif control.kind in ("slider", "steps"):
                options = thinned(control.options, FEW, [now])
            else:
                options = control.options
            control = control._replace(options=options)
            if name in fields:
                control = control._replace(classes=fields[name].classes, hides=bool(fields[name].when))
            controls.append(control)
    for widget in widgets.values():
        for one in family(widget):
            one.close()
    return controls


def _control(name: str, widget: Any) -> Control | None:
    match widget:
        case ipywidgets.Dropdown() | ipywidgets.ToggleButtons():
            return Control(name, widget.description, "list", _options(widget.options))
        case ipywidgets.SelectionSlider():
            return Control(name, widget.description, "slider", _options(widget.options))
        case ipywidgets.IntSlider() | ipywidgets.BoundedIntText():
            values = range(widget.min, widget.max + 1, widget.step or 1)
            return Control(name, widget.description, "slider", _options(values))
        case ipywidgets.Checkbox() | ipywidgets.ToggleButton():
            return Control(name, widget.description, "check", [("no", False), ("yes", True)])
        case ipywidgets.Text():
            return Control(name, widget.description, "text", [])
        case ipywidgets.HBox() if hasattr(widget, "slider"):
            return Control(name, widget.slider.description, "steps", _options(widget.slider.options))
        case _:
            return None


def _options(given: Sequence[Any]) -> list[Option]:
    """Options as (label, value), as ipywidgets reads them."""
    if given and all(isinstance(one, tuple) and len(one) == 2 for one in given):
        return [(str(label), value) for label, value in given]
    return [(str(value), value) for value in given]


def thinned(options: Sequence[Option], count: int, kept: Sequence[Any] = ()) -> list[Option]:
    """`count` of the options, the first and the last and all `kept` among them, spread evenly."""
    if len(options) <= count:
        return list(options)
    last = len(options) - 1
    places = {round(number * last / max(1, count - 1)) for number in range(count)}
    return [one for place, one in enumerate(options) if place in places or one[1] in kept]


def render_states(panel: Any, controls: Sequence[Control]) -> dict[str, Any]:
    """The pictures of a panel by the values of its controls, for `lookup` of page_figure.js.

    `values` has the values of each control, including the current one. `states` maps their numbers to the shown
    content, and `parts` are the distinct pieces of the content. Rejected and slow states are missing.
    """
    changing = [control for control in controls if control.kind != "text"]
    base = {control.name: getattr(panel.state, control.name) for control in changing}
    values = {control.name: [value for _, value in control.options] for control in changing}
    for name, now in base.items():
        if now not in values[name]:
            values[name] = [now, *values[name]]
    values = _few_enough(values, base)
    parts = Parts()
    states: dict[str, int] = {}
    for numbers, state in _states(panel, changing, values, base).items():
        states[",".join(map(str, numbers))] = parts.number(_shown(panel, state, controls, values))
        if parts.size > BYTES:
            break
    return {"base": base, "values": values, "states": states, "parts": [json.loads(text) for text in parts.texts]}


def _few_enough(values: Mapping[str, list[Any]], base: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Few enough values of each control that all can be shown one at a time: the longest lists are thinned."""
    most = max(
        n for n in range(1, CONTROL_VALUES) if sum(min(n, len(each)) for each in values.values()) <= CONTROL_VALUES
    )
    options = {name: [("", value) for value in each] for name, each in values.items()}
    return {name: [value for _, value in thinned(options[name], most, [base[name]])] for name in values}


def _states(
    panel: Any, controls: Sequence[Control], values: Mapping[str, list[Any]], base: Mapping[str, Any]
) -> dict[tuple[int, ...], Any]:
    """The states carried, by the numbers of their values.

    The current state, each control by itself, then those of `static_grid`; by default as many as fit, the
    shortest first.
    """
    now = {name: values[name].index(base[name]) for name in values}
    states: dict[tuple[int, ...], Any] = {}
    none = frozenset[str]()
    for alone in [none, *(frozenset([name]) for name in values)]:
        states |= _ways(panel, controls, values, now, alone)
    joined = none
    together = [name for name in panel.static_grid if name in values]
    for name in together or sorted(values, key=lambda one: len(values[one])):
        wider = joined | {name}
        if prod(len(values[one]) for one in wider) > 10 * STATES:
            break
        more = states | _ways(panel, controls, values, now, wider)
        if len(more) > STATES:
            break
        states, joined = more, wider
    return states


def _ways(
    panel: Any,
    controls: Sequence[Control],
    values: Mapping[str, list[Any]],
    now: Mapping[str, int],
    together: frozenset[str],
) -> dict[tuple[int, ...], Any]:
    """The states in which the controls `together` have any of their values, and the rest the current one."""
    states = {}
    for numbers in product(*(range(len(values[name])) if name in together else [now[name]] for name in values)):
        chosen = zip(values, numbers, strict=True)
        changes = {name: values[name][number] for name, number in chosen if number != now[name]}
        if panel.busy_message(changes):
            continue
        try:
            state = panel._changed(changes) if changes else panel.state
        except ValueError:
            continue
        if changes.keys() & {*hidden_controls(state)}:
            continue
        if len(changes) < 2 or _offers(panel, controls, state, changes):
            states[numbers] = state
    return states


def _offers(panel: Any, controls: Sequence[Control], state: Any, changes: Mapping[str, Any]) -> bool:
    """Whether each value of `changes` is still on offer with the rest, and by the same name."""
    offered, labels = panel.options(state), {control.name: _labels(control.options) for control in controls}
    return all(
        _labels(offered[name]).get(value) == labels[name].get(value)
        for name, value in changes.items()
        if name in offered
    )


def _labels(options: Sequence[Any]) -> dict[Any, str]:
    return {value: label for label, value in _options(options)}


def _shown(panel: Any, state: Any, controls: Sequence[Control], values: Mapping[str, list[Any]]) -> dict[str, Any]:
    """The page's picture of a state, and the values of its controls."""
    offered = {}
    for name, options in panel.options(state).items():
        if name in values:
            known = set(values[name])
            offered[name] = [one for one in _options(options) if one[1] in known]
    return {
        "planes": as_json(panel.render(state)),
        "words": panel.alt_text(state).splitlines(keepends=True),  # cut where one state's may be as another's
        "note": panel.explain(state),
        "details": re.split(r"(?=<tr>|<p>|<li>)", panel.details(state)),
        "state": {control.name: getattr(state, control.name) for control in controls},
        "hidden": hidden_controls(state),
        "options": offered,
    }


class Parts:
    """The distinct parts of JSON values, each once: a part is named by its number, {"$": number}."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.size = 0
        self._numbers: dict[str, int] = {}

    def number(self, value: Any) -> int:
        """The number of a value, which is added to the parts if missing."""
        return self._named(self._text(value, top=True))

    def _text(self, value: Any, top: bool = False) -> str:
        if isinstance(value, dict):
            inside = ",".join(f"{as_text(str(key))}:{self._text(part)}" for key, part in value.items())
            text = f"{{{inside}}}"
        elif isinstance(value, list | tuple) and any(isinstance(one, dict | list | tuple | str) for one in value):
            text = f"[{','.join(map(self._text, value))}]"
        else:
            text = as_text(value)
        return text if top or len(text) <= SMALL else f'{{"$":{self._named(text)}}}'

    def _named(self, text: str) -> int:
        if text not in self._numbers:
            self._numbers[text] = len(self.texts)
            self.texts.append(text)
            self.size += len(text)
        return self._numbers[text]
