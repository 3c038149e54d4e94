"""Why a number is another: a hidden choice is found, an unknown one is not invented, what cannot be told is said."""

import json

import numpy as np
import pytest
import torch
from cselab_lab.diagnosis import ScoreExplainer, explain_score
from scipy.stats import pearsonr, spearmanr
from tiny import make_encoder, make_sentences

from cselab.data import Pairs
from cselab.encoders.heads import MLPHead

SENTENCES = make_sentences(120)
DRAW = np.random.default_rng(0)
PAIRS = Pairs(
    SENTENCES[:60], SENTENCES[60:], DRAW.uniform(0, 5, 60).tolist(), "made up", subsets=["a"] * 20 + ["b"] * 40
)


def subject():
    encoder = make_encoder()
    encoder.attach_head(MLPHead(encoder.hidden_size, torch.Generator().manual_seed(1)))
    encoder.untrained.clear()
    encoder.prompts = {"query": "this sentence : "}
    return encoder


@pytest.fixture(scope="module")
def explainer():
    return ScoreExplainer(subject(), PAIRS)


def by_hand(measure=spearmanr, similarity="cosine", weights=None, head=False, **chosen):
    """The score in points by scipy, of an encoder with these attributes."""
    encoder = subject()
    prompt = chosen.pop("prompt", "")
    for name, value in chosen.items():
        setattr(encoder, name, value)
    encoder.representation = "head" if head else "backbone"
    one, two = (encoder.encode(side, prompt=prompt) for side in (PAIRS.sentences1, PAIRS.sentences2))
    found = (one * two).sum(1)
    if similarity == "cosine":
        found = (found / np.linalg.norm(one, axis=1) / np.linalg.norm(two, axis=1)).round(6)
    gold, parts = np.array(PAIRS.scores), [slice(0, 20), slice(20, 60)] if weights else [slice(None)]
    scores = [measure(found[part], gold[part]).statistic for part in parts]
    return 100 * np.average(scores, weights=weights)


@pytest.mark.parametrize(
    "hidden, given",
    [
        ({}, {}),
        ({"pooling": "cls"}, {"pooling": "cls"}),
        ({"pooling": "layer1_last_mean"}, {"pooling": "layer1_last_mean"}),
        ({"metric": "Pearson"}, {"measure": pearsonr}),
        ({"aggregation": "mean"}, {"weights": [1, 1]}),
        ({"aggregation": "weighted_mean"}, {"weights": [20, 40]}),
        ({"similarity": "dot product"}, {"similarity": "dot"}),
        ({"representation": "head"}, {"head": True}),
        ({"prompt": "query"}, {"prompt": "this sentence : "}),
        ({"metric": "Pearson", "pooling": "cls"}, {"measure": pearsonr, "pooling": "cls"}),
    ],
)
def test_a_hidden_choice_is_named(explainer, hidden, given):
    found = explainer.explain(f"{by_hand(**given):.4f}", tolerance=1e-3)
    assert hidden in [dict(one.changes) for one in found.explained]
    assert len(found.explained[0].changes) == len(hidden)


def test_a_number_that_no_choice_gives_is_not_explained(explainer):
    found = explainer.explain(99.9, changes=1)
    assert found.explained == [] and "none of" in str(found)
    assert abs(found.nearest[0].score - 99.9) == min(abs(one.score - 99.9) for one in found.nearest)
    assert json.loads(json.dumps(found.to_dict()))["tried"] == found.tried


def test_choices_that_give_one_number_are_all_said():
    encoder = make_encoder()
    text = ScoreExplainer(encoder, PAIRS)
    both = text.explain(text.score(text.base | {"aggregation": "mean"}), tolerance=1000.0)
    assert len(both.explained) == 1 and "unchanged settings" in str(both)  # the fewest changes come first
    wide = text.explain(f"{text.score(text.base) + 3:.3f}", changes=1, tolerance=2.9)
    assert len(wide.explained) != 1 or "explained by" in str(wide)
    assert len(wide.explained) < 2 or "cannot be distinguished" in str(wide)


def test_digits_set_the_tolerance_and_the_encoder_stays():
    encoder = subject()
    before = encoder.weights_hash()
    assert explain_score(encoder, PAIRS, "12.3", changes=1).tolerance == pytest.approx(0.055)
    assert explain_score(encoder, PAIRS, "12.34", changes=1).tolerance == pytest.approx(0.01)
    assert (encoder.pooling, encoder.representation, encoder.weights_hash()) == ("mean", "backbone", before)
    with pytest.raises(ValueError, match=r"a number of points, -100 to 100, such as 60\.73"):
        explain_score(encoder, PAIRS, "sixty")


def test_splits_that_are_there_are_tried():
    found = ScoreExplainer(make_encoder(), "Classroom-STS")
    assert found.axes["split"] == ["test", "dev"]
    assert found.axes["aggregation"] == ["all"]  # no subsets
