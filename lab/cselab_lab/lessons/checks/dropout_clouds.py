"""Measures and stages for an exercise that looks for two sentences whose dropout clouds overlap, and untangles them.

The answer is (first, second, K): two sentences, and the smallest number of passes whose mean keeps them apart.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import ceil
from typing import Any

import numpy as np

from cselab_lab.lessons.checks.mini_views import mini_views
from cselab_lab.lessons.checks.plain import plain

PASSES = 480
MOST = 60  # the largest K: at least 8 means of so many passes can be taken
CLOSE = 0.03  # a share of the radius: what so many passes leave to chance


@cache
def _passes(sentence: str) -> np.ndarray:
    """Unit vectors [PASSES, d] of a sentence, each with a dropout mask of its own; always the same ones."""
    return mini_views([sentence] * PASSES, 1)[0].cpu().numpy()


def radius(sentence: str, k: int = 1) -> float:
    """How wide the cloud of a sentence is when each dot is the mean of k dropout passes: `mini`, [CLS], length 1.

    The root mean square distance of the means to their own centre, of 480 passes.

    Raises:
        ValueError: k is not between 1 and 60.
    """
    if not 1 <= k <= MOST:
        raise ValueError(f"k is {k!r}; of {PASSES} passes means of 1 to {MOST} can be taken.")
    means = _passes(sentence)[: PASSES // k * k].reshape(-1, k, plain().embedding_dimension).mean(1)
    return float(np.sqrt(means.var(0, ddof=1).sum()))


def distance(first: str, second: str) -> float:
    """How far two sentences lie apart on the unit sphere without dropout."""
    one, other = plain().encode([first, second], normalize_embeddings=True)
    return float(np.linalg.norm(one - other))


@dataclass(frozen=True)
class Measured:
    """A stage that says what was measured; `finding` gives a sentence, or nothing where all is well."""

    what: str
    finding: Callable[[Any], str]

    def after_error(self, answer: object, error: Exception) -> str:
        return f"It raised {type(error).__name__}: {error}"


def _form(answer: Any) -> str:
    if not isinstance(answer, tuple | list) or len(answer) != 3:
        return 'Write three things: ("one sentence", "another one", K).'
    *texts, k = answer
    if not all(isinstance(text, str) and text.strip() for text in texts):
        return "The first two are sentences, in quotation marks."
    if isinstance(k, bool) or not isinstance(k, int):
        return f"K is a whole number of passes; yours is {k!r}."
    return "" if 1 <= k <= MOST else f"K is {k}; the check can try 1 to {MOST}."


def _words(text: str) -> list[str]:
    return "".join(letter if letter.isalnum() else " " for letter in text.lower()).split()


def _different(answer: Any) -> str:
    first, second, _ = answer
    return "Change what is said, not how it is written." if _words(first) == _words(second) else ""


def _tangled(answer: Any) -> str:
    first, second, _ = answer
    wide, apart = radius(first), distance(first, second)
    if wide <= apart:
        return (
            f"The cloud of {first!r} has radius {wide:.3f}, the second lies {apart:.3f} away. Come nearer: which words "
            "can change places, or be exchanged, so that the vector hardly notices?"
        )
    if radius(first, MOST) * (1 - CLOSE) > apart / 2:
        return f"They lie only {apart:.3f} apart, and more than {MOST} passes would be needed: choose two less alike."
    return ""


def _enough(answer: Any) -> str:
    first, second, k = answer
    wide, half = radius(first, k), distance(first, second) / 2
    if wide * (1 - CLOSE) <= half:
        return ""
    told = f"The means of {k} have radius {wide:.3f}; half the distance is {half:.3f}."
    once = radius(first)
    if k == ceil(once / half):
        return f"{told} The variance falls with K, and so the radius with the root of K."
    if k == ceil((once / half / 2) ** 2):
        return f"{told} Half the distance is asked for, not the whole."
    return f"{told} More passes are needed."


def _fewest(answer: Any) -> str:
    first, second, k = answer
    if k == 1:
        return ""
    wide, half = radius(first, k - 1), distance(first, second) / 2
    return (
        ""
        if wide * (1 + CLOSE) > half
        else f"The means of {k - 1} already have radius {wide:.3f}, and half the distance is {half:.3f}."
    )


STAGES = [
    Measured("two sentences and a number", _form),
    Measured("the sentences say different things", _different),
    Measured("the first sentence's cloud has a radius larger than the distance to the second", _tangled),
    Measured("the mean of K passes brings it under half that distance", _enough),
    Measured("no smaller K does", _fewest),
]
