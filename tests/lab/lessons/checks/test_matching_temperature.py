"""The check of the matching temperature: near enough passes, others are told what they give and which way to go."""

import pytest
import torch
from cselab_lab.lessons.checks import matching_temperature as check
from cselab_lab.lessons.exercises import diagnose


def matching():
    """By bisection: the lower the temperature, the more the hardest carry."""
    low, high = 0.01, 0.2
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (
            (middle, high) if check.concentration(middle) > check.concentration(check.TAU, check.M) else (low, middle)
        )
    return middle


def test_the_temperature_found_by_bisection_passes_and_is_below_both_usual_ones():
    found = matching()
    assert found < 0.05 < check.TAU
    assert diagnose(found, check.STAGES).solved
    assert diagnose(0.039, check.STAGES).solved


@pytest.mark.parametrize(
    ("temperature", "said"),
    [
        (0.05, "lower the temperature"),
        (0.07, "lower the temperature"),
        (1, "lower the temperature"),
        (0.03, "raise the temperature"),
        (0.005, "raise the temperature"),
        (0, "divides by 0"),
        (-0.05, "divides by 0"),
        ("0.05", "write a number"),
        ([0.05], "write a number"),
        (True, "write a number"),
        (..., "not solved yet"),
    ],
)
def test_another_is_told_what_it_gives_and_which_way_to_go(temperature, said):
    verdict = diagnose(temperature, check.STAGES)
    assert not verdict.solved and said in verdict.lines[-1]


@pytest.mark.parametrize("m", [None, 0.3])
def test_the_push_is_the_gradient_of_the_library(m):
    from cselab_lab.lessons.checks.mini_views import mini_views

    from cselab.losses import focal_info_nce, info_nce
    from cselab.metrics import cosine_gradients
    from cselab.world import World

    views = mini_views([sentence.text for sentence in World().sentences(64, split="dev")], 2)

    def loss(a, b):
        return (info_nce(a, b, 0.07) if m is None else focal_info_nce(a, b, 0.07, m)).total

    push = cosine_gradients(loss, *views).fill_diagonal_(0)
    expected = (push.topk(3).values.sum(1) / push.sum(1)).mean()
    torch.testing.assert_close(torch.tensor(check.concentration(0.07, m)), expected.float(), atol=1e-4, rtol=1e-4)
