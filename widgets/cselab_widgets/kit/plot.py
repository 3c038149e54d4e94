"""The planes of a panel as a widget that sends only changes; each plane is a Plotly figure.

Plotly's own FigureWidget is not used here, for three faults seen in JupyterLab 4.6 with plotly 7.1: it
opens empty and is filled by later messages, so that inside a box on a busy machine 6 of 24 stayed blank;
it keeps the width of 700 pixels it takes before it is in the page; and each one carries its own plotly.js
of 5 MB. This one opens with its planes in it, follows the width of its cell, and shares one plotly.js.
"""

import math
import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any
from uuid import uuid4

import anywidget
import numpy as np
import traitlets
from plotly.offline import get_plotlyjs

from .planes import Plane
from .scripts import FIGURE_JS, PLOT_JS
from .theme import CSS

# plotly.js 4 offers to upload a chart to a server of its makers, unless told not to.
CONFIG = {"displayModeBar": False, "showSendToCloud": False, "plotlyServerURL": ""}

BINARY_FROM = 64  # numbers: shorter arrays travel as text

Figure = dict[str, Any]
"""A plane as plotly.js takes it: data and layout; its arrays may still be numpy's."""


class Plot(anywidget.AnyWidget):
    """Shows planes; `show` new ones and the differences are sent and redrawn, the reader's zoom kept.

    Attributes:
        planes: the current planes, for Python to look at.
        opening: the planes as they opened, with their places; changed only when the traces change.
        change: how `planes` differ from them: {number of the plane: {"data": {number of the trace: {key: value}},
            "layout": ...}}.
        words: the same in words, for a reader who cannot see it.
        own_id: by which the page finds its side of this widget; see listen.js.
    """

    _esm = FIGURE_JS + PLOT_JS
    _css = CSS
    opening = traitlets.Dict().tag(sync=True)
    change = traitlets.Dict().tag(sync=True)
    words = traitlets.Unicode().tag(sync=True)
    own_id = traitlets.Unicode().tag(sync=True)

    def __init__(
        self,
        planes: Sequence[Plane],
        words: str = "",
        on_event: Callable[[str, Sequence[int]], None] | None = None,
        **places: Any,
    ) -> None:
        """`on_event("click" or "select", rows)` hears of points that were clicked or lassoed, by their customdata.

        `places`: "columns" and "questions"; see `Panel`.
        """
        plotly_js()
        self.places = {**places, "config": CONFIG}
        self.planes = self._opening = plain(planes)
        own_id = uuid4().hex
        super().__init__(opening=self._sent(), words=words, own_id=own_id, model_id=own_id)
        if on_event is not None:
            self.on_msg(lambda _, message, __: on_event(message["event"], message["rows"]))

    def show(self, planes: Sequence[Plane], words: str = "") -> None:
        self.planes = plain(planes)
        with self.hold_sync():
            self.words = words
            if _traces(self.planes) == _traces(self._opening):
                self.change = packed(difference(self._opening, self.planes))
            else:
                self._opening = self.planes
                self.change, self.opening = {}, self._sent()

    def _sent(self) -> dict[str, Any]:
        return {**self.places, "planes": packed(self._opening)}


def plain(planes: Sequence[Plane]) -> list[Figure]:
    """Data and layout of each plane, each `uid` as a name that CSS takes."""
    figures = [plane.figure() for plane in planes]
    return [
        {"data": [_named({**trace._props}) for trace in figure.data], "layout": figure.layout._props}
        for figure in figures
    ]


def _named(trace: Figure) -> Figure:
    """plotly.js looks for the parts of a removed trace by `.cb` and its uid: "plain: 0" would stop it."""
    if "uid" in trace:
        trace["uid"] = re.sub(r"[^a-zA-Z0-9-]", lambda match: f"_{ord(match[0]):x}_", trace["uid"])
    return trace


def as_json(planes: Sequence[Plane]) -> list[Figure]:
    """`plain` in numbers, text, lists and dictionaries only, arrays to six digits."""
    return _encoded(plain(planes), _listed)


def packed(value: Any) -> Any:
    """Ready to be sent to a page: longer arrays of numbers as bytes in single precision."""
    return _encoded(value, _as_bytes)


def difference(before: Sequence[Figure], after: Sequence[Figure]) -> dict[str, Figure]:
    """The changes from `before` to `after` by the number of the plane: keys of its traces by number; its layout.

    A key that is gone is None, as in plotly.js.
    """
    changes = {}
    for number, (old, new) in enumerate(zip(before, after, strict=True)):
        data = {}
        for place, (earlier, later) in enumerate(zip(old["data"], new["data"], strict=True)):
            keys = {**earlier, **later}
            changed = {key: later.get(key) for key in keys if not same(earlier.get(key), later.get(key))}
            if changed:
                data[str(place)] = changed
        change = {"data": data} if data else {}
        if not same(old["layout"], new["layout"]):
            change["layout"] = new["layout"]
        if change:
            changes[str(number)] = change
    return changes


def _traces(planes: Sequence[Figure]) -> list[list[tuple[Any, Any]]]:
    return [[(trace.get("type"), trace.get("uid")) for trace in plane["data"]] for plane in planes]


def same(one: Any, other: Any) -> bool:
    """Whether two values of a figure are equal, arrays entry by entry."""
    if one is other:
        return True
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(one, other)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def _encoded(value: Any, numbers: Callable[[np.ndarray], Any]) -> Any:
    """A figure's value with each array of numbers put as `numbers` says, and all else as JSON has it."""
    if isinstance(value, dict):
        return {key: _encoded(part, numbers) for key, part in value.items()}
    if isinstance(value, np.ndarray):
        return numbers(value) if value.dtype.kind in "iufb" else _encoded(value.tolist(), numbers)
    if isinstance(value, list | tuple):
        if len(value) >= BINARY_FROM and all(type(one) is float for one in value):
            return numbers(np.array(value)) if numbers is _as_bytes else [_number(one) for one in value]
        return [_encoded(part, numbers) for part in value]
    return _number(value.item() if isinstance(value, np.generic) else value)


def _number(value: Any) -> Any:
    """JSON has no NaN, to plotly.js None is a gap; and 0 is as good as 0.0, where a page has ten thousands of them."""
    if not isinstance(value, float):
        return value
    if not math.isfinite(value):
        return None
    return int(value) if value.is_integer() and abs(value) < 1e15 else value


def _as_bytes(array: np.ndarray) -> Any:
    if array.size < BINARY_FROM or array.ndim > 2:
        return _listed(array)
    dtype = "float32" if array.dtype.kind == "f" else "int32"
    return {"dtype": dtype, "shape": list(array.shape), "bytes": np.ascontiguousarray(array, dtype).tobytes()}


def _listed(array: np.ndarray) -> list:
    if array.dtype.kind != "f":
        return array.tolist()
    array = array.astype(np.float64)
    size = np.abs(np.where(np.isfinite(array) & (array != 0), array, 1.0))
    scale = 10.0 ** np.clip(5 - np.floor(np.log10(size)), -200, 200)
    return _encoded((np.round(array * scale) / scale).tolist(), _listed)


@cache
def plotly_js() -> anywidget.AnyWidget:
    """A widget that is never displayed and brings plotly.js to the page: once a kernel, not once a plot.

    It must be opened from here: a page that asked for it would wait until the running cell is done.
    """

    class PlotlyJs(anywidget.AnyWidget):
        _esm = get_plotlyjs() + "\nexport default {};"

    return PlotlyJs()
