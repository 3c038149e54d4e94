import math

import numpy as np
import pytest
import torch
from cselab_widgets import BatchWatch, LossLab
from cselab_widgets.panels.loss_lab import LOSSES, curve, shares
from drawn import traces
from numpy.testing import assert_allclose
from tiny import make_encoder, make_sentences, seeded

from cselab.losses import info_nce, off_dropout_info_nce
from cselab.methods import SimCSE
from cselab.training import TrainConfig, train


@pytest.fixture
def views():
    """A batch of 8 that starts in a narrow cone and ends with its positives alike."""
    generator = np.random.default_rng(0)
    base = generator.normal(size=(8, 12))
    early = 3 + 0.5 * generator.normal(size=(4, 8, 12))
    return {0: early, 10: base + 0.3 * generator.normal(size=(4, 8, 12))}


@pytest.fixture
def lab(views):
    return LossLab(views)


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_the_cosines_are_those_of_the_batch(lab, views):
    """The cosines are those of the batch and the diagonal lights up."""
    drawn = {step: traces(lab, step=step) for step in views}
    late = np.array(drawn[10]["negatives"].z)
    np.fill_diagonal(late, drawn[10]["positives"].z)
    assert_allclose(late, unit(views[10][0]) @ unit(views[10][1]).T, atol=1e-3)
    early, now = (np.mean(one["positives"].z) - np.nanmean(one["negatives"].z) for one in drawn.values())
    assert now > 0.5 > early


def test_the_gradient_of_off_dropout_is_that_of_its_loss(lab):
    """Along a change of the clean vectors, the loss changes as the cosines' gradients say."""
    state = LossLab(lab.state.views, loss="off-dropout").state
    anchor, positive, _, clean = state.batch()
    change = 1e-6 * torch.randn(clean.shape, generator=seeded(), dtype=clean.dtype)

    def loss(rows):
        return float(off_dropout_info_nce(anchor, positive, rows, 0.05, 0.9).total)

    def cosines(rows):
        rows = torch.nn.functional.normalize(rows, dim=1)
        return rows @ rows.T

    off = 1 - torch.eye(8, dtype=torch.float64)
    wanted = (loss(clean + change) - loss(clean - change)) / 2
    moved = (cosines(clean + change) - cosines(clean - change)) / 2
    assert float((state.gradient * off * moved).sum()) / 8 == pytest.approx(wanted, rel=1e-4)


def test_only_the_printed_equation_8_pushes_positives_apart(lab):
    for name in LOSSES:
        panel = LossLab(lab.state.views, loss=name, pair="positive")
        assert bool((panel.state.gradient.diagonal() > 1e-9).all()) == (name == "Eq. 8, printed"), name
    assert panel.summary().startswith("Eq. 8, printed pushes positives apart")  # the last one


def test_focal_pulls_negatives_below_minus_half_m_together(lab):
    state = LossLab(lab.state.views, loss="Focal-InfoNCE").state
    cosines, gradient = state.cosines(), state.gradient
    off = ~torch.eye(8, dtype=torch.bool)
    pulled = (gradient < -1e-9) & off
    assert (cosines[pulled] < -0.15).all()
    assert torch.equal(pulled, (cosines < -0.15) & (gradient.abs() > 1e-9) & off)


def test_a_curve_is_the_formula_of_one_sentence():
    found = curve("InfoNCE", 0.1, "positive", 8)
    for cosine, loss, gradient in zip(found.cosines, found.losses, found.gradients, strict=True):
        others = 7 * math.exp(0.2 / 0.1)
        share = math.exp(cosine / 0.1) / (math.exp(cosine / 0.1) + others)
        assert loss == pytest.approx(-math.log(share))
        assert gradient == pytest.approx((share - 1) / 0.1)


def test_the_curve_of_a_negative_is_its_softmax():
    found = curve("InfoNCE", 0.1, "negative", 8)
    for cosine, gradient in zip(found.cosines, found.gradients, strict=True):
        total = math.exp(8) + math.exp(cosine / 0.1) + 6 * math.exp(2)
        assert gradient == pytest.approx(math.exp(cosine / 0.1) / total / 0.1)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("pair", ["positive", "negative"])
def test_every_gradient_is_the_slope_of_its_loss(name, pair):
    found = curve(name, 0.3, pair, 6)
    slopes = np.gradient(found.losses, found.cosines)
    assert_allclose(found.gradients[2:-3], slopes[2:-3], rtol=0.05, atol=0.05)


def test_a_low_temperature_pushes_the_hardest_negative(lab):
    """A low temperature leaves the push to the hardest negative."""
    cold, warm = (traces(lab, temperature=t)["shares: chosen"].y for t in (0.02, 1.0))
    assert cold[0] > 80 and warm[0] < 25
    assert cold[-1] == warm[-1] == 100


def test_the_shares_of_equal_negatives_are_equal():
    assert_allclose(shares(torch.ones(5, 5)), [0.25, 0.5, 0.75, 1])


def test_a_watch_keeps_the_views_of_a_batch():
    """A watch keeps the views of a batch and leaves the run as it is."""
    sentences = make_sentences(12)
    config = TrainConfig(steps=4, batch_size=4, lr=1e-3, seed=0, precision="fp32")
    runs = []
    watch = BatchWatch(sentences[:6], every=2)
    for callbacks in ([], [watch]):
        runs.append(train(make_encoder(), SimCSE(), sentences, config, callbacks=callbacks, show_progress_bar=False))
    assert list(watch.views) == [0, 2, 4]
    assert runs[0].history == runs[1].history
    panel = LossLab(watch.views)
    assert panel.state.views[4].shape == (4, 6, 8)
    clean = runs[1].encoder.encode(sentences[:6])
    assert_allclose(panel.state.views[4][3], clean, rtol=1e-4, atol=1e-5)
    anchor, positive, *_ = panel.state.batch()
    assert float(info_nce(anchor, positive, 0.05).total) >= 0


def test_two_views_stand_for_all_four(views):
    four = LossLab({0: views[0][:2]}).state.views[0]
    assert np.array_equal(four[2], four[1]) and np.array_equal(four[3], four[0])


def test_the_default_run_takes_an_encoder():
    """The default run takes an encoder and sentences of ones own."""
    panel = LossLab(encoder=make_encoder(), sentences=make_sentences(6))
    assert list(panel.state.views) == [0, 1, 2, 3, 4, 6, 8, 12, 16]
    assert panel.state.step == 16


def test_the_chosen_loss_is_drawn_beside_info_nce_and_no_other(lab):
    found = traces(lab, loss="ArcCon")
    assert [line.name for uid, line in found.items() if uid.startswith("gradients: ") and line.name] == [
        "InfoNCE",
        "ArcCon",
    ]
    assert traces(lab)["gradients: InfoNCE"].visible is False


def test_titles_say_what_the_curves_show(lab):
    def title(**changes):
        return lab.planes(**changes)[0].title

    rest = math.exp(0.8 / 0.2) + 6 * math.exp(0.2 / 0.2)
    low, high = (math.exp(cosine / 0.2) / (rest + math.exp(cosine / 0.2)) for cosine in (0.5, 0.8))
    words = title(temperature=0.2)
    assert words.startswith("InfoNCE: negatives at 0.8 are pushed ") and words.endswith(" as hard as at 0.5")
    assert float(words.split()[6]) == pytest.approx(high / low, abs=0.1)
    assert float(title(loss="Focal-InfoNCE", temperature=0.5).split()[-2]) == pytest.approx(-0.15, abs=0.02)
    assert title(loss="Eq. 8, printed", pair="positive") == "Eq. 8, printed pushes positives apart"
