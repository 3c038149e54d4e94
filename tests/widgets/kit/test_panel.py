"""What every panel does, shown on a panel made for it."""

import json
from dataclasses import dataclass
from types import SimpleNamespace

import ipywidgets
import plotly.graph_objects as go
import pytest
from cselab_widgets import Panel
from cselab_widgets.kit import cell_registry
from cselab_widgets.kit.planes import Plane
from cselab_widgets.kit.plot import plotly_js
from drawn import hear


@dataclass(frozen=True, eq=False)
class DotState:
    place: int = 1

    def __post_init__(self):
        if self.place < 0:
            raise ValueError(f"place is {self.place}; it must not be negative.")


def dot(state: DotState) -> list[Plane]:
    return [Plane("", [go.Scatter(x=[state.place], y=[0], uid="dot")], {}, {})]


class Dot(Panel):
    render = staticmethod(dot)
    alt_text = staticmethod(lambda state: f"a dot at {state.place}")

    def controls(self):
        return {"place": ipywidgets.IntText(self.state.place)}


def slider(shown: Panel) -> ipywidgets.IntText:
    return shown.widget.children[0].children[0]


def plotted(shown: Panel) -> list:
    return shown.widget.children[1].planes[0]["data"][0]["x"]


@pytest.fixture
def cell(monkeypatch):
    """Pretend to run a cell of a notebook; called with its id and the number of the run."""

    def run(cell_id: str, run: int) -> None:
        parent = {"metadata": {"cellId": cell_id}, "header": {"msg_id": f"run {run}"}}
        monkeypatch.setattr(cell_registry, "get_ipython", lambda: SimpleNamespace(get_parent=lambda: parent))

    monkeypatch.setattr(cell_registry, "_open", {})
    return run


def is_open(shown: Panel) -> bool:
    return shown._shell is not None


def test_a_value_that_the_state_rejects_is_told_beside():
    """A value that the state rejects is told beside the control and changes nothing."""
    shown = Dot(DotState())
    with pytest.raises(ValueError, match="place is -1"):
        slider(shown).value = -1
    assert shown.state.place == 1
    assert plotted(shown) == [1]
    assert shown.widget.children[0].children[-1].value == "place is -1; it must not be negative."
    slider(shown).value = 2
    assert shown.widget.children[0].children[-1].value == ""


def test_plotly_js_is_sent_once_and_not_with_each_plot():
    shown = Dot(DotState())
    assert len(json.dumps(shown.widget.children[1].get_state(), default=str)) < 35_000
    assert plotly_js() is plotly_js()
    assert len(plotly_js()._esm) > 1_000_000


def test_panels_of_one_run_and_of_other_cells_stay_open(cell):
    cell("a", run=1)
    first, second = Dot(DotState()), Dot(DotState())
    _ = first.widget, second.widget
    cell("b", run=2)
    third = Dot(DotState())
    _ = third.widget
    assert is_open(first) and is_open(second) and is_open(third)
    cell("a", run=3)
    _ = Dot(DotState()).widget
    assert not is_open(first) and not is_open(second) and is_open(third)


def test_showing_the_same_panel_again_keeps_it(cell):
    shown = Dot(DotState())
    cell("a", run=1)
    before = shown.widget
    cell("a", run=2)
    assert shown.widget is before
    assert is_open(shown)


def test_a_key_names_the_place_where_no_cell_is_known():
    first, other = Dot(DotState(), key="dots"), Dot(DotState(), key="more dots")
    _ = first.widget, other.widget
    again = Dot(DotState(), key="dots")
    _ = again.widget
    assert not is_open(first)
    assert is_open(other) and is_open(again)


def test_a_closed_panel_opens_anew_when_shown_again():
    shown = Dot(DotState())
    shown.set(place=5)
    first = shown.widget
    shown.close()
    shown.set(place=6)
    assert shown.widget is not first
    assert plotted(shown) == [6]


@dataclass(frozen=True, eq=False)
class RowState:
    selection: tuple[int, ...] = ()


class Row(Panel):
    """Three points, the selected of them black."""

    render = staticmethod(
        lambda state: [
            Plane(
                "Rows",
                [
                    go.Scatter(
                        x=[0, 1, 2],
                        y=[5, 6, 7],
                        uid="row",
                        customdata=[0, 1, 2],
                        marker={"color": ["black" if i in state.selection else "grey" for i in range(3)]},
                    )
                ],
                {},
                {},
            )
        ]
    )
    alt_text = staticmethod(lambda state: f"selected: {state.selection}")
    explain = staticmethod(lambda state: "Black < grey.")
    details = staticmethod(lambda state: "<table><tr><td>1</td></tr></table>" if state.selection else "")


def colors(shown: Panel) -> list:
    return shown.widget.children[1].planes[0]["data"][0]["marker"]["color"]


def test_a_selection_made_in_the_plot_comes_back_to_python():
    """A selection made in the plot comes back to python and into the plot."""
    shown, heard = Row(RowState()), []
    shown.observe(lambda change: heard.append(change.new), "selection")
    hear(shown, "select", 2, 0)
    assert shown.selection == shown.state.selection == (0, 2)
    assert colors(shown) == ["black", "grey", "black"]
    hear(shown, "click", 1)
    assert heard == [(0, 2), (1,)]


def test_a_selection_made_in_python_is_shown():
    shown = Row(RowState())
    _ = shown.widget
    shown.selection = [1]
    assert shown.state.selection == (1,)
    assert colors(shown) == ["grey", "black", "grey"]
    shown.set(selection=(2,))
    assert shown.selection == (2,)


def test_explanation_and_details_stand_below_the_plot():
    """Explanation and details stand below the plot and on the page."""
    shown = Row(RowState((1,)))
    note, details = shown.widget.children[2:]
    assert note.value == "Black &lt; grey."
    assert details.value == shown.details(shown.state)
    page = shown._repr_mimebundle_()["text/html"]
    assert page.index("</pre>") < page.index("Black &lt; grey.") < page.index("<td>1</td>")
    shown.selection = ()
    assert details.value == "" and "cselab-empty" in details._dom_classes


def test_what_is_shown_can_be_taken_away_as_table_and_picture(tmp_path):
    shown = Row(RowState())
    assert shown.to_frame().to_dict("list") == {"trace": ["row"] * 3, "x": [0, 1, 2], "y": [5, 6, 7]}
    shown.save(tmp_path / "row.csv")
    assert (tmp_path / "row.csv").read_text().splitlines()[:2] == ["trace,x,y", "row,0,5"]
    shown.save(tmp_path / "row.html")
    assert (tmp_path / "row.html").read_text().count("plotly.js v") == 1


def test_what_cannot_be_saved_is_refused_with_what_can(tmp_path):
    with pytest.raises(ValueError, match=r"path ends in '.svg'; it must end in .csv or .html"):
        Row(RowState()).save(tmp_path / "row.svg")
