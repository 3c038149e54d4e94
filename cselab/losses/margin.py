"""Losses with a margin: the triplet loss, which precedes in-batch negatives, and ArcCon, whose margin is an angle."""

from math import cos, pi, sin

from cselab._util.arguments import NonNegativeFloat, PositiveFloat, checked

from .contrast import Embeddings, Loss, as_views, cosine_matrix, diagonal_cross_entropy, l2_normalize


@checked
def triplet(anchor: Embeddings, positive: Embeddings, negative: Embeddings, margin: NonNegativeFloat) -> Loss:
    """The positive should be nearer to the anchor than the negative is, by a margin.

        l_i = max(0, D(anchor_i, positive_i) - D(anchor_i, negative_i) + margin),    D = 1 - cos

    and the mean over i: the form of ArcCSE. (Schroff et al. 2015, in the survey's Table 1, use the squared distance
    for D, which is twice this for unit vectors.)

    Args:
        anchor, positive, negative: `[N, d]`, N >= 2; row i of all three is a triplet.
        margin: at least 0.

    Returns:
        The term `triplet`, between 0 and 2 + margin.

    Raises:
        TypeError: a view is not a floating-point tensor.
        ValueError: the shapes differ, fewer than two rows, a margin below 0.

    See also:
        info_nce: all remaining sentences are negatives.

    Example:
        >>> import torch
        >>> anchor, near = torch.eye(2), torch.ones(2, 2)
        >>> triplet(anchor, near, -anchor, margin=0.0).total    # in order: 1 - 0.7 is below 1 + 1
        tensor(0.)
        >>> triplet(anchor, -anchor, anchor, margin=0.5).total    # 2 - 0 + 0.5
        tensor(2.5000)
    """
    anchor, positive, negative = as_views(anchor=anchor, positive=positive, negative=negative)
    near, far = (1 - (l2_normalize(anchor) * l2_normalize(other)).sum(1) for other in (positive, negative))
    return Loss({"triplet": (near - far + margin).clamp(min=0).mean()})


@checked
def arc_con(anchor: Embeddings, positive: Embeddings, temperature: PositiveFloat, margin: float) -> Loss:
    """InfoNCE in which a positive pair counts as if its angle were larger by a margin.

        l_i = -log( exp(p_i) / (exp(p_i) + sum_{j != i} exp(cos(a_ij) / t)) ),   p_i = cos(a_ii + margin) / t

    with a_ij the angle between anchor_i and positive_j, t = temperature; the mean over i. ArcCSE, survey Eq. 2
    (which leaves open whose view the negatives are; here, as in InfoNCE, the second). No code was released
    with ArcCSE.

    The gradient is finite everywhere: cos(a + margin) = cos a cos margin - sin a sin margin is computed with
    sin a = |u - v| |u + v| / 2 for unit vectors u, v, not through arccos, whose derivative has no bound at
    cosines of 1 and -1. If the views of a sentence are equal, the gradient of the sine is set to 0.

    Beyond a_ii = pi - margin the formula turns: cos(a + margin) rises again, and a positive pair that is
    nearly opposite is pushed further apart. The formula is unchanged.

    Args:
        anchor: `[N, d]`, N >= 2.
        positive: `[N, d]`, a second view of the same sentences.
        temperature: divides the cosines.
        margin: an angle in radians, 0 <= margin < pi; 0 gives InfoNCE.

    Returns:
        The term `arc_con`, above 0; not below InfoNCE as long as a_ii + margin <= pi.

    Raises:
        TypeError: a view is not a floating-point tensor.
        ValueError: the shapes differ, fewer than two rows, the temperature is not positive, the margin out of
            its range.

    See also:
        info_nce: the margin 0.
        focal_info_nce: different changes to the logits.

    Example:
        >>> import math, torch
        >>> views = torch.eye(4)
        >>> arc_con(views, views, temperature=1.0, margin=math.pi / 3).total    # log(1 + 3 / exp(1 / 2))
        tensor(1.0366)
    """
    anchor, positive = as_views(anchor=anchor, positive=positive)
    if not 0 <= margin < pi:
        raise ValueError(f"margin is {margin!r}; expected an angle in radians, 0 <= margin < pi (10 degrees: 0.1745)")

    cosines = cosine_matrix(anchor, positive)
    unit1, unit2 = l2_normalize(anchor), l2_normalize(positive)
    sines = (unit1 - unit2).norm(dim=1) * (unit1 + unit2).norm(dim=1) / 2
    widened = cosines.diagonal() * cos(margin) - sines * sin(margin)
    return Loss({"arc_con": diagonal_cross_entropy(cosines.diagonal_scatter(widened) / temperature).mean()})
