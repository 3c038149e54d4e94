"""What the contrastive losses are built from: a matrix of cosines, and the softmax of its rows."""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from cselab.losses.inputs import full_precision


def cosine_matrix(rows: Float[Tensor, "n d"], columns: Float[Tensor, "k d"]) -> Float[Tensor, "n k"]:
    """Entry ij is cos(rows_i, columns_j), in [-1, 1]; a row of zeros has cosine 0 with everything."""
    with full_precision(rows):
        return F.normalize(rows, dim=1) @ F.normalize(columns, dim=1).T


def contrast(logits: Float[Tensor, "n k"]) -> Float[Tensor, " n"]:
    """How badly each row tells its own pair, on the diagonal, from the others: -log softmax(logits_i)_i.

    Columns after the first n have no pair: they are negatives of every row.
    """
    return F.cross_entropy(logits, torch.arange(len(logits), device=logits.device), reduction="none")
