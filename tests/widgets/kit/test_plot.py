"""What is sent to the page: the figure once, then only what changes, arrays as bytes."""

import json
import re

import numpy as np
import plotly.graph_objects as go
import pytest
from cselab_widgets.kit.planes import Plane
from cselab_widgets.kit.plot import Plot, as_json, difference, packed, plain
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal


def many(shift: float = 0.0, *, color: str = "red", tall: int = 300) -> list[Plane]:
    """Two traces of 1,000 points with texts, of which the second moves."""
    x, texts = np.arange(1000.0), [f"text {i}" for i in range(1000)]
    traces = [
        go.Scattergl(x=x, y=x, text=texts, uid="still", marker={"color": color}),
        go.Scattergl(x=x + shift, y=x, text=texts, uid="moving"),
    ]
    return [Plane("", [go.Scatter(x=[0], y=[0], uid="other plane")], {}, {}), Plane("", traces, {}, {}, tall=tall)]


VALUES = [1, 2, "red", np.arange(2), np.ones(2), [1], [1, 2], {"x": 1}, {"x": 1, "y": 2}]
PARTS = st.dictionaries(st.sampled_from("abc"), st.sampled_from([None, *VALUES, {"x": VALUES[4]}]), max_size=3)


@st.composite
def two_states(draw):
    """The planes of a panel in two states: as many traces, other values."""
    traces = draw(st.lists(st.integers(0, 2), max_size=3))
    return [[{"data": [draw(PARTS) for _ in range(many)], "layout": draw(PARTS)} for many in traces] for _ in range(2)]


def content(value):
    """A value as a page has it: arrays and tuples are lists; a key with None is none."""
    if isinstance(value, dict):
        return {key: content(part) for key, part in value.items() if part is not None}
    return [content(part) for part in value] if isinstance(value, list | tuple | np.ndarray) else str(value)


def current(opening, change):
    """As in plot.js: the planes that opened, and on them what has changed."""
    for number, plane in enumerate(opening):
        parts = {"layout": plane["layout"], "data": {}} | change.get(str(number), {})
        data = [trace | parts["data"].get(str(place), {}) for place, trace in enumerate(plane["data"])]
        yield {"data": data, "layout": parts["layout"]}


@settings(max_examples=100)
@given(two_states())
def test_difference_and_opening_are_the_planes_shown(states):
    before, after = states
    changes = difference(before, after)
    assert content(list(current(before, changes))) == content(after)
    for number, change in changes.items():
        for place, keys in change.get("data", {}).items():
            was = before[int(number)]["data"][int(place)]
            assert all(content({key: was.get(key)}) != content({key: new}) for key, new in keys.items())


def test_the_widget_sends_the_figure_once():
    """The widget sends the figure once and then the difference."""
    plot = Plot(many())
    opening = plot.opening
    plot.show(many(1.0))
    assert plot.opening is opening
    sent = plot.change["1"]["data"]["1"]
    assert list(sent) == ["x"]
    assert_array_equal(np.frombuffer(sent["x"]["bytes"], "float32"), np.arange(1000.0) + 1)
    assert_array_equal(plot.planes[1]["data"][1]["x"], np.arange(1000.0) + 1)
    plot.show(many())
    assert plot.change == {}


def test_other_traces_open_the_plot_anew():
    plot = Plot(many())
    plot.show(many(1.0))
    plot.show([Plane("", [go.Bar(x=["a"], y=[1], uid="bar")], {}, {})])
    assert [trace["uid"] for plane in plot.opening["planes"] for trace in plane["data"]] == ["bar"]
    assert plot.change == {}


def test_a_uid_is_sent_as_a_name_that_css_takes_and_two_stay_two():
    uids = ["loss", "plain: 0", "plain 0", "plain_0", "Barlow Twins, M = 0", "100 %", "é: pairs", "a.b#c[d]"]
    sent = [trace["uid"] for trace in plain([Plane("", [go.Scatter(uid=uid) for uid in uids], {}, {})])[0]["data"]]
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]+", uid) for uid in sent)
    assert sent[0] == "loss" and len(set(sent)) == len(uids)


def test_clicks_and_selections_of_the_page_are_heard():
    heard = []
    plot = Plot(many(), on_event=lambda event, rows: heard.append((event, rows)))
    plot._handle_custom_msg({"event": "select", "rows": [3, 4]}, [])
    assert heard == [("select", [3, 4])]


@pytest.mark.parametrize(
    "given, dtype, shape",
    [(np.arange(100), "int32", [100]), (np.zeros((10, 20)), "float32", [10, 20]), ([0.5] * 64, "float32", [64])],
)
def test_longer_arrays_of_numbers_travel_as_bytes(given, dtype, shape):
    sent = packed({"x": given})["x"]
    assert (sent["dtype"], sent["shape"]) == (dtype, shape)
    assert_array_equal(np.frombuffer(sent["bytes"], dtype).reshape(shape), np.asarray(given))


@pytest.mark.parametrize("given", [[1.5, 2.0], np.array([1.5, 2.0]), ["a"] * 100, [None, 1.0] * 50])
def test_short_arrays_and_all_else_travel_as_they_are(given):
    assert packed({"x": given})["x"] == list(given)


def test_a_page_gets_plain_numbers_of_six_digits_with_gaps():
    """A page gets plain numbers of six digits with gaps for what is not finite."""
    values = np.array([1 / 3, 1e-9 / 3, 123456.789, 0, np.nan, np.inf])
    x = as_json([Plane("", [go.Scatter(x=values)], {}, {})])[0]["data"][0]["x"]
    assert x == [0.333333, 3.33333e-10, 123457.0, 0.0, None, None]
    assert json.loads(json.dumps(x, allow_nan=False)) == x
