"""Losses between dimensions: each column of one view against the columns of the second view."""

from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from cselab._util.arguments import NonNegativeFloat, PositiveFloat, checked

from .contrast import Embeddings, Loss, as_views, diagonal_cross_entropy, full_precision, l2_normalize, scale, widen

EPS = 1e-5  # added to the variance, as torch.nn.BatchNorm1d does

ExtraRows = Float[Tensor, "m d"] | tuple[Float[Tensor, "m d"], Float[Tensor, "m d"]]
"""Rows that both views get, or those of the first view and those of the second."""


@checked
def dimension_contrastive(
    anchor: Embeddings, positive: Embeddings, temperature: PositiveFloat, reduction: Literal["mean", "sum"] = "mean"
) -> Loss:
    """Each dimension should be more similar to itself in the second view than to the remaining dimensions.

        l_c = -log( exp(s_cc) / sum_d exp(s_cd) )

    with s_cd the dot product over the batch of dimension c of anchor and dimension d of positive, each
    standardised over the batch (batch normalisation without affine parameters). ImSimCSE Eq. 5. Columns replace the
    rows of InfoNCE, and the loss has only one direction.

    Paper and released code differ in scale, which follows the reduction:

    * `"mean"`, the code: biased variance (divisor N), s_cd = dot / (N temperature), the mean over dimensions. With
      temperature 5 the logits lie within +-0.2 and the loss stays near log d.
    * `"sum"`, the paper: variance with divisor N - 1, s_cd = dot / temperature, the sum over dimensions. With
      temperature 5 and N = 64 the logits reach 12.6, and at the paper's weight 0.1 the sum over 768 dimensions
      dominates InfoNCE.

    released(temperature) = paper((N - 1) temperature) / d, up to eps. Each variance gets eps = 1e-5, as in
    BatchNorm1d, so that a dead dimension gives no NaN; the paper prints none.

    Args:
        anchor: `[N, d]`, N >= 2; in ImSimCSE the outputs of the training head.
        positive: `[N, d]`, a second view of the same sentences.
        temperature: divides the similarities; 5 in ImSimCSE.
        reduction: over the dimensions, and with it the variance and the divisor.

    Returns:
        The term `dimension_contrastive`, above 0.

    Raises:
        TypeError: a view is not a floating-point tensor.
        ValueError: the shapes differ, fewer than two rows or two dimensions, the temperature is not positive,
            unknown reduction.

    See also:
        barlow_twins: decorrelates dimensions by regression to the identity.
        info_nce: the same contrast between rows.

    Example:
        >>> import torch
        >>> view = torch.tensor([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])    # uncorrelated
        >>> dimension_contrastive(view, view, temperature=1.0).total    # log(1 + 1 / e)
        tensor(0.3133)
    """
    anchor, positive = as_views(anchor=anchor, positive=positive)
    rows, dimensions = anchor.shape
    if dimensions < 2:
        raise ValueError("anchor and positive have a single dimension: at least two are needed")

    correction = 0 if reduction == "mean" else 1
    with full_precision(anchor):
        dots = standardised(anchor, correction).T @ standardised(positive, correction)
    if reduction == "mean":
        loss = diagonal_cross_entropy(dots / rows / temperature).mean()
    else:
        loss = diagonal_cross_entropy(dots / temperature).sum()
    return Loss({"dimension_contrastive": loss})


@checked
def barlow_twins(
    anchor: Embeddings, positive: Embeddings, weight: NonNegativeFloat, extra_rows: ExtraRows | None = None
) -> Loss:
    """The cross-correlation of the views' dimensions should be the identity.

        sum_c (1 - C_cc)^2 + weight sum_c sum_{d != c} C_cd^2

    with C the uncentred cross-correlation over the batch: see `cross_correlation`. ImSimCSE Eq. 4 with the sign
    corrected: printed with a minus before the first sum, it would maximise the error on the diagonal. Centring is left
    to the caller, as in the equation; the released (commented) code batch-normalises the views and divides by the
    number of rows instead.

    C is a product through N rows, so its rank is at most N, and with N < d it cannot become the identity.
    `extra_rows` appends M artificial rows to each view (the paper's experiment on this bottleneck: up to 704
    rows of standard normal numbers, drawn afresh each step) and raises the bound to N + M. Draw them with your
    generator.

    Args:
        anchor: `[N, d]`, N >= 2.
        positive: `[N, d]`, a second view of the same sentences.
        weight: lambda_BT, of the off-diagonal entries; 0 or more. 0.012 in the released code.
        extra_rows: one tensor `[M, d]` for all views, as in the released code (the rows agree, so they also reward the
            diagonal), or a pair of tensors `[M, d]`, one for each view.

    Returns:
        The terms `invariance`, in [0, 4 d], and `redundancy`, the weight included, in [0, weight d (d - 1)].

    Raises:
        TypeError: a view is not a floating-point tensor.
        ValueError: the shapes differ, there are fewer than two rows, the weight is negative.

    See also:
        cross_correlation: C itself, to look at its rank.
        dimension_contrastive: decorrelates dimensions without this bottleneck.

    Example:
        >>> import torch
        >>> view, others = torch.eye(5)[:2], torch.eye(5)[2:4]    # span 2 of 5 dimensions each
        >>> barlow_twins(view, view, weight=0.01).floats()
        {'invariance': 3.0, 'redundancy': 0.0}
        >>> barlow_twins(view, view, weight=0.01, extra_rows=others).floats()
        {'invariance': 1.0, 'redundancy': 0.0}
    """
    anchor, positive = as_views(anchor=anchor, positive=positive)
    if extra_rows is not None:
        anchor, positive = with_rows(anchor, positive, extra_rows)

    correlation = cross_correlation(anchor, positive)
    diagonal = correlation.diagonal()
    off_diagonal = correlation.diagonal_scatter(torch.zeros_like(diagonal))
    return Loss({"invariance": (1 - diagonal).square().sum(), "redundancy": weight * off_diagonal.square().sum()})


def cross_correlation(anchor: Embeddings, positive: Embeddings) -> Float[Tensor, "d d"]:
    """The uncentred cross-correlation of dimensions, over the rows of two views.

        C_cd = sum_i anchor_ic positive_id / (|anchor_.c| |positive_.d|)

    ImSimCSE Eq. 4. Entries lie in [-1, 1]; the rank is at most min(N, d). A dimension that is 0 in every row
    has 0 everywhere.

    Raises:
        TypeError: a view is not a floating-point tensor.
        ValueError: the shapes differ or there are fewer than two rows.

    See also:
        barlow_twins: pulls this matrix to the identity.

    Example:
        >>> import torch
        >>> view = torch.tensor([[1.0, 2.0, 0.0], [1.0, -2.0, 0.0]])
        >>> cross_correlation(view, view).diagonal()
        tensor([1.0000, 1.0000, 0.0000])
    """
    anchor, positive = as_views(anchor=anchor, positive=positive)
    with full_precision(anchor):
        return l2_normalize(anchor, dim=0).T @ l2_normalize(positive, dim=0)


def standardised(view: Embeddings, correction: int) -> Embeddings:
    """Each column with mean 0 and variance 1; the variance has divisor N - correction, and EPS added."""
    factor = scale(view, dim=0).clamp(max=1)[0]  # the squares of large entries stay finite
    centred = (view - view.mean(0)) * factor
    variance = (
        centred.square().sum(0) / (len(view) - correction) + factor.square() * EPS
    )  # `var` needs 20 times as long
    return centred / variance.sqrt()


def with_rows(
    anchor: Embeddings, positive: Embeddings, extra_rows: ExtraRows
) -> tuple[Float[Tensor, "k d"], Float[Tensor, "k d"]]:
    """The views with artificial rows appended: the same rows, or the rows of a pair."""
    extra1, extra2 = (extra_rows, extra_rows) if isinstance(extra_rows, Tensor) else extra_rows
    for extra in (extra1, extra2):
        if extra.ndim != 2 or extra.shape != extra1.shape or extra.shape[1] != anchor.shape[1]:
            raise ValueError(
                f"extra_rows has shapes {list(extra1.shape)} and {list(extra2.shape)}; "
                f"both must be [M, {anchor.shape[1]}], with the same M"
            )
    anchor, positive, extra1, extra2 = widen(anchor, positive, extra1, extra2)
    return torch.cat([anchor, extra1]), torch.cat([positive, extra2])
