"""What holds for every panel: its controls, its figure, and what a cell that is run again leaves behind."""

import ipywidgets
import pytest
from ipywidgets.widgets.widget import _instances
from small_panels import PANELS

LABS = {name: pytest.param(name, marks=pytest.mark.slow) for name in ("LossLab", "RankLab", "WhiteningLab")}
pytestmark = pytest.mark.parametrize("name", [LABS.get(name, name) for name in PANELS])


def test_each_control_changes_its_field_and_the_plot(name):
    make, values = PANELS[name]
    assert name == "TrainingMonitor" or values.keys() | {"by"} >= make(None).controls().keys() >= values.keys()
    for field, value in values.items():
        panel = make(None)
        before = panel.figure()
        _ = panel.widget
        panel._shell.controls[field].value = value
        assert getattr(panel.state, field) == value
        assert panel.figure() != before, field


def test_every_state_has_the_same_traces_in_the_same_order_and_the_figure_is_pure(name):
    make, values = PANELS[name]
    panel = make(None)
    assert panel.draw(panel.state) == panel.draw(panel.state)
    changes = [{}, *({field: value} for field, value in values.items())]
    assert len({tuple(trace.uid for trace in panel.figure(**change).data) for change in changes}) == 1


def test_every_control_has_a_name_and_no_list_is_blank_while_something_is_shown(name):
    panel = PANELS[name][0](None)
    for field, control in panel.controls().items():
        parts = getattr(control, "children", [control])
        assert any(part.description for part in parts), field
        if isinstance(control, ipywidgets.Dropdown) and field != "focus":  # at first nothing is looked at nearer
            assert control.label, field


def test_a_place_that_is_filled_three_times_holds_the_widgets_of_one_panel(name):
    alive = []
    for _ in range(3):
        panel = PANELS[name][0]("again")
        assert panel.widget.comm is not None
        alive.append(len(_instances))
    panel.close()
    assert alive == [alive[0]] * 3
