import re
from dataclasses import replace

import numpy as np
import plotly.graph_objects as go
import pytest
from cselab_widgets import EmbeddingMap
from cselab_widgets.kit.panel import SVG_POINTS
from cselab_widgets.kit.projection import Projection, project
from drawn import controls, hear
from numpy.testing import assert_allclose


def traces(panel, **changes) -> dict:
    """The traces of each encoder's map: those of sentences by encoder and name, the others by their uid."""
    return {
        f"{encoder}: {trace.uid.removeprefix('sentences: ')}": trace
        for encoder in panel.state.encoders
        for trace in panel.planes(**{**changes, "encoder": encoder})[0].traces
    }


def points(panel, **changes) -> list:
    """The traces of sentences in the map of the first encoder."""
    (plane,) = panel.planes(**{"encoder": panel.state.encoders[0], **changes})
    return [trace for trace in plane.traces if trace.uid.startswith("sentences: ")]


def hovers(panel) -> list[str]:
    """The texts that points carry to be read beside the map, group by group."""
    return [text for trace in points(panel) for _, text in trace.customdata]


@pytest.fixture
def panel(sentences, embeddings) -> EmbeddingMap:
    """An encoder looked at once beside one looked at twice, coloured by topic."""
    return EmbeddingMap(
        sentences,
        {"plain": embeddings, "SimCSE": {0: embeddings, 50: embeddings[::-1]}},
        color=["animal", "animal", "weather", "weather", "code"],
        color_title="topic",
        focus=None,
    )


def test_each_sentence_is_a_point_of_its_projection(panel, embeddings):
    drawn = traces(panel)
    expected = project({None: embeddings}).points[None]
    for name, rows in [("animal", [0, 1]), ("weather", [2, 3]), ("code", [4])]:
        assert_allclose(drawn[f"plain: {name}"].x, expected[rows, 0], atol=1e-4)
        assert_allclose(drawn[f"plain: {name}"].y, expected[rows, 1], atol=1e-4)


def test_the_map_moves_between_encoders_on_one_scale(panel):
    """The same traces, so that Plotly moves the dots, and axes that point the same way."""
    (plain,), (simcse,) = panel.planes(encoder="plain"), panel.planes(encoder="SimCSE")
    assert [trace.uid for trace in plain.traces] == [trace.uid for trace in simcse.traces]
    for axis in ("x", "y"):
        assert (
            getattr(plain, axis)["range"] == getattr(simcse, axis)["range"]
        )  # else Plotly moves the axes, not the dots
    assert plain.square and plain.layout["transition"]["duration"] > 0
    mirrored = EmbeddingMap(panel.state.data.sentences, {"a": rows(5), "b": rows(5) * [-1, 1, 1], "c": 2 * rows(5)})
    a, b, c = (replace(mirrored.state, encoder=name).points for name in "abc")
    assert_allclose(a, c, atol=1e-6)
    assert ((a - a.mean(0)) * (b - b.mean(0))).sum(0).min() > 0


def test_embedding_map_tooltip_has_the_name_alone(panel, embeddings):
    assert [trace.hovertemplate for trace in points(panel)] == [
        f"{name}<extra></extra>" for name in ("animal", "weather", "code")
    ]
    assert hovers(panel)[1] == "A dog barks &amp; runs.<br>topic: animal"
    (bare,) = points(EmbeddingMap(list("abcde"), {"a": embeddings}))
    assert bare.hovertemplate is None and bare.hoverinfo == "none"


def test_embedding_map_opens_at_what_gained_the_most():
    before, after = (np.eye(4)[[0, 1, 2, 0, 1, 2, 3, 3]] + 0.01 * rows(8, 4) for _ in range(2))
    before[[6, 7]] = np.eye(4)[[0, 1]] + 0.01
    vectors = {"plain": np.repeat(before, 6, axis=0), "SimCSE": np.repeat(after, 6, axis=0)}
    for moved in vectors.values():
        moved += 0.001 * np.random.default_rng(1).normal(size=moved.shape)
    names = np.repeat(list("abcabcdd"), 6).tolist()
    panel = EmbeddingMap([f"{name} <{i}>" for i, name in enumerate(names)], vectors, color=names)
    state = panel.state
    gained = [[sum(names[near.row] == names[row] for near in state.data.neighbours(encoder, None, row))
               for row in range(48)] for encoder in vectors]  # fmt: skip
    assert state.focus == np.argmax(np.subtract(gained[1], gained[0])) and gained[0][state.focus] < 10
    name = names[state.focus]
    beside = panel.planes()[0].reads
    assert beside.count(f"<b>{name}</b>") == 10  # in words, and in bold
    told = f"10 of the 10 nearest to \u201c{name} &lt;{state.focus}&gt;\u201d share its colour ({name})"
    assert panel.figure().layout.title.text == f"SimCSE: {told}"
    drawn = traces(panel)
    for encoder, count in zip(vectors, np.transpose(gained)[state.focus], strict=True):
        assert len(drawn[f"{encoder}: alike"].x) == 3 * count
        assert len(drawn[f"{encoder}: nearest"].x) == 3 * (10 - count)
    assert EmbeddingMap(list("abc"), {"a": rows(3)}, color=list("xyy")).state.focus is None  # nothing to compare


@pytest.mark.parametrize("color", [[True, False, True, True, False], [1, 0, 1, 1, 0]])
def test_truth_values_and_numbers_are_told_apart_as_text(sentences, embeddings, color):
    drawn = points(EmbeddingMap(sentences, {"a": embeddings}, color=color))
    assert [trace.name for trace in drawn] == [str(color[0]), str(color[1])]


def test_the_scrubber_moves_only_the_encoder_with_snapshots(panel):
    early, late = traces(panel, step=0), traces(panel, step=50)
    assert early["plain: animal"].x.tolist() == late["plain: animal"].x.tolist()
    assert early["SimCSE: animal"].x.tolist() != late["SimCSE: animal"].x.tolist()


def test_points_are_svg_up_to_the_limit_and_webgl_beyond(embeddings):
    rng = np.random.default_rng(0)
    for rows, kind in [(SVG_POINTS, go.Scatter), (SVG_POINTS + 1, go.Scattergl)]:
        drawn = points(EmbeddingMap(["s"] * rows, {"a": rng.normal(size=(rows, 3))}))
        assert type(drawn[0]) is kind


def test_the_summary_tells_the_answer_and_the_note_the_variance(sentences):
    square = [[1, 1, 0.0], [1, -1, 0], [-1, 1, 0], [-1, -1, 0], [1, 1, 0]]
    panel = EmbeddingMap(sentences, {"a": {7: square}}, color=list("uvwxy"), color_title="letter")
    assert repr(panel) == (
        "Map of 5 sentences, coloured by letter (PCA)\n"
        "  a, step 7: of the 4 nearest to each sentence, 0 % share its letter (by chance: 0 %)"
    )
    assert panel.explain(panel.state).startswith("Two components show 100 % of the variance. All maps")


def rows(count: int, width: int = 3) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(count, width))


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"sentences": ["a", "b"]}, "sentences has 2 entries; expected at least 3"),
        ({"embeddings": {}}, "embeddings is empty"),
        ({"embeddings": {"a": {}}}, r"embeddings\['a'\] has no snapshot"),
        ({"embeddings": {"a": rows(4)}}, r"embeddings\['a'\] has 4 rows for 5 sentences"),
        ({"embeddings": {"a": {0: rows(5), 9: rows(6)}}}, r"embeddings\['a'\]\[9\] has 6 rows for 5 sentences"),
        ({"embeddings": {"a": rows(5)[:, 0]}}, r"has shape \(5,\); expected \[sentences, at least 2\]"),
        ({"embeddings": {"a": {0: rows(5), 9: rows(5, 4)}}}, "changes its width over the steps: {0: 3, 9: 4}"),
        ({"embeddings": {"a": np.full((5, 3), np.nan)}}, "holds NaN or infinity, first in row 0"),
        ({"embeddings": {"a": np.ones((5, 3))}}, r"embeddings\['a'\]: the embeddings are all the same"),
        ({"color": [1, 2]}, "color has 2 values for 5 sentences"),
        (
            {"sentences": list(map(str, range(49))), "color": range(49), "embeddings": {"a": rows(49)}},
            "color has 49 different values; give at most 48",
        ),
    ],
)
def test_what_does_not_fit_together_is_refused(sentences, changes, message):
    with pytest.raises(ValueError, match=message):
        EmbeddingMap(**({"sentences": sentences, "embeddings": {"a": rows(5)}} | changes))


def test_search_looks_into_labels_says_how_many_it_found(panel):
    """Search looks into labels says how many it found and lists them."""
    panel.set(find="WEATHER")
    assert panel.selection == (2, 3)
    drawn = traces(panel)
    for encoder in ("plain", "SimCSE"):
        assert drawn[f"{encoder}: weather"].selectedpoints == (0, 1)
        assert drawn[f"{encoder}: animal"].selectedpoints == ()
    assert '"WEATHER": found in 2 of 5 sentences or labels' in panel.summary()
    beside = panel.planes()[0].reads
    assert "Rain falls." in beside and "A cat" not in beside
    panel.set(find="nowhere")
    assert '"nowhere": found in 0 of 5' in panel.summary()
    panel.set(find="")
    assert panel.selection == () and traces(panel)["plain: animal"].selectedpoints is None


def test_a_lasso_selects_in_all_planes(panel):
    """A lasso selects in all planes and gives the rows to python."""
    panel.set(find="cat")
    hear(panel, "select", 3, 1)
    assert panel.selection == (1, 3) and panel.state.find == ""
    for encoder in ("plain", "SimCSE"):
        assert traces(panel)[f"{encoder}: animal"].selectedpoints == (1,)
        assert traces(panel)[f"{encoder}: weather"].selectedpoints == (1,)
        assert traces(panel)[f"{encoder}: code"].selectedpoints == ()
    picked = panel.picked()
    assert picked["sentence"].tolist() == [panel.state.data.sentences[1], panel.state.data.sentences[3]]
    assert picked["topic"].tolist() == ["animal", "weather"]


def test_a_click_shows_the_nearest_in_full_width():
    rng = np.random.default_rng(0)
    before, after = rng.normal(size=(2, 30, 6))
    names = [f"sentence {i}" for i in range(30)]
    panel = EmbeddingMap(names, {"a": before, "b": after})
    hear(panel, "click", 4)
    assert panel.state.focus == 4
    nearest = {}
    for name, vectors in (("a", before), ("b", after)):
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        cosines = unit @ unit[4]
        cosines[4] = -2
        nearest[name] = np.argsort(-cosines).tolist()[:10]
        found = panel.state.data.neighbours(name, None, 4)
        assert [near.row for near in found] == nearest[name]
        assert_allclose([near.cosine for near in found], cosines[nearest[name]], atol=1e-6)
        star = traces(panel)[f"{name}: nearest"]
        assert_allclose(star.x[1], traces(panel)[f"{name}: "].x[nearest[name][0]], atol=1e-4)
    for name in "ab":
        (plane,) = panel.planes(encoder=name)
        assert re.findall(r"(sentence \d+)</td>", plane.reads) == [names[row] for row in nearest[name]]
        assert traces(panel)[f"{name}: "].selectedpoints == tuple(sorted([4, *nearest[name]]))
    panel.clicked(4)
    assert panel.state.focus is None and traces(panel)["a: nearest"].x == ()


def test_a_sentence_found_is_chosen_from_the_list(panel):
    """A sentence found is chosen from the list and what was found stays on offer."""
    find, focus = (controls(panel)[field] for field in ("find", "focus"))
    assert [row for _, row in focus.options] == [None, 0, 1, 2, 3, 4]
    find.value = "weather"
    assert [row for _, row in focus.options] == [None, 2, 3]
    assert focus.value is None and panel.selection == (2, 3)
    for row in (2, 3):
        focus.value = row
        assert panel.selection == (2, 3) and panel.state.focus == row
        assert [row for _, row in focus.options] == [None, 2, 3] and find.value == "weather"
        assert [len(traces(panel)[f"plain: {uid}"].x) for uid in ("alike", "nearest")] == [3, 9]
        assert f"\u201c{panel.state.data.sentences[row]}\u201d share its topic" in panel.summary()
    focus.index = 0  # "no sentence", as a hand chooses it
    assert panel.selection == (2, 3) and panel.state.focus is None and focus.label == "no sentence"


def test_of_many_sentences_the_first_are_offered():
    """Of many sentences the first are offered and a search brings up the others."""
    panel = EmbeddingMap([f"sentence {i}" for i in range(300)], {"a": rows(300)})
    offered = panel.options(panel.state)["focus"]
    assert len(offered) == 1 + 200
    panel.set(find="sentence 299")
    assert [row for _, row in panel.options(panel.state)["focus"]] == [None, 299]
    assert panel.state.focus == 299
    panel.set(find="nowhere")
    assert [row for _, row in panel.options(panel.state)["focus"]] == [None]


def test_shares_count_the_neighbours_of_each_sentence():
    vectors = rows(50, 6)
    names = list("xyyzz") * 10
    data = EmbeddingMap([str(i) for i in range(50)], {"a": vectors}, color=names).state.data
    for row, share in enumerate(data.shares("a", None)):
        assert share == np.mean([names[near.row] == names[row] for near in data.neighbours("a", None, row)])


def three_clusters(step: int, each: int = 20) -> np.ndarray:
    rng = np.random.default_rng(step)
    centres = 6 * np.eye(3, 10)
    return np.repeat(centres, each, axis=0) + rng.normal(size=(3 * each, 10)) * 0.3


def gathered(trace_x, trace_y) -> bool:
    """Whether each of three clusters lies together, apart from the others."""
    parts = np.stack([trace_x, trace_y], axis=1).reshape(3, -1, 2)
    middle = parts.mean(axis=1)
    within = np.linalg.norm(parts - middle[:, None], axis=2).max()
    between = min(np.linalg.norm(middle[i] - middle[j]) for i, j in [(0, 1), (0, 2), (1, 2)])
    return within < between


def test_t_sne_makes_each_step_a_map_of_its_own_and_says_so():
    panel = EmbeddingMap([str(i) for i in range(60)], {"a": {0: three_clusters(0), 9: three_clusters(1)}})
    panel.set(projection="t-SNE")
    for step in (0, 9):
        drawn = points(panel, step=step)[0]
        assert gathered(drawn.x, drawn.y)
    assert "each step has its own map" in panel.explain(panel.state)
    assert panel.figure().layout.xaxis.showticklabels is False


def test_what_takes_long_is_said_before_it_starts_and_no_longer(monkeypatch):
    """What takes long is said before it starts and no longer when it is done."""
    from cselab_widgets.panels import embedding_map

    panel = EmbeddingMap([str(i) for i in range(60)], {"a": {0: three_clusters(0), 9: three_clusters(1)}})
    said = []

    def slowly(taken, method):
        said.append(panel.widget.children[0].children[-1].value)
        return Projection({step: rows[:, :2] for step, rows in taken.items()}, None, method)

    monkeypatch.setattr(embedding_map, "project", slowly)
    control = panel.widget.children[0].children
    next(one for one in control if getattr(one, "value", None) == "PCA").value = "t-SNE"
    assert said == ["fitting t-SNE \u2026"]
    assert control[-1].value == ""
    assert panel.busy_message({"step": 0}) == ""  # it is known now


def test_the_title_counts_the_neighbours_with_the_same_name():
    near = [[1, 0], [1, 0.1], [0, 1], [0.1, 1]]
    for names, share in (("xxyy", 1 / 3), ("xxxy", 1 / 2), ("wxyz", 0)):  # three neighbours each: all others
        drawn = EmbeddingMap(list("abcd"), {"toy": near}, color=list(names), color_title="topic").figure()
        told = f"toy: of the 3 nearest to each sentence, {100 * share:.0f} % share its topic"
        assert drawn.layout.title.text == f"{told} (by chance: {100 * share:.0f} %)"  # the three are all others
