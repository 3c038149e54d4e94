import pandas as pd
import pytest
from cselab_widgets.trained import Gain, gains, gains_plane, in_words


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


def test_without_results_the_published_gains_over_simcse_stand_alone():
    rows = gains(None, "imsimcse", 1)
    assert [row.row for row in rows] == ["Pos. +Noise", "Pos. -Noise", "Neg. +Noise", "Neg. -Noise"]
    assert rows[-1].published == pytest.approx(77.06 - 76.25)
    assert all(row.ours is None for row in rows)


def test_results_are_read_from_the_first_column_beside_the_published(beside):
    rows = gains(beside, "imsimcse", 1)
    assert [row.row for row in rows] == ["more", "less", "other"]
    assert rows[0] == Gain("more", 0.81, 1.5, 0.5, 2.5, 3)
    assert rows[1] == Gain("less", -10.7, -4.0, None, None, 1)
    assert rows[2].ours is None


def test_whatever_has_a_frame_beside_is_asked_for_it(beside):
    class Results:
        def beside(self):
            return beside

    assert gains(Results(), "imsimcse", 1) == gains(beside, "imsimcse", 1)


def test_another_frame_is_refused_with_where_to_get_one(beside):
    with pytest.raises(ValueError, match=r"no column 'gain'; give what cselab.lab.experiments.beside"):
        gains(beside.drop(columns="gain"), "imsimcse", 1)


def test_both_are_drawn_at_their_gain_and_ours_with_its_interval(beside):
    published, ours = gains_plane(gains(beside, "imsimcse", 1), "Trained").traces
    assert dict(zip(published.y, published.x, strict=True)) == {"more": 0.81, "less": -10.7, "other": -6.25}
    assert dict(zip(ours.y, ours.x, strict=True)) == {"more": 1.5, "less": -4.0}
    assert tuple(ours.error_x.array) == (1.0, 0.0) and tuple(ours.error_x.arrayminus) == (1.0, 0.0)
    assert ours.text == ("3 seeds", "1 seed")


def test_the_names_of_rows_stand_clear_of_the_dots(beside):
    y = gains_plane(gains(beside, "imsimcse", 1), "Trained").y
    assert y["ticklabelposition"] == "inside top" and y["ticklabelshift"] <= -6  # up; a dot's radius is 5


def test_the_words_hold_the_same(beside):
    assert in_words(gains(beside, "imsimcse", 1)) == [
        "  more   published  +0.81  ours  +1.50 [+0.50, +2.50] (3 seeds)",
        "  less   published -10.70  ours  -4.00 (1 seeds)",
        "  other  published  -6.25",
    ]
