import numpy as np
import pandas as pd
import pytest
from cselab_lab.experiments import read_results
from cselab_widgets import PaperVsOurs
from drawn import controls, traces
from numpy.testing import assert_allclose, assert_array_equal


@pytest.fixture
def frame() -> pd.DataFrame:
    """Three rows in two columns; one was never printed, one never run."""
    return pd.DataFrame(
        {
            "row": ["plain", "SimCSE", "ImSimCSE"] * 2,
            "column": ["Avg."] * 3 + ["STS-B"] * 3,
            "measure": ["World-STS"] * 3 + ["STS-B"] * 3,
            "published": [None, 76.25, 78.1, None, 76.85, 80.0],
            "ours": [57.4, 59.3, None, 58.9, 59.8, None],
            "sd": [None, 0.4, None, None, 0.2, None],
            "n": [1, 3, 0, 1, 3, 0],
            "difference": [None, None, None, None, -17.05, None],
            "gain": [-2.0, 1.9, None, None, 0.9, None],
            "gain_low": [None, 1.2, None, None, -0.1, None],
            "gain_high": [None, 2.6, None, None, 1.9, None],
            "published_gain": [-5.0, None, 1.85, None, None, 3.15],
            "note": ["", "", "not <possible>", "", "", ""],
        }
    )


@pytest.fixture
def panel(frame) -> PaperVsOurs:
    return PaperVsOurs(frame, verdicts=["noise costs points: holds here"], title="table 1", baseline="BERT")


def test_published_and_our_gains_stand_on_the_line_of_their_row(panel):
    """Published and our gains stand on the line of their row, the first on top; below what the paper has not."""
    drawn, layout = traces(panel), panel.figure().layout
    assert layout.yaxis.ticktext == ("SimCSE", "ImSimCSE", "plain")
    assert_array_equal(drawn["published"].x, [np.nan, 1.85, -5.0])
    assert_array_equal(drawn["ours"].x, [1.9, np.nan, -2.0])
    assert_allclose(drawn["ours"].error_x.array, [0.7, 0, 0])
    assert_allclose(drawn["ours"].error_x.arrayminus, [0.7, 0, 0])
    beside = [text.replace("\u2007", "").split("\u00a0\u00a0")[1:] for text in drawn["numbers"].text]
    assert beside[:3] == [["", "+1.9"], ["+1.9", ""], ["-5.0", "-2.0"]]
    assert drawn["numbers"].y == (0, 1.5, 2.5, 3.5)  # the heads above
    assert layout.title.text == "1 of 1 gains over BERT have the paper's sign"
    assert layout.xaxis.title.text == "points of Avg. over BERT (ours: World-STS)"


def test_without_gains_the_scores_are_drawn_with_their_deviation(frame):
    panel = PaperVsOurs(frame.drop(columns=["gain", "published_gain"]))
    drawn, layout = traces(panel), panel.figure().layout
    assert_array_equal(drawn["published"].x, [np.nan, 78.1, 76.25])
    assert_array_equal(drawn["ours"].x, [57.4, np.nan, 59.3])
    assert_array_equal(drawn["ours"].error_x.array, [0, 0, 0.4])
    assert layout.title.text == "Published and ours"


def test_the_column_is_chosen_and_its_measure_told(panel):
    assert "compare order, not size" in panel.explain(panel.state)
    controls(panel)["column"].value = "STS-B"
    assert panel.figure().layout.xaxis.title.text == "points of STS-B over BERT"
    assert_array_equal(traces(panel)["ours"].x, [0.9, np.nan])  # what has neither gain has no line
    assert "compare order" not in panel.explain(panel.state)


def test_verdicts_stand_below_and_the_table_in_the_summary(panel):
    told = panel.details(panel.state)
    assert "noise costs points: holds here" in told and "<b>ImSimCSE</b>: not &lt;possible&gt;" in told
    text = panel.summary()
    assert "table 1: Avg." in text and "59.30 ± 0.40 (3)" in text and "holds here" in text


def test_an_experiment_may_be_named(tmp_path):
    panel = PaperVsOurs("imsimcse-table1")
    results = read_results("imsimcse-table1")
    ours = [abs(verdict.ours) for verdict in results.verdicts()]
    for said, name, number in zip(
        panel.state.verdicts, ("+noise", "\u2212noise") * 2, [*ours[2:], *ours[:2]], strict=True
    ):
        assert said.startswith(f"{name} on ") and f"(here \u2212{number:.1f}, paper " in said
    (plane,) = panel.planes()
    assert plane.key == results.experiment.question
    assert plane.title == "Here, too, noise on the negatives costs points; 3 of 4 claims hold in direction"
    lines = results.to_frame().query("column == @panel.state.column").set_index("row")
    drawn = dict(zip(panel.figure().layout.yaxis.ticktext, traces(panel)["ours"].x, strict=True))
    assert drawn == {row: pytest.approx(lines["gain"][row], nan_ok=True) for row in drawn}


def test_before_a_run_no_claim_is_told():
    assert PaperVsOurs("wiki").planes()[0].title == "Published and ours"
