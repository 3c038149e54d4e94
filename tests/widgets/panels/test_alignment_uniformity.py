import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from cselab_widgets import AlignmentUniformity
from cselab_widgets.panels.alignment_uniformity import CosinesByGrade, Measurement
from drawn import hear, traces

from cselab.data import Pairs


def test_rows_without_a_measurement_are_passed_over(histories):
    state = AlignmentUniformity(histories).state
    assert state.steps == [0, 10, 20]
    assert state.paths["SimCSE"][1] == Measurement(10, 0.25, -1.8, 58.25)
    assert state.paths["WhitenedCSE"][-1] == Measurement(20, 0.3, -2.6, None)


def test_a_run_may_be_given_for_its_history(histories):
    runs = {name: SimpleNamespace(history=rows) for name, rows in histories.items()}
    assert AlignmentUniformity(runs).planes() == AlignmentUniformity(histories).planes()


def test_it_opens_at_the_kept_step_and_at_the_last(histories):
    """It opens at the kept step and at the last if nothing was scored."""
    histories["SimCSE"][2]["score"] = 70.0
    assert AlignmentUniformity(histories).state.step == 10
    plain = [{key: row[key] for key in ("step", "alignment", "uniformity")} for row in histories["WhitenedCSE"]]
    assert AlignmentUniformity({"a": plain}).state.step == 20


def test_the_kept_step_is_named_where_the_run_says_it_is(histories):
    run = SimpleNamespace(history=histories["SimCSE"], best={"step": 10})
    names = traces(AlignmentUniformity({"SimCSE": run}))["names"]
    assert (names.text[0], names.x[0], names.y[0]) == ("step 10 (kept)", -1.8, 0.25)


def test_the_start_is_never_the_kept_step():
    rows = [{"step": s, "alignment": 0.2, "uniformity": -1.0, "score": 50.0 - s} for s in (0, 5, 10)]
    assert AlignmentUniformity({"a": rows}).state.kept["a"] == (5,)


def test_the_travelled_path_ends_where_the_method_stands(histories):
    """The travelled path ends where the method stands and the whole path stays."""
    drawn = traces(AlignmentUniformity(histories), step=10)
    assert drawn["SimCSE: path"].x == (-1.0, -1.8, -2.2)
    assert drawn["SimCSE: travelled"].x == (-1.0, -1.8)
    assert drawn["SimCSE: travelled"].marker.size == (0, 14)  # of several methods only the last has a dot
    assert traces(AlignmentUniformity({"SimCSE": histories["SimCSE"]}))["SimCSE: travelled"].marker.size == (6, 6, 14)


def test_a_method_not_measured_stands_where_it_was_last(histories):
    """A method not measured at a step stands where it was last."""
    assert traces(AlignmentUniformity(histories), step=10)["WhitenedCSE: travelled"].x == (-1.0,)


def test_a_method_that_starts_later_waits_at_its_start(histories):
    del histories["WhitenedCSE"][0]
    assert traces(AlignmentUniformity(histories), step=0)["WhitenedCSE: travelled"].x == (-2.6,)


def test_the_page_is_the_same_in_another_process(histories):
    shown = f"AlignmentUniformity({histories!r})._repr_mimebundle_()['text/html']"
    code = f"from cselab_widgets import AlignmentUniformity; print({shown}, end='')"
    there = {"PYTHONHASHSEED": "1", "PYTHONPATH": ":".join(sys.path), "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run([sys.executable, "-c", code], env=there, capture_output=True, check=True)
    assert done.stdout.decode() == AlignmentUniformity(histories)._repr_mimebundle_()["text/html"]


def test_of_two_measurements_at_one_step_the_later_counts():
    """Of two measurements at one step the later written counts."""
    rows = [{"step": 0, "alignment": a, "uniformity": -1.0} for a in (0.1, 0.2)]
    assert AlignmentUniformity({"a": rows}).state.paths["a"] == (Measurement(0, 0.2, -1.0, None),)


def test_a_single_point_is_drawn_with_room_around_it():
    layout = AlignmentUniformity({"a": [{"step": 0, "alignment": 0.2, "uniformity": -1.0}]}).figure().layout
    assert layout.xaxis.range[0] < -1.0 < layout.xaxis.range[1]


def test_the_shadow_is_where_both_are_better_than_at_the_start(histories):
    shadow = traces(AlignmentUniformity(histories))["better"]
    assert (max(shadow.x), max(shadow.y)) == (-1.0, 0.2) and "both better" in shadow.text[0]


def seeds() -> list[list[dict]]:
    return [
        [
            {"step": s, "alignment": 0.2 + seed / 10, "uniformity": -1.0 - s / 10, "score": 50.0 + s * (1 - 2 * seed)}
            for s in (0, 5, 10)
        ]
        for seed in (0, 1)
    ]


def test_seeds_stand_about_their_mean():
    panel = AlignmentUniformity({"a": seeds()})
    drawn = traces(panel)
    assert drawn["a: seeds"].y == (0.2, 0.3)
    assert drawn["a: path"].y == (0.25, 0.25, 0.25)
    assert panel.state.kept["a"] == (10, 5)
    assert panel.to_frame().loc[4, ["seed", "step", "score", "kept"]].tolist() == [1, 5, 45.0, True]
    assert "(mean of 2 seeds)" in panel.summary()
    assert "small dots seeds" in panel.planes()[0].words


def test_a_method_stands_at_the_mean_of_its_seeds():
    """A method stands at the mean of its seeds in every number."""
    measured = [(0.1, -1.0, 50.0), (0.2, -1.2, 53.0), (0.6, -2.6, 59.0)]
    histories = [[{"step": 5, "alignment": a, "uniformity": u, "score": s}] for a, u, s in measured]
    (mean,) = AlignmentUniformity({"a": histories}).state.paths["a"]
    assert mean == pytest.approx((5, 0.3, -1.6, 54.0))


def test_a_click_goes_to_the_step_of_the_point():
    panel = AlignmentUniformity({"a": seeds(), "b": seeds()[0]})
    hear(panel, "click", traces(panel)["a: path"].customdata[1])
    assert panel.state.step == 5 and panel.planes()[0].title.startswith("Step 5, on average: ")


def watched(shift: float) -> CosinesByGrade:
    pairs = Pairs([f"a{i}" for i in range(12)], [f"b{i}" for i in range(12)], [float(i % 3) for i in range(12)])
    watch = CosinesByGrade(pairs)
    watch.by_step = {step: np.linspace(0.1, 0.5, 12) + shift + step / 100 for step in (0, 5, 10)}
    return watch


def test_a_method_shows_its_cosines_by_grade():
    watches = {"a": watched(0.0), "b": watched(0.2)}
    panel = AlignmentUniformity({"a": seeds()[0], "b": seeds()[1]}, cosines=watches)
    assert (panel.state.step, panel.state.method) == (10, "a")
    panel.set(step=5, method="b")
    assert panel.planes()[1].title == "b, step 5: the higher the grade, the higher the cosine"
    text = traces(panel)["cosines: 1"].text
    cosines = watches["b"].by_step[5][1::3]
    assert text == f"grade 1: 4 pairs, median cosine {np.median(cosines):.3f}"
    assert traces(panel)["cosines: medians"].x[1] == pytest.approx(np.median(cosines), abs=1e-3)
    hill = traces(panel)["cosines: 1"].x
    assert hill.min() < cosines.min() and cosines.max() < hill.max() <= 1


def test_the_watcher_keeps_the_cosines_of_scored_steps(tiny_encoder):
    encoder, sentences = tiny_encoder
    watch = CosinesByGrade(Pairs(sentences[:5], sentences[5:10], [0.0, 1, 2, 3, 4]))
    run = SimpleNamespace(encoder=encoder)
    watch(run, {"step": 1, "loss": 1.0})
    watch(run, {"step": 2, "score": 50.0})
    expected = encoder.similarity(encoder.encode(sentences[:5]), encoder.encode(sentences[5:10])).diagonal()
    assert list(watch.by_step) == [2]
    np.testing.assert_allclose(watch.by_step[2], expected, atol=1e-6)


def test_a_few_methods_have_their_names_at_their_dots_and_many_a_legend(histories):
    drawn = traces(AlignmentUniformity(histories), step=10)
    assert [text.split("\u00a0")[-1] for text in drawn["names"].text] == ["SimCSE", "WhitenedCSE"]
    assert (drawn["names"].x, drawn["SimCSE: travelled"].showlegend) == ((-1.8, -1.0), True)
    many = traces(AlignmentUniformity({f"{number}": histories["SimCSE"] for number in range(7)}))
    assert many["better"].text[2] == "start" and not many["names"].text and many["3: travelled"].showlegend


@pytest.mark.parametrize(
    "ends, title",
    [
        ([(0.1, -2.0), (0.3, -2.0)], "better spread in all methods, closer pairs in a"),
        ([(0.3, 0.0), (0.3, -0.5)], "better spread in none, closer pairs in none"),
        ([(0.1, -2.0), (0.1, 0.0), (0.1, -2.0), (0.1, -2.0)], "better spread in 3 of 4, closer pairs in all methods"),
        ([(0.1, 0.0)], "worse spread, pairs closer"),
    ],
)
def test_the_title_says_who_is_better_than_at_the_start(ends, title):
    start = {"step": 0, "alignment": 0.2, "uniformity": -1.0}
    runs = {
        name: [start, {"step": 5, "alignment": alignment, "uniformity": uniformity}]
        for name, (alignment, uniformity) in zip("abcd", ends, strict=False)
    }
    panel = AlignmentUniformity(runs)
    assert panel.planes()[0].title.partition(": ")[2] == title
    panel.set(step=0)
    assert panel.planes()[0].title.endswith("step 0: the start" if len(ends) == 1 else "Step 0: the start")


def test_cosines_that_do_not_belong_are_refused():
    with pytest.raises(ValueError, match="cosines has 'c'; the methods are a"):
        AlignmentUniformity({"a": seeds()}, cosines={"c": watched(0)})
    empty = watched(0)
    empty.by_step = {}
    with pytest.raises(ValueError, match=r"cosines\['a'\] has no steps of its run; pass it to train"):
        AlignmentUniformity({"a": seeds()}, cosines={"a": empty})
