import string

import numpy as np
import pytest
from cselab_widgets import PairExplorer
from drawn import controls, hear, traces
from numpy.testing import assert_allclose

from cselab.data import Pairs
from cselab.evaluators import TransformedEncoder
from cselab.transforms import ComponentsRemoved


class Letters:
    """An encoder that counts letters, and adds one direction common to all: a cone."""

    def __init__(self, common: float = 4.0):
        self.common = common
        self.asked: list[str] = []

    def encode(self, sentences):
        self.asked += sentences
        counts = [[text.lower().count(letter) for letter in string.ascii_lowercase[:12]] for text in sentences]
        return np.array([[*row, self.common] for row in counts], dtype=np.float32)


WORDS = ["abba", "bead", "cage", "fail", "glib", "hide", "jail", "kale", "lace", "bike", "idea", "face"]


@pytest.fixture
def pairs() -> Pairs:
    """Twelve pairs: of each four the same word twice, the word turned round and changed, and another."""
    ones = WORDS
    twos = [*WORDS[:4], *(word[::-1] + "l" for word in WORDS[4:8]), *WORDS[:4]]
    kinds = ["same"] * 4 + ["turned"] * 4 + ["none"] * 4
    return Pairs(ones, twos, [5.0] * 4 + [2.0] * 4 + [0.0] * 4, name="letters", subsets=kinds)


@pytest.fixture
def panel(pairs) -> PairExplorer:
    return PairExplorer({"cone": Letters(), "open": Letters(0.5)}, pairs, "a bad idea", "an idea")


def cosine(x, y) -> float:
    return float(x @ y / np.linalg.norm(x) / np.linalg.norm(y))


def test_the_line_stands_at_the_cosine(panel):
    """The line stands at the cosine of the typed pair under each encoder."""
    for plane, (name, encoder) in enumerate((("cone", Letters()), ("open", Letters(0.5)))):
        expected = cosine(*encoder.encode(["a bad idea", "an idea"]))
        assert panel.state.cosine(name) == pytest.approx(expected, abs=1e-6)
        assert traces(panel)[f"{name}: your pair"].x == (pytest.approx(expected, abs=1e-4),) * 2
        middles = {grade: np.median(panel.to_frame().query(f"grade == {grade}")[name]) for grade in (0, 2, 5)}
        nearest = min(middles, key=lambda grade: abs(middles[grade] - expected))
        assert panel.planes()[plane].title.endswith(f": your pair has {expected:.2f}, nearest to grade {nearest}")
        assert traces(panel)[f"{name}: medians"].x == pytest.approx(list(middles.values()), abs=1e-4)
        assert [float(median) for median in traces(panel)[f"{name}: numbers"].text[:-1]] == pytest.approx(
            list(middles.values()), abs=0.005
        )


def test_grades_out_of_order_are_named_with_their_kinds(pairs):
    """Under this encoder the pairs of grade 1 are the same word, those of grade 2 are not."""
    turned = Pairs(pairs.sentences1, pairs.sentences2, [1.0] * 4 + [2.0] * 4 + [0.0] * 4, subsets=pairs.subsets)
    turned = PairExplorer({"cone": Letters(0.1)}, turned, "a", "b").planes()[0]
    assert turned.words == "Grade 1 (same) has higher cosines than grade 2."
    assert tuple(turned.y["ticktext"]) == ("grade 0: unrelated", "grade 1: same", "grade 2: same meaning")
    right = PairExplorer({"cone": Letters(0.1)}, pairs, "a", "b").planes()[0]
    assert right.words == "The higher the grade, the higher the cosine." and right.y["ticktext"][1] == "grade 2"


def test_typing_a_sentence_moves_the_line(panel):
    """Typing a sentence moves the line and encodes only what is new."""
    before = panel.state.cosine("cone")
    _ = panel.widget
    encoder = panel.state.data.encoders["cone"]
    encoder.asked.clear()
    controls(panel)["second"].value = "a bad idea"
    assert panel.state.second == "a bad idea" and panel.state.cosine("cone") == pytest.approx(1)
    assert before < 0.99
    controls(panel)["second"].value = "a cake"
    assert encoder.asked == ["a cake"]


def test_removing_the_mean_opens_the_cone_and_moves_pairs(panel):
    """Removing the mean opens the cone and moves pairs and line alike."""
    everything = Letters().encode(panel.state.data.pairs.sentences)
    mean = everything.mean(axis=0)
    one, two = Letters().encode(["a bad idea", "an idea"]) - mean
    before = panel.to_frame()["cone"].mean()
    controls(panel)["removed"].value = 1
    assert panel.state.removed == 1
    assert panel.state.cosine("cone") == pytest.approx(cosine(one, two), abs=1e-5)
    assert panel.to_frame()["cone"].mean() < before - 0.3
    assert_allclose(panel.to_frame()["cone"][5], cosine(everything[5] - mean, everything[17] - mean), atol=1e-5)


def test_removed_components_are_the_largest(panel):
    """Removed components are the largest and leave nothing along them."""
    panel.set(removed=4)
    data = panel.state.data
    rows = data.without("cone", np.concatenate(data.sides("cone")), 4)
    everything = Letters().encode(panel.state.data.pairs.sentences)
    _, _, axes = np.linalg.svd(everything - everything.mean(axis=0), full_matrices=False)
    assert_allclose(rows @ axes[:3].T, 0, atol=1e-4)
    assert np.abs(rows @ axes[3]).max() > 0.1


def test_the_cosines_of_all_encoders_fill_the_axis(panel):
    for removed in (0, 1, 5):
        layout, data = panel.figure(removed=removed).layout, panel.state.data
        (low, high), cosines = layout.xaxis.range, np.concatenate([data.cosines(e, removed) for e in data.encoders])
        assert low <= cosines.min() and cosines.max() <= high
        hills = [trace.x for uid, trace in traces(panel, removed=removed).items() if trace.fill]
        assert low <= min(map(min, hills)) and max(map(max, hills)) <= high < 1.05


def test_clicking_a_pair_loads_it(panel):
    box = panel.widget.children[0].children[0]
    hear(panel, "click", 5)
    assert (panel.state.first, panel.state.second) == ("hide", "edihl")
    assert box.value == "hide"
    assert panel.picked()["kind"].tolist() == ["turned"]
    assert panel.planes()[0].words.startswith("Your pair deserves grade 2.")


def test_of_very_many_pairs_the_list_offers_some_of_every_grade(pairs, monkeypatch):
    monkeypatch.setattr("cselab_widgets.panels.pair_explorer.OFFERED", 6)
    labels = [label for label, _ in controls(PairExplorer({"a": Letters()}, pairs))["selection"].options[1:]]
    assert [label.split(":")[0] for label in labels] == ["grade 5"] * 2 + ["grade 2"] * 2 + ["grade 0"] * 2


def test_an_encoder_with_a_transform_keeps_it(pairs):
    """An encoder with a transform behind it keeps its transform."""
    cone = Letters()
    mean = ComponentsRemoved(0).fit(cone.encode(pairs.sentences))
    panel = PairExplorer({"cone": cone, "centred": TransformedEncoder(cone, mean)}, pairs, "a bad idea", "an idea")
    assert panel.state.cosine("centred") < panel.state.cosine("cone")
    centred = panel.state.cosine("centred")
    panel.set(removed=1)
    assert panel.state.cosine("cone") == pytest.approx(centred, abs=1e-6)


def test_sentences_cannot_bring_markup_into_the_page(pairs):
    pairs.sentences1[0] = "<script>alert(1)</script>"
    panel = PairExplorer({"a": Letters()}, pairs)
    panel.clicked(0)
    assert "<script>" not in panel.details(panel.state)
    assert "<script>" not in panel.state.data.hover[0]


def test_what_an_encoder_does_not_read_of_a_sentence_is_said(tiny_encoder, pairs):
    encoder, sentences = tiny_encoder
    panel = PairExplorer({"tiny": encoder}, pairs, sentences[0], sentences[1])
    assert panel.state.remarks == []
    panel.set(first=" ".join([sentences[0]] * 500), second="\u6f22 " + sentences[1])
    first, second = panel.state.remarks
    assert first.startswith("first sentence: tiny encodes") and "the rest is truncated" in first
    assert second.startswith("second sentence: tiny has no vocabulary for 1 of")
    assert first in panel.details(panel.state) and second in panel.details(panel.state)
