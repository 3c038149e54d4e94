import re
import sys

import numba
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
    """An encoder looked at once beside one looked at twice, coloured by topic, two sentences paired."""
    return EmbeddingMap(
        sentences,
        {"plain": embeddings, "SimCSE": {0: embeddings, 50: embeddings[::-1]}},
        color=["animal", "animal", "weather", "weather", "code"],
        color_title="topic",
        pairs=[(0, 1), (2, 3)],
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
    mirrored = EmbeddingMap(panel.state.sentences, {"a": rows(5), "b": rows(5) * [-1, 1, 1], "c": 2 * rows(5)})
    a, b, c = (mirrored.state.points(name) for name in "abc")
    assert_allclose(a, c, atol=1e-6)
    assert ((a - a.mean(0)) * (b - b.mean(0))).sum(0).min() > 0


def test_clusters_have_names_that_do_not_overlap_and_ellipses():
    near = np.random.default_rng(0).normal(size=(40, 3)) + np.repeat([[9, 0, 0], [0, 9, 0]], 20, axis=0)
    panel = EmbeddingMap([str(i) for i in range(40)], {"a": near}, color=["x"] * 20 + ["<y>"] * 20)
    found = traces(panel)
    styles = panel.state.styles
    assert set(found["a: names"].text) == {
        f'<span style="color:{styles[name].color}"><b>{text}</b></span>'
        for name, text in (("x", "x"), ("<y>", "&lt;y&gt;"))
    }
    assert found["a: <y>"].marker.color == styles["<y>"].color and not found["a: x"].showlegend
    (plane,) = panel.planes()
    for trace in (found["a: region: x"], found["a: region: <y>"]):  # no ellipse is cut at the edge
        for ends, values in ((plane.x["range"], trace.x), (plane.y["range"], trace.y)):
            assert ends[0] < min(values) and max(values) < ends[1]
    assert found["a: names"].x[0] != found["a: names"].x[1]
    alike = traces(EmbeddingMap([str(i) for i in range(40)], {"a": near}, color=["x", "y", "z", "w"] * 10))
    at = np.stack([alike["a: names"].x, alike["a: names"].y], axis=1) / np.ptp(panel.state.points("a"), axis=0)
    apart = np.abs(at[:, None] - at) > [0.25, 0.06]  # beside each other, or below
    assert (apart.any(2) | np.eye(len(at), dtype=bool)).all()
    assert {found[f"a: region: {name}"].fill for name in ("x", "<y>")} == {"none"}
    focused = panel.planes(focus=20)[0].traces
    assert [trace.uid for trace in focused if trace.fill == "toself"] == ["region: <y>"]
    for name in ("x", "<y>"):
        dots = np.stack([found[f"a: {name}"].x, found[f"a: {name}"].y])
        ellipse = np.stack([found[f"a: region: {name}"].x, found[f"a: region: {name}"].y])
        assert_allclose(ellipse[:, :-1].mean(1), dots.mean(1), atol=1e-3)
        edge = ellipse - dots.mean(1, keepdims=True)
        assert_allclose((edge * np.linalg.solve(np.cov(dots), edge)).sum(0), 1, rtol=0.01)


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
    assert f": 10 of 10 are {name}; under plain, {gained[0][state.focus]}." in beside
    assert f"&ldquo;<b>{name} &lt;{state.focus}&gt;</b>&rdquo;" in beside
    assert EmbeddingMap(list("abc"), {"a": rows(3)}, color=list("xyy")).state.focus is None  # nothing to compare


def test_numbers_are_laid_along_one_scale_for_all_encoders(sentences, embeddings):
    panel = EmbeddingMap(
        sentences, {"a": embeddings, "b": embeddings}, color=np.array([0, 1, 2.5, 4, 5]), color_title="grade"
    )
    assert [trace.marker.color for trace in points(panel)] == [(0.0, 1.0, 2.5, 4.0, 5.0)]
    assert {trace.marker.coloraxis for trace in points(panel)} == {"coloraxis"}
    assert panel.figure().layout.coloraxis.colorbar.title.text == "grade"
    assert hovers(panel)[2].endswith("grade: 2.5")


@pytest.mark.parametrize("color", [[True, False, True, True, False], ["1", "0", "1", "1", "0"]])
def test_truth_values_and_text_are_told_apart_and_not_scaled(sentences, embeddings, color):
    drawn = points(EmbeddingMap(sentences, {"a": embeddings}, color=color))
    assert [trace.name for trace in drawn] == [str(color[0]), str(color[1])]


def test_the_scrubber_moves_only_the_encoder_with_snapshots(panel):
    early, late = traces(panel, step=0), traces(panel, step=50)
    assert early["plain: animal"].x.tolist() == late["plain: animal"].x.tolist()
    assert early["SimCSE: animal"].x.tolist() != late["SimCSE: animal"].x.tolist()


def test_the_axes_may_be_fitted_on_the_first_step(sentences, embeddings):
    snapshots = {0: embeddings, 50: embeddings[::-1]}
    panel = EmbeddingMap(sentences, {"SimCSE": snapshots}, fit_on="first")
    assert "their axes are the components of step 0" in panel.explain(panel.state)
    expected = project(snapshots, "first").points[50]
    assert_allclose(points(panel)[0].x, expected[:, 0], atol=1e-4)


def test_pairs_are_joined_end_to_end_and_the_lines_can_be_hidden(panel):
    points = panel.state.points("SimCSE")
    lines = traces(panel)["SimCSE: pairs"]
    assert lines.x[2] is None and lines.x[5] is None
    assert_allclose([lines.x[k] for k in (0, 1, 3, 4)], points[:4, 0], atol=1e-4)
    assert lines.visible is True
    assert traces(panel, lines=False)["SimCSE: pairs"].visible is False


def test_points_are_svg_up_to_the_limit_and_webgl_beyond(embeddings):
    rng = np.random.default_rng(0)
    for rows, kind in [(SVG_POINTS, go.Scatter), (SVG_POINTS + 1, go.Scattergl)]:
        drawn = points(EmbeddingMap(["s"] * rows, {"a": rng.normal(size=(rows, 3))}))
        assert type(drawn[0]) is kind


def test_the_summary_tells_spread_and_variance(sentences):
    square = [[1, 1, 0.0], [1, -1, 0], [-1, 1, 0], [-1, -1, 0], [1, 1, 0]]
    text = repr(EmbeddingMap(sentences, {"a": {7: square}}, color=list("uvwxy"), color_title="letter"))
    assert text == (
        "Map of 5 sentences, coloured by letter (PCA of vectors of length 1)\n"
        "  a, step 7  spread 0.980  axes hold 58 % + 42 % of the variance of step 7"
    )


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
        ({"fit_on": 3, "embeddings": {"a": {0: rows(5)}}}, r"embeddings\['a'\]: fit_on is 3"),
        ({"color": [1, 2]}, r"color has shape \(2,\) for 5 sentences"),
        ({"color": [1, 2, 3, 4, np.inf]}, "color holds NaN or infinity, first at 4"),
        ({"pairs": [(0, 5)]}, r"pairs holds \(0, 5\); the sentences are numbered 0 to 4"),
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
    assert picked["sentence"].tolist() == [panel.state.sentences[1], panel.state.sentences[3]]
    assert picked["topic"].tolist() == ["animal", "weather"]


def test_a_click_shows_the_nearest_in_full_width():
    """A click shows the nearest in full width and their ranks in the other encoder."""
    rng = np.random.default_rng(0)
    before, after = rng.normal(size=(2, 30, 6))
    names = [f"sentence {i}" for i in range(30)]
    panel = EmbeddingMap(names, {"a": before, "b": after})
    hear(panel, "click", 4)
    assert panel.state.focus == 4
    nearest, order = {}, {}
    for name, vectors in (("a", before), ("b", after)):
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        cosines = unit @ unit[4]
        cosines[4] = -2
        order[name] = np.argsort(-cosines).tolist()
        nearest[name] = order[name][:10]
        found = panel.state.data.neighbours(name, None, 4)
        assert [near.row for near in found] == nearest[name]
        assert_allclose([near.cosine for near in found], cosines[nearest[name]], atol=1e-6)
        star = traces(panel)[f"{name}: nearest"]
        assert_allclose(star.x[1], traces(panel)[f"{name}: "].x[nearest[name][0]], atol=1e-4)
    for name, other in ("ab", "ba"):
        (plane,) = panel.planes(encoder=name)
        listed = re.findall(r'(sentence \d+)</td><td class="number">(\d+)</td>', plane.reads)
        assert listed == [(names[row], str(order[other].index(row) + 1)) for row in nearest[name]]
        faded = [row for row, opacity in enumerate(plane.traces[0].marker.opacity) if opacity < 1]
        assert sorted([4, *nearest[name], *faded]) == list(range(30))
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
        assert panel.selection == (row,) and panel.state.focus == row
        assert [row for _, row in focus.options] == [None, 2, 3] and find.value == "weather"
        assert len(traces(panel)["plain: nearest"].x) == 3 * 4  # lines to the four others
        assert "found in 2 of 5 sentences or labels; 1 of them chosen" in panel.summary()
        assert f"<b>{panel.state.sentences[row]}</b>" in panel.planes()[0].reads
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


def test_neighbours_in_blocks_are_those_of_all_cosines(monkeypatch):
    monkeypatch.setattr("cselab_widgets.panels.embedding_map.COSINES", 7 * 50)  # seven rows at a time
    vectors = rows(50, 6)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = unit @ unit.T - 9 * np.eye(50)
    found = EmbeddingMap([str(i) for i in range(50)], {"a": vectors}).state.data.nearest("a", None)
    assert [set(row) for row in found] == [set(row) for row in np.argsort(-cosines)[:, :10]]


def test_without_a_sentence_the_shares_of_each_name_stand_beside_the_map():
    near = np.repeat([[1.0, 0], [0, 1]], 2, axis=0)
    mixed = np.array([[1.0, 0], [0, 1], [0.1, 1], [1, 0.1]])
    panel = EmbeddingMap(list("abcd"), {"one": near, "other": mixed}, color=list("xxyy"), focus=None)
    shares = re.findall(r'(\w)</td><td class="number">(\d+ %)</td><td class="number">(\d+ %)', panel.planes()[0].reads)
    assert shares == [("x", "33 %", "33 %"), ("y", "33 %", "33 %")]  # of three neighbours, all others


def test_pca_without_its_first_component_shows_the_second(sentences, embeddings):
    """Pca without its first component shows the second and third."""
    from sklearn.decomposition import PCA

    panel = EmbeddingMap(sentences, {"a": embeddings}, projection="PCA without component 1")
    unit = embeddings / np.linalg.norm(embeddings, axis=1, keepdims=True)
    expected = PCA(n_components=3).fit_transform(unit)[:, 1:]
    drawn = points(panel)[0]
    assert_allclose(np.abs([drawn.x, drawn.y]), np.abs(expected.T), atol=1e-4)
    assert panel.figure().layout.xaxis.title.text.startswith("component 2: ")
    assert panel.figure().layout.yaxis.title.text.startswith("component 3: ")


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
    assert "each step is a separate map" in panel.explain(panel.state)
    assert panel.figure().layout.xaxis.showticklabels is False
    assert "a separate map" in panel.summary()


def test_umap_is_fitted_on_one_step_and_the_others_are_placed(monkeypatch):
    """Umap is fitted on one step and the others are placed into it."""
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)  # compiling takes longer than ten sentences a cluster
    panel = EmbeddingMap(
        [str(i) for i in range(30)], {"a": {0: three_clusters(0, 10), 9: three_clusters(1, 10)}}, projection="UMAP"
    )
    late, early = (points(panel, step=step)[0] for step in (9, 0))
    assert gathered(late.x, late.y)
    assert "placed into the map of step 9" in panel.explain(panel.state)
    assert panel.figure().layout.xaxis.title.text == "UMAP"
    for k in range(3):  # a cluster is placed where the fitted one lies
        rows = slice(10 * k, 10 * k + 10)
        distances = [
            np.hypot(
                early.x[rows].mean() - late.x[10 * j : 10 * j + 10].mean(),
                early.y[rows].mean() - late.y[10 * j : 10 * j + 10].mean(),
            )
            for j in range(3)
        ]
        assert int(np.argmin(distances)) == k


def test_what_takes_long_is_said_before_it_starts_and_no_longer(monkeypatch):
    """What takes long is said before it starts and no longer when it is done."""
    from cselab_widgets.panels import embedding_map

    panel = EmbeddingMap([str(i) for i in range(60)], {"a": {0: three_clusters(0), 9: three_clusters(1)}})
    said = []

    def slowly(taken, fit_on, method):
        said.append(panel.widget.children[0].children[-1].value)
        return Projection({step: rows[:, :2] for step, rows in taken.items()}, 9, None, method)

    monkeypatch.setattr(embedding_map, "project", slowly)
    control = panel.widget.children[0].children
    next(one for one in control if getattr(one, "value", None) == "PCA").value = "UMAP"
    assert said == ["fitting UMAP \u2026, about half a minute the first time"]
    assert control[-1].value == ""
    assert panel.busy_message({"step": 0}) == ""  # it is known now


def test_umap_that_is_not_installed_is_told_with_the_command(monkeypatch, sentences, embeddings):
    monkeypatch.setitem(sys.modules, "umap", None)
    panel = EmbeddingMap(sentences, {"a": embeddings})
    with pytest.raises(ImportError, match="pip install umap-learn"):
        panel.set(projection="UMAP")
    assert panel.state.projection == "PCA"


def test_the_title_counts_the_neighbours_with_the_same_name():
    near = [[1, 0], [1, 0.1], [0, 1], [0.1, 1]]
    for names, share in (("xxyy", 1 / 3), ("xxxy", 1 / 2), ("wxyz", 0)):  # three neighbours each: all others
        drawn = EmbeddingMap(list("abcd"), {"toy": near}, color=list(names), color_title="topic").figure()
        told = f"toy: of the 3 sentences nearest to each, {100 * share:.0f} % share its topic"
        assert drawn.layout.title.text == f"{told} (by chance: {100 * share:.0f} %)"  # the three are all others
