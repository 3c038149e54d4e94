import numpy as np
import pytest
import torch
from cselab_widgets import WhiteningLab
from cselab_widgets.panels.whitening_lab import STAGES, outcome
from drawn import traces
from numpy.testing import assert_allclose
from torch.testing import assert_close

from cselab.sgw import shuffled_group_whiten


@pytest.fixture
def vectors():
    """Three views of 60 sentences in 8 channels that are far from white."""
    generator = np.random.default_rng(0)
    mixing = generator.normal(size=(8, 8))
    clean = generator.normal(size=(60, 8)) @ mixing + 3
    return np.stack([clean + 0.1 * generator.normal(size=(60, 8)) for _ in range(3)])


@pytest.fixture
def lab(vectors):
    return WhiteningLab(vectors=vectors, strategy="shuffled group", num_groups=4, batch_size=40)


def covariance_of(points):
    return np.cov(np.array(points), bias=True)


def test_the_batch_is_white_within_each_group(lab):
    """The batch is white within each group and the heat map shows it."""
    after = np.array(traces(lab)["after"].z)
    for start in range(0, 8, 2):
        assert_allclose(after[start : start + 2, start : start + 2], np.eye(2), atol=6e-3)
    assert np.abs(after[:2, 2:]).max() > 0.05  # groups are not decorrelated from each other


def test_whitening_is_that_of_the_training_head(lab, vectors):
    found = outcome(lab.state)
    batch = torch.from_numpy(vectors[0][lab.state.rows[0]].astype(np.float32)).double()
    wanted = shuffled_group_whiten(batch, 4, found.fitted.permutation, eps=lab.state.eps)
    assert_close(found.batch_after, wanted)


def test_zca_makes_all_variances_one_and_other_sentences_nearly(lab):
    found = traces(lab, strategy="ZCA")
    assert_allclose(found["spectrum: batch after"].y, 1, atol=1e-3)
    others = np.array(found["spectrum: held out"].y)
    assert 0.1 < others.min() < others.max() < 10


def test_variances_are_those_along_the_axes_of_the_batch(lab, vectors):
    lab.set(strategy="PCA")
    batch, others = (vectors[0][rows].astype(np.float32).astype(float) for rows in lab.state.rows)
    values, axes = np.linalg.eigh(np.cov(batch.T, bias=True))
    drawn = traces(lab)
    assert_allclose(drawn["spectrum: batch before"].y, values[::-1], rtol=1e-3)
    held_out = ((others @ axes).var(0) / values)[::-1]
    assert_allclose(drawn["spectrum: held out"].y, held_out, rtol=1e-3)


def test_a_batch_smaller_than_the_width_blows_other_sentences(lab):
    """A batch smaller than the width blows other sentences up and groups cure it."""
    small = traces(lab, strategy="ZCA", batch_size=5)
    assert len(small["spectrum: batch after"].y) == 4  # 5 rows have 4 directions
    assert max(small["spectrum: held out"].y) > 1e4
    lab.set(strategy="ZCA", batch_size=5)
    assert "5 rows have no variance in 4 of the 8 directions" in lab.summary()
    assert "5 rows have no variance" in lab.planes()[1].words
    grouped = traces(lab, strategy="group", num_groups=4, batch_size=5)
    assert max(grouped["spectrum: held out"].y) < 1e3
    lab.set(strategy="group")
    assert "no variance" not in lab.summary()


def test_the_stages_of_the_plane_are_those_of_the_text():
    cloud = np.random.default_rng(0).normal(size=(640, 2)) * [1.0, 0.25]
    lab = WhiteningLab(vectors=cloud @ [[0.8, 0.6], [-0.6, 0.8]] + [1.6, 1.2], strategy="ZCA", batch_size=160)
    shown = {stage: traces(lab, stage=stage)["points"] for stage in range(len(STAGES))}
    covariances = {stage: covariance_of([points.x, points.y]) for stage, points in shown.items()}
    assert abs(np.mean(shown[0].x)) > 1 and abs(np.mean(shown[1].x)) < 1e-3
    assert covariances[1][0, 1] > 0.1 and abs(covariances[2][0, 1]) < 1e-3  # turned: no correlation
    assert covariances[2][0, 0] > 4 * covariances[2][1, 1]  # but still long
    assert_allclose(covariances[3], np.eye(2), atol=1e-3)
    assert_allclose(covariances[4], np.eye(2), atol=1e-3)
    moved = [np.hypot(*(np.array([shown[s].x, shown[s].y]) - [shown[1].x, shown[1].y])).mean() for s in (3, 4)]
    assert moved[1] < moved[0]  # ZCA changes the data least
    before = traces(lab, stage=4)["points before"]
    assert (before.x, before.y) == (shown[0].x, shown[0].y)


def test_pca_ends_at_its_own_stage(lab):
    state = WhiteningLab(vectors=lab.state.vectors, strategy="PCA", batch_size=40).state
    found = outcome(state)
    assert_close(found.batch_after, found.fitted.at(3, found.batch))


def test_eps_keeps_small_directions_small(lab):
    strong = traces(lab, strategy="ZCA", eps=1.0)["spectrum: batch after"].y
    assert min(strong) < 0.9


def test_the_built_in_encoder_takes_sentences_of_ones_own(tiny_encoder):
    encoder, sentences = tiny_encoder
    lab = WhiteningLab(encoder, sentences, batch_size=10)
    assert lab.state.vectors.shape == (14, 8)
    assert lab.state.num_groups == 4 and lab.state.groups == 1
    again = WhiteningLab(encoder, sentences, batch_size=10)
    assert np.array_equal(lab.state.vectors, again.state.vectors)  # the same masks each time
    assert not encoder.training


def test_an_eps_of_zero_on_too_small_a_batch_says_what_to_do(lab):
    with pytest.raises(ValueError, match="give eps > 0"):
        lab.set(strategy="ZCA", batch_size=5, eps=0.0)
    assert lab.state.strategy == "shuffled group"
