import html

import numpy as np
import plotly.graph_objects as go
import pytest
import torch
from cselab_widgets import EmbeddingMap
from cselab_widgets.embedding_map import figure
from cselab_widgets.panel import SVG_POINTS
from cselab_widgets.projection import project


def traces(panel, **changes) -> dict:
    return {trace.uid: trace for trace in panel.figure(**changes).data}


@pytest.fixture
def panel(sentences, embeddings) -> EmbeddingMap:
    """An encoder looked at once beside one looked at twice, coloured by topic, two sentences paired."""
    return EmbeddingMap(
        sentences,
        {"plain": embeddings, "SimCSE": {0: embeddings, 50: embeddings[::-1]}},
        color=["animal", "animal", "weather", "weather", "code"],
        color_title="topic",
        pairs=[(0, 1), (2, 3)],
    )


def test_each_sentence_is_a_point_of_its_projection(panel, embeddings):
    drawn = traces(panel)
    expected = project({None: embeddings}).points[None]
    for name, rows in [("animal", [0, 1]), ("weather", [2, 3]), ("code", [4])]:
        np.testing.assert_allclose(drawn[f"plain: {name}"].x, expected[rows, 0], atol=1e-4)
        np.testing.assert_allclose(drawn[f"plain: {name}"].y, expected[rows, 1], atol=1e-4)


def test_encoders_stand_side_by_side_on_one_scale(panel):
    layout = panel.figure().layout
    assert layout.xaxis.domain[1] < layout.xaxis2.domain[0]
    assert layout.xaxis.range == layout.xaxis2.range
    assert layout.yaxis.range == layout.yaxis2.range
    assert (layout.yaxis.scaleanchor, layout.yaxis2.scaleanchor) == ("x", "x2")
    axes = {trace.uid: trace.xaxis for trace in panel.figure().data}
    assert axes["plain: animal"] == "x"
    assert axes["SimCSE: animal"] == "x2"


def test_titles_name_encoder_and_step_and_axes_what_they_are(panel):
    layout = panel.figure(step=0).layout
    assert [note.text for note in layout.annotations] == ["plain", "SimCSE, step 0"]
    for axis, plane in [(layout.xaxis, "plain"), (layout.xaxis2, "SimCSE")]:
        assert axis.title.text.endswith(f"({panel.state.planes[plane].explained[0]:.0%})")
    assert layout.xaxis.title.text.startswith("component 1 (")
    assert layout.yaxis2.title.text.startswith("component 2 of step 50 (")


def test_hover_shows_the_sentence_and_its_colour(panel, sentences):
    texts = [html.unescape(text) for trace in panel.figure().data if trace.text for text in trace.text]
    assert texts[1] == f"{sentences[1]}<br>topic: animal"
    assert texts[4] == f"{sentences[4]}<br>topic: code"


def test_a_long_sentence_is_wrapped_in_the_hover(embeddings):
    long = "word " * 40
    text = EmbeddingMap([long, "b", "c", "d", "e"], {"a": embeddings}).figure().data[0].text[0]
    assert max(map(len, text.split("<br>"))) <= 60
    assert text.replace("<br>", " ") == long.strip()


def test_topics_differ_in_colour_and_are_named_once_in_the_legend(panel):
    drawn = traces(panel)
    assert len({drawn[f"plain: {name}"].marker.color for name in ("animal", "weather", "code")}) == 3
    assert drawn["plain: code"].marker.color == drawn["SimCSE: code"].marker.color
    assert [trace.uid for trace in panel.figure().data if trace.showlegend] == [
        "plain: animal",
        "plain: weather",
        "plain: code",
    ]
    assert panel.figure().layout.legend.title.text == "topic"


def test_numbers_are_laid_along_one_scale_for_all_encoders(sentences, embeddings):
    panel = EmbeddingMap(
        sentences, {"a": embeddings, "b": embeddings}, color=np.array([0, 1, 2.5, 4, 5]), color_title="grade"
    )
    drawn = panel.figure()
    assert [trace.marker.color for trace in drawn.data] == [(0.0, 1.0, 2.5, 4.0, 5.0)] * 2
    assert {trace.marker.coloraxis for trace in drawn.data} == {"coloraxis"}
    assert drawn.layout.coloraxis.colorbar.title.text == "grade"
    assert drawn.data[0].text[2].endswith("grade: 2.5")


@pytest.mark.parametrize("color", [[True, False, True, True, False], ["1", "0", "1", "1", "0"]])
def test_truth_values_and_text_are_told_apart_and_not_scaled(sentences, embeddings, color):
    drawn = EmbeddingMap(sentences, {"a": embeddings}, color=color).figure()
    assert [trace.name for trace in drawn.data] == [str(color[0]), str(color[1])]


def test_without_colours_all_points_look_alike(sentences, embeddings):
    (trace,) = EmbeddingMap(sentences, {"a": embeddings}).figure().data
    assert isinstance(trace.marker.color, str)
    assert trace.showlegend is False
    assert trace.text[0] == sentences[0]


def test_tensors_are_taken_as_arrays_are(sentences, embeddings):
    tensor = EmbeddingMap(sentences, {"a": torch.tensor(embeddings)}, color=torch.arange(5)).figure()
    assert tensor == EmbeddingMap(sentences, {"a": embeddings}, color=range(5)).figure()


def test_the_scrubber_moves_only_the_encoder_with_snapshots(panel):
    early, late = traces(panel, step=0), traces(panel, step=50)
    assert early["plain: animal"].x == late["plain: animal"].x
    assert early["SimCSE: animal"].x != late["SimCSE: animal"].x
    row, plot, *_ = panel.widget.children
    row.children[0].slider.value = 0
    assert panel.state.step == 0
    index = [trace.uid for trace in panel.figure().data].index("SimCSE: animal")
    assert tuple(plot.figure["data"][index]["x"]) == early["SimCSE: animal"].x


def test_the_axes_stand_still_and_hold_all_steps(panel):
    assert panel.figure(step=0).layout.xaxis2.range == panel.figure(step=50).layout.xaxis2.range
    low, high = panel.figure().layout.xaxis2.range
    for plane in panel.state.planes.values():
        for points in plane.points.values():
            assert low < points[:, 0].min() and points[:, 0].max() < high


def test_every_state_has_the_same_traces_in_the_same_order(panel):
    changes = [{"step": 0}, {"step": 50}, {"find": "cat"}, {"lines": False}]
    assert len({tuple(trace.uid for trace in panel.figure(**change).data) for change in changes}) == 1


def test_the_axes_may_be_fitted_on_the_first_step(sentences, embeddings):
    snapshots = {0: embeddings, 50: embeddings[::-1]}
    panel = EmbeddingMap(sentences, {"SimCSE": snapshots}, fit_on="first")
    assert panel.figure().layout.xaxis.title.text.startswith("component 1 of step 0 (")
    expected = project(snapshots, "first").points[50]
    np.testing.assert_allclose(panel.figure().data[0].x, expected[:, 0], atol=1e-4)


def test_pairs_are_joined_end_to_end_and_the_lines_can_be_hidden(panel):
    points = panel.state.planes["SimCSE"].points[50]
    lines = traces(panel)["SimCSE: pairs"]
    assert lines.x[2] is None and lines.x[5] is None
    np.testing.assert_allclose([lines.x[k] for k in (0, 1, 3, 4)], points[:4, 0], atol=1e-4)
    assert lines.visible is True
    assert traces(panel, lines=False)["SimCSE: pairs"].visible is False


def test_found_sentences_stand_out_in_all_encoders(panel):
    drawn = traces(panel, find="FALLS")
    for encoder in ("plain", "SimCSE"):
        assert drawn[f"{encoder}: weather"].selectedpoints == (0, 1)
        assert drawn[f"{encoder}: animal"].selectedpoints == ()
    assert traces(panel)["plain: animal"].selectedpoints is None


def test_the_search_box_and_the_check_box_set_the_state(panel):
    _, find, lines = panel.widget.children[0].children[:3]
    find.value = "cat"
    lines.value = False
    assert (panel.state.find, panel.state.lines) == ("cat", False)


def test_there_is_a_control_only_where_there_is_something_to_control(sentences, embeddings):
    assert list(EmbeddingMap(sentences, {"a": embeddings}).controls()) == ["find"]
    assert list(EmbeddingMap(sentences, {"a": {0: embeddings}}, pairs=[(0, 1)]).controls()) == [
        "step",
        "find",
        "lines",
    ]


def test_points_are_svg_up_to_the_limit_and_webgl_beyond(embeddings):
    rng = np.random.default_rng(0)
    for rows, kind in [(SVG_POINTS, go.Scatter), (SVG_POINTS + 1, go.Scattergl)]:
        drawn = EmbeddingMap(["s"] * rows, {"a": rng.normal(size=(rows, 3))}).figure()
        assert type(drawn.data[0]) is kind


def test_the_figure_is_pure(panel):
    assert figure(panel.state) == figure(panel.state)


def test_a_page_has_a_film_if_there_are_steps_and_a_still_if_not(panel, sentences, embeddings):
    assert [frame.name for frame in panel.page_figure().frames] == ["0", "50"]
    assert EmbeddingMap(sentences, {"a": embeddings}).page_figure().frames == ()


def test_the_summary_tells_spread_and_variance(sentences):
    square = [[1, 1, 0.0], [1, -1, 0], [-1, 1, 0], [-1, -1, 0], [1, 1, 0]]
    text = repr(EmbeddingMap(sentences, {"a": {7: square}}, color=list("uvwxy"), color_title="letter"))
    assert text == (
        "Map of 5 sentences, coloured by letter (principal components of vectors of length 1)\n"
        "  a, step 7  spread 0.980  axes hold 58% + 42% of the variance of step 7"
    )


def rows(count: int, width: int = 3) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(count, width))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sentences": ["a", "b"]}, "sentences has 2 entries; a plane needs at least 3"),
        ({"embeddings": {}}, "embeddings is empty"),
        ({"embeddings": {"a": {}}}, r"embeddings\['a'\] has no snapshot"),
        ({"embeddings": {"a": rows(4)}}, r"embeddings\['a'\] has 4 rows for 5 sentences"),
        (
            {"embeddings": {"a": {0: rows(5), 9: rows(6)}}},
            r"embeddings\['a'\]\[9\] has 6 rows for 5 sentences",
        ),
        ({"embeddings": {"a": rows(5)[:, 0]}}, r"has shape \(5,\); it must be \[sentences, at least 2\]"),
        (
            {"embeddings": {"a": {0: rows(5), 9: rows(5, 4)}}},
            "changes its width over the steps: {0: 3, 9: 4}",
        ),
        ({"embeddings": {"a": np.full((5, 3), np.nan)}}, "holds NaN or infinity, first in row 0"),
        ({"embeddings": {"a": np.ones((5, 3))}}, r"embeddings\['a'\]: the embeddings are all the same"),
        ({"fit_on": 3, "embeddings": {"a": {0: rows(5)}}}, r"embeddings\['a'\]: fit_on is 3"),
        ({"color": [1, 2]}, r"color has shape \(2,\) for 5 sentences"),
        ({"color": [1, 2, 3, 4, np.inf]}, "color holds NaN or infinity, first at 4"),
        ({"pairs": [(0, 5)]}, r"pairs holds \(0, 5\); the sentences are numbered 0 to 4"),
        ({"step": 3}, "step is 3; the steps are none"),
        ({"step": 3, "embeddings": {"a": {0: rows(5), 9: rows(5)}}}, "step is 3; the steps are 0, 9"),
    ],
)
def test_what_does_not_fit_together_is_refused(sentences, changes, message):
    with pytest.raises(ValueError, match=message):
        EmbeddingMap(**({"sentences": sentences, "embeddings": {"a": rows(5)}} | changes))
