"""Stages for an exercise: at which temperature does InfoNCE concentrate its push as Focal-InfoNCE does?"""

from functools import cache
from typing import Any

from cselab_lab.lessons.checks.mini_views import mini_views
from cselab_lab.lessons.exercises import Stage

TAU, M, HARDEST, NEAR = 0.07, 0.3, 3, 0.02


@cache
def _cosines() -> Any:
    from cselab.world import World

    first, second = mini_views([sentence.text for sentence in World().sentences(64, split="dev")], 2)
    return (first @ second.T).double()


def concentration(temperature: float, m: float | None = None) -> float:
    """The part of a sentence's push that its three hardest negatives carry; with `m`, of Focal-InfoNCE."""
    s = _cosines()
    logits, inner = (s, 1) if m is None else (s * (s + m), 2 * s + m)
    push = inner * (logits / temperature).softmax(1)  # the positive's share cancels below
    push = push.fill_diagonal_(0)
    return float((push.topk(HARDEST).values.sum(1) / push.sum(1)).mean())


class _AsConcentrated(Stage):
    """Says what the temperature gives, and on which side it lies."""

    def finding(self, answer: Any) -> str:
        wanted, now = concentration(TAU, M), concentration(answer)
        if abs(now - wanted) <= NEAR:
            return ""
        way = "lower" if now < wanted else "raise"
        return f"It is {now:.0%} with yours and {wanted:.0%} with Focal-InfoNCE: {way} the temperature."


def _number(answer: Any) -> bool:
    return isinstance(answer, int | float) and not isinstance(answer, bool)


STAGES = [
    Stage("it is a number", _number, "write a number such as 0.05"),
    Stage("it is above 0", lambda t: t > 0, "a temperature of 0 divides by 0"),
    _AsConcentrated(
        f"the {HARDEST} hardest negatives carry the same part of the push",
        lambda t: abs(concentration(t) - concentration(TAU, M)) <= NEAR,
        "the lower the temperature, the fewer negatives carry the push",
    ),
]
