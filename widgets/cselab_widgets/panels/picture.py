"""Your own picture, drawn as the panels are: it fits its cell, a narrow page, light and dark."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..kit.panel import Panel
from ..kit.planes import Plane


@dataclass(frozen=True, eq=False)
class PictureState:
    """Planes side by side, and their content in words."""

    planes: Sequence[Plane]
    words: str
    note: str = ""
    columns: int = 3

    def __post_init__(self) -> None:
        if not self.planes:
            raise ValueError("a picture needs at least one plane: Picture([Plane(title, traces, x, y)], words).")
        if self.columns < 1:
            raise ValueError(f"columns is {self.columns}; expected at least 1.")


def planes(state: PictureState) -> list[Plane]:
    """The planes, row by row; their traces are copied, and known by their place and their name."""
    return [
        plane._replace(traces=[_known(trace, f"{number}.{at}") for at, trace in enumerate(plane.traces)])
        for number, plane in enumerate(state.planes)
    ]


def _known(trace: Any, place: str) -> Any:
    return type(trace)(trace, uid=f"{place} {trace.uid or trace.name or ''}".strip())


class Picture(Panel):
    """Your own planes in the place of a panel: for a lesson's plot that has no controls.

    Plotly's own output keeps the wide layout on a narrow page and its own colours on a dark one; this does not.

    Args:
        planes: each its title, its traces, its two axes: `cselab_widgets.kit.planes.Plane`, or `matrix` for a heat map.
        words: the content, for a reader who cannot see it.
        note: the line under the picture.
        columns: planes in a row, at most.
        key: see `Panel`.

    Raises:
        ValueError: no planes, or fewer than one column.

    >>> import plotly.graph_objects as go
    >>> loss = go.Scatter(x=[0, 1], y=[2.0, 1.5], name="loss")
    >>> Picture([Plane("Loss", [loss], {"title": {"text": "step"}}, {})], "the loss falls from 2 to 1.5")
    the loss falls from 2 to 1.5
    """

    render = staticmethod(planes)
    alt_text = staticmethod(lambda state: state.words)
    explain = staticmethod(lambda state: state.note)

    def __init__(
        self, planes: Sequence[Plane], words: str, note: str = "", columns: int = 3, key: str | None = None
    ) -> None:
        self.columns = columns
        super().__init__(PictureState(planes, words, note, columns), key)
