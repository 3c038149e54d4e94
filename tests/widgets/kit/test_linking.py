"""Panels that move together."""

from dataclasses import dataclass

import plotly.graph_objects as go
import pytest
from cselab_widgets import Panel, link
from cselab_widgets.kit.planes import Plane


@dataclass(frozen=True, eq=False)
class State:
    steps: tuple[int, ...]
    step: int
    names: tuple[str, ...] = ("a", "b", "c")
    encoders: tuple[str, ...] = ("plain", "SimCSE")
    encoder: str = "plain"
    selection: tuple[int, ...] = ()


class Points(Panel):
    render = staticmethod(lambda state: [Plane("", [go.Scatter(x=[state.step] * 3, y=[0, 1, 2])], {}, {})])
    alt_text = staticmethod(lambda state: f"step {state.step}")

    def items(self):
        return self.state.names


@dataclass(frozen=True, eq=False)
class OtherState:
    text: str = ""


class Other(Points):
    alt_text = staticmethod(lambda state: "")
    render = staticmethod(lambda state: [])

    def items(self):
        return ()


@pytest.fixture
def two() -> tuple[Points, Points]:
    return Points(State((0, 5, 10), 10)), Points(State((0, 4, 8, 12), 12, names=("c", "x", "a")))


def test_they_take_the_firsts_step_at_once_or_the_latest(two):
    """They take the firsts step at once or the latest before it."""
    link(*two)
    assert [panel.state.step for panel in two] == [10, 8]


def test_moving_either_moves_the_other_and_does_not_come_back(two):
    """Moving either moves the other and does not come back changed."""
    link(*two)
    two[0].set(step=5)
    assert [panel.state.step for panel in two] == [5, 4]
    two[1].set(step=12)
    assert [panel.state.step for panel in two] == [10, 12]
    two[1].set(step=0)
    assert [panel.state.step for panel in two] == [0, 0]


def test_a_selection_is_of_the_same_things_wherever_they_stand(two):
    link(*two)
    two[0].selection = (0, 1)
    assert two[1].selection == (2,)
    assert two[1].state.selection == (2,)
    two[1].selection = (0, 1, 2)
    assert two[0].selection == (0, 2)
    two[1].selection = ()
    assert two[0].selection == ()


def test_an_encoder_is_shared_where_it_is_known(two):
    third = Points(State((0,), 0, encoders=("plain",)))
    link(*two, third)
    two[0].set(encoder="SimCSE")
    assert [panel.state.encoder for panel in (*two, third)] == ["plain" if i == 2 else "SimCSE" for i in range(3)]


def test_a_panel_takes_part_in_what_it_has(two):
    other = Other(OtherState("still"))
    link(two[0], other)
    two[0].set(step=0)
    two[0].selection = (1,)
    assert (other.state.text, other.selection) == ("still", ())


def test_one_panel_is_refused(two):
    with pytest.raises(ValueError, match="link needs at least two panels, got 1"):
        link(two[0])
