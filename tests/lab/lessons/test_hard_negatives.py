"""The pairs that fool an encoder: chosen by grade, sorted by cosine."""

import numpy as np
import pytest
import torch
from cselab_lab.lessons.hard_negatives import hard_negatives

from cselab import SentenceEncoder
from cselab.data import Pairs
from cselab.evaluators.world import classroom_sts


class Directions:
    """Each sentence is an angle in degrees."""

    def encode(self, sentences):
        angles = torch.tensor([float(sentence) for sentence in sentences]).deg2rad()
        return torch.stack([angles.cos(), angles.sin()], dim=1)


PAIRS = Pairs(["0", "0", "0", "0", "0"], ["0", "60", "30", "90", "10"], [5.0, 1.0, 0.0, 1.0, 4.0])


def test_only_pairs_of_a_low_grade_are_shown_and_the_most_alike_come_first():
    found = hard_negatives(PAIRS, Directions(), share=0.4)
    assert list(found["sentence2"]) == ["30", "60", "90"]  # grades 0, 1, 1: the tie at the border is in
    np.testing.assert_allclose(found["cosine"], np.cos(np.deg2rad([30, 60, 90])), atol=1e-6)


def test_all_pairs_count_with_a_share_of_one_and_no_more_are_given_than_asked_for():
    assert list(hard_negatives(PAIRS, Directions(), share=1.0, count=2)["sentence2"]) == ["0", "10"]


def test_the_first_encoder_sorts_and_the_others_stand_beside_it():
    class Mirrored(Directions):
        def encode(self, sentences):
            return super().encode([str(90 - float(sentence)) for sentence in sentences]) * torch.tensor([1.0, 2.0])

    found = hard_negatives(PAIRS, {"before": Directions(), "after": Mirrored()}, share=0.4)
    assert found["before"].is_monotonic_decreasing
    assert list(found.columns) == ["sentence1", "sentence2", "grade", "word overlap", "before", "after"]
    assert not np.allclose(found["before"], found["after"])


def test_the_bundled_encoder_is_fooled_by_more_words_in_common_than_negatives_have_on_average():
    encoder, pairs = SentenceEncoder.from_pretrained("mini", pooling="cls"), classroom_sts("dev")
    all_negatives = hard_negatives(pairs, encoder, count=10_000)
    assert all_negatives.head(10)["word overlap"].mean() > all_negatives["word overlap"].mean()
    assert all_negatives["grade"].max() < np.median(pairs.scores)


@pytest.mark.parametrize(
    ("options", "words"), [({"share": 0}, "share"), ({"share": 1.1}, "1.1"), ({"count": 0}, "count")]
)
def test_a_share_or_a_count_out_of_range_is_said(options, words):
    with pytest.raises(ValueError, match=words):
        hard_negatives(PAIRS, Directions(), **options)


def test_no_encoder_is_said():
    with pytest.raises(ValueError, match="at least one"):
        hard_negatives(PAIRS, {})
