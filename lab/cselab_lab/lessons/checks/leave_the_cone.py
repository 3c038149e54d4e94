"""Stages for an exercise that explores: two sentences that leave the cone of the plain `mini` at [CLS]."""

import re
from typing import Any

from cselab_lab.lessons.checks.fooled import cosine
from cselab_lab.lessons.exercises import Stage

WORDS = 3  # at least so many in each: not a code, not an exclamation
BELOW = 0.3
ALMOST = 0.45


def words(sentence: str) -> list[str]:
    """The words of a sentence, in small letters."""
    return re.findall(r"[a-z']+", sentence.lower())


FURTHER = "The form is right; go to its ends: one of three or four small words, the other long, with names and numbers."


class _Apart(Stage):
    def finding(self, answer: Any) -> str:
        found = cosine(answer)
        if found < BELOW:
            return ""
        return f"Yours have the cosine {found:.3f}. {FURTHER if found < ALMOST else self.hint}"


STAGES = [
    Stage(
        "it is a pair of texts",
        lambda p: isinstance(p, tuple | list) and len(p) == 2 and all(isinstance(text, str) for text in p),
        'write two sentences in brackets: apart = ("...", "...").',
    ),
    Stage(
        f"both are sentences of at least {WORDS} different words",
        lambda p: all(len(set(words(text))) >= WORDS for text in p),
        "codes, exclamations and repeated words do not count.",
    ),
    _Apart(
        f"their cosine is below {BELOW}",
        lambda p: cosine(p) < BELOW,
        "Another topic does little. Change the form: who speaks, how long, which words come first, numbers, commas.",
    ),
]
