"""What holds for every panel: controls, their values, the frame, rows and selections, words, and a cell run again."""

import inspect
from html import escape

import ipywidgets
import plotly.graph_objects as go
import pytest
from cselab_widgets import Sphere, ToyTraining
from cselab_widgets.kit.fields import hidden_controls, shown_fields
from cselab_widgets.kit.plot import as_json
from drawn import hear
from ipywidgets.widgets.widget import _instances
from small_panels import PANELS

EVERY = pytest.mark.parametrize("name", PANELS)
CHECKED = ("list", "buttons", "steps", "labelled")


@EVERY
def test_each_control_changes_its_field_and_the_plot(name):
    make, values = PANELS[name]
    assert (
        name == "TrainingMonitor"
        or values.keys() | {"by", *hidden_controls(make(None).state)} >= make(None).controls().keys() >= values.keys()
    )
    for field, value in values.items():
        panel = make(None)
        before = as_json(panel.planes())
        _ = panel.widget
        panel._shell.controls[field].value = value
        assert getattr(panel.state, field) == value
        assert as_json(panel.planes()) != before, field
        if field != "selection":  # a pair that is chosen is typed in, too
            assert as_json(make(None).planes(**{field: value})) == as_json(panel.planes()), field


@EVERY
def test_a_value_that_no_control_offers_is_refused(name):
    """A value that no control offers is refused with what it offers."""
    panel = PANELS[name][0](None)
    before = panel.state
    for field, control in shown_fields(panel.state).items() if name != "TrainingMonitor" else ():
        refused = [("no such", f"{field} is 'no such'; choose one of ")] if control.kind in CHECKED else []
        refused += [(-1, f"{field} is -1; expected ")] * bool({"gt", "ge"} & control.bounds.keys())
        refused += [(10**6, f"{field} is 1000000; expected ")] * bool({"lt", "le"} & control.bounds.keys())
        for value, message in refused:
            with pytest.raises(ValueError, match=message):
                panel.set(**{field: value})
    with pytest.raises(TypeError, match="has no 'nothing' to set; expected one of"):
        panel.set(nothing=1)
    assert panel.state is before


@EVERY
def test_help_names_the_fields_that_may_be_given_at_once(name):
    panel, values = PANELS[name][0](None), PANELS[name][1]
    named = inspect.signature(type(panel)).parameters
    assert values.keys() - {"selection"} <= named.keys()
    assert not any(one.kind is one.VAR_KEYWORD for one in named.values())


@EVERY
def test_every_state_has_the_same_traces_in_the_same_frame(name):
    """Every state has the same traces in the same frame and the figure is pure."""
    make, values = PANELS[name]
    panel = make(None)
    assert as_json(panel.render(panel.state)) == as_json(panel.render(panel.state))
    changes = [{}, *({field: value} for field, value in values.items())]
    states = [panel.planes(**change) for change in changes]
    assert len({tuple(trace.uid for plane in planes for trace in plane.traces) for planes in states}) == 1
    for planes in states:
        uids = [trace.uid for plane in planes for trace in plane.traces]
        assert None not in uids and len(set(uids)) == len(uids)
        for plane in planes:
            assert go.Figure(plane.figure().to_dict()).data  # refuses what a plane does not check
            assert plane.tall <= 1000


@EVERY
def test_points_carry_rows_of_the_table(name):
    """Points carry rows of the table and a selection of them goes there and back."""
    panel = PANELS[name][0](None)
    rows = len(panel.items())
    assert rows == len(panel.to_frame())
    for trace in (trace for plane in panel.planes() for trace in plane.traces if panel.clicks != "step"):
        for one in () if trace.customdata is None or trace.type == "heatmap" else trace.customdata:
            assert 0 <= int(one if isinstance(one, int) or not hasattr(one, "__len__") else one[0]) < rows
    with pytest.raises(ValueError, match=f"selection holds {rows}; the rows are numbered 0 to"):
        panel.selection = (rows,)
    if hasattr(panel.state, "selection"):
        hear(panel, "select", 1, 0)
        assert panel.selection == panel.state.selection == (0, 1) and len(panel.picked()) == 2
        panel.set(selection=())
        assert panel.selection == ()


@EVERY
def test_the_words_are_the_same_for_who_cannot_see(name):
    """The words are the same for who cannot see it and on a page."""
    panel, again = (PANELS[name][0](None) for _ in range(2))
    bundle = panel._repr_mimebundle_()
    drawn = {"application/vnd.jupyter.widget-view+json", "application/vnd.plotly.v1+json"}
    assert bundle.keys() == drawn | {"text/html", "text/plain"}
    assert bundle["text/plain"] == panel.summary() == repr(again) != ""
    assert f"<pre>{escape(panel.summary())}</pre>" in bundle["text/html"].replace("\n<pre>", "<pre>")
    assert escape(panel.explain(panel.state)) in bundle["text/html"]
    assert panel.widget.children[1].words == panel.summary()


@EVERY
def test_every_control_has_a_name_and_no_list_is_blank(name):
    """Every control has a name and no list is blank while something is shown."""
    panel = PANELS[name][0](None)
    for field, control in panel.controls().items():
        parts = getattr(control, "children", [control])
        assert any(part.description for part in parts), field
        if isinstance(control, ipywidgets.Dropdown) and field != "focus":  # at first nothing is looked at nearer
            assert control.label, field


@EVERY
def test_a_place_that_is_filled_three_times_holds_the_widgets(name):
    """A place that is filled three times holds the widgets of one panel."""
    alive = []
    for _ in range(3):
        panel = PANELS[name][0]("again")
        assert panel.widget.comm is not None
        alive.append(len(_instances))
    panel.close()
    assert alive == [alive[0]] * 3


@pytest.mark.parametrize("panel", [Sphere, ToyTraining])
def test_a_panel_that_computes_in_the_page_is_one_light_piece(panel, tmp_path):
    from cselab_lab.headless.page import loaded_from_outside

    first, second = panel(key="again"), panel(key="again")
    first._repr_mimebundle_()
    bundle, _ = second._repr_mimebundle_()
    assert first.comm is None and second.comm is not None
    assert bundle["text/html"] == second._html() and escape(second.summary()) in bundle["text/html"]
    page = second.to_html(tmp_path / "page.html").read_text(encoding="utf-8")
    assert len(page) < 110_000 and loaded_from_outside(page) == []
    with pytest.raises(TypeError, match=f"{panel.__name__} has no 'nothing' to set; expected one of"):
        second.set(nothing=3)
