"""N-pair loss: InfoNCE before cosines and temperatures."""

from cselab.losses.contrast import contrast
from cselab.losses.inputs import View, as_views, full_precision
from cselab.losses.result import Loss


def n_pair(anchor: View, positive: View) -> Loss:
    """InfoNCE with dot products in place of cosines, and the temperature 1.

        l_i = -log( exp(f_i . g_i) / sum_j exp(f_i . g_j) )

    and the mean over i. The survey's Table 1 (Sohn 2016). Longer vectors lower it for ever, so it is used with a
    penalty on lengths, or with a normalisation, and then it is InfoNCE.

    Args:
        anchor: `[N, d]`, N >= 2.
        positive: `[N, d]`, another view of the same sentences.

    Returns:
        The term `n_pair`, above 0.

    Raises:
        TypeError: a view is not a floating-point tensor.
        ValueError: the shapes differ, there are fewer than two rows.

    See also:
        info_nce: the same of unit vectors, over a temperature.

    Example:
        >>> import torch
        >>> n_pair(torch.eye(4), torch.eye(4)).total    # log(1 + 3 / e)
        tensor(0.7437)
    """
    anchor, positive = as_views(anchor=anchor, positive=positive)
    with full_precision(anchor):
        return Loss({"n_pair": contrast(anchor @ positive.T).mean()})
