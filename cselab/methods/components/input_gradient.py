"""The gradient of a loss by the input vectors of a sentence's tokens: where an adversarial example lies."""

from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from cselab.encoders.pooling import Vectors
from cselab.encoders.training_forward import Encode


def input_gradient(
    encode: Encode, sentences: Sequence[str], loss: Callable[[Vectors], Tensor]
) -> tuple[dict[str, Tensor], Float[Tensor, "n t d"]]:
    """The tokens with `inputs_embeds` instead of ids, and d loss / d inputs_embeds; no computation graph remains.

    With several processes, each gets the gradient of its share of the sentences, times the number of processes. Only
    the direction matters.
    """
    tokens = dict(encode.tokens(sentences))
    embeds = encode.encoder.backbone.get_input_embeddings()(tokens.pop("input_ids"))
    with torch.enable_grad():
        probe = embeds.detach().requires_grad_()
        (slope,) = torch.autograd.grad(loss(encode({**tokens, "inputs_embeds": probe})), probe)
    return {**tokens, "inputs_embeds": embeds}, slope
