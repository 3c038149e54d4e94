"""The parts of contrastive losses: unit vectors, a matrix of cosines, and the softmax of its rows."""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from .inputs import Embeddings, check_negatives, widen

EPS = 1e-12  # the length of a vector of zeros

Negatives = Float[Tensor, "m d"] | Float[Tensor, "n m d"]
"""Further negatives: `[M, d]`, the same for every anchor, or `[N, M, d]`, M of each anchor's own."""

LogWeights = Float[Tensor, "n columns"]
"""Added to the logits: a row for each anchor, a column for each positive and each further negative."""


def full_precision(tensor: Tensor) -> torch.autocast:
    """A context in which `torch.autocast` does not turn matrix products into half precision."""
    return torch.autocast(device_type=tensor.device.type, enabled=False)


def scale(vectors: Float[Tensor, "*rows d"], dim: int = -1) -> Float[Tensor, "..."]:
    """The power of two that brings the largest entry of each vector between 1/2 and 1; 1 for a vector of zeros.

    Squares of float32 entries of 1e25 overflow, those of 1e-25 vanish. Multiplying by a power of two is exact, so
    that it changes no digit where neither happens.
    """
    largest = vectors.detach().abs().amax(dim, keepdim=True)
    return (torch.frexp(largest).mantissa / largest).nan_to_num(nan=1.0, posinf=2.0**126)


def l2_normalize(vectors: Float[Tensor, "*rows d"], dim: int = -1) -> Float[Tensor, "*rows d"]:
    """Each vector divided by its length, even if very long or short; a vector of zeros does not change."""
    factor = scale(vectors, dim)
    length = (vectors * factor).norm(dim=dim, keepdim=True) / factor
    return vectors / length.masked_fill(length == 0, EPS)


def cosine_matrix(rows: Embeddings, columns: Float[Tensor, "k d"]) -> Float[Tensor, "n k"]:
    """Entry ij is cos(rows_i, columns_j), in [-1, 1]; a row of zeros has cosine 0 with everything."""
    with full_precision(rows):
        return l2_normalize(rows) @ l2_normalize(columns).T


def cosines_against(
    anchor: Embeddings, positive: Embeddings, negatives: Negatives | None = None
) -> Float[Tensor, "n columns"]:
    """The cosines of each anchor with all N positives, and after them with M further negatives.

    Raises:
        TypeError, ValueError: negatives of a wrong type or shape; the message names it.
    """
    if negatives is None:
        return cosine_matrix(anchor, positive)
    check_negatives(negatives, anchor)
    anchor, positive, negatives = widen(anchor, positive, negatives)
    if negatives.ndim == 2:
        return cosine_matrix(anchor, torch.cat([positive, negatives]))
    with full_precision(anchor):
        own = (l2_normalize(negatives) @ l2_normalize(anchor)[..., None])[..., 0]
    return torch.cat([cosine_matrix(anchor, positive), own], dim=1)


def add_log_weights(logits: Tensor, log_weights: Tensor | None) -> Tensor:
    """The logits with a number added to each, if given.

    Raises:
        ValueError: no tensor, or one of a wrong shape.
    """
    if log_weights is None:
        return logits
    if not isinstance(log_weights, Tensor) or log_weights.shape != logits.shape:
        raise ValueError(
            f"log_weights has shape {list(getattr(log_weights, 'shape', ()))}; expected a tensor {list(logits.shape)}: "
            "a row for each anchor, a column for each positive and each further negative"
        )
    return logits + log_weights.to(logits.dtype)


def diagonal_cross_entropy(logits: Float[Tensor, "n k"]) -> Float[Tensor, " n"]:
    """The cross-entropy of each row's pair, on the diagonal: -log softmax(logits_i)_i.

    Columns after the first n have no pair: they are negatives only.
    """
    return F.cross_entropy(logits, torch.arange(len(logits), device=logits.device), reduction="none")
