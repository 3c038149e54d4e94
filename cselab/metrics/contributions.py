"""Where a cosine comes from: the part of it that each pair of tokens has."""

import torch
from jaxtyping import Float
from torch import Tensor

from .degenerate import DegenerateEmbeddings, Vectors, on_cpu, require_rows


def token_contributions(first: Vectors, second: Vectors) -> Float[Tensor, "n m"]:
    """The cosine of two means of token vectors, as a sum over pairs of tokens: entry ij is the part of tokens i and j.

        cos(a, b) = sum_ij  t_i . u_j / (n m |a| |b|)        with a = mean_i t_i, b = mean_j u_j

    The formula is an identity, because a dot product is linear on each side. So it also holds after the mean was
    subtracted from all token vectors, and after any linear map such as whitening. A part lies within
    |t_i| |u_j| / (n m |a| |b|) of 0; the sum lies in [-1, 1]. The sum of row i is the part of token i.
    `token_contributions(second, first)` is the transpose.

    Args:
        first, second: token vectors [n, d] and [m, d], without padding.

    Raises:
        ValueError: not arrays of two dimensions, or of different widths.
        DegenerateEmbeddings: a mean that is zero or not finite, which has no direction.

    See also: `cselab.encoders.explain_cosine`, for sentences and any encoder; `cosine_gradients`, for what a loss does
    with a cosine.

    >>> token_contributions(torch.tensor([[1.0, 0.0], [1.0, 2.0]]), torch.tensor([[2.0, 0.0]]))
    tensor([[0.3536],
            [0.3536]], dtype=torch.float64)
    """
    require_rows(first, 1)
    require_rows(second, 1)
    if first.shape[1] != second.shape[1]:
        raise ValueError(f"tokens of width {first.shape[1]} and of width {second.shape[1]} have no dot product")
    t, u = (on_cpu(rows).double() for rows in (first, second))
    lengths = t.mean(dim=0).norm() * u.mean(dim=0).norm()
    if not 0 < float(lengths) < torch.inf:
        raise DegenerateEmbeddings("the mean of the token vectors is zero or not finite: the cosine does not exist")
    return t @ u.T / (len(t) * len(u) * lengths)
