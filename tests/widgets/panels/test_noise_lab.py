import numpy as np
import pytest
import torch
from cselab_widgets import NoiseLab
from cselab_widgets.panels.noise_lab import COLUMNS
from drawn import traces
from numpy.testing import assert_allclose
from tiny import seeded

from cselab.encoders.heads import MLPHead
from cselab.encoders.training_forward import Encode
from cselab.methods import create_method


@pytest.fixture
def clean():
    return np.random.default_rng(0).normal(size=(12, 16)) + 1


@pytest.fixture
def passes(clean):
    """40 passes about the clean vectors, of variance 0.04 in each coordinate."""
    return clean + 0.2 * np.random.default_rng(1).normal(size=(40, 12, 16))


@pytest.fixture
def lab(passes, clean):
    return NoiseLab(vectors=passes, clean=clean)


def test_the_radius_of_a_cloud_is_its_distance(lab):
    """The radius of a cloud is its distance from the clean direction."""
    unit = lab.state.clean[3] / np.linalg.norm(lab.state.clean[3])
    others = lab.state.passes[:, 3] / np.linalg.norm(lab.state.passes[:, 3], axis=1, keepdims=True)
    wanted = np.sqrt(np.mean(np.sum((others - unit) ** 2, axis=1)))
    drawn = traces(lab, sentence=3)
    assert lab.to_frame()["radius"][3] == pytest.approx(wanted, abs=1e-3)
    distances = np.linalg.norm(others - unit, axis=1)
    assert_allclose(lab.state.clouds.moved[:, 3], distances, atol=1e-3)
    half_a_column = lab.planes(sentence=3)[0].x["range"][1] / COLUMNS / 2
    assert_allclose(drawn["masks"].x, distances, atol=half_a_column + 1e-3)
    assert f"moves this sentence {wanted:.2f}" in lab.planes(sentence=3)[0].title


def test_the_other_sentences_lie_at_their_distances_and_a_line_at_the_nearest(lab):
    clean = lab.state.clean / np.linalg.norm(lab.state.clean, axis=1, keepdims=True)
    distances = np.linalg.norm(clean - clean[5], axis=1)
    distances[5] = np.inf
    drawn = traces(lab, sentence=5)
    assert lab.to_frame()["distance"][5] == pytest.approx(distances.min(), abs=1e-3)
    half_a_column = lab.planes(sentence=5)[0].x["range"][1] / COLUMNS / 2
    assert_allclose(drawn["sentences"].x, np.delete(distances, 5), atol=half_a_column + 1e-3)
    assert drawn["nearest"].x == pytest.approx([distances.min()] * 2, abs=1e-3)
    gaps = np.array(lab.state.clouds.radius) - lab.state.clouds.distance
    assert f"moves {(gaps > 0).sum() or 'none'} of 12 sentences" in lab.planes()[0].words
    assert lab.state.sentence == np.argsort(gaps)[6]  # it opens on one in the middle


def test_a_row_is_a_sentence(lab):
    frame = lab.to_frame()
    assert list(frame.columns) == ["sentence", "radius", "nearest", "distance"] and len(frame) == 12


def test_the_gap_is_drawn_between_the_means(lab):
    for place, (one, other) in zip((3, 2, 1, 0), lab.state.cosines.values(), strict=True):
        line = traces(lab)[f"gap {place}"]
        assert line.x == pytest.approx((one.mean(), other.mean()), abs=1e-4) and line.y == (place, place)


def test_noise_lab_draws_masks_one_by_one_in_heaps(lab):
    assert lab.state.drawn == lab.state.counts[-1] == 40
    few, all_of = traces(lab, drawn=3, sentence=2), traces(lab, sentence=2)
    assert (few["masks"].x, few["masks"].y) == (all_of["masks"].x[:3], all_of["masks"].y[:3])
    radius = few["mean"].x[0]
    assert radius**2 == pytest.approx(np.mean(np.square(lab.state.clouds.moved[:3, 2])), abs=1e-3)
    assert len({*zip(all_of["masks"].x, all_of["masks"].y, strict=True)}) == 40  # no dot covers another
    assert f"moves this sentence {radius:.2f}" in lab.planes(drawn=3, sentence=2)[0].title
    for one, other in zip(lab.planes(drawn=3)[0][2:4], lab.planes()[0][2:4], strict=True):
        assert one["range"] == other["range"]  # only dots come


def test_noise_parts_positives_and_its_absence_joins_them(lab):
    positives = {kind: found[0].mean() for kind, found in lab.state.cosines.items()}
    assert positives["+noise"] < positives["SimCSE"] < positives["-noise"] < positives["off-dropout"]
    assert positives["off-dropout"] == pytest.approx(1)
    bars = traces(lab)["positives"]
    high = np.quantile(lab.state.cosines["+noise"][0], 0.95)
    assert bars.x[1] + bars.error_x.array[1] == pytest.approx(high, abs=1e-3)


def test_vectors_are_those_that_the_loss_sees(tiny_encoder):
    """Behind the head: of a plain encoder the one that training starts with, of a trained one its own."""
    encoder, sentences = tiny_encoder
    before = torch.from_numpy(encoder.encode(sentences))
    with torch.no_grad():
        first = MLPHead(encoder.hidden_size, seeded())
        assert_allclose(NoiseLab(encoder, sentences, passes=4).state.clean, first(before), atol=1e-6)
        encoder.attach_head(MLPHead(encoder.hidden_size, seeded(7)))
        assert_allclose(NoiseLab(encoder, sentences, passes=4).state.clean, encoder.head(before), atol=1e-6)


def test_a_variance_means_what_it_means_in_training(tiny_encoder):
    encoder, sentences = tiny_encoder
    shown = NoiseLab(encoder, sentences, passes=4)
    drawn = [view - one for view, one in zip(shown.state.views["+noise"], shown.state.passes, strict=False)]
    method = create_method("noise", variance=0.1)
    method.generator = seeded()
    views = method.views(Encode(encoder, 32), sentences)
    drawn += [
        (noisy - view).detach().numpy() for noisy, view in zip(views.apart, (views.anchor, views.positive), strict=True)
    ]
    assert [float(one.var()) for one in drawn] == pytest.approx([0.1] * 4, rel=0.45)  # 14 sentences of 8 numbers


def test_an_encoder_without_dropout_has_no_noise_to_see(tiny_encoder):
    encoder, sentences = tiny_encoder
    for part in encoder.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = 0.0
        if hasattr(part, "dropout_prob"):
            part.dropout_prob = 0.0
    encoder.backbone.config.attention_probs_dropout_prob = 0.0
    for layer in encoder.backbone.encoder.layer:
        layer.attention.self.dropout.p = 0.0
    with pytest.raises(ValueError, match="encoder has no dropout"):
        NoiseLab(encoder, sentences, passes=4)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"clean": None}, "clean is missing"),
        ({"clean": np.ones((5, 16))}, r"clean \(5, 16\)"),
        ({"sentences": ["a", "b"]}, "2 entries for 12 rows"),
    ],
)
def test_what_cannot_be_shown_is_refused(passes, clean, arguments, message):
    with pytest.raises(ValueError, match=message):
        NoiseLab(**{"vectors": passes, "clean": clean, **arguments})


def test_too_few_passes_or_sentences_are_refused(passes, clean, tiny_encoder):
    with pytest.raises(ValueError, match="3 passes were given"):
        NoiseLab(vectors=passes[:3], clean=clean)
    with pytest.raises(ValueError, match="sentences has 2 entries"):
        NoiseLab(tiny_encoder[0], tiny_encoder[1][:2])
