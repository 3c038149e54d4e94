"""Debiased InfoNCE: some of the batch's negatives are none, and their expected share is taken out."""

from math import exp

from cselab.losses.contrast import cosine_matrix
from cselab.losses.inputs import View, as_views, require_positive
from cselab.losses.result import Loss


def debiased_info_nce(anchor: View, positive: View, temperature: float, prior: float) -> Loss:
    """InfoNCE corrected for negatives that mean the same as the anchor, of which nobody knows which they are.

        l_i = -log( e^{s_ii} / (e^{s_ii} + g_i) ),
        g_i = max( M e^{-1/t},  ( sum_{j != i} e^{s_ij} - M prior e^{s_ii} ) / (1 - prior) )

    with s_ij = cos(anchor_i, positive_j) / t, M = N - 1 negatives; the mean over i. Chuang et al. 2020, which section
    6.2.2 of the survey names. A share `prior` of the negatives is taken to be as similar as the positive; what is left
    cannot be below the smallest value that M negatives can have, where the gradient through them is 0.

    Args:
        anchor: `[N, d]`, N >= 2.
        positive: `[N, d]`, another view of the same sentences.
        temperature: divides the cosines.
        prior: the probability that a negative belongs to the anchor's class, in [0, 1); 0 gives InfoNCE.

    Returns:
        The term `debiased_info_nce`, above 0.

    Raises:
        TypeError: a view is not a floating-point tensor.
        ValueError: the shapes differ, fewer than two rows, the temperature is not positive, the prior out of its range.

    See also:
        info_nce: the prior 0; its `log_weights` take out negatives that are known to be false.

    Example:
        >>> import torch
        >>> views = torch.eye(4)    # g = (3 - 3 e / 10) / 0.9, the loss log(1 + g / e)
        >>> debiased_info_nce(views, views, temperature=1.0, prior=0.1).total
        tensor(0.6381)
    """
    anchor, positive = as_views(anchor=anchor, positive=positive)
    require_positive("temperature", temperature)
    if not 0 <= prior < 1:
        raise ValueError(f"prior is {prior!r}; it is a probability of at least 0, below 1")
    logits = cosine_matrix(anchor, positive) / temperature
    shift = logits.detach().amax(1)
    cells = (logits - shift[:, None]).exp()
    positives = cells.diagonal()
    count = len(cells) - 1
    left = (cells.sum(1) - positives - count * prior * positives) / (1 - prior)
    least = count * exp(-1 / temperature) * (-shift).exp()
    sums = positives + left.maximum(least)
    return Loss({"debiased_info_nce": (sums.log() + shift - logits.diagonal()).mean()})
