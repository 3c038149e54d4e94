"""Global orthogonal regularisation: vectors of different sentences should be spread like random directions."""

from cselab._util.arguments import NonNegativeFloat, checked

from .contrast import Embeddings, Loss, as_views, cosine_matrix, on_diagonal


@checked
def spread_out(vectors: Embeddings, mean_weight: NonNegativeFloat = 1.0) -> Loss:
    """How far the cosines of different sentences are from those of random directions: mean 0, second moment 1/d.

        M_1 = mean_{i != j} cos_ij,   M_2 = mean_{i != j} cos_ij^2,   l = mean_weight M_1^2 + max(0, M_2 - 1/d)

    Zhang et al. 2017 (Learning Spread-Out Local Feature Descriptors), section 3; EmbeddingGemma (2025) uses only the
    second term, `mean_weight` 0, of each view. Equal to sentence-transformers' GlobalOrthogonalRegularizationLoss of
    one column. A regulariser without positives, to be added to a loss with positives.

    Args:
        vectors: `[N, d]`, N >= 2; one view.
        mean_weight: the weight of M_1^2, 0 or more.

    Returns:
        The terms `spread_mean`, in [0, mean_weight], and `spread_moment`, in [0, 1 - 1/d].

    Raises:
        TypeError: no floating-point tensor.
        ValueError: fewer than two rows, a negative weight.

    See also:
        barlow_twins, dimension_contrastive: the same end by way of dimensions.

    Example:
        >>> import torch
        >>> spread_out(torch.eye(4)).floats(), spread_out(torch.ones(2, 4)).floats()
        ({'spread_mean': 0.0, 'spread_moment': 0.0}, {'spread_mean': 1.0, 'spread_moment': 0.75})
    """
    (vectors,) = as_views(vectors=vectors)
    cosines = cosine_matrix(vectors, vectors)
    others = cosines[~on_diagonal(cosines)]
    moment = (others.square().mean() - 1 / vectors.shape[1]).clamp(min=0)
    return Loss({"spread_mean": mean_weight * others.mean().square(), "spread_moment": moment})
