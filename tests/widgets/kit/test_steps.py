import plotly.graph_objects as go
import pytest
from cselab_widgets.kit.steps import Scrubber, film


def figure_at(step: int) -> go.Figure:
    trace = go.Scatter(x=[0, step], y=[1, 2], text=["long", "text"], uid="path")
    return go.Figure(
        [trace], {"template": {"layout": {"margin": {"b": 50}}}, "height": 300, "title": {"text": f"{step}"}}
    )


def test_a_scrubber_starts_at_the_step_it_is_given():
    scrubber = Scrubber([0, 10, 25], 10)
    assert (scrubber.value, scrubber.slider.value, scrubber.play.value) == (10, 10, 1)


@pytest.mark.parametrize("part", ["value", "slider", "play"])
def test_slider_play_button_and_value_move_together(part):
    scrubber = Scrubber([0, 10, 25], 10)
    if part == "value":
        scrubber.value = 25
    elif part == "slider":
        scrubber.slider.value = 25
    else:
        scrubber.play.value = 2
    assert (scrubber.value, scrubber.slider.value, scrubber.play.value) == (25, 25, 2)


def test_the_slider_reports_only_where_it_is_let_go():
    assert Scrubber([0, 1], 0).slider.continuous_update is False


def test_a_film_opens_at_its_step_and_has_a_frame_for_each():
    shown = film(figure_at, [0, 10, 25], 10)
    assert shown.data[0].x == (0, 10)
    assert [frame.name for frame in shown.frames] == ["0", "10", "25"]
    assert [frame.data[0].x for frame in shown.frames] == [(0, 0), (0, 10), (0, 25)]
    assert [frame.layout.title.text for frame in shown.frames] == ["0", "10", "25"]
    assert shown.layout.meta["film"] == {"name": "step", "opens_at": "10"}


def test_a_frame_stores_only_what_changes():
    frames = film(figure_at, [0, 10], 0).to_plotly_json()["frames"]
    assert [set(frame["data"][0]) for frame in frames] == [{"type", "x"}] * 2
    assert [set(frame["layout"]) for frame in frames] == [{"title"}] * 2
