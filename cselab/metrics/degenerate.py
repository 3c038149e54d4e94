"""Embeddings that cannot be scored, and the checks that notice them."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float, Real
from torch import Tensor

from cselab._util.arguments import checked

VectorArray = Real[np.ndarray, "_n _d"] | Real[Tensor, "_n _d"]

SAME_DIRECTION = 1e-5  # unit vectors closer than this differ by float32 rounding only


class DegenerateEmbeddings(ValueError):
    """These embeddings cannot be scored; the message has the reason."""


@checked
def require_rows(x: VectorArray, least: int) -> None:
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
    directions = (F.normalize(scaled(on_cpu(block)), dim=1) for block in (vectors[:1], *blocks))
    first = next(directions)  # zero rows stay zero
    if len(vectors) > 1 and all((rows - first).abs().max() < SAME_DIRECTION for rows in directions):
        raise DegenerateEmbeddings(f"constant embeddings: all {len(vectors)} point the same way")


def on_cpu(rows: VectorArray) -> Tensor:
    """The rows as a tensor of floats; memory that torch does not accept is copied: of a mapped file, or with negative
    strides.
    """
    if isinstance(rows, np.ndarray):
        accepted = rows.flags.writeable and min(rows.strides, default=0) >= 0
        kind = rows.dtype.newbyteorder("=") if rows.dtype.itemsize <= 8 else np.float64
        rows = rows.astype(kind, order="C", copy=not accepted)
    tensor = torch.as_tensor(rows).detach().cpu()
    return tensor if tensor.is_floating_point() else tensor.double()


def scaled(rows: Float[Tensor, "n d"]) -> Float[Tensor, "n d"]:
    """Each row times a power of two, so that its largest entry is near 1: squares of tiny and of huge entries are lost.

    The directions stay exactly the same. Rows of zeros stay zeros.
    """
    most = int(math.log2(torch.finfo(rows.dtype).max)) - 2
    exponents = torch.frexp(rows.abs().amax(dim=1, keepdim=True)).exponent.clamp(-most, most)
    return rows * torch.from_numpy(np.ldexp(1.0, -exponents.numpy())).to(rows.dtype)


def unit_rows(rows: VectorArray) -> Tensor:
    """Rows divided by their length, in their own precision (at least float32).

    Raises:
        DegenerateEmbeddings: a row that is not finite, or zero.
    """
    rows = on_cpu(rows)
    rows = rows.float() if rows.dtype in (torch.float16, torch.bfloat16) else rows
    finite = torch.isfinite(rows).all(dim=1)
    if not bool(finite.all()):
        raise DegenerateEmbeddings(f"{int((~finite).sum())} embeddings are not finite (NaN or Inf)")
    rows = scaled(rows)
    length = rows.norm(dim=1, keepdim=True)
    if bool((length == 0).any()):
        raise DegenerateEmbeddings(f"{int((length == 0).sum())} embeddings are zero vectors, which have no direction")
    return rows / length
