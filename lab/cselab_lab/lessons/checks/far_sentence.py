"""Stages for an exercise that explores: a sentence that whitening throws further out than any of 300 others.

Whitened, every direction counts alike, and what is rare in the corpus is what makes a vector long. The encoder is
`mini`; the whitening keeps 200 directions and is fitted on 1,000 sentences of the world.
"""

import re
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from cselab_lab.lessons.exercises import Stage

ENCODER, KEPT, FITTED_ON, OTHERS = "mini", 200, 1000, 300


@cache
def _whitening() -> tuple[Callable[[list[str]], Any], float]:
    """The length of a whitened vector in units of the median of others, and the longest of these."""
    from cselab import SentenceEncoder
    from cselab.transforms import BertWhitening
    from cselab.world import World

    encoder, world = SentenceEncoder.from_pretrained(ENCODER, pooling="cls"), World(0)
    rows = {
        split: [sentence.text for sentence in world.sentences(count, split=split)]
        for split, count in (("train", FITTED_ON), ("test", OTHERS))
    }
    whitening = BertWhitening(KEPT).fit(np.asarray(encoder.encode(rows["train"])))
    others = np.linalg.norm(whitening.transform(np.asarray(encoder.encode(rows["test"]))), axis=1)
    typical = float(np.median(others))

    def length(sentences: list[str]) -> Any:
        return np.linalg.norm(whitening.transform(np.asarray(encoder.encode(sentences))), axis=1) / typical

    return length, float(others.max()) / typical


def length(sentence: str) -> float:
    """The length of a sentence's whitened vector: 1 is that of a typical sentence of the world."""
    return float(_whitening()[0]([sentence])[0])


class _Further(Stage):
    """The stage that tells how far out the sentence lies."""

    def finding(self, answer: object) -> str:
        found, longest = length(str(answer)), _whitening()[1]
        if found > longest:
            return ""
        said = f"Yours is {found:.2f} times as long as a typical one; the longest of the {OTHERS} is {longest:.2f}."
        return f"{said} {self.hint}"


STAGES = [
    Stage("it is a text", lambda s: isinstance(s, str), 'write "..."'),
    Stage(
        "it has three words or more, of letters only",
        lambda s: len(re.findall(r"[^\W\d_]+", str(s))) >= 3 and not re.search(r"\d", str(s)),
        "digits are too easy: use words",
    ),
    _Further(
        f"whitened, it is longer than each of {OTHERS} sentences of the world",
        bool,
        "What does the world never say? Think of questions, of repetition, of words without a sentence.",
    ),
]
