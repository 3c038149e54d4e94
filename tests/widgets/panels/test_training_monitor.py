import threading
from dataclasses import replace

import numpy as np
import pytest
from cselab_widgets import TrainingMonitor
from cselab_widgets.panels.training_monitor import curve, over_runs, summary
from numpy.testing import assert_allclose, assert_array_equal
from tiny import make_encoder, make_sentences

from cselab.encoders.encoder import SentenceEncoder
from cselab.methods import ImSimCSE, SimCSE
from cselab.training import TrainConfig, train

SENTENCES = make_sentences(24)
CONFIG = TrainConfig(steps=6, batch_size=4, lr=1e-3, seed=0, eval_every=2, precision="fp32")
PATIENCE = 100  # seconds, for a busy machine


def evaluator(encoder):
    vectors = encoder.encode(SENTENCES[:6])
    spread = float(np.var(vectors))
    return {"score": 50 + spread, "alignment": 0.2, "uniformity": -spread, "effective_rank": 3.0}


class Gate:
    """A callback that holds the run at a step until it is opened; `reached` is set when it is there."""

    def __init__(self, step):
        self.step, self.reached, self.open = step, threading.Event(), threading.Event()

    def __call__(self, run, row):
        if row["step"] == self.step:
            self.reached.set()
            assert self.open.wait(PATIENCE)


def test_the_best_score_is_the_highest_and_not_the_last():
    rows = [{"step": step, "score": score} for step, score in ((0, 50.0), (2, 60.0), (4, 55.0))]
    said = summary(replace(TrainingMonitor().state, rows=rows, others={"before": [rows, rows[:1]]}))
    assert "run peaks at step 2 (dev score 60.0, +10.0), ends at 55.0" in said
    assert "before  2 runs, best dev score 55.00 (50.00 to 60.00)" in said


def seen(monitor, phase):
    """An event that is set when the monitor comes to that phase."""
    there = threading.Event()

    def look(_):
        if monitor.state.phase == phase:
            there.set()

    monitor.observe(look, "state")
    look(None)
    return there


def start(*callbacks, **given):
    monitor = TrainingMonitor()
    return monitor.train(make_encoder(), SimCSE(), SENTENCES, CONFIG, evaluator, callbacks=callbacks, **given)


def start_and_hold(step, *callbacks, **given):
    """A monitor whose run waits at a step, and what lets it go on."""
    gate = Gate(step)
    monitor = start(*callbacks, gate, **given)
    assert gate.reached.wait(PATIENCE)
    return monitor, gate.open


def pause(monitor, go_on, how):
    """Pause a run that is held, by the button or by name; returns when it is paused."""
    paused = seen(monitor, "paused")
    how()
    go_on.set()
    assert paused.wait(PATIENCE)


@pytest.fixture
def history():
    return [
        {"step": 0, "score": 50.0, "alignment": 0.2, "uniformity": -1.0, "effective_rank": 5.0},
        {"step": 1, "loss": 2.0, "info_nce": 1.5, "dcl": 0.5, "gradient_norm": 1.0},
        {
            "step": 2,
            "loss": 1.0,
            "info_nce": 0.75,
            "dcl": 0.25,
            "gradient_norm": 2.0,
            "gradient_norm/dcl": 0.1,
            "score": 53.0,
            "alignment": 0.3,
            "uniformity": -2.0,
            "effective_rank": 6.0,
        },
    ]


def traces(monitor, **changes):
    return {trace.uid: trace for plane in monitor.planes(**changes) for trace in plane.traces}


# ---------------------------------------------------------------------------------------- what is drawn


def test_each_column_is_drawn_where_it_has_a_value(history):
    drawn = traces(TrainingMonitor(), name="mine", rows=tuple(history), phase="running")
    assert (drawn["score: live"].x, drawn["score: live"].y) == ((0, 2), (50.0, 53.0))
    assert {uid.split(":")[0] for uid in drawn} == {"score", "names", "gain"}
    assert (drawn["gain"].x, drawn["gain"].y, drawn["gain: number"].text) == (
        (2, 2),
        (50.0, 53.0),
        ("<b>+3.0</b>\u2002",),
    )
    unscored = tuple({key: row[key] for key in row if key != "score"} for row in history)
    drawn = traces(TrainingMonitor(), name="mine", rows=unscored, phase="running")
    assert (drawn["loss: live"].x, drawn["loss: live"].y) == ((1, 2), (2.0, 1.0))
    assert {uid.split(":")[0] for uid in drawn} == {"loss"}


def test_seeds_are_a_band_about_their_mean(history):
    higher = [row | {"score": row["score"] + 2} if "score" in row else row for row in history]
    panel = TrainingMonitor({"SimCSE": [history, higher]})
    drawn = traces(panel)
    assert drawn["score: SimCSE"].y == (51.0, 54.0) and drawn["score: start"].y == (51.0, 51.0)
    band = drawn["score: SimCSE: runs"]
    assert (band.x, band.y, band.fill) == ((0, 2, 2, 0), (52.0, 55.0, 53.0, 50.0), "toself")
    assert drawn["score: start"].fill == "tonexty"  # up to the mean, the trace before
    assert [uid for uid in drawn][1:3] == ["score: SimCSE", "score: start"]
    assert drawn["score: kept"].x == ()  # no weights are those of a mean
    assert drawn["names"].text[-1].endswith("SimCSE 54.0")
    (plane,) = panel.planes()
    assert plane.title == "SimCSE, mean of 2 runs, has dev score 54.0 at step 2 (+3.0)"


@pytest.mark.parametrize(
    "scores, told",
    [
        ([50, 60, 55], "peaks at step 1 (dev score 60.0, +10.0), ends at 55.0"),
        ([50, 55, 60], "has dev score 60.0 at step 2 (+10.0)"),
        ([50, 40, 45], "has dev score 45.0 at step 2 (-5.0)"),
        ([50], "has dev score 50.0 at step 0"),
    ],
)
def test_the_title_tells_the_best_step_and_the_end(scores, told):
    panel = TrainingMonitor({"<a>": [{"step": step, "score": score} for step, score in enumerate(scores)]})
    assert panel.planes()[0].title == f"&lt;a&gt; {told}"


@pytest.mark.parametrize(
    "scores, answer",
    [
        (([53, 55], [55, 54]), "b ends highest, dev score 54.5; a at 54.0 (2 runs each); runs overlap"),
        (([53, 54], [56, 55]), "b ends highest, dev score 55.5; a at 53.5 (2 runs each)"),
        (([53], [55, 56]), "b ends highest, dev score 55.5; a at 53.0 (1 to 2 runs each); one run decides nothing"),
    ],
)
def test_methods_are_undecided_if_runs_overlap_or_one_ran_once(scores, answer):
    runs = ([[{"step": 0, "score": score}] for score in of_one] for of_one in scores)
    (plane,) = TrainingMonitor(dict(zip("ab", runs, strict=True))).planes()
    assert plane.title == answer


def test_a_mean_covers_the_steps_that_all_seeds_have(history):
    assert over_runs([history, history[:1]], "score") == ([0], [50.0], [50.0], [50.0])
    assert over_runs([history[:1]], "loss") == ([], [], [], [])


def test_values_that_are_not_finite_are_left_out():
    rows = [{"step": 0, "score": float("nan")}, {"step": 1, "degenerate": "all alike"}, {"step": 2, "score": 1.0}]
    assert curve(rows, "score") == ([2], [1.0])


def test_kept_steps_are_marked_where_they_were_measured(history):
    drawn = traces(TrainingMonitor(), rows=tuple(history), kept=(1,), phase="running")
    assert drawn["score: kept"].x == (2,)  # the best step, whose weights a run keeps; step 1 has no score
    unscored = tuple({key: row[key] for key in row if key != "score"} for row in history)
    kept = traces(TrainingMonitor(), rows=unscored, kept=(1,), phase="running")["loss: kept"]
    assert (kept.x, kept.y) == ((1,), (2.0,))


@pytest.mark.parametrize("shape", ["rows", "run", "list", "by seed", "list of runs"])
def test_finished_runs_come_in_every_shape_users_have(history, shape):
    class Run:
        def __init__(self):
            self.history = history

    given = {"rows": history, "run": Run(), "list": [history], "by seed": {0: history}, "list of runs": [Run()]}[shape]
    assert TrainingMonitor({"a": given}).state.others["a"] == (tuple(history),)


@pytest.mark.parametrize("given", [[], [[]], [{"loss": 1.0}]])
def test_runs_without_rows_are_refused(given):
    with pytest.raises(ValueError, match=r"runs\['a'\] has no rows with a 'step'"):
        TrainingMonitor({"a": given})


# ---------------------------------------------------------------------------------------- a run by hand


def test_a_run_in_a_thread_ends_as_train_itself_would():
    monitor = start()
    run = monitor.wait(PATIENCE)
    wanted = train(make_encoder(), SimCSE(), SENTENCES, CONFIG, evaluator, show_progress_bar=False)
    assert run is monitor.run and run.history == wanted.history
    assert_array_equal(run.encoder.encode(SENTENCES[:3]), wanted.encoder.encode(SENTENCES[:3]))
    assert monitor.state.phase == "finished" and monitor.state.rows == tuple(run.history)
    assert "SimCSE: finished, step 6 of 6" in monitor.summary()


def test_only_a_run_that_goes_on_has_buttons_to_press():
    monitor, go_on = start_and_hold(3)
    idle = TrainingMonitor()

    def pressable(shown: TrainingMonitor) -> list[bool]:
        brake, keep = shown.widget.children[0].children[:2]
        return [not button.disabled for button in (*brake.children, *keep.children)]

    assert pressable(idle) == [False] * 4
    assert pressable(monitor) == [True] * 4
    go_on.set()
    monitor.wait(PATIENCE)
    assert monitor.state.phase == "finished"
    assert pressable(monitor) == [False] * 4
    monitor.close()
    assert pressable(monitor) == [False] * 4  # shown again after its end


def test_a_run_stopped_by_its_button_is_usable(tmp_path):
    """A run stopped by its button is usable and its folder is an encoder."""
    monitor, go_on = start_and_hold(3, output=tmp_path / "run")
    brake = monitor.widget.children[0].children[0]
    brake.children[2].click()
    go_on.set()
    run = monitor.wait(PATIENCE)
    assert monitor.state.phase == "stopped" and run.history[-1]["step"] == 3
    assert run.stopped == "stopped by hand at step 3"
    saved = SentenceEncoder.from_pretrained(tmp_path / "run")
    assert_allclose(saved.encode(SENTENCES[:3]), run.encoder.encode(SENTENCES[:3]), rtol=1e-6)
    assert brake.disabled


def test_a_paused_run_waits_and_goes_on_where_it_was():
    monitor, go_on = start_and_hold(2)
    brake = monitor.widget.children[0].children[0]
    pause(monitor, go_on, brake.children[0].click)
    assert [row["step"] for row in monitor.state.rows] == [0, 1, 2]
    assert monitor.wait(timeout=0.01) is None
    brake.children[1].click()
    run = monitor.wait(PATIENCE)
    wanted = train(make_encoder(), SimCSE(), SENTENCES, CONFIG, evaluator, show_progress_bar=False)
    assert run.history == wanted.history


def test_a_kept_step_is_an_encoder_of_that_step_in_memory(tmp_path):
    """A kept step is an encoder of that step in memory and on disk."""
    seen_there = {}

    def look(run, row):
        if row["step"] == 4:
            run.encoder.eval()
            seen_there["vectors"] = run.encoder.encode(SENTENCES[:3])

    monitor, go_on = start_and_hold(4, look)
    monitor.widget.children[0].children[1].children[0].click()
    go_on.set()
    monitor.wait(PATIENCE)
    assert monitor.state.kept == (4,) and "kept: step 4" in monitor.summary()
    assert_array_equal(monitor.kept[4].encode(SENTENCES[:3]), seen_there["vectors"])
    monitor.kept[4].save_pretrained(tmp_path / "step-4")
    saved = SentenceEncoder.from_pretrained(tmp_path / "step-4")
    assert_allclose(saved.encode(SENTENCES[:3]), seen_there["vectors"], rtol=1e-6)


def test_a_step_may_be_kept_while_the_run_is_paused():
    """A step may be kept while the run is paused and before it began."""
    monitor, go_on = start_and_hold(0)
    pause(monitor, go_on, monitor.pause)
    kept = threading.Event()
    monitor.observe(lambda _: monitor.state.kept and kept.set(), "state")
    monitor.keep_step()
    assert kept.wait(PATIENCE)
    monitor.resume()
    monitor.wait(PATIENCE)
    assert monitor.state.kept == (0,)
    plain = make_encoder()
    assert_array_equal(monitor.kept[0].encode(SENTENCES[:3]), plain.encode(SENTENCES[:3]))


def test_a_run_can_be_stopped_while_it_is_paused():
    monitor, go_on = start_and_hold(1)
    pause(monitor, go_on, monitor.pause)
    monitor.stop()
    assert monitor.wait(PATIENCE).history[-1]["step"] == 1


def test_what_goes_wrong_in_the_run_is_shown_and_raised_by_wait():
    def breaks(run, row):
        if row["step"] == 2:
            raise ZeroDivisionError("on purpose")

    monitor = start(breaks)
    with pytest.raises(ZeroDivisionError, match="on purpose"):
        monitor.wait(PATIENCE)
    assert monitor.state.phase == "failed"
    assert "ZeroDivisionError: on purpose" in monitor.summary()
    assert "Failed: ZeroDivisionError" in monitor.explain(monitor.state)


def test_a_second_run_waits_for_the_first_and_may_follow_it():
    monitor, go_on = start_and_hold(1)
    with pytest.raises(RuntimeError, match="a run is still active"):
        monitor.train(make_encoder(), SimCSE(), SENTENCES, CONFIG)
    go_on.set()
    first = monitor.wait(PATIENCE)
    monitor.train(make_encoder(), ImSimCSE(), SENTENCES, CONFIG, evaluator, name="again")
    run = monitor.wait(PATIENCE)
    assert monitor.state.name == "again" and run.method.name == "imsimcse"
    assert monitor.state.rows == tuple(run.history) != tuple(first.history)


def test_closing_the_panel_stops_its_run():
    monitor, go_on = start_and_hold(2)
    threading.Timer(0.05, go_on.set).start()
    monitor.close()
    assert monitor.wait(PATIENCE).history[-1]["step"] < 6


def test_headless_train_itself_waits(monkeypatch):
    monkeypatch.setenv("CSELAB_HEADLESS", "1")
    threads = []
    monitor = start(lambda run, row: threads.append(threading.current_thread()))
    assert monitor.state.phase == "finished"
    assert set(threads) == {threading.main_thread()}
    assert monitor.run.history[-1]["step"] == 6


def test_headless_what_goes_wrong_is_raised_at_once(monkeypatch):
    monkeypatch.setenv("CSELAB_HEADLESS", "1")
    with pytest.raises(ValueError, match="unknown method 'simsce'"):
        TrainingMonitor().train(make_encoder(), "simsce", SENTENCES, CONFIG)


@pytest.mark.parametrize(
    "changes, message", [({"command": "halt"}, "command is 'halt'; expected one of run, pause, stop")]
)
def test_unknown_commands_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        TrainingMonitor().set(**changes)


def test_it_opens_with_the_score_on_an_axis_of_six_points(history):
    monitor = TrainingMonitor()
    monitor.set(name="mine", rows=tuple(history), phase="running")
    (score,) = monitor.planes()
    assert score.title == "mine has dev score 53.0 at step 2 (+3.0)"
    low, high = score.y["range"]
    assert high - low == pytest.approx(6) and low < 50 < 53 < high
    start, names = (next(trace for trace in score.traces if trace.uid == uid) for uid in ("score: start", "names"))
    assert (start.x, start.y) == ((0, 2), (50.0, 50.0)) and not any(trace.showlegend for trace in score.traces)
    assert [name.split("\u00a0")[-1] for name in names.text] == ["start 50.0", "mine 53.0"]
    monitor.set(rows=tuple({key: row[key] for key in row if key != "score"} for row in history))
    (loss,) = monitor.planes()
    assert loss.title == "Loss falls from 2 to 1" and loss.y["rangemode"] == "tozero"
