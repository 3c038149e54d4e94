"""Stages for an exercise that explores: two sentences that `mini` takes for nearly the same although they are not.

Whether they mean different things only the reader can judge; the check sees to it that not merely their form differs.
"""

import re
from collections.abc import Sequence
from typing import Any

from cselab_lab.lessons.checks.plain import plain
from cselab_lab.lessons.exercises import Stage

COOKS = ("A cook is peeling an onion.", "The chef peels some onions.")  # one meaning: the pair to beat
LITTLE = set(
    "a an the some this that these those is are was were be been has have had do does did by of to in on at".split()
)
STEM = 3  # letters: "hugs" and "hugging" are one word


def said(sentence: str) -> list[str]:
    """What is said, in order: the words without articles and auxiliaries, cut to their first letters.

    >>> said("The cook is peeling an onion.")
    ['coo', 'pee', 'oni']
    """
    words = re.findall(r"[\w']+", sentence.lower())
    return [word[:STEM] for word in words if word not in LITTLE]


def cosine(pair: Sequence[str]) -> float:
    """The cosine of two sentences for the plain `mini`, pooled at [CLS]."""
    first, second = plain().encode(list(pair))
    return float(plain().similarity(first[None], second[None]))


class _CloserThanTheCooks(Stage):
    def finding(self, answer: Any) -> str:
        mine, cooks = cosine(answer), cosine(COOKS)
        if mine > cooks + 1e-4:
            return ""
        return f"Yours have the cosine {mine:.3f}, the two cooks {cooks:.3f}. {self.hint}"


STAGES = [
    Stage(
        "it is a pair of texts",
        lambda p: isinstance(p, tuple | list) and len(p) == 2 and all(isinstance(text, str) for text in p),
        'write two sentences in brackets: fooled = ("...", "...").',
    ),
    Stage("both say something", lambda p: all(map(said, p)), "one of the two has no word in it that means something."),
    Stage(
        "they do not say the same",
        lambda p: said(p[0]) != said(p[1]),
        "only capitals, articles, endings or punctuation differ. Change what is said.",
    ),
    _CloserThanTheCooks(
        "the encoder finds them closer than the two cooks",
        lambda p: cosine(p) > cosine(COOKS),
        "Keep most words: deny it, exchange who does it and whom it is done to, or change one number.",
    ),
]
