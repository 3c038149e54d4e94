"""What is sent to the page: the figure once, then only what changes, arrays as bytes."""

import json
import re

import numpy as np
import plotly.graph_objects as go
import pytest
from cselab_widgets.kit.planes import Plane
from cselab_widgets.kit.plot import Plot, as_json, difference, packed, plain


def many(shift: float = 0.0, *, color: str = "red", tall: int = 300) -> list[Plane]:
    """Two traces of 1,000 points with texts, of which the second moves."""
    x, texts = np.arange(1000.0), [f"text {i}" for i in range(1000)]
    traces = [
        go.Scattergl(x=x, y=x, text=texts, uid="still", marker={"color": color}),
        go.Scattergl(x=x + shift, y=x, text=texts, uid="moving"),
    ]
    return [Plane("", [go.Scatter(x=[0], y=[0], uid="other plane")], {}, {}), Plane("", traces, {}, {}, tall=tall)]


def test_only_what_differs_is_told_and_nothing_of_equal_figures():
    assert difference(plain(many()), plain(many())) == {}
    moved = difference(plain(many()), plain(many(1.0)))
    assert list(moved) == ["1"] and list(moved["1"]) == ["data"]
    assert list(moved["1"]["data"]) == ["1"] and list(moved["1"]["data"]["1"]) == ["x"]
    np.testing.assert_array_equal(moved["1"]["data"]["1"]["x"], np.arange(1000.0) + 1)
    assert difference(plain(many()), plain(many(color="blue"))) == {"1": {"data": {"0": {"marker": {"color": "blue"}}}}}
    assert difference(plain(many()), plain(many(tall=301))) == {"1": {"layout": plain(many(tall=301))[1]["layout"]}}


def test_a_key_that_is_gone_is_unset():
    before, after = ([{"data": [trace], "layout": {}}] for trace in ({"a": 1, "b": 2}, {"a": 1}))
    assert difference(before, after) == {"0": {"data": {"0": {"b": None}}}}


def test_the_widget_sends_the_figure_once_and_then_the_difference():
    plot = Plot(many())
    opening = plot.opening
    plot.show(many(1.0))
    assert plot.opening is opening
    sent = plot.change["1"]["data"]["1"]
    assert list(sent) == ["x"]
    assert (sent["x"]["dtype"], sent["x"]["shape"]) == ("float32", [1000])
    assert len(sent["x"]["bytes"]) == 4000
    np.testing.assert_array_equal(np.frombuffer(sent["x"]["bytes"], "float32"), np.arange(1000.0) + 1)
    np.testing.assert_array_equal(plot.planes[1]["data"][1]["x"], np.arange(1000.0) + 1)
    plot.show(many())
    assert plot.change == {}


def test_figure_and_change_together_are_always_the_figure_shown():
    plot = Plot(many())
    for planes in (many(1.0), many(2.0, color="blue"), many(tall=400), many()):
        plot.show(planes)
        for number, (opening, whole) in enumerate(zip(plot.opening["planes"], packed(plain(planes)), strict=True)):
            change = plot.change.get(str(number), {})
            traces = [
                {**trace, **change.get("data", {}).get(str(place), {})} for place, trace in enumerate(opening["data"])
            ]
            assert (traces, change.get("layout", opening["layout"])) == (whole["data"], whole["layout"])


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
    ("given", "dtype", "shape"),
    [(np.arange(100), "int32", [100]), (np.zeros((10, 20)), "float32", [10, 20]), ([0.5] * 64, "float32", [64])],
)
def test_longer_arrays_of_numbers_travel_as_bytes(given, dtype, shape):
    sent = packed({"x": given})["x"]
    assert (sent["dtype"], sent["shape"]) == (dtype, shape)
    np.testing.assert_array_equal(np.frombuffer(sent["bytes"], dtype).reshape(shape), np.asarray(given))


@pytest.mark.parametrize("given", [[1.5, 2.0], np.array([1.5, 2.0]), ["a"] * 100, [None, 1.0] * 50])
def test_short_arrays_and_all_else_travel_as_they_are(given):
    assert packed({"x": given})["x"] == list(given)


def test_a_page_gets_plain_numbers_of_six_digits_with_gaps_for_what_is_not_finite():
    values = np.array([1 / 3, 1e-9 / 3, 123456.789, 0, np.nan, np.inf])
    x = as_json([Plane("", [go.Scatter(x=values)], {}, {})])[0]["data"][0]["x"]
    assert x == [0.333333, 3.33333e-10, 123457.0, 0.0, None, None]
    assert json.loads(json.dumps(x, allow_nan=False)) == x
