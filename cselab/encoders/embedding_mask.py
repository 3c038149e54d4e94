"""What a sentence is embedded as, changed on its way into the layers: what cutoffs and a discriminator ask for."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from jaxtyping import Float
from torch import Tensor, nn


def embedding_layer(backbone: Any) -> nn.Module:
    """What turns tokens into input vectors: BERT's word, position and type with their LayerNorm, a decoder's table."""
    return getattr(backbone, "embeddings", None) or backbone.get_input_embeddings()


@contextmanager
def embedding_changed(backbone: Any, change: Callable[[Tensor], Tensor]) -> Iterator[None]:
    """Inside, the layers get what `change` makes of the embedding layer's output [n, t, d]."""
    hook = embedding_layer(backbone).register_forward_hook(lambda module, given, embedded: change(embedded))
    try:
        yield
    finally:
        hook.remove()


@contextmanager
def embedding_masked(backbone: Any, tokens: Mapping[str, Tensor]) -> Iterator[Mapping[str, Tensor]]:
    """The tokens without their `embedding_mask`, by which the output of the embedding layer is multiplied meanwhile."""
    if "embedding_mask" not in tokens:
        yield tokens
        return
    mask: Float[Tensor, "n t _d"] = tokens["embedding_mask"]
    with embedding_changed(backbone, lambda embedded: embedded * mask.to(embedded)):
        yield {name: tensor for name, tensor in tokens.items() if name != "embedding_mask"}
