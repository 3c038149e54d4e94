import numpy as np
import plotly.graph_objects as go
import pytest
from cselab_widgets.kit.planes import Plane, decades, heatmap, matrix, named_at_ends


def line(uid, name=None):
    return go.Scatter(x=[0, 1], y=[0, 1], uid=uid, name=name)


def test_a_plane_is_a_plotly_figure_with_its_title_and_axes():
    axes = {"title": {"text": "step"}}, {"range": [0, 3]}
    layout = (
        Plane("the answer", [line("a")], *axes, words="a note", tall=300, layout={"dragmode": "lasso"}).figure().layout
    )
    assert (layout.title.text, layout.xaxis.title.text, layout.dragmode) == ("the answer", "step", "lasso")
    assert tuple(layout.yaxis.range) == (0, 3) and layout.meta["words"] == "a note"


def test_the_legend_of_a_plane_has_each_visible_name_once():
    hidden = go.Scatter(x=[0], y=[0], uid="c", name="hidden", visible=False)
    shown = Plane("", [line("a", "same"), line("b", "same"), hidden, line("d"), line("e", "other")], {}, {}).figure()
    assert [trace.showlegend for trace in shown.data] == [True, False, False, False, True]


def test_a_matrix_is_square_with_row_0_on_top():
    layout = matrix("m", heatmap([[1.0, 0.5], [0.5, 1.0]], "m", 1.0, "%{z}")).figure().layout
    assert layout.yaxis.scaleanchor == "x" and layout.yaxis.autorange == "reversed"
    assert Plane("", [line("a")], {}, {}).figure().layout.yaxis.scaleanchor is None


@pytest.mark.parametrize("size, apart", [(4, 1), (48, 10), (64, 20), (512, 100)])
def test_the_numbers_beside_a_matrix_are_round_and_few(size, apart):
    plane = matrix("m", heatmap(np.zeros((size, size)), "m", 1.0, "%{z}"))
    assert plane.x["dtick"] == plane.y["dtick"] == apart


@pytest.mark.parametrize("log", [False, True])
def test_names_stand_at_the_ends_of_their_lines_and_apart(log):
    lines = [go.Scatter(x=[0, 5], y=[1.0, end], name=name) for name, end in (("a", 100.0), ("b", 99.9), ("c", 10.0))]
    *_, names = named_at_ends(lines, "names", log=log)
    assert [text[-1] for text in names.text] == ["c", "b", "a"] and set(names.x) == {5.125}
    places = np.log10(names.y) if log else np.array(names.y)
    assert places[0] == pytest.approx(1 if log else 10)
    assert np.diff(places).min() > 0.05 * (2 if log else 99)
    assert not any(line.showlegend for line in lines)


def test_a_logarithmic_axis_names_powers_of_ten():
    """A logarithmic axis names powers of ten or few numbers between."""
    assert decades([1.0, 100.0, 5000.0])["ticktext"] == ["1", "10", "100", "1,000"]
    assert decades([3.0, 40.0])["ticktext"] == ["5", "10", "20"]
    wide = decades([1e-8, 1e6])
    assert 3 <= len(wide["tickvals"]) <= 8 and wide["ticktext"][-1] == "10<sup>6</sup>"
    assert decades([])["type"] == "log"
