"""The first contrastive losses: distances of pairs and of triplets, with a margin."""

from typing import Literal

from jaxtyping import Float
from torch import Tensor

from cselab.losses.contrast import unit
from cselab.losses.inputs import View, as_views, require_one_of
from cselab.losses.result import Loss


def triplet(
    anchor: View, positive: View, negative: View, margin: float, distance: Literal["squared", "cosine"] = "squared"
) -> Loss:
    """The positive should be nearer to the anchor than the negative is, by a margin.

        l_i = max(0, D(anchor_i, positive_i) - D(anchor_i, negative_i) + margin)

    and the mean over i. The survey's Table 1 (Schroff et al. 2015) with D the squared Euclidean distance, "squared";
    with "cosine" D = 1 - cos, the form of ArcCSE.

    Args:
        anchor, positive, negative: `[N, d]`, N >= 2; row i of all three is a triplet.
        margin: at least 0.
        distance: what D is.

    Returns:
        The term `triplet`, at least 0.

    Raises:
        TypeError: a view is not a floating-point tensor.
        ValueError: the shapes differ, fewer than two rows, a margin below 0, an unknown distance.

    Example:
        >>> import torch
        >>> anchor, near, far = torch.zeros(2, 1), torch.ones(2, 1), torch.tensor([[3.0], [1.0]])
        >>> triplet(anchor, near, far, margin=1.0).total    # (max(0, 1 - 9 + 1) + (1 - 1 + 1)) / 2
        tensor(0.5000)
    """
    views = as_views(anchor=anchor, positive=positive, negative=negative)
    require_one_of("distance", distance, ("squared", "cosine"))
    if not margin >= 0:
        raise ValueError(f"margin is {margin!r}; it must be a number of at least 0")
    near, far = (_distance(views[0], other, distance) for other in views[1:])
    return Loss({"triplet": (near - far + margin).clamp(min=0).mean()})


def _distance(one: View, other: View, distance: str) -> Float[Tensor, " n"]:
    if distance == "cosine":
        return 1 - (unit(one) * unit(other)).sum(1)
    return (one - other).square().sum(1)
