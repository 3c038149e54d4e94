"""Parts of what a sentence is embedded as, switched off: what the cutoffs of `cselab.augmentations` ask for."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from jaxtyping import Float
from torch import Tensor, nn


@contextmanager
def embedding_masked(backbone: Any, tokens: Mapping[str, Tensor]) -> Iterator[Mapping[str, Tensor]]:
    """The tokens without their `embedding_mask`; meanwhile the backbone's embedding layer (the sum of word, position
    and type behind its LayerNorm) gives its output times that mask.
    """
    if "embedding_mask" not in tokens:
        yield tokens
        return
    mask: Float[Tensor, "n t _d"] = tokens["embedding_mask"]

    def cut(module: nn.Module, given: Any, embedded: Tensor) -> Tensor:
        return embedded * mask.to(embedded)

    if not hasattr(backbone, "embeddings"):
        raise ValueError(
            f"a cutoff acts behind the embedding layer of BERT and its kin; {type(backbone).__name__} has none: "
            "choose another augmentation"
        )
    hook = backbone.embeddings.register_forward_hook(cut)
    try:
        yield {name: tensor for name, tensor in tokens.items() if name != "embedding_mask"}
    finally:
        hook.remove()
