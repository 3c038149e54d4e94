"""The derivative of a loss by each cosine, on a real or a constructed batch."""

from collections.abc import Callable
from math import sqrt

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from cselab.metrics.geometry import Vectors

TAG = 1e-6


def cosine_gradients(
    loss: Callable[..., Float[Tensor, ""]], rows: Vectors, columns: Vectors, *others: Vectors
) -> Float[Tensor, "n n"]:
    """The derivative of a loss by each cosine: entry ij is d loss / d cos(rows_i, columns_j).

    Positive: minimising the loss pushes the pair apart; negative: minimising pulls the pair together. Together with
    the cosines, the derivatives show which negatives carry the gradient, and which pairs move the wrong way.

    Losses have vectors as arguments, not cosines. So each column gets a tiny component (1e-6) along a separate
    direction, which no row uses. The loss's derivative of row i along direction j is then its derivative by cosine ij,
    and the cosines themselves change by less than rounding. Exact in float64 for any loss that sees `rows` and
    `columns` through their cosines alone.

    Args:
        loss: `loss(rows, columns, *others)` -> a scalar, such as `info_nce(...).total` of them.
        rows, columns: `[n, d]`, the views whose cosines are meant.
        others: further views `[n, d]` that the loss needs; their gradients are not counted.

    Raises:
        ValueError: rows and columns of different shapes.

    >>> from cselab.losses import info_nce
    >>> view = torch.eye(2)
    >>> cosine_gradients(lambda a, b: info_nce(a, b, temperature=1.0).total, view, view).float()
    tensor([[-0.1345,  0.1345],
            [ 0.1345, -0.1345]])
    """
    if tuple(rows.shape) != tuple(columns.shape):
        raise ValueError(f"rows are {tuple(rows.shape)} but columns {tuple(columns.shape)}")
    given = [torch.as_tensor(view).detach().double() for view in (rows, columns, *others)]
    n, d = given[0].shape
    blank, tags = given[0].new_zeros(n, n), TAG * torch.eye(n, dtype=torch.float64)
    one = torch.cat([F.normalize(given[0], dim=1), blank], dim=1).requires_grad_()
    two = torch.cat([F.normalize(given[1], dim=1), tags], dim=1)
    total = loss(one, two, *(torch.cat([view, blank], dim=1) for view in given[2:]))
    (gradient,) = torch.autograd.grad(total, one)
    return gradient[:, d:] / TAG


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
    # Each view's own cosines: `others` between pairs, within pairs as much as leaves room for the rest.
    within = 1 - abs(positive - negative)
    own = [1 - within, 1 + within - 2 * others, 1 + within + (n - 2) * others]
    rows, columns, rest = (torch.zeros_like(one) for _ in range(3))
    for space, cross, length in zip(spaces, wanted, own, strict=True):
        length = max(length, 1e-12)
        missing = length - cross**2 / length
        if missing < -1e-9:
            raise ValueError(
                f"no {n} sentences have cosines of {positive:.2f} to their positive, {negative:.2f} to one "
                f"negative and {others:.2f} to the others"
            )
        rows = rows + sqrt(length) * space
        columns = columns + cross / sqrt(length) * space
        rest = rest + sqrt(max(missing, 0)) * space
    return torch.cat([rows, torch.zeros_like(rows)], dim=1), torch.cat([columns, rest], dim=1)
