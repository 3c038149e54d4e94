import copy
import subprocess
import sys
from types import SimpleNamespace

import pytest
from cselab_widgets import AlignmentUniformity
from cselab_widgets.alignment_uniformity import Measurement, figure


def traces(panel, **changes) -> dict:
    return {trace.uid: trace for trace in panel.figure(**changes).data}


def test_rows_without_a_measurement_are_passed_over(histories):
    state = AlignmentUniformity(histories).state
    assert state.steps == [0, 10, 20]
    assert state.paths["SimCSE"][1] == Measurement(10, 0.25, -1.8, 58.25)
    assert state.paths["WhitenedCSE"][-1] == Measurement(20, 0.3, -2.6, None)


def test_a_run_may_be_given_for_its_history(histories):
    runs = {name: SimpleNamespace(history=rows) for name, rows in histories.items()}
    assert AlignmentUniformity(runs).figure() == AlignmentUniformity(histories).figure()


def test_it_opens_at_the_last_step(histories):
    assert AlignmentUniformity(histories).state.step == 20


def test_methods_stand_at_uniformity_across_and_alignment_up(histories):
    here = traces(AlignmentUniformity(histories))["SimCSE: here"]
    assert (here.x, here.y) == ((-2.2,), (0.22,))


def test_the_travelled_path_ends_where_the_method_stands_and_the_whole_path_stays(histories):
    drawn = traces(AlignmentUniformity(histories), step=10)
    assert drawn["SimCSE: path"].x == (-1.0, -1.8, -2.2)
    assert drawn["SimCSE: travelled"].x == (-1.0, -1.8)
    assert drawn["SimCSE: here"].x == (-1.8,)


def test_a_method_not_measured_at_a_step_stands_where_it_was_last(histories):
    assert traces(AlignmentUniformity(histories), step=10)["WhitenedCSE: here"].x == (-1.0,)


def test_a_method_that_starts_later_waits_at_its_start(histories):
    del histories["WhitenedCSE"][0]
    assert traces(AlignmentUniformity(histories), step=0)["WhitenedCSE: here"].x == (-2.6,)


def test_hover_gives_method_step_and_dev_score(histories):
    drawn = traces(AlignmentUniformity(histories))
    text = drawn["SimCSE: path"].text[1]
    assert text.split("<br>") == [
        "<b>SimCSE</b>, step 10",
        "dev score 58.25",
        "alignment 0.250",
        "uniformity -1.800",
    ]
    assert "dev score not measured" in drawn["WhitenedCSE: here"].text[0]


def test_the_plot_says_which_way_is_better(histories):
    layout = AlignmentUniformity(histories).figure().layout
    assert layout.xaxis.title.text == "uniformity (lower: spread more evenly)"
    assert layout.yaxis.title.text == "alignment (lower: positive pairs closer)"
    (better,) = layout.annotations
    assert better.text == "better"
    assert better.ax > 0 and better.ay < 0  # the arrow's tail is up and right of its head


def test_the_legend_gives_the_dev_score_at_the_step(histories):
    panel = AlignmentUniformity(histories)
    assert traces(panel)["SimCSE: here"].name == "SimCSE  61.50"
    assert traces(panel, step=0)["SimCSE: here"].name == "SimCSE  49.00"
    assert traces(panel)["WhitenedCSE: here"].name == "WhitenedCSE"
    entries = [trace.uid for trace in panel.figure().data if trace.showlegend is not False]
    assert entries == ["SimCSE: here", "WhitenedCSE: here"]


def test_the_axes_stand_still_and_hold_all_paths(histories):
    panel = AlignmentUniformity(histories)
    ranges = {
        (panel.figure(step=s).layout.xaxis.range, panel.figure(step=s).layout.yaxis.range) for s in (0, 20)
    }
    ((across, up),) = ranges
    assert across[0] < -2.6 and across[1] > -1.0
    assert up[0] < 0.2 and up[1] > 0.3


def test_every_step_has_the_same_traces_in_the_same_order(histories):
    panel = AlignmentUniformity(histories)
    assert len({tuple(trace.uid for trace in panel.figure(step=s).data) for s in panel.state.steps}) == 1


def test_the_figure_is_pure(histories):
    state = AlignmentUniformity(histories).state
    before = copy.deepcopy(state.paths)
    assert figure(state) == figure(state)
    assert state.paths == before


def test_the_scrubber_moves_state_and_plot(histories):
    panel = AlignmentUniformity(histories)
    row, plot, *_ = panel.widget.children
    row.children[0].slider.value = 0
    assert panel.state.step == 0
    assert plot.figure["layout"]["title"]["text"] == "Step 0"


def test_the_page_has_a_film_of_all_steps(histories):
    frames = AlignmentUniformity(histories).page_figure().frames
    assert [frame.name for frame in frames] == ["0", "10", "20"]


def test_the_summary_is_the_same_on_every_run(histories):
    assert repr(AlignmentUniformity(histories, step=10)) == (
        "Alignment and uniformity at step 10 (lower is better for both)\n"
        "  SimCSE       step    10  alignment 0.250  uniformity  -1.800  dev score 58.25\n"
        "  WhitenedCSE  step     0  alignment 0.200  uniformity  -1.000  dev score 49.00"
    )


def test_the_page_is_the_same_in_another_process(histories):
    code = (
        "import sys, hashlib; from cselab_widgets import AlignmentUniformity as A;"
        f"print(hashlib.sha256(A({histories!r})._repr_mimebundle_()['text/html'].encode()).hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(digests) == 1


def test_of_two_measurements_at_one_step_the_later_written_counts():
    rows = [{"step": 0, "alignment": a, "uniformity": -1.0} for a in (0.1, 0.2)]
    assert AlignmentUniformity({"a": rows}).state.paths["a"] == (Measurement(0, 0.2, -1.0, None),)


def test_a_single_point_is_drawn_with_room_around_it():
    layout = AlignmentUniformity({"a": [{"step": 0, "alignment": 0.2, "uniformity": -1.0}]}).figure().layout
    assert layout.xaxis.range[0] < -1.0 < layout.xaxis.range[1]


def test_a_name_with_markup_is_shown_as_it_is_in_the_hover():
    panel = AlignmentUniformity({"a<b": [{"step": 0, "alignment": 0.2, "uniformity": -1.0}]})
    assert panel.figure().data[0].text[0].startswith("<b>a&lt;b</b>")


@pytest.mark.parametrize(
    ("histories", "message"),
    [
        ({}, "histories is empty"),
        ({"a": [{"step": 0, "loss": 1.0}]}, r"histories\['a'\] has no row .* train with an evaluator"),
        (
            {"a": [{"step": 3, "alignment": float("nan"), "uniformity": -1.0}]},
            r"histories\['a'\]: alignment is nan at step 3",
        ),
    ],
)
def test_histories_that_show_nothing_are_refused(histories, message):
    with pytest.raises(ValueError, match=message):
        AlignmentUniformity(histories)


def test_a_step_that_was_not_measured_is_refused_with_those_that_were(histories):
    with pytest.raises(ValueError, match="step is 5; the measured steps are 0, 10, 20"):
        AlignmentUniformity(histories, step=5)
