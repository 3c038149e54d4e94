"""InfoNCE, and its variants in which positives and negatives are measured on different views."""

from math import inf, log
from typing import Literal

import torch

from cselab._util.arguments import PositiveFloat, checked

from .contrast import (
    Embeddings,
    LogWeights,
    Loss,
    Negatives,
    add_log_weights,
    as_views,
    cosine_matrix,
    cosines_against,
    diagonal_cross_entropy,
    on_diagonal,
)


@checked
def info_nce(
    anchor: Embeddings,
    positive: Embeddings,
    temperature: PositiveFloat,
    negatives: Negatives | None = None,
    log_weights: LogWeights | None = None,
) -> Loss:
    """Each anchor should be more similar to its positive than to the positives of the remaining sentences.

        l_i = -log( exp(s_ii) / sum_j exp(s_ij) ),   s_ij = cos(anchor_i, positive_j) / temperature

    and the mean over i: SimCSE's loss; WhitenedCSE Eq. 1, ImSimCSE Eq. 2. One direction only, as in SimCSE's
    code: the N - 1 negatives of a sentence are the positives of the remaining sentences, never their anchors. ImSimCSE
    prints all of this; the survey's Eq. 1 and Focal-InfoNCE's Eq. 1 leave open which view of the negatives is
    meant.

    `negatives` adds M columns to the sum: the same vectors for every anchor, [M, d] (a queue, mined sentences), or M
    of each anchor's own, [N, M, d] (hard negatives that are mixed for it). `log_weights` is added to s, [N, N + M]:
    log w gives a cell of the sum the weight w; -inf removes the cell. Supervised SimCSE's hard negatives, DCLR's masks
    and MoCo's queue are such columns and weights.

    Args:
        anchor: `[N, d]`, N >= 2.
        positive: `[N, d]`, a second view of the same sentences.
        temperature: divides the cosines; 0.05 in SimCSE.
        negatives: `[M, d]`, further negatives of all anchors, or `[N, M, d]`, each anchor's own.
        log_weights: `[N, N + M]`, `[N, N]` without further negatives.

    Returns:
        The term `info_nce`. Without weights it lies between 0 and log(1 + (N + M - 1) exp(2 / temperature)), and
        is log (N + M) where all rows are the same.

    Raises:
        TypeError: a view is not a floating-point tensor.
        ValueError: the shapes differ, there are fewer than two rows, or the temperature is not positive.

    See also:
        nt_xent: two directions, and the anchors among the negatives.
        decoupled_info_nce: positives and negatives from different views.
        multi_positive_info_nce: several positives for an anchor.

    Example:
        >>> import torch
        >>> views = torch.eye(4)    # four orthogonal sentences, both views the same
        >>> info_nce(views, views, temperature=1.0).total    # log(1 + 3 / e)
        tensor(0.7437)
        >>> info_nce(views, views, 1.0, negatives=torch.ones(2, 4)).total    # log(1 + 3 / e + 2 exp(-1/2))
        tensor(1.1990)
        >>> info_nce(views, views, 1.0, negatives=-views[:, None]).total    # each its opposite: log(1 + 3 / e + e^-2)
        tensor(0.8060)
    """
    anchor, positive = as_views(anchor=anchor, positive=positive)
    logits = cosines_against(anchor, positive, negatives) / temperature
    return Loss({"info_nce": diagonal_cross_entropy(add_log_weights(logits, log_weights)).mean()})


@checked
def nt_xent(anchor: Embeddings, positive: Embeddings, temperature: PositiveFloat) -> Loss:
    """InfoNCE over all 2N views of the batch: every view is an anchor once, and has 2N - 2 negatives.

        l_i = -log( exp(s_ij) / sum_{k != i} exp(s_ik) ),   i = 1 ... 2N, j the second view of i's sentence

    with s_ik = cos(z_i, z_k) / temperature, z the anchors and positives together; the mean over the 2N views.
    SimCLR's loss, used by ConSERT and CLEAR; the survey's Eq. 1 with all views among the negatives.

    Args:
        anchor: `[N, d]`, N >= 2.
        positive: `[N, d]`, a second view of the same sentences; exchanging the views does not change the loss.
        temperature: divides the cosines; 0.1 in ConSERT.

    Returns:
        The term `nt_xent`, between 0 and log(1 + (2N - 2) exp(2 / temperature)).

    Raises:
        TypeError: a view is not a floating-point tensor.
        ValueError: the shapes differ, there are fewer than two rows, or the temperature is not positive.

    See also:
        info_nce: one direction, N - 1 negatives.

    Example:
        >>> import torch
        >>> views = torch.eye(4)
        >>> nt_xent(views, views, temperature=1.0).total    # log(1 + 6 / e)
        tensor(1.1654)
    """
    anchor, positive = as_views(anchor=anchor, positive=positive)
    views, others = torch.cat([anchor, positive]), torch.cat([positive, anchor])
    logits = cosine_matrix(views, others) / temperature  # the second view on the diagonal, oneself N further
    own = on_diagonal(logits).roll(len(anchor), 1)
    return Loss({"nt_xent": diagonal_cross_entropy(logits.masked_fill(own, -inf)).mean()})


@checked
def decoupled_info_nce(
    positive_pair: tuple[Embeddings, Embeddings],
    negative_pair: tuple[Embeddings, Embeddings],
    temperature: PositiveFloat,
    m: PositiveFloat = 1.0,
    m_on: Literal["negatives", "positive"] = "negatives",
    negatives: Negatives | None = None,
    log_weights: LogWeights | None = None,
) -> Loss:
    """InfoNCE with the positives' similarities from one pair of views and the negatives' similarities from a second
    pair.

        l_i = -log( exp(p_i) / (exp(p_i) + m sum_{j != i} exp(n_ij)) )

    with p_i = cos(positive_pair[0]_i, positive_pair[1]_i) / temperature and n_ij = cos(negative_pair[0]_i,
    negative_pair[1]_j) / temperature; the mean over i. ImSimCSE Eq. 3 in general form: each of its
    experiments on noise in positives or negatives (Table 1), and off-dropout sampling itself, is a call of
    this function.

    Paper and released code disagree on the place of m, and the results differ much. The paper multiplies the sum
    of negatives (`m_on="negatives"`; adds log m to every negative logit), the code multiplies the positive's
    logit, in numerator and denominator (`m_on="positive"`: p_i becomes m p_i; at m = 0.9 and a cosine of 0.85
    over 0.05, 17 becomes 15.3).

    Args:
        positive_pair: two views `[N, d]`; only cosines of row i with row i are used.
        negative_pair: two views `[N, d]`; only cosines of row i with row j != i are used.
        temperature: divides the cosines.
        m: weight of the negatives, or of the positive logit; 1 changes nothing.
        m_on: the part that m multiplies.
        negatives: `[M, d]` or `[N, M, d]`, as in `info_nce`, measured against negative_pair[0].
        log_weights: `[N, N + M]`, added to the logits, as in `info_nce`.

    Returns:
        The term `decoupled_info_nce`, above 0.

    Raises:
        TypeError: a view is not a floating-point tensor.
        ValueError: the shapes differ, there are fewer than two rows, temperature or m is not positive, m_on
            is unknown.

    See also:
        info_nce: equal pairs of views, m = 1.
        off_dropout_info_nce: negatives from one noise-free view.

    Example:
        >>> import torch
        >>> noisy, exact = torch.tensor([[3.0, 1.0], [-1.0, 3.0]]), torch.eye(2)
        >>> decoupled_info_nce((noisy, noisy), (exact, exact), temperature=1.0).total    # log(1 + 1 / e)
        tensor(0.3133)
    """
    names = ("positive_pair[0]", "positive_pair[1]", "negative_pair[0]", "negative_pair[1]")
    views = as_views(**dict(zip(names, (*positive_pair, *negative_pair), strict=True)))

    positives = cosine_matrix(*views[:2]).diagonal() / temperature
    logits = cosines_against(views[2], views[3], negatives) / temperature
    if m_on == "negatives":
        logits = logits + log(m)
    else:
        positives = m * positives
    logits = add_log_weights(logits.diagonal_scatter(positives), log_weights)
    return Loss({"decoupled_info_nce": diagonal_cross_entropy(logits).mean()})


@checked
def off_dropout_info_nce(
    anchor: Embeddings,
    positive: Embeddings,
    clean: Embeddings,
    temperature: PositiveFloat,
    m: PositiveFloat,
    m_on: Literal["negatives", "positive"] = "negatives",
    negatives: Negatives | None = None,
    log_weights: LogWeights | None = None,
) -> Loss:
    """InfoNCE with positives from two dropout views and negatives from one view encoded without dropout.

        l_i = -log( exp(p_i) / (exp(p_i) + m sum_{j != i} exp(n_ij)) )

    with p_i = cos(anchor_i, positive_i) / temperature and n_ij = cos(clean_i, clean_j) / temperature; the mean
    over i. ImSimCSE Eq. 3: noise helps in positives and harms in negatives. Each side of a negative is noise-free, and
    the gradient flows through it. The paper multiplies the negatives by m, its released code the positive logit
    (`m_on="positive"`): see `decoupled_info_nce`, of which this is a call.

    Args:
        anchor: `[N, d]`, encoded with dropout.
        positive: `[N, d]`, encoded with a second dropout mask.
        clean: `[N, d]`, encoded with dropout switched off.
        temperature: divides the cosines; 0.05 in ImSimCSE.
        m: weight of the negatives (or of the positive logit); 0.9 in ImSimCSE.
        m_on: the part that m multiplies.
        negatives: `[M, d]` or `[N, M, d]`, as in `info_nce`, measured against the clean view.
        log_weights: `[N, N + M]`, added to the logits, as in `info_nce`.

    Returns:
        The term `off_dropout_info_nce`, above 0.

    Raises:
        TypeError: a view is not a floating-point tensor.
        ValueError: the shapes differ, there are fewer than two rows, temperature or m is not positive, m_on
            is unknown.

    See also:
        decoupled_info_nce: the general form.
        dimension_contrastive: the second half of ImSimCSE.

    Example:
        >>> import torch
        >>> views = torch.eye(2)
        >>> off_dropout_info_nce(views, views, clean=views, temperature=1.0, m=1.0).total    # log(1 + 1 / e)
        tensor(0.3133)
    """
    anchor, positive, clean = as_views(anchor=anchor, positive=positive, clean=clean)
    loss = decoupled_info_nce((anchor, positive), (clean, clean), temperature, m, m_on, negatives, log_weights)
    return Loss({"off_dropout_info_nce": loss.total})
