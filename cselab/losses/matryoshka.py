"""Nested widths: the first numbers of a vector are trained to be a vector themselves."""

from collections.abc import Sequence

from cselab._util.arguments import PositiveFloat, checked

from .contrast import Embeddings, LogWeights, Loss, Negatives, as_views
from .info_nce import info_nce


@checked
def matryoshka_info_nce(
    anchor: Embeddings,
    positive: Embeddings,
    temperature: PositiveFloat,
    widths: Sequence[int],
    negatives: Negatives | None = None,
    log_weights: LogWeights | None = None,
) -> Loss:
    """InfoNCE of the first numbers of each vector, for several widths at once.

        l = sum_w InfoNCE( anchor[:, :w], positive[:, :w] )

    Matryoshka Representation Learning (Kusupati et al. 2022), Eq. 1, with InfoNCE as the loss. Equal to
    sentence-transformers' MatryoshkaLoss over MultipleNegativesRankingLoss, whose scale is 1 / temperature.

    Args:
        anchor: `[N, d]`, N >= 2.
        positive: `[N, d]`, a second view of the same sentences.
        temperature: divides the cosines.
        widths: how many numbers count, 1 to d each; the whole width is not added by itself.
        negatives, log_weights: as in `info_nce`; negatives are cut as well.

    Returns:
        A term `info_nce_<w>` for each width.

    Raises:
        TypeError: a view is not a floating-point tensor.
        ValueError: the shapes differ, fewer than two rows, the temperature is not positive, no widths, a width out of
            range or given twice.

    See also:
        info_nce: one width.

    Example:
        >>> import torch
        >>> views = torch.eye(4)
        >>> matryoshka_info_nce(views, views, 1.0, widths=(4, 1)).terms    # of one number: three rows are 0
        {'info_nce_4': tensor(0.7437), 'info_nce_1': tensor(1.2256)}
    """
    as_views(anchor=anchor, positive=positive)
    width = anchor.shape[1]
    if (
        not isinstance(widths, Sequence)
        or not widths
        or len({*widths}) < len(widths)
        or not all(1 <= each <= width for each in widths)
    ):
        raise ValueError(f"widths is {widths!r:.80}; give at least one width from 1 to {width}, each once")
    terms = {}
    for each in widths:
        cut = None if negatives is None else negatives[..., :each]
        terms[f"info_nce_{each}"] = info_nce(anchor[:, :each], positive[:, :each], temperature, cut, log_weights).total
    return Loss(terms)
