"""Training in the page: gradients and geometry compared with torch's and cselab's, and a hand that types and trains."""

import re

import numpy as np
import pytest
import torch
from cselab_widgets import ToyTraining
from cselab_widgets.kit.scripts import inlined
from cselab_widgets.panels.toy_training import TOPICS, TOY_LOSSES, short_sentences
from numpy.testing import assert_allclose
from playwright.sync_api import expect
from sklearn.neighbors import NearestNeighbors

from cselab import losses, metrics
from cselab.sgw import shuffled_group_whiten

SENTENCES = ["A cat sleeps.", "Rain falls.", "The cats slept.", "It rains and snows."]
SMALL = {"sentences": SENTENCES, "topics": ["animals", "weather", "animals", "weather"], "batch": 2}
ROW = {"step": 800, "loss": 0.5, "same topic": 0.8, "alignment": 0.2, "uniformity": -2.0, "effective rank": 7.5}
SETTINGS = {"loss": "InfoNCE", "temperature": 0.1, "noise": 0.1, "batch": 2, "artificial": 0, "seed": 0}


def test_a_run_of_the_page_is_told_in_words_and_as_a_table():
    toy = ToyTraining(**SMALL)
    toy.shown = {**toy.shown, "runs": [{"settings": SETTINGS, "history": [ROW]}]}
    assert toy.summary().endswith(
        "InfoNCE, temperature 0.1, noise 0.1, batch 2: 80% of neighbours share the topic at step 800"
    )
    (row,) = toy.to_frame().to_dict("records")
    assert (row["run"], row["loss"], row["loss of the batch"], row["step"]) == (0, "InfoNCE", 0.5, 800)


def test_the_default_sentences_have_topics_and_frequent_words():
    """Rare words would keep the random vectors that they start with."""
    sentences, topics = short_sentences()
    assert set(topics) == set(TOPICS) and len(set(sentences)) == len(sentences) > 700
    words = [word for text in sentences for word in set(re.findall(r"\w+", text.lower()))]
    assert min(topics.count(topic) for topic in TOPICS) > 100
    assert np.median([words.count(word) for word in set(words)]) >= 3


# ---------------------------------------------------------------------------------------------- in a browser


@pytest.fixture
def page(page):
    """A page with the scripts of the panel."""
    page.add_script_tag(content=inlined(ToyTraining.modules))
    return page


EXPECTED = {
    "InfoNCE": lambda v: losses.info_nce(v[0], v[1], 0.1),
    "Focal-InfoNCE": lambda v: losses.focal_info_nce(v[0], v[1], 0.1, 0.3),
    "off-dropout": lambda v: losses.off_dropout_info_nce(v[0], v[1], v[3], 0.1, 0.9),
    "multi-positive": lambda v: losses.multi_positive_info_nce(v[0], [v[1], v[2]], 0.1),
    "whitening": lambda v: losses.info_nce(
        *(shuffled_group_whiten(v[k], 4, torch.tensor(v[5][k])) for k in range(2)), 0.1
    ),
    "InfoNCE + dimension-wise": lambda v: (
        losses.info_nce(v[0], v[1], 0.1) + 0.1 * losses.dimension_contrastive(v[0], v[1], 0.5)
    ),
    "Barlow Twins": lambda v: losses.barlow_twins(v[0], v[1], 0.1, extra_rows=v[4]),
}

STEP = """(state) => {
    const corpus = corpusOf(state), part = measuredPart(corpus);
    const batch = corpus.bags.slice(0, 12), rows = untrained(corpus, state.seed);
    const drawn = drawnFor(batch, { ...state, artificial: 5 }, uniforms(3));
    const found = lossAndGradient(rows, batch, drawn, state);
    return {
        batch, rows: rows.toRows(), masks: drawn.masks.map((mask) => mask.toRows()), extra: drawn.extra.toRows(),
        permutations: drawn.permutations, value: found.value, gradient: found.gradient.toRows(),
        bags: part.bags, topics: part.topics, measured: measured(rows, part),
    };
}"""


@pytest.mark.browser
def test_each_loss_has_torchs_gradient_by_the_words(page):
    """Each loss has torchs gradient by the words and the geometry is that of the metrics."""
    assert tuple(EXPECTED) == TOY_LOSSES
    assert page.evaluate("Object.keys(TOY_LOSSES)") == list(TOY_LOSSES)
    for name, loss in EXPECTED.items():
        toy = ToyTraining(loss=name, temperature=0.1, noise=0.3)
        found = page.evaluate(STEP, toy.shown)
        rows = torch.tensor(found["rows"], dtype=torch.float64, requires_grad=True)
        ends = np.cumsum([len(sentence) for sentence in found["batch"]])[:-1].tolist()
        looked = rows[torch.tensor([word for sentence in found["batch"] for word in sentence])]
        masks = [*(torch.tensor(mask, dtype=torch.float64) for mask in found["masks"]), 1.0]
        views = [torch.stack([part.mean(0) for part in (looked * mask).tensor_split(ends)]) for mask in masks]
        extra = torch.tensor(found["extra"], dtype=torch.float64)
        total = loss([*views, extra, found["permutations"]]).total
        total.backward()
        assert found["value"] == pytest.approx(total.item(), rel=1e-8), name
        assert_allclose(found["gradient"], rows.grad, rtol=1e-5, atol=1e-8, err_msg=name)

    table = np.array(found["rows"])
    x = np.array([table[bag].mean(0) for bag in found["bags"]])
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    topics = np.array(found["topics"])
    nearest = NearestNeighbors(n_neighbors=6).fit(x).kneighbors(x, return_distance=False)
    others = [[j for j in row if j != i][:5] for i, row in enumerate(nearest)]
    assert found["measured"].pop("same topic") == pytest.approx((topics[others] == topics[:, None]).mean(), abs=0.02)
    assert found["measured"] == pytest.approx(
        {"uniformity": metrics.uniformity(x), "effective rank": metrics.effective_rank(x)}, rel=1e-6
    )


@pytest.mark.browser
def test_words_have_roots_and_unknown_ones_do_not_count(page):
    """Words have roots and small or unknown words do not count."""
    bags = "(state) => { const c = corpusOf(state); return state.typed.map((text) => bagOf(text, c)); }"
    typed = ["The cat's not sleeping!", "CATS slept: the zebra.", "zebras", ""]
    first, second, third, none = page.evaluate(bags, ToyTraining(**SMALL, typed=typed).shown)
    assert first["bag"][0] == second["bag"][0] and first["first"] == "cat" and not first["unknown"]
    assert len(first["bag"]) == 2 and second["unknown"] == ["zebra"]
    assert (third["bag"], third["unknown"]) == ([], ["zebras"]) and none["bag"] == []


@pytest.mark.browser
def test_the_plane_is_orthonormal_and_sends_each_topic(page):
    """Six topics at the corners of a simplex lie on a regular hexagon, in the order of their places."""
    corners = (np.eye(6, 8) - np.r_[np.full(6, 1 / 6), 0, 0]).tolist()
    seen = page.evaluate("([x, t]) => planeOf(x, t, [0, 1, 2, 3, 4, 5])", [corners, list("abcdef")])
    plane = np.array(seen["plane"])
    assert_allclose(plane.T @ plane, np.eye(2), atol=1e-9)
    angles = np.degrees(np.unwrap([np.arctan2(*(np.array(corner) @ plane)[::-1]) for corner in corners]))
    assert_allclose(np.diff(angles), -60, atol=1e-6)
    assert angles[0] == pytest.approx(90) and seen["slots"] == [0, 1, 2, 3, 4, 5]


RUN = """(state) => {
    const corpus = corpusOf(state), run = training(state, corpus);
    for (let step = 0; step <= 400; step++) run.step();
    const [one, two, three] = vectorsOf(run.rows, state.typed.map((text) => bagOf(text, corpus).bag));
    return { first: run.history[0], last: run.history.at(-1), alike: inner(one, two), apart: inner(two, three) };
}"""


@pytest.mark.browser
def test_topics_part_by_noise_and_a_small_batch_has_a_small_rank(page):
    """The page promises this: a cook is nearer to a chef than to a parliament after training, and not before."""
    quiet, noisy = (page.evaluate(RUN, ToyTraining(noise=noise).shown) for noise in (0.0, 0.5))
    assert noisy["first"]["same topic"] < 0.4 and noisy["last"]["same topic"] > 0.7
    assert noisy["last"]["same topic"] > quiet["last"]["same topic"] + 0.1
    assert noisy["alike"] > noisy["apart"] + 0.5
    assert noisy["last"]["uniformity"] < noisy["first"]["uniformity"]
    assert noisy["last"]["rank"] == 8 and page.evaluate(RUN, ToyTraining(batch=4).shown)["last"]["rank"] == 3


@pytest.mark.browser
def test_a_sentence_without_a_word_left_does_not_end_the_run(page):
    """A sentence of which dropout leaves nothing does not end the run."""
    last = page.evaluate(RUN, ToyTraining(**SMALL, typed=["rain", "snows", "cat"], noise=0.9).shown)["last"]
    assert np.isfinite(last["loss"]) and np.isfinite(last["uniformity"])


@pytest.mark.browser
def test_typed_sentences_move_and_earlier_runs_stay(offline, tmp_path):
    """By the keyboard: type, train, pause, compare two runs, forget."""
    page = offline(ToyTraining().to_html(tmp_path / "toy.html"))
    page.get_by_label("sentence 4").fill("The zebra sang an opera.")
    expect(page.get_by_text("The toy does not know \u201czebra\u201d and reads the rest.")).to_be_visible()
    train = page.locator(".cselab-call")
    train.press("Enter")
    expect(page.locator(".cselab-seen")).to_have_text(re.compile("^Step [1-9]"))
    train.press("Enter")
    expect(page.locator(".cselab-said")).to_have_text(re.compile("^InfoNCE, temperature 0.5, noise 0.5, batch 32: af"))
    expect(page.locator(".cselab-result")).to_have_text(re.compile(r"^\w+ and \w+ 0\.\d\d to"))
    page.get_by_label("noise").press("End")
    train.click()
    expect(page.locator(".cselab-names li")).to_have_count(2)
    train.click()
    page.get_by_role("button", name="Forget").click()
    expect(page.locator(".cselab-seen")).to_have_text(re.compile("^Before training"))


@pytest.mark.browser
def test_a_pair_that_the_toy_orders_wrongly_is_named(offline, tmp_path):
    """The reader's grades decide: here a chef and a cook are alike, and potatoes that boil a chef are not."""
    page = offline(ToyTraining().to_html(tmp_path / "toy.html"))
    verdict = page.locator(".cselab-verdict")
    expect(verdict).to_have_text(re.compile("1 and 4 are one bag of words"))
    page.get_by_label("your grade of 1 and 4").select_option("1")
    page.get_by_label("your grade of 1 and 2").select_option("3")
    expect(verdict).to_have_text(re.compile("0 of 1 comparison .* wrong about 1 and 4: you gave 1, and 3 to 1 and 2"))


@pytest.mark.browser
def test_the_saved_picture_is_a_png_of_before_and_after(offline, tmp_path):
    page = offline(ToyTraining(**SMALL, typed=["a cat", "rain"]).to_html(tmp_path / "toy.html"))
    save = page.get_by_role("button", name="Save picture")
    expect(save).to_be_disabled()
    page.emulate_media(reduced_motion="reduce")
    page.locator(".cselab-call").click()
    with page.expect_download() as saved:
        save.click()
    png = saved.value.path().read_bytes()
    assert png.startswith(b"\x89PNG") and int.from_bytes(png[16:20]) == 1280
