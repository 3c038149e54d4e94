"""What every loss shares: checks of its arguments, unit vectors, cosines and their softmax, and the result."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Shaped
from torch import Tensor

Embeddings = Float[Tensor, "n d"]
"""The vectors of a batch: row i is a view of sentence i."""

Negatives = Float[Tensor, "m d"] | Float[Tensor, "n m d"]
"""Further negatives: `[M, d]`, the same for every anchor, or `[N, M, d]`, M of each anchor's own."""

LogWeights = Float[Tensor, "n columns"]
"""Added to the logits: a row for each anchor, a column for each positive and each further negative."""


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
    return vectors / length.masked_fill(length == 0, 1e-12)


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


def on_diagonal(matrix: Shaped[Tensor, "n k"]) -> Bool[Tensor, "n k"]:
    """True where row and column have one number: the pairs, or each vector with itself."""
    return torch.eye(*matrix.shape, dtype=torch.bool, device=matrix.device)


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


@dataclass(frozen=True, eq=False)
class Loss:
    """A sum of named scalar terms, which supports addition and scaling.

    The total is always the sum of the terms: scaling a loss scales its terms, and adding two losses joins
    their terms and adds up those of the same name. The built-in `sum` works on a list of losses.

    Args:
        terms: name -> scalar tensor; at least one.

    Raises:
        ValueError: no term, or a term that is not a scalar.

    Example:
        >>> import torch
        >>> a = Loss({"near": torch.tensor(2.0)})
        >>> b = Loss({"near": torch.tensor(1.0), "spread": torch.tensor(4.0)})
        >>> (a + 0.5 * b).floats()
        {'near': 2.5, 'spread': 2.0}
        >>> (a + 0.5 * b).total
        tensor(4.5000)
    """

    terms: Mapping[str, Float[Tensor, "*shape"]]

    def __post_init__(self) -> None:
        if not self.terms:
            raise ValueError("a Loss needs at least one term: Loss({'info_nce': tensor})")
        for name, term in self.terms.items():
            if term.ndim != 0:
                raise ValueError(
                    f"the term {name!r} has shape {list(term.shape)}; expected a scalar: use a mean or sum"
                )

    @property
    def total(self) -> Float[Tensor, ""]:
        """The objective: the sum of the terms, with their gradients."""
        first, *others = self.terms.values()
        return sum(others, first)

    def floats(self) -> dict[str, float]:
        """The terms as Python numbers, for a history or a progress bar."""
        return {name: term.item() for name, term in self.terms.items()}

    def __add__(self, other: "Loss") -> "Loss":
        if not isinstance(other, Loss):
            return NotImplemented
        joined = dict(self.terms)
        for name, term in other.terms.items():
            joined[name] = joined[name] + term if name in joined else term
        return Loss(joined)

    def __radd__(self, other: int) -> "Loss":
        return self if isinstance(other, int) and other == 0 else NotImplemented  # sum() starts at 0

    def __mul__(self, factor: int | float | Float[Tensor, ""]) -> "Loss":
        if isinstance(factor, Loss):
            return NotImplemented
        return Loss({name: factor * term for name, term in self.terms.items()})

    __rmul__ = __mul__
