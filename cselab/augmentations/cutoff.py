"""Cutoff: parts of a sentence's input vectors become 0 (Shen et al. 2020; two of ConSERT's augmentations)."""

import torch

from cselab._util.arguments import UnitInterval, checked
from cselab.encoders.speed import to_device
from cselab.encoders.text import TokenizedBatch

from .inner import inner_tokens, random_ranks


@checked
def cut_features(tokens: TokenizedBatch, width: int, share: UnitInterval, generator: torch.Generator) -> TokenizedBatch:
    """Feature cutoff: in each sentence the same randomly chosen dimensions of all its tokens are 0.

    Args:
        tokens: the result of `Encode.tokens`.
        width: dimensions of the encoder.
        share: the share of the dimensions that are cut, rounded down; 0.2 in ConSERT.
        generator: draws the choices, on the CPU.

    Returns:
        the tokens with `embedding_mask` [n, t, width]: factors of the embedding layer's output, 0 or 1.

    See also: `cut_tokens`, which cuts rows of the same matrix instead of columns.
    """
    seen = tokens["attention_mask"]
    ranks = torch.rand(len(seen), width, generator=generator).argsort(1).argsort(1)
    kept = to_device(ranks >= int(share * width), seen.device).float()
    return {**tokens, "embedding_mask": kept[:, None].expand(-1, seen.shape[1], -1)}


@checked
def cut_tokens(tokens: TokenizedBatch, share: UnitInterval, generator: torch.Generator) -> TokenizedBatch:
    """Token cutoff: randomly chosen tokens of each sentence are embedded as 0; [CLS] and [SEP] stay.

    Args:
        tokens: the result of `Encode.tokens`.
        share: the share of each sentence's own tokens that are cut, rounded down.
        generator: draws the choices, on the CPU.

    Returns:
        the tokens with `embedding_mask` [n, t, 1]: see `cut_features`.
    """
    inner = inner_tokens(tokens)
    cut = random_ranks(inner, generator) < (share * inner.sum(1, keepdim=True)).floor()
    return {**tokens, "embedding_mask": (~cut[..., None]).float()}
