"""Losses of several positives of one anchor: views of a sentence, or all sentences of a class."""

from collections.abc import Sequence
from math import inf, log
from typing import Literal

import torch
from jaxtyping import Int
from torch import Tensor

from cselab._util.arguments import PositiveFloat, checked

from .contrast import Embeddings, Loss, as_views, cosine_matrix, diagonal_cross_entropy, on_diagonal


@checked
def multi_positive_info_nce(
    anchor: Embeddings,
    positives: Sequence[Embeddings],
    temperature: PositiveFloat,
    reduction: Literal["outside", "inside", "inside_printed"] = "outside",
    weight: PositiveFloat = 1.0,
) -> Loss:
    """InfoNCE of one anchor with several positives of the same sentence.

    With s_ip = cos(anchor_i, positives[p]_i) / temperature and the InfoNCE of positive p, whose negatives are view p
    of the remaining sentences,

        l_ip = -s_ip + log Z_ip,   Z_ip = sum_j exp(cos(anchor_i, positives[p]_j) / temperature)

    the mean over i of

    * `"outside"`: weight * sum_p l_ip. WhitenedCSE Eq. 7, as its code runs (weight 1).
    * `"inside"`: log( weight * sum_p exp(l_ip) ) = log sum_p weight exp(-s_ip) Z_ip. WhitenedCSE Eq. 8 with corrected
      signs: the positive with the highest loss, the least similar, gets most of the gradient, as the text below the
      equation requires.
    * `"inside_printed"`: -log sum_p weight exp(-s_ip) / Z_ip. WhitenedCSE Eq. 8 as printed. The similarity is
      negated while the outer minus and the fraction stay as in Eq. 7, so that with one positive it is s_ip +
      log Z_ip: minimising this loss pushes positives away from their anchor. cselab has this form to show that.

    The paper leaves the positive's index out of the denominator (h_j^+); its code has the reading of cselab.
    Its m counts views in the tables, the anchor included, but positives in these equations. In the two
    `inside` forms the weight only adds a constant and has no gradient.

    Args:
        anchor: `[N, d]`, N >= 2.
        positives: one or more views `[N, d]` of the same sentences.
        temperature: divides the cosines; 0.05 in WhitenedCSE.
        reduction: the place of the sum over positives.
        weight: lambda_m of the paper, the same for each positive.

    Returns:
        The term `multi_positive_info_nce`. With `"outside"` above 0; with `"inside"` above log(weight *
        number of positives); with `"inside_printed"` it may be negative.

    Raises:
        TypeError: a view is not a floating-point tensor.
        ValueError: no positives, the shapes differ, fewer than two rows, temperature or weight not positive,
            unknown reduction.

    See also:
        info_nce: the same with a single positive, for `"outside"` and for `"inside"`.

    Example:
        >>> import torch
        >>> views = torch.eye(4)
        >>> multi_positive_info_nce(views, [views, views], 1.0).total    # 2 log(1 + 3 / e)
        tensor(1.4873)
        >>> multi_positive_info_nce(views, [views, views], 1.0, "inside").total    # log(2 (1 + 3 / e))
        tensor(1.4368)
    """
    named = {f"positives[{p}]": positive for p, positive in enumerate(positives)}
    if not named:
        raise ValueError("positives is empty; give at least one view [N, d]")
    anchor, *positives = as_views(anchor=anchor, **named)

    logits = [cosine_matrix(anchor, positive) / temperature for positive in positives]
    losses = torch.stack([diagonal_cross_entropy(each) for each in logits])  # l_ip  [positives, N]
    match reduction:
        case "outside":  # Eq. 7
            rows = weight * losses.sum(0)
        case "inside":  # Eq. 8, corrected
            rows = losses.logsumexp(0) + log(weight)
        case "inside_printed":  # Eq. 8
            similarities = torch.stack([each.diagonal() for each in logits])
            denominators = losses + similarities  # log Z_ip
            rows = -(-similarities - denominators).logsumexp(0) - log(weight)
    return Loss({"multi_positive_info_nce": rows.mean()})


@checked
def sup_con(
    anchor: Embeddings, positive: Embeddings | list[Embeddings], labels: Int[Tensor, " n"], temperature: PositiveFloat
) -> Loss:
    """NT-Xent in which every view of every sentence of the same class is a positive.

        l_i = -1/|P(i)| sum_{p in P(i)} log( e^{s_ip} / sum_{a != i} e^{s_ia} ),   i = 1 ... 2N (3N with a third view)

    with s_ip = cos(z_i, z_p) / temperature, z the anchors and positives together, P(i) all further rows with i's
    label; the mean over all views. Khosla et al. 2020, which the survey's section 2.1.2 describes; the sum is outside
    the logarithm, as they recommend.

    Args:
        anchor: `[N, d]`, N >= 2.
        positive: `[N, d]`, a second view of the same sentences, or several in a list.
        labels: `[N]`, the class of each sentence, whole numbers.
        temperature: divides the cosines.

    Returns:
        The term `sup_con`, above 0.

    Raises:
        TypeError: a view is not a floating-point tensor.
        ValueError: the shapes differ, fewer than two rows, a wrong number of labels, the temperature not positive.

    See also:
        nt_xent: every sentence is a separate class.
        multi_positive_info_nce: several views of one sentence as positives.

    Example:
        >>> import torch
        >>> views = torch.eye(4)
        >>> sup_con(views, views, torch.arange(4), temperature=1.0).total    # nt_xent: log(1 + 6 / e)
        tensor(1.1654)
    """
    others = positive if isinstance(positive, list) else [positive]
    anchor, *others = as_views(anchor=anchor, **{f"positive {i}": view for i, view in enumerate(others)})
    if labels.shape != anchor.shape[:1]:
        raise ValueError(f"labels has shape {list(labels.shape)}; expected [{len(anchor)}], one per sentence")
    views, classes = torch.cat([anchor, *others]), labels.repeat(1 + len(others))
    logits = cosine_matrix(views, views) / temperature
    oneself = on_diagonal(logits)
    together = (classes[:, None] == classes) & ~oneself
    shares = logits.masked_fill(oneself, -inf).log_softmax(1).where(together, 0)
    return Loss({"sup_con": -(shares.sum(1) / together.sum(1)).mean()})
