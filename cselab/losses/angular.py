"""ArcCon: InfoNCE that requires an extra angle between anchor and positive."""

from math import cos, pi, sin

from cselab._util.arguments import PositiveFloat, checked

from .contrast import cosine_matrix, diagonal_cross_entropy, l2_normalize
from .inputs import Embeddings, as_views
from .result import Loss


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
