"""Contrastive losses: free functions from views, tensors `[N, d]`, to a `Loss`, a sum of named terms.

Row i of every view belongs to sentence i. Similarity is the cosine of rows unless a docstring says otherwise,
losses are means over the batch, and all arithmetic is done in float32 or wider, also under `torch.autocast`.
Nothing here is random.

Example:
    >>> import torch
    >>> anchor, positive, clean = torch.eye(4), torch.eye(4), torch.eye(4)
    >>> loss = off_dropout_info_nce(anchor, positive, clean, temperature=0.5, m=1.0)    # ImSimCSE Eq. 6
    >>> loss = loss + 0.1 * dimension_contrastive(anchor, positive, temperature=5.0)
    >>> loss.terms
    {'off_dropout_info_nce': tensor(0.3408), 'dimension_contrastive': tensor(0.1193)}
"""

from .contrast import Loss
from .dimension_wise import barlow_twins, cross_correlation, dimension_contrastive
from .focal import focal_info_nce
from .info_nce import decoupled_info_nce, info_nce, nt_xent, off_dropout_info_nce
from .margin import arc_con, triplet
from .matryoshka import matryoshka_info_nce
from .multi_positive import multi_positive_info_nce, sup_con
from .mutual_information import mutual_information
from .spread import spread_out

__all__ = [
    "Loss",
    "arc_con",
    "barlow_twins",
    "cross_correlation",
    "decoupled_info_nce",
    "dimension_contrastive",
    "focal_info_nce",
    "info_nce",
    "matryoshka_info_nce",
    "multi_positive_info_nce",
    "mutual_information",
    "nt_xent",
    "off_dropout_info_nce",
    "spread_out",
    "sup_con",
    "triplet",
]
