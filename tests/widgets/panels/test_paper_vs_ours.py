import numpy as np
import pandas as pd
import pytest
from cselab_lab.experiments import read_results
from cselab_widgets import PaperVsOurs
from cselab_widgets.panels.paper_vs_ours import verdict
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
    return PaperVsOurs(frame, baseline="BERT")


def test_published_and_our_gains_stand_on_the_line_of_their_row(panel):
    """Published and our gains stand on the line of their row, the first on top; below what the paper has not."""
    drawn, layout = traces(panel), panel.figure().layout
    assert layout.yaxis.ticktext == ("SimCSE", "ImSimCSE", "plain")
    assert_array_equal(drawn["published"].x, [np.nan, 1.85, -5.0])
    assert_array_equal(drawn["ours"].x, [1.9, np.nan, -2.0])
    assert_allclose(drawn["ours"].error_x.array, [0.7, 0, 0])
    assert_allclose(drawn["ours"].error_x.arrayminus, [0.7, 0, 0])
    beside = [text.replace("\u2007", "").split("\u00a0\u00a0")[1:] for text in drawn["numbers"].text]
    unpublished, unmeasured = ["\u2013", "+1.9", "\u2003"], ["+1.9", "\u2013", "\u2003"]
    assert beside[:3] == [unpublished, unmeasured, ["-5.0", "-2.0", "\u2003one run"]]
    assert drawn["numbers"].y == (0, 1.5, 2.5, 3.5)  # the heads above
    assert layout.title.text == "Undecided: plain"
    assert layout.xaxis.title.text == "points of Avg. over BERT (ours: World-STS)"


@pytest.mark.parametrize(
    "gain, low, high, paper, expected",
    [
        (1.0, 0.5, 1.5, 1.2, "compatible"),
        (1.0, 0.5, 1.5, 2.0, "same sign, smaller"),
        (-1.0, -1.5, -0.5, -0.2, "same sign, larger"),
        (-1.0, -1.5, -0.5, 0.2, "opposite sign"),
        (0.2, -0.1, 0.5, 0.2, "undecided"),
        (0.2, None, None, 0.2, "one run"),
        (0.2, 0.1, 0.3, None, ""),
        (None, None, None, 0.2, ""),
    ],
)
def test_a_verdict_compares_sign_and_size_as_far_as_the_interval_decides(gain, low, high, paper, expected):
    line = {"row": ["a"], "gain": [gain], "gain_low": [low], "gain_high": [high], "published_gain": [paper]}
    assert verdict(PaperVsOurs(pd.DataFrame(line)).state.shown.iloc[0]) == expected


def test_the_column_is_chosen_and_its_measure_told(panel):
    assert "compare order, not size" in panel.explain(panel.state)
    controls(panel)["column"].value = "STS-B"
    assert panel.figure().layout.xaxis.title.text == "points of STS-B over BERT"
    assert_array_equal(traces(panel)["ours"].x, [0.9, np.nan])  # what has neither gain has no line
    assert "compare order" not in panel.explain(panel.state)


def test_notes_stand_below_and_the_table_in_the_summary(panel):
    assert "<b>ImSimCSE</b>: not &lt;possible&gt;" in panel.details(panel.state)
    title, heads, *rows = panel.summary().splitlines()
    assert title == f"Avg.: {panel.planes()[0].title}" and heads.split() == ["paper", "ours", "verdict"]
    assert [row.split() for row in rows[:2]] == [
        ["plain", "-5.0", "-2.0", "one", "run"],
        ["SimCSE", "+1.9", "[+1.2,", "+2.6]"],
    ]


def test_an_experiment_may_be_named():
    panel, results = PaperVsOurs("imsimcse-table1"), read_results("imsimcse-table1")
    (plane,) = panel.planes()
    assert results.experiment.question in plane.key and panel.explain(panel.state).startswith(results.experiment.terms)
    below = "+noise on positives, -noise on positives, +noise on negatives"
    assert plane.title == f"Below SimCSE: {below} (as in the paper); undecided: -noise on negatives"
    assert [text.split("\u2003")[1] for text in traces(panel)["numbers"].text[:2]] == ["not trained"] * 2
    lines = results.to_frame().query("column == @panel.state.column").set_index("row")
    drawn = dict(zip(panel.figure().layout.yaxis.ticktext, traces(panel)["ours"].x, strict=True))
    assert drawn == {row: pytest.approx(lines["gain"][row], nan_ok=True) for row in drawn}


def test_its_verdicts_are_those_of_the_experiment():
    """Each row is one of the paper's claims; the words differ, the decisions do not."""
    same = {"compatible": "compatible with the paper", "same sign, smaller": "the same direction, smaller"}
    shown, results = PaperVsOurs("imsimcse-table1").state.shown, read_results("imsimcse-table1")
    told = {line["row"]: verdict(line) for _, line in shown.iterrows()}
    for claim, judged in zip(results.experiment.claims, results.verdicts(), strict=True):
        (row,) = {*claim.labels} - {"SimCSE"}
        assert judged.answer.startswith(same.get(told[row], told[row]))


def test_a_title_counts_more_than_three_rows():
    gains = np.array([1, 1, 1, 1, -1])
    ends = {"gain_low": gains - 0.5, "gain_high": gains + 0.5, "published_gain": [1, 1, 1, -1, -1]}
    panel = PaperVsOurs(pd.DataFrame({"row": [*"abcde"], "gain": gains, **ends}), baseline="BERT")
    assert panel.planes()[0].title == "Above BERT: 4 of 5 rows (3 as in the paper); below BERT: e (as in the paper)"


def test_before_a_run_no_gain_is_told():
    assert PaperVsOurs("wiki").planes()[0].title == "No gain over SimCSE was measured yet"
