"""Stages for an exercise that looks for an encoder above the control, the mean-centred plain `mini`, on dev."""

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from cselab.evaluators.vectors import Encoder
from cselab_lab.lessons.checks.plain import plain
from cselab_lab.lessons.exercises import Stage

if TYPE_CHECKING:
    from cselab.evaluators import PairsEvaluator

PAIRS = 200  # of the world's dev split
POINTS = 6.0  # above the control; about what a minute of SimCSE gives


@cache
def _dev() -> "PairsEvaluator":
    from cselab.evaluators import PairsEvaluator
    from cselab.world import World

    return PairsEvaluator(World(0).sts(PAIRS, split="dev"))


@cache
def control() -> float:
    """The dev score of plain `mini`, [CLS], less its mean over sentences of the train split."""
    from cselab.evaluators import TransformedEncoder
    from cselab.transforms import fit
    from cselab.world import World

    vectors = plain().encode([sentence.text for sentence in World(0).sentences(200, split="train")])
    return score(TransformedEncoder(plain(), fit("centred", np.asarray(vectors))))


def score(encoder: Encoder) -> float:
    """The dev score of an encoder."""
    return float(_dev()(encoder)["score"])


def _alone(encoder: Encoder) -> bool:
    """Whether a sentence has the same vector in any company: nothing is fitted on what is scored."""
    sentences = ["A dog runs.", "The bank closed early.", "She sings.", "A cook is peeling an onion."]
    together, apart = encoder.encode(sentences), np.vstack([encoder.encode([one]) for one in sentences])
    return bool(np.allclose(together, apart, atol=1e-3 * np.abs(together).max()))


STAGES = [
    Stage("it encodes sentences", lambda e: np.ndim(e.encode(["A dog runs."])) == 2, "anything with .encode(list)."),
    Stage("a sentence has the same vector in any company", _alone, "fit on training sentences, not on what is scored."),
    Stage(
        "its dev score is six points above the control",
        lambda e: score(e) >= control() + POINTS,
        "not there yet: see beat_control.score(mine) beside beat_control.control(); try another pooling or transform.",
    ),
]
