"""The distance between views of the same sentences: the learning signal of a positive pair."""

from collections.abc import Sequence
from itertools import combinations

import torch

from cselab.metrics.geometry import Vectors, alignment


def perturbation_size(x: Vectors, changed: Vectors) -> float:
    """Mean length of a transformation's change to each row, as a share of the row's length.

        mean_i |epsilon_i| / |x_i|,   epsilon = changed - x               WhitenedCSE Eq. 11

    0 where nothing changes, 1 where the change is as long as the vector. WhitenedCSE writes a view as Z + epsilon
    with epsilon = (W - 1) Z. Whitening also changes the scale of all rows, which a cosine does not see and this
    size does: give rows of the same scale to compare directions.

    Raises:
        ValueError: different shapes, or a row of `x` that is all zeros.

    See also: `diversity`, which sees directions only.

    >>> perturbation_size(torch.tensor([[2.0, 0.0]]), torch.tensor([[2.0, 1.0]]))
    0.5
    """
    if tuple(x.shape) != tuple(changed.shape):
        raise ValueError(
            f"a perturbation compares row by row: x is {tuple(x.shape)}, changed is {tuple(changed.shape)}"
        )
    before, after = (torch.as_tensor(rows).detach().double() for rows in (x, changed))
    lengths = before.norm(dim=1)
    if not bool((lengths > 0).all()):
        raise ValueError(f"row {int(lengths.argmin())} of x is all zeros: its perturbation has no relative size")
    return float(((after - before).norm(dim=1) / lengths).mean())


def diversity(views: Sequence[Vectors]) -> float:
    """How different the views of a sentence are: 0 when all point the same way, 2 when they are unrelated.

        mean over pairs of views p < q and sentences i of || v_pi/|v_pi| - v_qi/|v_qi| ||^2

    As in WhitenedCSE's figure 1 (d): positives after shuffled group whitening spread more than those of dropout only.
    The mean `alignment` between the views; a loss that aligns the views lowers it.

    Raises:
        ValueError: fewer than two views, or views of different shapes.
        DegenerateEmbeddings: a vector that is not finite, or zero.

    >>> diversity([torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 3.0]])])
    2.0
    """
    if len(views) < 2:
        raise ValueError(f"diversity compares views of the same sentences: {len(views)} given, 2 needed")
    pairs = list(combinations(views, 2))
    return sum(alignment(one, other) for one, other in pairs) / len(pairs)
