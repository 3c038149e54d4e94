"""Token shuffling: the words stay, their positions change places (one of ConSERT's augmentations)."""

import torch

from cselab._util.arguments import checked
from cselab.encoders.speed import to_device
from cselab.encoders.text import TokenizedBatch

from .inner import inner_tokens


@checked
def shuffle_positions(tokens: TokenizedBatch, generator: torch.Generator, first: int = 0) -> TokenizedBatch:
    """The tokens with `position_ids` that permute the positions of each sentence.

    The order of the tokens themselves does not change. For a transformer, which sees order only through positions,
    this is the shuffled sentence. [CLS] and [SEP] keep their places.

    Args:
        tokens: the result of `Encode.tokens`.
        generator: draws the permutations, on the CPU.
        first: the position of the first token: see `first_position`.
    """
    inner = inner_tokens(tokens)
    places = torch.arange(inner.shape[1], device=inner.device)
    drawn = to_device(torch.rand(inner.shape, generator=generator), inner.device)
    # sorted by these: the first token, the inner tokens in random order, then the rest unchanged
    order = torch.where(inner, drawn, torch.where(places > 0, places + 1.0, -1.0)).argsort(1)
    return {**tokens, "position_ids": first + order}
