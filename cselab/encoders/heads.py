"""Training heads: layers between the encoder's vector and the loss in training.

A head is an `nn.Module` from [n, d] to [n, d] whose `dense_layers` lists its linear layers and activations at
inference. cselab saves these, and sentence-transformers reads them.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from cselab._util.checksums import CheckpointError
from cselab.sgw import ShuffledGroupWhitening

from .pooling import Vectors

ACTIVATIONS: dict[str, type[nn.Module]] = {
    f"{kind.__module__}.{kind.__name__}": kind for kind in (nn.Tanh, nn.ReLU, nn.GELU, nn.Sigmoid, nn.Identity)
}
"""By the names that sentence-transformers writes, such as "torch.nn.modules.activation.Tanh"."""


DenseLayer = tuple[nn.Linear, nn.Module]
"""A linear layer and the activation after it."""


def check_head(head: nn.Module) -> None:
    """Raise TypeError unless the head can be saved; checked at the attachment, not after the last step."""
    if not isinstance(head, nn.Module) or not callable(getattr(head, "dense_layers", None)):
        raise TypeError(
            f"the head {type(head).__name__} cannot be saved: a head is an nn.Module with `dense_layers()`, which "
            "yields its linear layers and activations (cselab.encoders.heads.DenseLayers has it)"
        )
    if isinstance(head, DenseLayers):
        for _, activation in head.dense_layers():
            if type(activation) not in ACTIVATIONS.values():
                names = ", ".join(kind.__name__ for kind in ACTIVATIONS.values())
                raise TypeError(
                    f"the head's activation {type(activation).__name__} cannot be saved; choose one of {names}"
                )


def check_widths(head: Any, width: int, folder: Path) -> None:
    """Raise CheckpointError unless each layer of a saved head fits the output of the layer before, and the first fits
    `width`.
    """
    for linear, _ in head.dense_layers():
        if linear.in_features != width:
            raise CheckpointError(
                f"{folder} has a dense layer for {linear.in_features} numbers but its input has {width}: its files "
                "belong to different models"
            )
        width = linear.out_features


class DenseLayers(nn.Module):
    """A chain of linear layers, each with its activation: a head that was saved and loaded again."""

    def __init__(self, layers: Sequence[DenseLayer]) -> None:
        super().__init__()
        self.layers: Any = nn.Sequential(*(module for pair in layers for module in pair))

    def forward(self, x: Vectors) -> Float[Tensor, "n e"]:
        return self.layers(x)

    def dense_layers(self) -> Iterable[DenseLayer]:
        return zip(self.layers[::2], self.layers[1::2], strict=True)


def fresh_linear(width: int, out: int, generator: torch.Generator, bias: bool = True, std: float = 0.02) -> nn.Linear:
    """A linear layer as BERT starts its own: weights N(0, 0.02^2) drawn with the generator, biases 0."""
    linear = nn.utils.skip_init(nn.Linear, width, out, bias=bias)  # else it draws from the global generator
    nn.init.normal_(linear.weight, std=std, generator=generator)
    if bias:
        nn.init.zeros_(linear.bias)
    return linear


class MLPHead(DenseLayers):
    """Linear(d, d) + tanh on the sentence vector, SimCSE's head: freshly initialised, used in training.

    SimCSE trains with this head, and unsupervised SimCSE evaluates without it.
    """

    def __init__(self, width: int, generator: torch.Generator) -> None:
        super().__init__([(fresh_linear(width, width, generator), nn.Tanh())])


class ProjectionHead(DenseLayers):
    """Linear(d, d), ReLU, Linear(d, e), without biases: the head of VaSCL and PairSupCon, with e = 128."""

    def __init__(self, width: int, out: int, generator: torch.Generator) -> None:
        first, last = (fresh_linear(width, size, generator, bias=False) for size in (width, out))
        super().__init__([(first, nn.ReLU()), (last, nn.Identity())])


class NormalizedHead(nn.Module):
    """Linear(d, 2d) - batch norm - ReLU - Linear(2d, d) - batch norm, without biases: DiffCSE's head.

    Each call is a separate batch. The second normalisation has no scale and shift to learn. At inference the running
    averages replace the batch statistics and become part of the linear layers.
    """

    def __init__(self, width: int, generator: torch.Generator) -> None:
        super().__init__()
        self.layers: Any = nn.Sequential(
            fresh_linear(width, 2 * width, generator, bias=False),
            nn.BatchNorm1d(2 * width),
            nn.ReLU(),
            fresh_linear(2 * width, width, generator, bias=False),
            nn.BatchNorm1d(width, affine=False),
        )

    def forward(self, x: Vectors) -> Vectors:
        return self.layers(x)

    def dense_layers(self) -> Iterable[DenseLayer]:
        first, norm, relu, last, last_norm = self.layers
        yield _normalized(first, norm), relu
        yield _normalized(last, last_norm), nn.Identity()


def _normalized(linear: nn.Linear, norm: Any) -> nn.Linear:
    """One linear layer that equals a linear layer followed by normalisation with running averages."""
    scale = (norm.running_var + norm.eps).rsqrt() * (1 if norm.weight is None else norm.weight)
    shift = 0 if norm.bias is None else norm.bias
    both = nn.utils.skip_init(nn.Linear, linear.in_features, linear.out_features).to(linear.weight)
    with torch.no_grad():
        both.weight.copy_(scale[:, None] * linear.weight)
        both.bias.copy_(shift - scale * norm.running_mean)
    return both


class WhitenedHead(nn.Module):
    """Shuffled group whitening, then Linear + tanh if `mlp` is one: the head of WhitenedCSE.

    Each call is a separate view: in training the whitening draws a fresh permutation.
    """

    def __init__(self, whitening: ShuffledGroupWhitening, mlp: nn.Module | None) -> None:
        super().__init__()
        self.whitening = whitening
        self.mlp: Any = mlp

    def forward(self, x: Vectors) -> Vectors:
        whitened = self.whitening(x)
        return whitened if self.mlp is None else self.mlp(whitened)

    def dense_layers(self) -> Iterable[DenseLayer]:
        yield self.whitening.as_linear(), nn.Identity()
        if self.mlp is not None:
            yield from self.mlp.dense_layers()


def each_view(head: nn.Module, views: Sequence[Vectors], layout: str = "per_view") -> list[Tensor]:
    """The views after the head, each a separate batch; or cut as in the released WhitenedCSE.

    "contiguous_thirds": rows are in order of sentences, and the head treats contiguous blocks, one per view, as if
    they were views.
    """
    if layout == "per_view":
        return [head(view) for view in views]
    sentence_major = torch.stack(list(views), dim=1).flatten(0, 1)
    passed = torch.cat([head(block) for block in sentence_major.chunk(len(views))])
    return list(passed.unflatten(0, (-1, len(views))).unbind(1))
