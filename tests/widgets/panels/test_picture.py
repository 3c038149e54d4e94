"""A picture of one's own: planes as the panels draw them, with words, and no controls."""

import plotly.graph_objects as go
import pytest
from cselab_widgets import Picture
from cselab_widgets.kit.planes import Plane, heatmap, matrix


def line(uid="loss"):
    return go.Scatter(x=[0, 1], y=[2.0, 1.5], uid=uid, name="loss")


def picture(**changes):
    planes = [Plane("Loss", [line()], {}, {}), matrix("Cosines", heatmap([[1, 0], [0, 1]], "cosines", 1.0, "%{z}"))]
    return Picture(planes, "the loss falls", "Left the loss, right the cosines.", **changes)


def test_it_shows_its_planes_side_by_side_each_on_axes_of_its_own():
    drawn = picture().figure()
    assert [(trace.type, trace.xaxis) for trace in drawn.data] == [("scatter", "x"), ("heatmap", "x2")]
    assert [note.text for note in drawn.layout.annotations] == ["Loss", "Cosines"]
    assert drawn.layout.xaxis.domain[1] < drawn.layout.xaxis2.domain[0]


def test_traces_of_one_name_in_two_planes_are_told_apart():
    planes = [Plane(title, [line(), go.Scatter(y=[1]), go.Scatter(y=[2])], {}, {}) for title in ("Loss", "Dev")]
    uids = [trace.uid for trace in Picture(planes, "").figure().data]
    assert len(set(uids)) == 6
    assert uids == [trace.uid for trace in Picture(planes, "").figure().data]


def test_drawing_it_does_not_change_what_was_given():
    shown = picture()
    planes = shown.state.planes
    assert shown.figure() == shown.figure(columns=3)
    assert planes[1].traces[0].xaxis is None


@pytest.mark.parametrize(("arguments", "said"), [(([], ""), "at least one plane"), (([1], "", "", 0), "columns is 0")])
def test_what_cannot_be_drawn_is_refused(arguments, said):
    with pytest.raises(ValueError, match=said):
        Picture(*arguments)
