"""The triplet loss with a margin, which precedes losses with in-batch negatives."""

from cselab._util.arguments import NonNegativeFloat, checked

from .contrast import l2_normalize
from .inputs import Embeddings, as_views
from .result import Loss


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
