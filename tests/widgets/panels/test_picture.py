"""A picture of one's own: planes as the panels draw them, with words, and no controls."""

import plotly.graph_objects as go
from cselab_widgets import Picture
from cselab_widgets.kit.planes import Plane, heatmap, matrix


def line(uid="loss"):
    return go.Scatter(x=[0, 1], y=[2.0, 1.5], uid=uid, name="loss")


def picture(**changes):
    planes = [Plane("Loss", [line()], {}, {}), matrix("Cosines", heatmap([[1, 0], [0, 1]], "cosines", 1.0, "%{z}"))]
    return Picture(planes, "the loss falls", "Left the loss, right the cosines.", **changes)


def test_it_shows_its_planes_side_by_side_each_on_axes():
    """It shows its planes side by side each on axes of its own."""
    shown = picture(columns=1)
    assert [[trace.type for trace in plane.traces] for plane in shown.planes()] == [["scatter"], ["heatmap"]]
    assert [plane.title for plane in shown.planes()] == ["Loss", "Cosines"] and shown.widget.children[1].opening[
        "columns"
    ] == 1


def test_traces_of_one_name_in_two_planes_are_told_apart():
    planes = [Plane(title, [line(), go.Scatter(y=[1]), go.Scatter(y=[2])], {}, {}) for title in ("Loss", "Dev")]
    uids = [trace.uid for plane in Picture(planes, "").planes() for trace in plane.traces]
    assert len(set(uids)) == 6
    assert uids == [trace.uid for plane in Picture(planes, "").planes() for trace in plane.traces]


def test_drawing_it_does_not_change_what_was_given():
    shown = picture()
    assert shown.figure() == shown.figure()
    assert shown.state.planes[0].traces[0].showlegend is None
