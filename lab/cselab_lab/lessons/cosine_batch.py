"""A batch with given cosines, on which the LossLab runs a loss."""

from math import sqrt

import torch
from jaxtyping import Float
from torch import Tensor


def batch_with_cosines(
    n: int, positive: float, negative: float, others: float
) -> tuple[Float[Tensor, "n w"], Float[Tensor, "n w"]]:
    """Two views of n sentences with given cosines: to run a loss on exactly one situation, n times over.

        cos(rows_i, columns_i) = positive,  cos(rows_i, columns_j) = negative for one j, = others for the rest

    Sentences come in pairs (0, 1), (2, 3), ..., each with one special negative; all are alike, so the mean of a loss
    is the loss of each.

    Args:
        n: sentences, even.
        positive, negative: cosines, at least 2 others - 1.
        others: the cosine of the remaining negatives, at least 0 and below 1.

    Raises:
        ValueError: no such vectors exist, or n is odd.

    >>> rows, columns = batch_with_cosines(4, positive=0.8, negative=0.5, others=0.2)
    >>> (rows @ columns.T)[0]
    tensor([0.8000, 0.5000, 0.2000, 0.2000], dtype=torch.float64)
    """
    if n < 4 or n % 2:
        raise ValueError(f"n must be an even number of at least 4, got {n}")
    if not 0 <= others < 1:
        raise ValueError(f"others must be at least 0 and below 1, got {others}")
    # The cosine matrix has three eigenspaces: within pairs, between pairs, and the common direction.
    one = torch.ones(n, n, dtype=torch.float64) / n
    pair = torch.block_diag(*[torch.full((2, 2), 0.5, dtype=torch.float64)] * (n // 2))
    spaces = [torch.eye(n, dtype=torch.float64) - pair, pair - one, one]
    wanted = [positive - negative, positive + negative - 2 * others, positive + negative + (n - 2) * others]
    # The cosines inside each view: `others` between pairs, and within pairs the largest that the rest allows.
    within = 1 - abs(positive - negative)
    own = [1 - within, 1 + within - 2 * others, 1 + within + (n - 2) * others]
    rows, columns, rest = (torch.zeros_like(one) for _ in range(3))
    for space, cross, length in zip(spaces, wanted, own, strict=True):
        length = max(length, 1e-12)
        missing = length - cross**2 / length
        if missing < -1e-9:
            raise ValueError(
                f"no {n} sentences have cosines of {positive:.2f} to their positive, {negative:.2f} to one "
                f"negative and {others:.2f} to the rest"
            )
        rows = rows + sqrt(length) * space
        columns = columns + cross / sqrt(length) * space
        rest = rest + sqrt(max(missing, 0)) * space
    return torch.cat([rows, torch.zeros_like(rows)], dim=1), torch.cat([columns, rest], dim=1)
