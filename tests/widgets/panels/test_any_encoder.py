"""Panels that need vectors alone take whatever gives sentences vectors; one that needs dropout says so."""

import numpy as np
import pytest
from cselab_widgets import EmbeddingMap, NoiseLab, PairExplorer, RankLab, WhiteningLab
from cselab_widgets.panels.alignment_uniformity import CosinesByGrade
from kinds_of_encoders import ENCODER, KINDS, PAIRS, TEXTS, VECTORS
from numpy.testing import assert_allclose


@pytest.mark.parametrize("kind", ["model2vec", "tensors", "function", "array", "by sentence"])
def test_each_kind_is_drawn_by_its_vectors(kind):
    given = KINDS[kind]
    drawn = EmbeddingMap(TEXTS, {"mine": given}).state.data.vectors["mine"][None]
    assert_allclose(drawn, VECTORS, atol=1e-6)
    sides = np.stack(PairExplorer({"mine": given}, PAIRS).state.data.sides("mine"))
    assert_allclose(sides, VECTORS.reshape(2, 12, -1), atol=1e-6)
    watch = CosinesByGrade(PAIRS)
    watch.keep(0, given)
    expected = np.diag(ENCODER.similarity(VECTORS[:12], VECTORS[12:]))
    assert_allclose(watch.by_step[0], expected, atol=1e-6)
    assert_allclose(WhiteningLab(given, TEXTS, batch_size=8).state.vectors, VECTORS, atol=1e-6)
    assert_allclose(RankLab(given, TEXTS, batch_size=8).state.pair[0], VECTORS, atol=1e-6)


def test_vectors_of_pairs_alone_are_explored_by_their_pairs():
    panel = PairExplorer(VECTORS, PAIRS)
    assert (panel.state.first, panel.state.second) == (TEXTS[0], TEXTS[12])


def test_what_has_no_dropout_is_told_by_the_panel_that_needs_it():
    with pytest.raises(TypeError, match="SimpleNamespace encodes only without dropout: give a"):
        NoiseLab(KINDS["model2vec"], TEXTS)
