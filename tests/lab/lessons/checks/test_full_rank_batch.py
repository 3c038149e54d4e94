"""The check of the smallest batch: the right number however it is found, and each mistake by its name."""

import pytest
import torch
from cselab_lab.lessons.checks import full_rank_batch
from cselab_lab.lessons.checks.full_rank_batch import SENTENCES, batch
from cselab_lab.lessons.exercises import diagnose

from cselab.metrics import rank


def by_walking_down():
    return next(size for size in range(330, 1, -1) if rank(batch(size - 1)) < rank(batch(SENTENCES)))


def by_bisection():
    low, high = 2, SENTENCES
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if rank(batch(middle)) == rank(batch(SENTENCES)) else (middle + 1, high)
    return low


@pytest.mark.parametrize("found", [by_walking_down, by_bisection])
def test_a_right_answer_is_solved_however_it_was_found(found):
    assert diagnose(found(), full_rank_batch.STAGES).solved


def test_there_is_something_to_find():
    vectors = batch(SENTENCES)
    assert rank(vectors) == vectors.shape[1] - 1  # the layer norm's plane
    assert rank(batch(100)) < 99  # sentences that come twice
    assert len(torch.unique(vectors, dim=0)) > vectors.shape[1]
    with pytest.raises(ValueError, match="2 to 420 sentences"):
        batch(1)


WRONG = [
    ("whole number", 320.0),
    ("whole number", "320"),
    ("whole number", True),
    ("whole number", (320,)),
    ("There are 2 to 420", 0),
    ("There are 2 to 420", 768),
    ("Take more", 64),
    ("Take more", 300),
    ("Centring takes one", 255),
    ("Centring takes one", 256),
    ("come twice, and add nothing", 257),
    ("take fewer", 419),
]


@pytest.mark.parametrize(("diagnosis", "answer"), WRONG)
def test_a_wrong_answer_is_named(diagnosis, answer):
    verdict = diagnose(answer, full_rank_batch.STAGES)
    assert not verdict.solved and diagnosis in verdict.lines[-1]
