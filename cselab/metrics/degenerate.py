"""Embeddings that cannot be scored, and the checks that notice them."""

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from cselab._util.arguments import checked

Vectors = Float[np.ndarray, "_n _d"] | Float[Tensor, "_n _d"]

SAME_DIRECTION = 1e-5  # unit vectors closer than this differ by float32 rounding only


class DegenerateEmbeddings(ValueError):
    """These embeddings cannot be scored; the message has the reason."""


@checked
def require_rows(x: Vectors, least: int) -> None:
    """Refuse arguments that are not rows of vectors, or too few rows.

    Raises:
        ValueError: not an array of two dimensions.
        DegenerateEmbeddings: fewer rows than required.
    """
    if x.ndim != 2:
        raise ValueError(f"expected rows of vectors [n, d], got an array of shape {tuple(x.shape)}")
    if len(x) < least:
        raise DegenerateEmbeddings(f"{len(x)} embeddings; at least {least} are needed")


def require_sound(vectors: Float[np.ndarray, "n d"]) -> None:
    """Refuse vectors that cannot be scored.

    Raises:
        DegenerateEmbeddings: NaN or Inf among them, or (of two or more) all in the same direction.
    """
    blocks = np.array_split(vectors, len(vectors) // 4096 + 1)
    broken = sum(int((~np.isfinite(block).all(axis=1)).sum()) for block in blocks)
    if broken:
        raise DegenerateEmbeddings(f"{broken} of {len(vectors)} embeddings are not finite (NaN or Inf)")
    directions = (F.normalize(torch.from_numpy(block), dim=1, eps=1e-38) for block in (vectors[:1], *blocks))
    first = next(directions)  # zero rows stay zero
    if len(vectors) > 1 and all((rows - first).abs().max() < SAME_DIRECTION for rows in directions):
        raise DegenerateEmbeddings(f"constant embeddings: all {len(vectors)} point the same way")


def on_cpu(rows: Vectors) -> Tensor:
    """The rows as a tensor; rows of a memory-mapped file are copied, because torch requires writable memory."""
    if isinstance(rows, np.ndarray) and not rows.flags.writeable:
        rows = rows.copy()
    return torch.as_tensor(rows).detach().cpu()


def unit_rows(rows: Vectors) -> Tensor:
    """Rows divided by their length, in their own precision (at least float32).

    Raises:
        DegenerateEmbeddings: a row that is not finite, or zero.
    """
    rows = on_cpu(rows)
    rows = rows.float() if rows.dtype in (torch.float16, torch.bfloat16) else rows
    length = rows.norm(dim=1, keepdim=True)
    if not bool(torch.isfinite(length).all()):
        raise DegenerateEmbeddings(f"{int((~torch.isfinite(length)).sum())} embeddings are not finite (NaN or Inf)")
    if bool((length == 0).any()):
        raise DegenerateEmbeddings(f"{int((length == 0).sum())} embeddings are zero vectors, which have no direction")
    return rows / length
