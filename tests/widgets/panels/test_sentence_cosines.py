"""Sentences that are typed: what Python knows of them, and a page that computes them by itself."""

import re

import numpy as np
import pytest
from cselab_lab.headless.page import loaded_from_outside
from cselab_widgets import PairExplorer
from numpy.testing import assert_allclose
from playwright.sync_api import expect

from cselab.encoders.encoder import SentenceEncoder
from cselab.world import World

CATS = ["A cat sleeps.", "A cat is asleep.", "It rains."]
PAIRS = World(0).sts(24, split="dev")


@pytest.fixture(scope="module")
def encoders():
    """Before, and a stand-in for after: the same weights pooled otherwise."""
    return {"before": SentenceEncoder("micro"), "after": SentenceEncoder("micro", pooling="cls")}


def test_python_has_the_cosines_in_words_as_vectors(encoders):
    """Python has the cosines in words as vectors and as a table."""
    panel = PairExplorer(encoders, PAIRS).in_page(CATS, pair=(0, 2))
    frame = panel.to_frame()
    assert frame[["first", "second"]].to_numpy().tolist() == [CATS[:2], CATS[::2], CATS[1:]]
    for name, encoder in encoders.items():
        expected = encoder.similarity(*(encoder.encode(CATS),) * 2)
        assert_allclose(frame[name], expected[[0, 0, 1], [1, 2, 2]], atol=1e-6)
        assert_allclose(np.linalg.norm(panel.vectors()[name], axis=1), 1, atol=1e-6)
    row = frame.iloc[1]
    assert f"cosine of 1 and 3: {row['before']:.3f} (before), {row['after']:.3f} (after)" in panel.summary()


def test_the_output_of_a_cell_is_light_and_says(encoders):
    """The output of a cell is light and says where the weights are."""
    bundle, _ = PairExplorer(encoders, PAIRS).in_page(CATS)._repr_mimebundle_()
    assert len(bundle["text/html"]) < 20_000  # the weights are not in it
    assert "cosine of 1 and 2: " in bundle["text/html"] and "the weights, 3.3 MB" in bundle["text/html"]


# ---------------------------------------------------------------------------------------------- in a browser


def shown(page, name):
    """The numbers of a table."""
    table = page.locator("figure").filter(has_text=name).locator("td:not(:empty)")
    return np.array([float(cell.replace("\u2212", "-")) for cell in table.all_text_contents()])


@pytest.mark.browser
def test_the_file_computes_what_is_typed_without_a_network(offline, tmp_path, encoders):
    panel = PairExplorer(encoders, PAIRS).in_page(CATS)
    file = panel.to_html(tmp_path / "type.html")
    assert loaded_from_outside(file.read_text(encoding="utf-8")) == [] and file.stat().st_size < 4_000_000
    page = offline(file)
    expect(page.locator("table")).to_have_count(2)
    for name, vectors in panel.vectors().items():
        assert_allclose(shown(page, name), (vectors @ vectors.T).ravel(), atol=0.0051)

    pair = page.get_by_label("pair to look at")
    pair.select_option("2 and 3")
    picked = panel.to_frame()["before"][2]
    below = (np.array(panel.carried["cosines"][0]) < picked).mean()
    grades, cosines = np.array(PAIRS.scores).round(), np.array(panel.carried["cosines"][0])
    medians = {int(grade): np.median(cosines[grades == grade]) for grade in np.unique(grades)}
    nearest = min(medians, key=lambda grade: abs(medians[grade] - picked))
    expect(page.locator("figcaption").first).to_have_text(
        f"before: {picked:.2f}, nearest to the median of grade {nearest}"
    )
    said = f"cosine {picked:.3f}, above {100 * below:.0f} % of 24 graded pairs"
    expect(page.locator(".cselab-said")).to_contain_text(f"before: 2 and 3, {said}")

    typed = page.get_by_label("Sentences, one a line")
    typed.fill("A cat is a cat.")
    expect(page.locator("figcaption").first).to_have_text("Type a second sentence, to compare.")
    expect(pair).to_be_hidden()
    typed.fill(f"Ein 漢 steht hier.\n\n{'cat ' * 150}\nA cat.")
    remarks = page.locator(".cselab-remarks li")
    expect(remarks.nth(0)).to_contain_text("Sentence 1: 漢 is not in the vocabulary")
    expect(remarks.nth(1)).to_contain_text(
        "Sentence 2: 126 of 150 tokens are encoded; the rest is truncated; longer than"
    )
    page.get_by_text("The tokens, as before reads them").click()
    expect(page.locator(".cselab-unknown")).to_have_text("[UNK]")
    typed.fill(" \n")
    expect(page.get_by_role("status")).to_have_text(re.compile("^Nothing is typed"))
    typed.fill("\n".join("abcdefghij"))
    expect(page.get_by_text("The first 8 lines are read, 2 more are not.", exact=True)).to_be_visible()
