"""Stages for an exercise that looks for eight different sentences of which the encoder hardly finds any again."""

import re
from typing import Any

from cselab_lab.lessons.checks.mini_views import mini_views
from cselab_lab.lessons.exercises import Stage

SIZE, MOST, TRIES = 8, 0.25, 5  # sentences; the largest share that may find itself; draws of dropout


def found(sentences: list[str]) -> float:
    """The share of sentences whose second dropout view is nearer than all others', mean over `TRIES` draws."""
    views = mini_views(sentences, 2 * TRIES)
    cosines = [first @ second.T for first, second in zip(views[::2], views[1::2], strict=True)]
    ranks = [(c >= c.diagonal()[:, None]).sum(1) for c in cosines]
    return sum(float((rank == 1).float().mean()) for rank in ranks) / TRIES


def _texts(answer: Any) -> bool:
    return isinstance(answer, list | tuple) and len(answer) == SIZE and all(isinstance(text, str) for text in answer)


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


class _FewFound(Stage):
    """Says how many were found, where they are too many."""

    def finding(self, answer: Any) -> str:
        share = found(list(answer))
        return "" if share <= MOST else f"{share * SIZE:.1f} of {SIZE} find themselves. Hint: {self.hint}"


STAGES = [
    Stage(f"it is a list of {SIZE} texts", _texts, 'write ["...", "...", ...], each sentence in quotes'),
    Stage("each has at least three words", lambda b: all(len(_words(t).split()) > 2 for t in b), "write sentences"),
    Stage(
        "they all differ in their words",
        lambda b: len({_words(text) for text in b}) == SIZE,
        "a capital or a full stop is no difference",
    ),
    _FewFound(
        f"at most {MOST * SIZE:.0f} of {SIZE} find themselves",
        lambda b: found(list(b)) <= MOST,
        "keep the words of one sentence and exchange who does it, or change one number",
    ),
]
