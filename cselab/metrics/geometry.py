"""The geometry of embeddings: how they fill the sphere, how many directions they use, and the parts of a cosine.

Every function takes rows of vectors [n, d], arrays or tensors, and processes them in blocks, so that a
million rows fit into bounded memory. Measures on the unit sphere normalise the vectors themselves.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from cselab._util.arguments import NonNegativeInt, PositiveInt, checked

from .degenerate import DegenerateEmbeddings, VectorArray, on_cpu, require_rows, unit_rows

ROWS_AT_ONCE = 4096
COSINE_DECIMALS = 6
"""Cosines are rounded to this before they are ranked: float32 moves one by about 1e-7."""
ZERO = torch.zeros((), dtype=torch.float64)


class Estimate(NamedTuple):
    """A value estimated from a sample, its standard error, and the size of the sample."""

    value: float
    standard_error: float
    samples: int


@checked
def alignment(x: VectorArray, y: VectorArray) -> float:
    """Mean squared distance of positive pairs on the unit sphere; 0 is best, at most 4.

        mean_i || x_i/|x_i| - y_i/|y_i| ||^2           Wang & Isola 2020, section 4.1, with alpha 2

    Row i of `x` and row i of `y` are a positive pair. SimCSE uses the STS-B pairs with gold > 4.

    Raises:
        ValueError: different shapes.
        DegenerateEmbeddings: a vector that is not finite, or zero.

    See also: `uniformity`. A useless encoder can have the best value of either, so report them together.

    >>> alignment(np.array([[1.0, 0.0]]), np.array([[0.0, 5.0]]))
    2.0
    """
    if tuple(x.shape) != tuple(y.shape):
        raise ValueError(f"alignment compares pairs: x is {tuple(x.shape)}, y is {tuple(y.shape)}")
    require_rows(x, 1)
    total = 0.0
    for a, b in zip(_unit_blocks(x), _unit_blocks(y), strict=True):
        total += float((a - b).double().square().sum(dim=1).sum())
    return total / len(x)


def uniformity(x: VectorArray) -> float:
    """How evenly vectors fill the unit sphere; 0 when all point the same way, about -4 for many at random.

        log mean_{i<j} exp(-2 || x_i/|x_i| - x_j/|x_j| ||^2)          Wang & Isola 2020, section 4.1, t = 2

    Exact over all n(n-1)/2 pairs, in blocks; time grows with n^2 (20,000 rows of 768: seconds).

    Raises:
        DegenerateEmbeddings: fewer than two rows, a vector that is not finite, or zero.

    See also: `sampled_uniformity` for many rows.

    >>> uniformity(np.array([[1.0, 0.0], [-3.0, 0.0]]))
    -8.0
    """
    require_rows(x, 2)
    blocks = list(_unit_blocks(x, block=1024))
    total = 0.0
    for i, a in enumerate(blocks):
        total += _potential(a, a).triu(diagonal=1).sum(dtype=torch.float64).item()
        total += sum(_potential(a, b).sum(dtype=torch.float64).item() for b in blocks[i + 1 :])
    return math.log(total / (len(x) * (len(x) - 1) / 2))


@checked
def sampled_uniformity(x: VectorArray, samples: PositiveInt = 500_000, seed: NonNegativeInt = 0) -> Estimate:
    """`uniformity` estimated from pairs drawn at random with replacement, for a million rows.

    The standard error is that of the log of a mean of independent draws: s / (mean sqrt(samples)).

    Raises:
        DegenerateEmbeddings: fewer than two rows, a drawn vector that is not finite, or zero.
    """
    require_rows(x, 2)
    generator = np.random.default_rng(seed)
    first = generator.integers(len(x), size=samples)
    second = (first + generator.integers(1, len(x), size=samples)) % len(x)
    potentials = torch.empty(samples, dtype=torch.float64)
    for start in range(0, samples, ROWS_AT_ONCE):
        drawn = slice(start, start + ROWS_AT_ONCE)
        a, b = unit_rows(x[first[drawn]]), unit_rows(x[second[drawn]])
        potentials[drawn] = torch.exp(-2 * (a - b).double().pow(2).sum(dim=1))
    mean = potentials.mean().item()
    return Estimate(math.log(mean), potentials.std().item() / (mean * math.sqrt(samples)), samples)


def mean_cosine(x: VectorArray) -> float:
    """Mean cosine of all pairs of different rows: 0 for an isotropic cloud, towards 1 for a narrow cone.

    Needs no pairs: with unit rows u_i,  sum_{i != j} u_i . u_j = |sum_i u_i|^2 - n.

    Raises:
        DegenerateEmbeddings: fewer than two rows, a vector that is not finite, or zero.

    >>> mean_cosine(np.array([[1.0, 0.0], [0.0, 2.0]]))
    0.0
    """
    require_rows(x, 2)
    n = len(x)
    total = sum((block.double().sum(dim=0) for block in _unit_blocks(x)), start=ZERO)
    return (total.square().sum().item() - n) / (n * (n - 1))


def feature_correlation(x: VectorArray) -> float:
    """Mean absolute correlation of two different dimensions over the rows: 0 decorrelated, 1 all alike.

    The mean of |C_cd| over c != d, where C is the correlation matrix of the columns (vectors as they are, not
    normalised). Dimensions that never change have no correlation and are left out. Whitening (WhitenedCSE) and the
    dimension-wise loss (ImSimCSE Eq. 5) lower this number. With n rows independent dimensions still show about sqrt(2 /
    (pi n)).

    Raises:
        DegenerateEmbeddings: fewer than two rows or two changing dimensions, a value that is not finite.
    """
    require_rows(x, 2)
    mean = _column_means(x)
    scatter = sum(((block - mean).T @ (block - mean) for block in _finite_blocks(x)), start=ZERO)
    spread = scatter.diagonal().sqrt()
    changing = spread > len(x) * torch.finfo(torch.float64).eps * (spread.max() + mean.abs())
    if changing.sum() < 2:
        raise DegenerateEmbeddings("fewer than two dimensions change over the rows; correlation needs two")
    spread = spread[changing]
    correlation = (scatter[changing][:, changing] / spread / spread[:, None]).abs()
    d = len(spread)
    return (correlation.sum().item() - correlation.diagonal().sum().item()) / (d * (d - 1))


def spectrum(x: VectorArray) -> Float[np.ndarray, " k"]:
    """Variance along the principal axes, largest first: k = min(n, d) numbers that sum to the total variance.

    lambda_i = sigma_i^2 / n with the singular values sigma_i of the centred rows (vectors as they are, not
    normalised). The rows are folded block by block into the triangular factor of a QR decomposition, which
    has the same singular values: exact, and without squaring the condition number as a covariance would.

    Raises:
        DegenerateEmbeddings: fewer than two rows, a value that is not finite.

    >>> spectrum(np.array([[2.0, 0.0], [-2.0, 0.0]]))
    array([4., 0.])
    """
    return _singular_values(x) ** 2 / len(x)


def effective_rank(x: VectorArray) -> float:
    """How many directions the vectors use, between 1 and min(n, d), counted by entropy.

        exp(- sum_i p_i log p_i),   p_i = sigma_i / sum_k sigma_k          Roy & Vetterli 2007, Eq. 1-4

    sigma_i are singular values (not eigenvalues) of the centred rows, so that the common direction of a cone,
    which `mean_cosine` measures, is not counted.

    Raises:
        DegenerateEmbeddings: fewer than two rows, a value that is not finite, or rows that are all the same.

    See also: `rank`, which counts every direction above rounding error as one.

    >>> round(effective_rank(np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])), 6)
    2.0
    """
    singular = _singular_values(x)
    first = next(_finite_blocks(x))[0]
    if all(bool((block == first).all()) for block in _finite_blocks(x)):
        raise DegenerateEmbeddings(f"all {len(x)} embeddings are the same vector: no direction to count")
    p = singular / singular.sum()
    p = p[p > 0]
    return float(np.exp(-(p * np.log(p)).sum()))


def rank(x: VectorArray) -> int:
    """Numerical rank of the centred rows: how many singular values exceed sigma_max max(n, d) eps.

    n rows have at most rank n - 1: the rank bottleneck of ImSimCSE section 4, for a batch
    smaller than d. eps is that of the vectors' own type.

    Raises:
        DegenerateEmbeddings: fewer than two rows, a value that is not finite.
    """
    singular = _singular_values(x)
    eps = torch.finfo(on_cpu(x[:1]).dtype).eps
    return int((singular > singular.max() * max(x.shape) * eps).sum())


def _singular_values(x: VectorArray) -> Float[np.ndarray, " k"]:
    """Those of the centred rows, largest first."""
    require_rows(x, 2)
    mean = _column_means(x)
    folded = torch.zeros(0, x.shape[1], dtype=torch.float64)
    for block in _finite_blocks(x):
        folded = torch.linalg.qr(torch.cat([folded, block - mean]), mode="r").R
    return torch.linalg.svdvals(folded).numpy()


def _potential(a: Tensor, b: Tensor) -> Tensor:
    """exp(-2 |a_i - b_j|^2) for unit rows, through |a - b|^2 = 2 - 2 a.b."""
    return torch.exp((a @ b.T).sub_(1).mul_(4).clamp_(max=0))


def _unit_blocks(x: VectorArray, block: int = ROWS_AT_ONCE) -> Iterator[Tensor]:
    for start in range(0, len(x), block):
        yield unit_rows(x[start : start + block])


def _finite_blocks(x: VectorArray) -> Iterator[Tensor]:
    for start in range(0, len(x), ROWS_AT_ONCE):
        block = on_cpu(x[start : start + ROWS_AT_ONCE]).double()
        if not bool(torch.isfinite(block).all()):
            bad = int((~torch.isfinite(block)).any(dim=1).sum())
            raise DegenerateEmbeddings(f"{bad} of rows {start} to {start + len(block) - 1} are not finite (NaN or Inf)")
        yield block


def _column_means(x: VectorArray) -> Tensor:
    return sum((block.sum(dim=0) for block in _finite_blocks(x)), start=ZERO) / len(x)


def diversity(views: Sequence[VectorArray]) -> float:
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


def token_contributions(first: VectorArray, second: VectorArray) -> Float[Tensor, "n m"]:
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
