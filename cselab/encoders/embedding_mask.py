"""Parts of what a sentence is embedded as, switched off: what the cutoffs of `cselab.augmentations` ask for."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from jaxtyping import Float
from torch import Tensor, nn


def embedding_layer(backbone: Any) -> nn.Module:
    """What turns tokens into input vectors: BERT's word, position and type with their LayerNorm, a decoder's table."""
    return getattr(backbone, "embeddings", None) or backbone.get_input_embeddings()


@contextmanager
def embedding_masked(backbone: Any, tokens: Mapping[str, Tensor]) -> Iterator[Mapping[str, Tensor]]:
    """The tokens without their `embedding_mask`, by which the output of the embedding layer is multiplied meanwhile."""
    if "embedding_mask" not in tokens:
        yield tokens
        return
    mask: Float[Tensor, "n t _d"] = tokens["embedding_mask"]

    def cut(module: nn.Module, given: Any, embedded: Tensor) -> Tensor:
        return embedded * mask.to(embedded)

    hook = embedding_layer(backbone).register_forward_hook(cut)
    try:
        yield {name: tensor for name, tensor in tokens.items() if name != "embedding_mask"}
    finally:
        hook.remove()
