"""Cutoff: parts of the input vectors set to zero (Shen et al. 2020; two of ConSERT's augmentations)."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from cselab.device import sent


def cut_features(embeds: Float[Tensor, "n t d"], share: float, generator: torch.Generator) -> Float[Tensor, "n t d"]:
    """Feature cutoff: in each sentence the same randomly chosen dimensions of all its tokens are 0.

    Args:
        embeds: input vectors of the tokens.
        share: of the dimensions that are cut; 0.2 in ConSERT.
        generator: what chooses, on the CPU.

    See also: `cut_tokens`, which cuts rows of the same matrix in place of columns.
    """
    rows, _, width = embeds.shape
    ranks = torch.rand(rows, width, generator=generator).argsort(1).argsort(1)
    kept = ranks >= round(share * width)
    return embeds * sent(kept[:, None], embeds.device).to(embeds)


def cut_tokens(
    embeds: Float[Tensor, "n t d"], inner: Bool[Tensor, "n t"], share: float, generator: torch.Generator
) -> Float[Tensor, "n t d"]:
    """Token cutoff: randomly chosen tokens of each sentence have the input vector 0.

    Args:
        embeds: input vectors of the tokens.
        inner: which tokens may be cut: see `inner_tokens`.
        share: of each sentence's tokens that are cut, rounded down.
        generator: what chooses, on the CPU.

    See also: `cut_features`.
    """
    drawn = sent(torch.rand(inner.shape, generator=generator), inner.device)
    ranks = drawn.masked_fill(~inner, 2).argsort(1).argsort(1)
    cut = ranks < (share * inner.sum(1, keepdim=True)).floor()
    return embeds.masked_fill(cut[..., None], 0)
