"""Tokens behind [MASK]: contiguous spans of several lengths, or single tokens as BERT's pretraining has them."""

from collections.abc import Sequence

import torch
from jaxtyping import Bool
from torch import Tensor

from cselab._util.arguments import UnitInterval, checked
from cselab.encoders.speed import to_device
from cselab.encoders.text import TokenizedBatch

from .inner import inner_tokens, random_ranks


@checked
def mask_spans(
    tokens: TokenizedBatch, shares: Sequence[float], generator: torch.Generator, mask: int
) -> list[TokenizedBatch]:
    """The tokens with one masked span per sentence, for each share; a longer span contains the shorter ones.

    A sentence with 20 % masked then contains all words of the sentence with 40 % masked: ArcCSE's triplets (Zhang et
    al. 2022).

    Args:
        tokens: the result of `Encode.tokens`.
        shares: the shares of each sentence's own tokens, at least one token.
        generator: draws the places, on the CPU.
        mask: the id of [MASK].
    """
    inner = inner_tokens(tokens)
    count = inner.sum(1, keepdim=True)
    drawn = to_device(torch.rand(len(inner), 1, generator=generator), inner.device)
    rank = inner.cumsum(1) - 1
    views: list[TokenizedBatch] = []
    for share in shares:
        length = (share * count).round().clamp(min=1)
        start = (drawn * (count - length + 1)).floor()
        hidden = inner & (rank >= start) & (rank < start + length)
        views.append({**tokens, "input_ids": tokens["input_ids"].masked_fill(hidden, mask)})
    return views


@checked
def mask_tokens(
    tokens: TokenizedBatch, share: UnitInterval, generator: torch.Generator, mask: int, vocabulary: int
) -> tuple[TokenizedBatch, Bool[Tensor, "n t"]]:
    """The tokens as BERT's pretraining changes them, and which are to be guessed.

    A `share` (15 % in BERT) of each sentence's tokens, rounded up, is chosen. Of these, 80 % become [MASK], 10 % a
    random token, 10 % stay (Devlin et al. 2019).
    """
    inner, ids = inner_tokens(tokens), tokens["input_ids"]
    ranks = random_ranks(inner, generator)
    kind, others = (to_device(torch.rand(inner.shape, generator=generator), ids.device) for _ in range(2))
    chosen = inner & (ranks < (share * inner.sum(1, keepdim=True)).ceil())
    changed = torch.where(kind < 0.8, mask, torch.where(kind < 0.9, (others * vocabulary).long(), ids))
    return {**tokens, "input_ids": torch.where(chosen, changed, ids)}, chosen
