"""The first numbers of vectors whose meaning lies in known places."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.decomposition import PCA

from cselab.data import Pairs
from cselab.evaluators import Dimensions, RandomEncoder, evaluate, word_overlap
from cselab.metrics import effective_rank

WIDTHS = [2, 4]


def cloud(front):
    """Pairs graded by the cosine of two numbers, first in the vectors, or last, behind much smaller noise."""
    draw = np.random.default_rng(0)
    meaning, noise = draw.normal(size=(80, 2)), 0.01 * draw.normal(size=(80, 6))
    texts = [f"sentence {row}" for row in range(80)]
    unit = meaning / np.linalg.norm(meaning, axis=1, keepdims=True)
    grades = (unit[:40] * unit[40:]).sum(axis=1)
    vectors = np.concatenate([meaning, noise] if front else [noise, meaning], axis=1)
    rows = dict(zip(texts, vectors, strict=True))
    encoder = SimpleNamespace(name="cloud", encode=lambda sentences: np.stack([rows[text] for text in sentences]))
    return encoder, Pairs(texts[:40], texts[40:], grades.tolist(), "cloud", "test"), vectors


@pytest.mark.parametrize("front", [True, False])
def test_meaning_in_front_survives_a_cut_and_components_find_it_wherever_it_is(front):
    encoder, pairs, vectors = cloud(front)
    scores = evaluate(encoder, Dimensions(WIDTHS), data=pairs).scores
    assert (scores["score@2"] > 99) == front and scores["score@8"] > 99
    assert scores["pca_score@2"] > 95
    for width in (2, 4, 8):
        assert scores[f"effective_rank@{width}"] == pytest.approx(effective_rank(vectors[:, :width]))
    assert list(scores)[:3] == ["score@2", "pca_score@2", "effective_rank@2"]


def test_the_control_is_pca_and_the_cut_is_that_of_truncate_dim():
    encoder, pairs, vectors = cloud(False)
    scores = evaluate(encoder, "dimensions", pairs, widths=WIDTHS).scores
    cut = evaluate(vectors[:, :4], pairs).scores["cloud"]
    assert scores["score@4"] == pytest.approx(cut)
    components = PCA(4).fit_transform(vectors)
    assert scores["pca_score@4"] == pytest.approx(evaluate(components, pairs).scores["cloud"], abs=1e-6)


@pytest.mark.slow
def test_by_default_the_bundled_world_is_cut_at_powers_of_two():
    found = evaluate(RandomEncoder(20), "dimensions", tasks=["effective_rank"])
    assert list(found.scores) == ["effective_rank@8", "effective_rank@16", "effective_rank@20"]
    assert {(r.task, r.split, r.provenance, r.rows) for r in found.records} == {("World-STS", "test", "bundled", 1200)}


def test_what_cannot_be_scored_says_why():
    _, pairs, vectors = cloud(True)
    vectors[:, :2] = 1.0
    failed = evaluate(vectors, Dimensions([2]), data=pairs)
    assert failed.failures.keys() == {"score@2", "effective_rank@2"} and "score@8" in failed.scores
    with pytest.raises(ValueError, match="this task needs sentence vectors"):
        evaluate(word_overlap, "dimensions")
    for widths in ([], [1, 4]):
        with pytest.raises(ValueError, match="widths must be numbers of at least 2"):
            Dimensions(widths)
