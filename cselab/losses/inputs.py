"""The requirements of every loss for its arguments, and the error messages."""

from functools import reduce

import torch
from jaxtyping import Float
from torch import Tensor

Embeddings = Float[Tensor, "n d"]
"""The vectors of a batch: row i is a view of sentence i."""


def as_views(**views: Tensor) -> list[Tensor]:
    """The given views, checked against each other and in one dtype of at least float32.

    Args:
        views: argument name -> tensor `[N, d]`, the same shape for all, N >= 2.

    Raises:
        TypeError: a view is not a tensor of floating-point numbers.
        ValueError: a view is not a matrix, the shapes differ, or there are fewer than two rows.
    """
    for name, view in views.items():
        if not isinstance(view, Tensor) or not view.is_floating_point():
            given = f"a tensor of {view.dtype}" if isinstance(view, Tensor) else f"a {type(view).__name__}"
            raise TypeError(f"{name} is {given}; a view is a floating-point torch tensor of shape [N, d]")
        if view.ndim != 2:
            raise ValueError(f"{name} has shape {list(view.shape)}; a view is [N, d], one row per sentence")

    shapes = {name: list(view.shape) for name, view in views.items()}
    first, shape = next(iter(shapes.items()))
    for name in shapes:
        if shapes[name] != shape:
            raise ValueError(
                f"{name} has shape {shapes[name]} but {first} has {shape}; "
                "row i of every view belongs to sentence i, so all views have the same shape [N, d]"
            )
    if shape[0] < 2:
        raise ValueError(
            f"{first} has {shape[0]} row(s): a batch needs at least two sentences, because each is "
            "contrasted with the rest; raise the batch size or drop the last incomplete batch"
        )
    return widen(*views.values())


def check_negatives(negatives: Tensor, anchor: Tensor) -> None:
    """Further negatives: `[M, d]` of all anchors, or `[N, M, d]`, M of each anchor's own.

    Raises:
        TypeError, ValueError: anything else; the message names the argument.
    """
    if not isinstance(negatives, Tensor) or not negatives.is_floating_point():
        raise TypeError(f"negatives is {type(negatives).__name__}; give a floating-point torch tensor [M, d]")
    rows, width = anchor.shape
    shared = negatives.ndim == 2 and negatives.shape[1] == width
    own = negatives.ndim == 3 and negatives.shape[::2] == (rows, width)
    if not (shared or own):
        raise ValueError(
            f"negatives has shape {list(negatives.shape)}; expected [M, {width}], the same for all anchors, or "
            f"[{rows}, M, {width}], each anchor's own"
        )


def widen(*tensors: Tensor) -> list[Tensor]:
    """The tensors in their common dtype, float32 at least (half precision cannot carry cosines over 0.05)."""
    dtype = reduce(torch.promote_types, (tensor.dtype for tensor in tensors), torch.float32)
    return [tensor.to(dtype) for tensor in tensors]
