"""The map of gains: in colour what the seeds decide, and the number of everything."""

import numpy as np
import pandas as pd
import pytest
from cselab_lab.experiments import read_results
from cselab_widgets import PaperVsOurs


@pytest.fixture
def frame():
    """A gain, a loss, two that undecided (one of a single seed), and a row that was never run."""
    return pd.DataFrame(
        {
            "row": ["Mine <b>", "Other", "Mine <b>", "Other", "Never"],
            "column": ["Avg.", "Avg.", "SICK-R", "SICK-R", "Avg."],
            "gain": [1.5, -0.4, 0.3, 0.9, None],
            "gain_low": [0.5, -0.6, -0.2, None, None],
            "gain_high": [2.5, -0.2, 0.8, None, None],
            "published_gain": [2.0, None, 1.0, None, 4.0],
        }
    )


@pytest.fixture
def shown(frame):
    panel = PaperVsOurs(frame, baseline="SimCSE", view="gains")
    yield panel
    panel.close()


def test_what_is_decided_has_a_colour_and_everything_its_number(shown):
    (heat,) = shown.figure().data
    assert shown.figure().layout.yaxis.ticktext == ("Mine &lt;b&gt;", "Other") and heat.x == ("Avg.", "SICK-R")
    assert [list(row) for row in heat.z] == [[1.5, 0.0], [-0.4, 0.0]]
    assert [list(row) for row in heat.text] == [["<b>+1.5 \u00b1 1.0</b>", "+0.3"], ["<b>-0.4 \u00b1 0.2</b>", "+0.9"]]
    assert heat.zmax == -heat.zmin == 1.5
    (plane,) = shown.planes()
    assert plane.title == "Mine &lt;b&gt; gains most over SimCSE, +1.5 in Avg."
    assert "above SimCSE" in plane.key and "interval contains 0" in plane.key
    assert heat.hovertext[0][0].endswith("Avg.: +1.5 points<br>95 % interval: +0.5 to\u00a0+2.5<br>in the paper: +2.0")
    assert heat.hovertext[1][1].endswith("SICK-R: +0.9 points<br>95 % interval: one run<br>in the paper: not reported")


def test_single_runs_come_last_and_the_average_first(frame):
    more = pd.DataFrame({"row": ["Once"] * 2, "column": ["Avg.", "Z"], "gain": [9.0, 9.0]})
    decided = pd.DataFrame({"row": ["Other"], "column": ["Z"], "gain": [0.4], "gain_low": [0.1], "gain_high": [0.7]})
    state = PaperVsOurs(pd.concat([more, frame, decided]), view="gains").state
    assert state.rows == ["Mine <b>", "Other", "Once"] and state.tests == ["Avg.", "Z", "SICK-R"]
    panel = PaperVsOurs(pd.concat([more, frame, decided]), view="gains")
    near = pd.DataFrame({"row": ["Near"], "column": ["Avg."], "gain": [1.0], "gain_low": [0.9], "gain_high": [1.1]})
    near = PaperVsOurs(pd.concat([more, frame, near]), view="gains").planes()[0].title
    assert near == "Mine &lt;b&gt; gains most over the baseline, +1.5 in Avg.; 2 rows lie within its interval"
    assert len(panel.figure().data[0].z) == 2 and panel.details(panel.state).count("+9.0") == 2  # in a fold


def test_one_seed_decides_nothing(frame):
    panel = PaperVsOurs(frame[["row", "column", "gain"]], view="gains")
    assert not np.any(panel.figure().data[0].z) and not panel.planes()[0].key


def test_an_experiment_shows_its_own_tests_over_its_own_baseline():
    panel = PaperVsOurs("whitenedcse-table3", "study", view="gains")
    results = read_results("whitenedcse-table3", "study")
    assert panel.state.columns == [column.measure for column in results.experiment.columns]
    assert results.experiment.baseline not in panel.state.rows
    line = results.to_frame().set_index(["row", "column"]).loc[(panel.state.rows[-1], panel.state.columns[0])]
    assert panel.state.table(panel.state.frame["gain"]).at[line.name] == line["gain"]


def test_where_the_data_were_missing_the_stand_in_is_named(frame):
    class Recorded:
        experiment = read_results("whitenedcse-table6").experiment
        profile = read_results("whitenedcse-table6").profile

        verdicts = list

        def to_frame(self):
            return pd.DataFrame(
                {"row": ["both", "both"], "column": ["Avg.", "STS-B"], "measure": ["World-STS"] * 2, "gain": [1.0] * 2}
            )

    assert PaperVsOurs(Recorded(), view="gains").state.columns == ["World-STS"]
