"""Focal-InfoNCE: hard negatives weigh more, dissimilar positives less."""

from cselab._util.arguments import NonNegativeFloat, PositiveFloat, checked

from .contrast import (
    Embeddings,
    LogWeights,
    Loss,
    Negatives,
    add_log_weights,
    as_views,
    cosines_against,
    diagonal_cross_entropy,
)


@checked
def focal_info_nce(
    anchor: Embeddings,
    positive: Embeddings,
    temperature: PositiveFloat,
    m: NonNegativeFloat,
    detach: bool = False,
    negatives: Negatives | None = None,
    log_weights: LogWeights | None = None,
) -> Loss:
    """InfoNCE whose cosines are multiplied by modulation factors: a positive's s by s, a negative's by s + m.

        l_i = -log( exp(p_i^2 / t) / (exp(p_i^2 / t) + sum_{j != i} exp(n_ij (n_ij + m) / t)) )

    with p_i = cos(anchor_i, positive_i), n_ij = cos(anchor_i, positive_j), t = temperature. Focal-InfoNCE Eq. 2; the
    mean over i, as in its code, where the paper writes the sum.

    The factors are differentiated too, as in the released code: a positive's logit has derivative 2 p_i / t
    (Eq. 5) and a negative's (2 n_ij + m) / t (Eq. 4 prints 2 (n_ij + m), and a sum over j). Hence negatives below a
    cosine of -m / 2 are pulled back up, and positives with a negative cosine are pushed away. With `detach` the
    factors count as constants, the derivatives are p_i / t and (n_ij + m) / t, the turning points lie at 0 and -m,
    and the value is the same.

    Args:
        anchor: `[N, d]`, N >= 2.
        positive: `[N, d]`, a second view of the same sentences.
        temperature: 0.07 for BERT and 0.05 for RoBERTa (the 0.7 and 0.5 in the paper's text contradict its
            tables).
        m: hardness: a negative above a cosine of 1 - m weighs more than in InfoNCE, below it less; 0.3 in the
            paper.
        detach: treat the modulation factors as constants.
        negatives: `[M, d]` or `[N, M, d]`, as in `info_nce`.
        log_weights: `[N, N + M]`, added to the logits, as in `info_nce`.

    Returns:
        The term `focal_info_nce`, above 0.

    Raises:
        TypeError: a view is not a floating-point tensor.
        ValueError: the shapes differ, there are fewer than two rows, or the temperature is not positive.

    See also:
        info_nce: the same without the factors.

    Example:
        >>> import torch
        >>> views = torch.eye(4)              # cosines are 1 and 0, where the factors change nothing
        >>> focal_info_nce(views, views, temperature=1.0, m=0.3).total    # log(1 + 3 / e)
        tensor(0.7437)
    """
    anchor, positive = as_views(anchor=anchor, positive=positive)

    cosines = cosines_against(anchor, positive, negatives)
    factors = (cosines + m).diagonal_scatter(cosines.diagonal())
    if detach:
        factors = factors.detach()
    logits = add_log_weights(cosines * factors / temperature, log_weights)
    return Loss({"focal_info_nce": diagonal_cross_entropy(logits).mean()})
