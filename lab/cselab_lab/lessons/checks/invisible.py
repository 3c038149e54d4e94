"""Stages for an exercise that explores: a change of the vectors that a whitened loss does not see.

invisible(x) gives changed rows. The loss of WhitenedCSE must stay what it was, the mean cosine rise above 0.95.
"""

from typing import Any

import torch

from cselab.losses import info_nce
from cselab.metrics import mean_cosine
from cselab.sgw import shuffled_group_whiten
from cselab_lab.lessons.exercises import Stage

ROWS, WIDTH, GROUPS = 64, 16, 8


def views() -> tuple[Any, Any]:
    """Two views of 64 sentences, a little apart, and somewhat in a cone."""
    draw = torch.Generator().manual_seed(0)
    x = torch.randn(ROWS, WIDTH, generator=draw) + 0.3
    return x, x + 0.3 * torch.randn(ROWS, WIDTH, generator=draw)


def whitened_loss(first: Any, second: Any) -> float:
    """InfoNCE of the two views, each after a shuffled group whitening of its own."""
    draw = torch.Generator().manual_seed(1)
    orders = [torch.randperm(WIDTH, generator=draw) for _ in range(2)]
    one, two = (shuffled_group_whiten(x, GROUPS, p) for x, p in zip((first, second), orders, strict=True))
    return float(info_nce(one, two, 0.05).total)


class _Unseen(Stage):
    """The loss before and after."""

    def finding(self, answer: Any) -> str:
        first, second = views()
        before, after = whitened_loss(first, second), whitened_loss(answer(first), answer(second))
        if abs(before - after) < 1e-3 * before + 1e-4:
            return ""
        return f"The loss was {before:.4f} and is {after:.4f}: it sees what you did. {self.hint}"


class _Cone(Stage):
    """The mean cosine before and after."""

    def finding(self, answer: Any) -> str:
        first, _ = views()
        before, after = mean_cosine(first), mean_cosine(answer(first))
        if after > 0.95:
            return ""
        return f"The mean cosine was {before:.2f} and is {after:.2f}. {self.hint}"


def _same_shape(answer: Any) -> bool:
    return tuple(answer(views()[0]).shape) == (ROWS, WIDTH)


STAGES = [
    Stage("it takes rows and gives rows of the same shape", _same_shape, "one row for each row, one channel for each"),
    _Unseen(
        "the whitened loss does not see it",
        bool,
        "What does whitening take away, whatever it was? The centre, and a size that all channels share.",
    ),
    _Cone(
        "the mean cosine is above 0.95: the cone of the encoder has closed",
        bool,
        "What all sentences share makes a cone: give them more of it.",
    ),
]
