"""Three questions at the start of a lesson, on earlier lessons; each is answered in a word."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from cselab_lab.headless.record import ticked

CONE, ORDER, CONTROL = ("cone", "00, section 1"), ("order|rank", "00, section 2"), ("control|baseline", "00, section 2")
MASKS, HARD, LOWER = ("dropout|mask", "02, section 1"), ("hard", "02, section 3"), ("low", "02, section 6")
SEED, POOLING = ("seed", "10, section 4"), ("pool", "10, section 5")
ANSWERS: dict[str, Sequence[tuple[str, str]]] = {
    "01_anisotropy": [CONE, ORDER, CONTROL],
    "02_simcse": [ORDER, CONTROL, CONE],
    "03_whitening": [MASKS, HARD, ORDER],
    "04_whitenedcse": [("width|channel|dimension", "03, section 2"), ("group", "03, section 2"), LOWER],
    "05_dropout_noise": [LOWER, HARD, CONE],
    "06_rank_bottleneck": [("negative", "05, section 2"), ("pull|positive", "05, section 3"), ("row", "03, section 2")],
    "07_focal_infonce": [("low", "02, section 3"), ("rank", "06, section 1"), ("loss|weight", "06, section 3")],
    "08_alignment_uniformity": [("temperature", "07, section 5"), ORDER, CONE],
    "09_embedding_maps": [CONE, ("dropout|mask", "00, section 3"), ORDER],
    "10_benchmarks": [CONTROL, LOWER, HARD],
    "11_survey": [SEED, ("pair", "10, section 3"), POOLING],
    "12_your_own_method": [("loss", "11, section 1"), POOLING, SEED],
    "13_modern_encoders": [MASKS, CONE, ("dev", "12, section 5")],
}
"""By lesson, for each question: the beginning of a right answer, and where the answer is."""


@dataclass
class Recalled:
    """The answers and what is right: text in a terminal, ticks in a notebook."""

    lines: Sequence[tuple[bool, str]]

    def __repr__(self) -> str:
        return "\n".join(line for _, line in self.lines)

    def _repr_html_(self) -> str:
        return ticked(self.lines)


def recall(lesson: str, *answers: object) -> Recalled:
    """Check the answers to the questions at the start of a lesson; `...` is no answer yet.

    >>> recall("02_simcse", "the order", "noise", ...)
    1: right
    2: not yet; see lesson 00, section 2
    3: no answer yet

    Raises:
        ValueError: the number of answers is not that of the questions.
    """
    expected = ANSWERS[lesson]
    if len(answers) != len(expected):
        raise ValueError(f"{lesson} has {len(expected)} questions on earlier lessons; got {len(answers)} answers.")
    lines = []
    for number, (answer, (right, place)) in enumerate(zip(answers, expected, strict=True), start=1):
        if answer is ... or answer is None or answer == "":
            lines.append((False, f"{number}: no answer yet"))
        elif re.search(rf"\b(?:{right})", str(answer).lower()):
            lines.append((True, f"{number}: right"))
        else:
            lines.append((False, f"{number}: not yet; see lesson {place}"))
    return Recalled(lines)
