import numpy as np
import plotly.graph_objects as go
import pytest
from cselab_widgets.kit.planes import Plane, decades, heatmap, matrix, named_at_ends, side_by_side


def line(uid, name=None):
    return go.Scatter(x=[0, 1], y=[0, 1], uid=uid, name=name)


def test_planes_fill_rows_and_keep_their_titles_and_axes():
    planes = [
        Plane(f"plane {i}", [line(str(i))], {"title": {"text": f"x{i}"}}, {"range": [0, i + 1]}) for i in range(5)
    ]
    shown = side_by_side(planes, columns=3)
    assert [note.text for note in shown.layout.annotations] == [f"plane {i}" for i in range(5)]
    assert shown.layout.xaxis5.title.text == "x4"
    assert tuple(shown.layout.yaxis3.range) == (0, 3)
    assert shown.layout.yaxis.domain[0] > shown.layout.yaxis5.domain[1]
    assert shown.layout.height > side_by_side(planes[:3]).layout.height


def test_the_legend_names_each_name_once_and_hides_all_of_it():
    shown = side_by_side([Plane("", [line("a", "same")], {}, {}), Plane("", [line("b", "same")], {}, {})])
    assert [trace.showlegend for trace in shown.data] == [True, False]
    assert {trace.legendgroup for trace in shown.data} == {"same"}


def test_a_matrix_is_square_in_its_own_plane_with_row_0_on_top():
    planes = [Plane("", [line("a")], {}, {}), matrix("m", heatmap([[1.0, 0.5], [0.5, 1.0]], "m", 1.0, "%{z}"))]
    layout = side_by_side(planes).layout
    assert layout.yaxis2.scaleanchor == "x2" and layout.yaxis.scaleanchor is None
    assert layout.yaxis2.autorange == "reversed"


@pytest.mark.parametrize(("size", "apart"), [(4, 1), (48, 10), (64, 20), (512, 100)])
def test_the_numbers_beside_a_matrix_are_round_and_few(size, apart):
    plane = matrix("m", heatmap(np.zeros((size, size)), "m", 1.0, "%{z}"))
    assert plane.x["dtick"] == plane.y["dtick"] == apart


@pytest.mark.parametrize("log", [False, True])
def test_names_stand_at_the_ends_of_their_lines_and_apart(log):
    lines = [go.Scatter(x=[0, 5], y=[1.0, end], name=name) for name, end in (("a", 100.0), ("b", 99.9), ("c", 10.0))]
    *_, names = named_at_ends(lines, "names", log=log)
    assert [text.strip() for text in names.text] == ["c", "b", "a"] and set(names.x) == {5}
    places = np.log10(names.y) if log else np.array(names.y)
    assert places[0] == pytest.approx(1 if log else 10)
    assert np.diff(places).min() > 0.05 * (2 if log else 99)
    assert not any(line.showlegend for line in lines)


def test_a_logarithmic_axis_names_powers_of_ten_or_few_numbers_between():
    assert decades([1.0, 100.0, 5000.0])["ticktext"] == ["1", "10", "100", "1000"]
    assert decades([3.0, 40.0])["ticktext"] == ["5", "10", "20"]
    wide = decades([1e-8, 1e6])
    assert 3 <= len(wide["tickvals"]) <= 8 and wide["ticktext"][-1] == "10<sup>6</sup>"
    assert decades([])["type"] == "log"
