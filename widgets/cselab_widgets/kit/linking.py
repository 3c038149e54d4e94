"""Panels that move together."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from .panel import Panel

SHARED = ("step", "encoder")  # and the selection


class Link:
    """Keeps step, encoder and selection of some panels equal."""

    def __init__(self, panels: Sequence[Panel]) -> None:
        self.panels = tuple(panels)
        self._passing = False
        first = self.panels[0]
        self._pass_fields(first, None, first.state)
        for panel in self.panels:
            panel.observe(self._moved, names=["state", "selection"])

    def _moved(self, change: Any) -> None:
        if self._passing:
            return
        self._passing = True
        try:
            if change.name == "selection":
                self._pass_selection(change.owner)
            else:
                self._pass_fields(change.owner, change.old, change.new)
        finally:
            self._passing = False

    def _pass_fields(self, source: Panel, before: Any, now: Any) -> None:
        for name in SHARED:
            value = getattr(now, name, None)
            if value is None or value == getattr(before, name, None):
                continue
            for panel in self.panels:
                if panel is not source and name in _fields(panel):
                    there = _nearest(panel, name, value)
                    if there is not None and there != getattr(panel.state, name):
                        panel.set(**{name: there})

    def _pass_selection(self, source: Panel) -> None:
        items = source.items()
        picked = {items[row] for row in source.selection}
        for panel in self.panels:
            if panel is not source and not set(panel.items()).isdisjoint(items):
                panel.selection = tuple(row for row, item in enumerate(panel.items()) if item in picked)


def link(*panels: Panel) -> Link:
    """Make panels share a step, a selection, an encoder: moving one moves all.

    A panel shares the fields that it has. A panel without a record of a step shows the latest step before it; a panel
    without the encoder does not change. Two panels select the same rows if their items are equal, for example sentences
    or pairs (see `Panel.items`). The panels take the first one's step and encoder at once.

    Raises:
        ValueError: fewer than two panels.
    """
    if len(panels) < 2:
        raise ValueError(f"link needs at least two panels, got {len(panels)}.")
    return Link(panels)


def _fields(panel: Panel) -> set[str]:
    return {field.name for field in fields(panel.state)}


def _nearest(panel: Panel, name: str, value: Any) -> Any:
    """The value of a panel that corresponds to a linked panel's value, or None."""
    allowed = getattr(panel.state, f"{name}s", None)
    if allowed is None or value in allowed:
        return value
    if name != "step" or not len(allowed):
        return None
    return max((step for step in allowed if step <= value), default=min(allowed))
