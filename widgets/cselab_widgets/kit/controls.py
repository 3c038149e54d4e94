"""Controls with a visible name: a list, a few buttons, a slider over sizes, a row chosen by keyboard."""

from collections.abc import Iterable, Sequence
from typing import Any

import ipywidgets

FULL_DESCRIPTION = {"description_width": "auto"}
LONG = {"flex": "1 1 22em", "width": "auto", "max_width": "34em"}  # room for a name, a slider and its value
RowOptions = list[tuple[str, tuple[int, ...]]]


def choice(
    name: str, options: Iterable[Any], value: Any, width: str = "auto", tooltip: str = ""
) -> ipywidgets.Dropdown:
    """A list to choose from; options are values, or (label, value)."""
    made = ipywidgets.Dropdown(
        options=list(options),
        value=value,
        description=name,
        tooltip=tooltip,
        style=FULL_DESCRIPTION,
        layout={"width": width},
    )
    show_value(made, value)
    return made


def buttons(name: str, options: Sequence[str], value: str, width: str = "6em") -> ipywidgets.ToggleButtons:
    """A few values side by side, one of them pressed."""
    style = {**FULL_DESCRIPTION, "button_width": width}
    return ipywidgets.ToggleButtons(
        options=options, value=value, description=name, style=style, layout={"width": "auto"}
    )


class Sizes(ipywidgets.SelectionSlider):
    """A slider over several numbers."""


def slider(name: str, values: Iterable[float], value: float) -> Sizes:
    """A slider over several values, which always include the current one."""
    return Sizes(
        options=sorted({*values, value}),
        value=value,
        description=name,
        continuous_update=False,
        style=FULL_DESCRIPTION,
        layout=LONG,
    )


def show_value(control: ipywidgets.Widget, value: Any) -> None:
    """Bring a control to a value; a slider over sizes takes in one that it did not offer, as `set` may ask for."""
    if isinstance(control, Sizes) and value not in control.options:
        control.options = sorted({*control.options, value})
    if value is None and isinstance(control, ipywidgets.Dropdown):  # its own `value = None` would show a blank
        offered = [one[1] if isinstance(one, tuple) else one for one in control.options]
        control.index = offered.index(None) if None in offered else None
    else:
        control.value = value


def row_options(rows: RowOptions, selection: tuple[int, ...], nothing: str) -> RowOptions:
    """The options of a list that sets `selection`: `nothing`, each row, and a selection that is none of these.

    The list replaces a click on a point for keyboard users, and always shows the selection.

    >>> row_options([("first", (0,)), ("second", (1,))], (0, 1), "none")
    [('none', ()), ('2 selected', (0, 1)), ('first', (0,)), ('second', (1,))]
    """
    known = not selection or any(value == selection for _, value in rows)
    several = [] if known else [(f"{len(selection)} selected", selection)]
    return [(nothing, ()), *several, *rows]
