"""The distance between views of the same sentences: the learning signal of a positive pair."""

from collections.abc import Sequence
from itertools import combinations

from .geometry import Vectors, alignment


def diversity(views: Sequence[Vectors]) -> float:
    """How different the views of a sentence are: 0 when all point the same way, 2 when they are unrelated.

        mean over pairs of views p < q and sentences i of || v_pi/|v_pi| - v_qi/|v_qi| ||^2

    As in WhitenedCSE's figure 1 (d): positives after shuffled group whitening spread more than those of dropout only.
    The mean `alignment` between the views; a loss that aligns the views lowers it.

    Raises:
        ValueError: fewer than two views, or views of different shapes.
        DegenerateEmbeddings: a vector that is not finite, or zero.

    >>> import torch
    >>> diversity([torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 3.0]])])
    2.0
    """
    if len(views) < 2:
        raise ValueError(f"diversity compares views of the same sentences: {len(views)} given, 2 needed")
    pairs = list(combinations(views, 2))
    return sum(alignment(one, other) for one, other in pairs) / len(pairs)
