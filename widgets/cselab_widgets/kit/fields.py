"""Fields of a panel's state that describe their own control and the values that they may have.

    @dataclass(frozen=True, eq=False)
    class NoiseState(State):
        steps: list[int]
        step: int = shown("step", "steps", "steps")
        variance: float = shown("variance", "slider", (0.0, 0.1, 0.5), default=0.1, ge=0)

`State` checks the values, `Panel` makes the controls and completes the signature of its constructor.
"""

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Annotated, Any

import ipywidgets
from annotated_types import Interval

from cselab._util.arguments import BOUNDS, accepts, allowed, as_number

from .controls import FULL_DESCRIPTION, LONG, buttons, choice, slider
from .scrubber import Scrubber


@dataclass(frozen=True)
class ControlSpec:
    """The control of a field.

    Attributes:
        label: its visible name.
        kind: "list", "buttons", "steps" and "labelled" (a slider over names) accept what they offer; "rows" (a list of
            rows of the table), "slider", "number", "text", "check" and "toggle" accept other values, too.
        values: the values on offer, or the attribute of the state that has them. A list of fewer than two is not shown.
        where: the attribute of the state that must be true when the panel is made, or there is no control.
        when: the attribute of the state that must be true now, or the control is hidden.
        asked: the questions of the panel, by number, that show the control; none means all.
        bounds: limits of a number by their names in annotated-types, or the attributes of the state that have them.
        more: further arguments of the widget.
    """

    label: str
    kind: str
    values: str | Sequence[Any]
    where: str
    when: str
    asked: Sequence[int]
    bounds: Mapping[str, Any]
    more: Mapping[str, Any]

    def offered(self, state: Any) -> list[Any]:
        return list(_of(state, self.values))

    def check(self, name: str, state: Any) -> None:
        """Raise a ValueError that names the allowed values."""
        value = getattr(state, name)
        if self.kind in ("list", "buttons", "steps", "labelled"):
            offered = [one[1] if isinstance(one, tuple) else one for one in self.offered(state)]
            if value not in offered and not (value is None and not offered):
                known = ", ".join(map(str, offered)) or "none"
                raise ValueError(f"{name} is {value!r}; choose one of {known}.")
        if self.bounds:
            limits = {bound: _of(state, limit) for bound, limit in self.bounds.items()}
            wanted: Any = Annotated[type(state).__annotations__[name], Interval(**limits)]
            if not accepts(wanted, as_number(value)):
                raise ValueError(f"{name} is {value!r}; expected {allowed(wanted)}.")

    def hidden(self, state: Any) -> bool:
        return bool(self.when) and not getattr(state, self.when)

    @property
    def classes(self) -> list[str]:
        """The CSS class that shows the control only with its questions."""
        return [f"cselab-question-{number}" for number in self.asked] + ["cselab-asked"] * bool(self.asked)

    def widget(self, name: str, state: Any, offered: Sequence[Any] | None) -> ipywidgets.Widget | None:
        """The control at the state's value; None if the state has nothing to control."""
        value, offered = getattr(state, name), self.offered(state) if offered is None else offered
        if self.where and not getattr(state, self.where):
            return None
        match self.kind:
            case "list" | "rows":
                return choice(self.label, offered, value, **self.more) if len(offered) > 1 else None
            case "buttons":
                return buttons(self.label, offered, value, **self.more) if len(offered) > 1 else None
            case "steps":
                return Scrubber(offered, value, self.label) if offered else None
            case "slider":
                return slider(self.label, offered, value)
            case "labelled":
                return ipywidgets.SelectionSlider(
                    options=offered, value=value, description=self.label, style=FULL_DESCRIPTION, layout=LONG
                )
        given = {"value": value, "description": self.label, **self.more}
        match self.kind:
            case "number":
                return ipywidgets.BoundedIntText(**given, style=FULL_DESCRIPTION, layout={"width": "8em"})
            case "text":
                return ipywidgets.Text(**{"continuous_update": False, "style": FULL_DESCRIPTION, **given})
            case "toggle":
                return ipywidgets.ToggleButton(**given)
        return ipywidgets.Checkbox(**given, indent=False)


def _of(state: Any, given: Any) -> Any:
    return getattr(state, given) if isinstance(given, str) else given


def shown(
    label: str,
    kind: str,
    values: str | Sequence[Any] = (),
    default: Any = MISSING,
    *,
    where: str = "",
    when: str = "",
    asked: Sequence[int] = (),
    **more: Any,
) -> Any:
    """A field of a state with its control; see `ControlSpec`. Limits such as `ge=0` are given by their names."""
    limits = {name: more.pop(name) for name in BOUNDS if name in more}
    spec = ControlSpec(label, kind, values, where, when, asked, limits, more)
    return field(default=default, metadata={"shown": spec})


def shown_fields(state: Any) -> dict[str, ControlSpec]:
    """The controls of a state or its class, by the names of their fields."""
    return {one.name: one.metadata["shown"] for one in fields(state) if "shown" in one.metadata}


def hidden_controls(state: Any) -> list[str]:
    """The fields whose controls have no effect in this state."""
    return [name for name, one in shown_fields(state).items() if one.hidden(state)]


@dataclass(frozen=True, eq=False)
class State:
    """The contents of a panel: its fields are checked by the values that their controls accept."""

    def __post_init__(self) -> None:
        for name, control in shown_fields(self).items():
            control.check(name, self)


def changed(panel: Any, changes: Mapping[str, Any]) -> Any:
    """The state of a panel after changes of its fields.

    Raises:
        TypeError: a name is not a field of the state.
        ValueError: the state rejects a value.
    """
    names = [one.name for one in fields(panel.state)]
    for name in changes:
        if name not in names:
            raise TypeError(f"{type(panel).__name__} has no {name!r} to set; expected one of {', '.join(names)}.")
    return replace(panel.state, **changes)
