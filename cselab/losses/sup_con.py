"""SupCon: all sentences of a class are positives of each other."""

from math import inf

import torch
from jaxtyping import Int
from torch import Tensor

from cselab._util.arguments import PositiveFloat, checked

from .contrast import cosine_matrix
from .inputs import Embeddings, as_views
from .result import Loss


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
    oneself = torch.eye(len(views), dtype=torch.bool, device=views.device)
    logits = (cosine_matrix(views, views) / temperature).masked_fill(oneself, -inf)
    together = (classes[:, None] == classes) & ~oneself
    shares = logits.log_softmax(1).where(together, 0)
    return Loss({"sup_con": -(shares.sum(1) / together.sum(1)).mean()})
