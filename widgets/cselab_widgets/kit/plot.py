"""A Plotly figure as a widget that sends only changes.

Plotly's own FigureWidget is not used here, for three faults seen in JupyterLab 4.6 with plotly 7.1: it
opens empty and is filled by later messages, so that inside a box on a busy machine 6 of 24 stayed blank;
it keeps the width of 700 pixels it takes before it is in the page; and each one carries its own plotly.js
of 5 MB. This one opens with its figure in it, follows the width of its cell, and shares one plotly.js.
"""

import math
import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any
from uuid import uuid4

import anywidget
import numpy as np
import plotly.graph_objects as go
import traitlets
from plotly.offline import get_plotlyjs

from .scripts import FIGURE_JS, PLOT_JS
from .theme import CSS

# plotly.js 4 offers to upload a chart to a server of its makers, unless told not to.
CONFIG = {
    "displaylogo": False,
    "responsive": True,
    "showSendToCloud": False,
    "plotlyServerURL": "",
    "toImageButtonOptions": {"format": "svg", "filename": "cselab"},
}

BINARY_FROM = 64  # numbers: shorter arrays travel as text

Figure = dict[str, Any]
"""A figure as plotly.js takes it: data, layout, config; its arrays may still be numpy's."""


class Plot(anywidget.AnyWidget):
    """Shows a figure; `show` a new one and the differences are sent and redrawn, the reader's zoom kept.

    Attributes:
        figure: the current figure, for Python to look at.
        opening: the figure as it opened, which the page has; changed only when the traces change.
        change: how `figure` differs from it: {"data": {number of the trace: {key: value}}, "layout": ...}.
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
        self, figure: go.Figure, words: str = "", on_event: Callable[[str, Sequence[int]], None] | None = None
    ) -> None:
        """`on_event("click" or "select", rows)` hears of points that were clicked or lassoed, by their customdata."""
        plotly_js()
        self.figure = self._opening = plain(figure)
        own_id = uuid4().hex
        super().__init__(opening=packed(self.figure), words=words, own_id=own_id, model_id=own_id)
        if on_event is not None:
            self.on_msg(lambda _, message, __: on_event(message["event"], message["rows"]))

    def show(self, figure: go.Figure, words: str = "") -> None:
        self.figure = plain(figure)
        with self.hold_sync():
            self.words = words
            if _traces(self.figure) == _traces(self._opening):
                self.change = packed(difference(self._opening, self.figure))
            else:
                self._opening = self.figure
                self.change, self.opening = {}, packed(self.figure)


def plain(figure: go.Figure) -> Figure:
    """Data, layout and the house's config of a figure; each `uid` as a name that CSS takes."""
    data = [_named({**trace._props}) for trace in figure.data]
    return {"data": data, "layout": figure.layout._props, "config": CONFIG}


def _named(trace: Figure) -> Figure:
    """plotly.js looks for the parts of a removed trace by `.cb` and its uid: "plain: 0" would stop it."""
    if "uid" in trace:
        trace["uid"] = re.sub(r"[^a-zA-Z0-9-]", lambda match: f"_{ord(match[0]):x}_", trace["uid"])
    return trace


def as_json(figure: go.Figure) -> Figure:
    """`plain` in numbers, text, lists and dictionaries only, arrays to six digits."""
    return _encoded(plain(figure), _listed)


def packed(figure: Figure) -> Figure:
    """Ready to be sent to a page: longer arrays of numbers as bytes in single precision."""
    return _encoded(figure, _as_bytes)


def difference(before: Figure, after: Figure) -> Figure:
    """The changes from `before` to `after`: by the number of the trace, its keys that changed; the layout if it did.

    A key that is gone is None, as in plotly.js.
    """
    data = {}
    for number, (old, new) in enumerate(zip(before["data"], after["data"], strict=True)):
        keys = {**old, **new}
        changed = {key: new.get(key) for key in keys if not same(old.get(key), new.get(key))}
        if changed:
            data[str(number)] = changed
    parts = {"data": data} if data else {}
    if not same(before["layout"], after["layout"]):
        parts["layout"] = after["layout"]
    return parts


def _traces(figure: Figure) -> list[tuple[Any, Any]]:
    return [(trace.get("type"), trace.get("uid")) for trace in figure["data"]]


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
