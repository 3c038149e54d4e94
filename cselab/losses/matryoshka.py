"""Nested widths: the first numbers of a vector are trained to be a vector themselves."""

from collections.abc import Sequence

from jaxtyping import Float
from torch import Tensor

from cselab.losses.contrast import Negatives
from cselab.losses.info_nce import info_nce
from cselab.losses.inputs import View, as_views
from cselab.losses.result import Loss


def matryoshka_info_nce(
    anchor: View,
    positive: View,
    temperature: float,
    widths: Sequence[int],
    weights: Sequence[float] | None = None,
    negatives: Negatives | None = None,
    log_weights: Float[Tensor, "n columns"] | None = None,
) -> Loss:
    """InfoNCE of the first numbers of each vector, for several widths at once.

        l = sum_w c_w InfoNCE( anchor[:, :w], positive[:, :w] )

    Matryoshka Representation Learning (Kusupati et al. 2022), Eq. 1, with InfoNCE as the loss. Equal to
    sentence-transformers' MatryoshkaLoss over MultipleNegativesRankingLoss, whose scale is 1 / temperature.

    Args:
        anchor: `[N, d]`, N >= 2.
        positive: `[N, d]`, a second view of the same sentences.
        temperature: divides the cosines.
        widths: how many numbers count, 1 to d each; the whole width is not added by itself.
        weights: c_w, one a width; 1 each by default.
        negatives, log_weights: as in `info_nce`; negatives are cut as well.

    Returns:
        A term `info_nce_<w>` for each width, its weight included.

    Raises:
        TypeError: a view is not a floating-point tensor.
        ValueError: the shapes differ, fewer than two rows, the temperature is not positive, no widths, a width out of
            range or given twice, or a wrong number of weights.

    See also:
        info_nce: one width.

    Example:
        >>> import torch
        >>> views = torch.eye(4)
        >>> matryoshka_info_nce(views, views, 1.0, widths=(4, 1)).terms    # of one number: three rows are 0
        {'info_nce_4': tensor(0.7437), 'info_nce_1': tensor(1.2256)}
    """
    as_views(anchor=anchor, positive=positive)
    width, weights = anchor.shape[1], [1.0] * len(widths) if weights is None else weights
    if not widths or len({*widths}) < len(widths) or not all(1 <= each <= width for each in widths):
        raise ValueError(f"widths is {list(widths)}; give different widths from 1 to {width}, one at least")
    if len(weights) != len(widths):
        raise ValueError(f"weights has {len(weights)} numbers for {len(widths)} widths; give one each")
    terms = {}
    for each, weight in zip(widths, weights, strict=True):
        cut = None if negatives is None else negatives[..., :each]
        loss = info_nce(anchor[:, :each], positive[:, :each], temperature, cut, log_weights)
        terms[f"info_nce_{each}"] = weight * loss.total
    return Loss(terms)
