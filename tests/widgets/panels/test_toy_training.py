"""Training in the page: gradients and geometry beside torch's and cselab's, and the hand that trains."""

import re

import numpy as np
import pytest
import torch
from cselab_widgets import ToyTraining
from cselab_widgets.kit.scripts import inlined
from cselab_widgets.panels.toy_training import TOY_LOSSES
from playwright.sync_api import expect
from scipy.stats import spearmanr

from cselab import losses, metrics
from cselab.data import Pairs
from cselab.sgw import shuffled_group_whiten

PAIRS = Pairs(["a cat sleeps", "rain falls", "he sings"], ["the cat sleeps", "snow melts", "she sings"], [5, 0, 3], "x")
ROW = {"step": 400, "loss": 0.5, "alignment": 0.2, "uniformity": -2.0, "effective rank": 7.5, "spearman": 0.4}
SETTINGS = {"loss": "InfoNCE", "temperature": 0.1, "noise": 0.1, "batch": 2, "artificial": 0, "seed": 0}


def test_sentences_are_numbers_of_words_and_a_run_of_the_page_is_told_in_words_and_as_a_table():
    toy = ToyTraining(PAIRS, batch=2)
    assert toy.state.words == 11 and toy.state.first == [[0, 1, 2], [3, 4], [5, 6]]
    assert toy.state.second[0] == [7, 1, 2]
    toy.shown = {**toy.shown, "runs": [{"settings": SETTINGS, "history": [ROW]}]}
    assert toy.summary().endswith("InfoNCE, temperature 0.1, noise 0.1, batch 2: Spearman 0.400 at step 400")
    (row,) = toy.to_frame().to_dict("records")
    assert (row["run"], row["loss"], row["loss of the batch"], row["step"]) == (0, "InfoNCE", 0.5, 400)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"loss": "hinge"}, "loss is 'hinge'; expected one of 'InfoNCE'"),
        ({"temperature": -1.0}, "temperature is -1.0; expected a positive value"),
        ({"noise": 1.0}, "noise is 1.0; expected a probability of 0 or more, below 1"),
        ({"batch": 7}, "batch is 7; expected 2 to 6, the number of sentences"),
        ({"artificial": -2}, "artificial is -2; expected 0 or more"),
        ({"sentences": ["a cat", "?!"]}, "'?!' has no words"),
        ({"pairs": Pairs(["a"], ["b"], [3], "x")}, "no pair has a grade of 4 or more"),
    ],
)
def test_what_cannot_be_trained_is_refused(given, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        ToyTraining(**{"pairs": PAIRS, "batch": 2, **given})


# ---------------------------------------------------------------------------------------------- in a browser

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
    const batch = state.sentences.slice(0, 12), rows = untrained(state);
    const drawn = drawnFor(batch, { ...state, artificial: 5 }, uniforms(3));
    const found = lossAndGradient(rows, batch, drawn, state);
    return {
        batch, rows: rows.toRows(), masks: drawn.masks.map((mask) => mask.toRows()), extra: drawn.extra.toRows(),
        permutations: drawn.permutations, value: found.value, gradient: found.gradient.toRows(),
        measured: measured(rows, state),
    };
}"""


@pytest.mark.browser
def test_each_loss_has_torchs_gradient_by_the_words_and_the_geometry_is_that_of_the_metrics(page):
    assert tuple(EXPECTED) == TOY_LOSSES
    page.add_script_tag(content=inlined(ToyTraining.modules))
    assert page.evaluate("Object.keys(TOY_LOSSES)") == list(TOY_LOSSES)
    for name, loss in EXPECTED.items():
        toy = ToyTraining(loss=name, noise=0.3)
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
        np.testing.assert_allclose(found["gradient"], rows.grad, rtol=1e-5, atol=1e-8, err_msg=name)

    table, state = np.array(found["rows"]), toy.state
    first, second = (np.array([table[words].mean(0) for words in side]) for side in (state.first, state.second))
    close = np.array(state.grades) >= 4
    cosines = (first * second).sum(1) / np.linalg.norm(first, axis=1) / np.linalg.norm(second, axis=1)
    both = np.concatenate([first, second])
    assert found["measured"] == pytest.approx(
        {
            "alignment": metrics.alignment(first[close], second[close]),
            "uniformity": metrics.uniformity(both),
            "effective rank": metrics.effective_rank(both),
            "spearman": spearmanr(cosines, state.grades).statistic,
        },
        rel=1e-6,
    )


RUN = """(state) => {
    const run = training(state);
    for (let step = 0; step <= 400; step++) run.step();
    return { first: run.history[0], last: run.history.at(-1) };
}"""


@pytest.mark.browser
def test_noise_in_the_views_makes_the_run_better_and_a_small_batch_has_a_small_rank(page):
    page.add_script_tag(content=inlined(ToyTraining.modules))
    quiet, noisy = (page.evaluate(RUN, ToyTraining(temperature=0.05, noise=noise).shown) for noise in (0.0, 0.5))
    assert quiet["first"]["spearman"] == noisy["first"]["spearman"] < quiet["last"]["spearman"]
    assert noisy["last"]["spearman"] > quiet["last"]["spearman"] + 0.05
    assert noisy["last"]["uniformity"] < noisy["first"]["uniformity"]
    assert noisy["last"]["rank"] == 8 and page.evaluate(RUN, ToyTraining(batch=4).shown)["last"]["rank"] == 3


@pytest.mark.browser
def test_the_file_trains_pauses_and_keeps_earlier_runs_beside_without_a_network(offline, tmp_path):
    file = ToyTraining().to_html(tmp_path / "toy.html")
    page = offline(file)
    page.get_by_role("button", name="train").press("Enter")
    line = page.locator("polyline").first
    expect(line).to_have_attribute("points", re.compile(r"\S+ \S+ \S+"))
    page.get_by_role("button", name="pause").press("Enter")
    expect(page.locator(".cselab-said")).to_have_text(re.compile("^InfoNCE, temperature 0.1, noise 0.1, batch 16: af"))
    page.get_by_label("noise").press("End")
    page.get_by_role("button", name="train").click()
    expect(page.locator(".cselab-names li")).to_have_text([re.compile("noise 0.9"), re.compile("noise 0.1")])
    expect(page.locator("polyline")).to_have_count(10)
    page.get_by_role("button", name="pause").click()
    page.get_by_role("button", name="forget the runs").click()
    expect(page.locator("polyline")).to_have_count(0)
