"""The derivative of a loss by each cosine, on a real or a constructed batch."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from cselab._util.arguments import checked

from .geometry import VectorArray

COLUMN_MARK = 1e-6


@checked
def cosine_gradients(
    loss: Callable[..., Float[Tensor, ""]], rows: VectorArray, columns: VectorArray, *others: VectorArray
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
    blank, tags = given[0].new_zeros(n, n), COLUMN_MARK * torch.eye(n, dtype=torch.float64)
    one = torch.cat([F.normalize(given[0], dim=1), blank], dim=1).requires_grad_()
    two = torch.cat([F.normalize(given[1], dim=1), tags], dim=1)
    total = loss(one, two, *(torch.cat([view, blank], dim=1) for view in given[2:]))
    (gradient,) = torch.autograd.grad(total, one)
    return gradient[:, d:] / COLUMN_MARK
