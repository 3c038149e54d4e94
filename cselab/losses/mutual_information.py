"""Jensen-Shannon mutual information between the parts of a sentence and the whole of it."""

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor

from .contrast import Embeddings, Loss, as_views, full_precision, widen


def mutual_information(parts: Float[Tensor, "n t d"], seen: Bool[Tensor, "n t"], whole: Embeddings) -> Loss:
    """The vector of a sentence should identify its parts among the parts of all sentences.

        l = mean_{i, a} sp( -F_ia . E_i )  +  mean_{j != i, a} sp( F_ja . E_i ),     sp(x) = log(1 + e^x)

    F_ia the vector of part a (a token in its context) of sentence i, E_i the vector of sentence i. Minus the
    Jensen-Shannon estimate of the mutual information between vectors and parts, up to a constant: IS-BERT (Zhang et
    al. 2020), after Deep InfoMax; the "MI loss" of the survey's section 2.1.2. Raw dot products: lengths count.

    Args:
        parts: `[N, T, d]`, N >= 2.
        seen: `[N, T]`, True for existing parts.
        whole: `[N, d]`.

    Returns:
        The term `mutual_information`, above 0; 2 log 2 where all dot products are 0.

    Raises:
        TypeError: parts or whole is not a floating-point tensor.
        ValueError: fewer than two sentences, shapes that do not go together.

    See also:
        info_nce: a different lower bound, between two vectors of a sentence.

    Example:
        >>> import torch
        >>> mutual_information(torch.zeros(2, 3, 4), torch.ones(2, 3).bool(), torch.zeros(2, 4)).total
        tensor(1.3863)
    """
    as_views(**{"parts[:, 0]": parts[:, 0], "whole": whole})
    if parts.shape[:2] != seen.shape:
        raise ValueError(f"seen has shape {list(seen.shape)}; expected {list(parts.shape[:2])}, the parts of each row")
    parts, whole = widen(parts, whole)
    with full_precision(whole):
        dots = parts[seen] @ whole.T
    own = seen.nonzero()[:, :1] == torch.arange(len(whole), device=seen.device)
    return Loss({"mutual_information": F.softplus(-dots[own]).mean() + F.softplus(dots[~own]).mean()})
