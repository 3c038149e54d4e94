import json
from statistics import mean, stdev

import pandas as pd
import pytest
from cselab_lab.experiments.store import recorded_results
from cselab_widgets.kit.trained import Gain, explained, gains_plane, in_words, trained
from cselab_widgets.panels.noise_lab import TABLE_1
from cselab_widgets.panels.rank_lab import TABLE_2
from scipy.stats import t


@pytest.fixture
def beside():
    """Of the first column the baseline, a row with seeds, one with a single seed, one that was not run."""
    rows = [
        ("SimCSE", "Avg.", 76.25, 0.0, None, None, None, 3),
        ("more", "Avg.", 77.06, 0.81, 1.5, 0.5, 2.5, 3),
        ("less", "Avg.", 65.55, -10.7, -4.0, None, None, 1),
        ("other", "Avg.", 70.0, -6.25, None, None, None, 0),
        ("more", "STS-B", 77.0, 9.0, 9.0, 8.0, 9.5, 3),
    ]
    names = ["row", "column", "published", "published_gain", "gain", "gain_low", "gain_high", "n"]
    return pd.DataFrame(rows, columns=names)


def test_without_results_the_recorded_runs_stand_beside_the_published_gains_over_simcse():
    shown = trained(None, "imsimcse", 1, TABLE_1)
    published = {gain.row: gain.published for gain in shown.gains}
    assert published["-noise on negatives"] == pytest.approx(77.06 - 76.25)
    assert list(published) == [row.row for row in TABLE_1]
    lines = [json.loads(line) for line in (recorded_results() / "effects.study.jsonl").read_text().splitlines()]
    for gain in shown.gains:
        of = {
            row: {line["seed"]: line["scores"]["Avg."] for line in lines if line["row"] == row}
            for row in (gain.row, "SimCSE")
        }
        over = [score - of["SimCSE"][seed] for seed, score in of[gain.row].items()]
        assert gain.ours == pytest.approx(mean(over)) and gain.seeds == len(over)
        if len(over) > 2:
            half = t.ppf(0.975, len(over) - 1) * stdev(over) / len(over) ** 0.5
            assert (gain.low, gain.high) == pytest.approx((mean(over) - half, mean(over) + half))
        else:
            assert gain.low is gain.high is None
    assert shown.ours == "mini after 200 steps, seeds 0 to 4"


def test_a_row_that_only_one_side_has_stands_alone():
    gains = {gain.row: gain for gain in trained(None, "imsimcse", 2, TABLE_2).gains}
    assert gains["M = 100 of 704"].ours is None and gains["M = 100 of 704"].published is not None
    assert gains["M = half"].published is None and gains["M = half"].seeds >= 5
    assert gains["M = 0"].published == pytest.approx(64.05 - 76.25)


def test_results_of_ones_own_take_the_place_of_the_recorded(beside):
    shown = trained(beside, "imsimcse", 1, TABLE_1)
    assert [gain.row for gain in shown.gains] == ["more", "less", "other"]
    assert shown.gains[0] == Gain("more", 0.81, 1.5, 0.5, 2.5, 3)
    assert shown.gains[1] == Gain("less", -10.7, -4.0, None, None, 1)
    assert shown.gains[2].ours is None
    assert "mini" not in shown.ours


def test_whatever_has_a_frame_beside_is_asked_for_it(beside):
    class Results:
        def beside(self):
            return beside

    assert trained(Results(), "imsimcse", 1, TABLE_1) == trained(beside, "imsimcse", 1, TABLE_1)


def test_another_frame_is_refused_with_where_to_get_one(beside):
    with pytest.raises(ValueError, match=r"no column 'gain'; give what cselab_lab.experiments.beside"):
        trained(beside.drop(columns="gain"), "imsimcse", 1, TABLE_1)


def test_both_are_drawn_at_their_gain_and_ours_with_its_interval(beside):
    published, ours = gains_plane(trained(beside, "imsimcse", 1, TABLE_1)).traces
    assert dict(zip(published.y, published.x, strict=True)) == {"more": 0.81, "less": -10.7, "other": -6.25}
    assert dict(zip(ours.y, ours.x, strict=True)) == {"more": 1.5, "less": -4.0}
    assert tuple(ours.error_x.array) == (1.0, 0.0) and tuple(ours.error_x.arrayminus) == (1.0, 0.0)
    assert ours.text == ("3 seeds", "1 seed")


def test_the_names_of_rows_stand_clear_of_the_dots(beside):
    y = gains_plane(trained(beside, "imsimcse", 1, TABLE_1)).y
    assert y["ticklabelposition"] == "inside top" and y["ticklabelshift"] <= -6  # up; a dot's radius is 5


def test_the_words_hold_the_same(beside):
    assert in_words(trained(beside, "imsimcse", 1, TABLE_1)) == [
        "Points over SimCSE after training (ImSimCSE, table 1; ours: the runs given as results)",
        "  more   published  +0.81  ours  +1.50 [+0.50, +2.50] (3 seeds)",
        "  less   published -10.70  ours  -4.00 (1 seed)",
        "  other  published  -6.25",
    ]


def test_the_line_under_the_plot_names_the_runs_that_the_dots_stand_for(beside):
    assert "mini after 200 steps, seeds" in explained(trained(None, "imsimcse", 1, TABLE_1))
    assert "given as results" in explained(trained(beside, "imsimcse", 1, TABLE_1))
