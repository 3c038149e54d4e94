"""Sub-word repetition: some tokens are repeated (ESimCSE, Wu et al. 2022)."""

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from cselab._util.arguments import checked
from cselab.encoders.text import TokenizedBatch

from .inner import inner_tokens, random_ranks


@checked
def repeat_subwords(
    tokens: TokenizedBatch, most: Tensor, generator: torch.Generator, padding: int = 0
) -> TokenizedBatch:
    """The tokens with some of each sentence's own doubled: its meaning is the same, its length is not.

        k ~ uniform {0, ..., most_i},   k different tokens of sentence i are doubled           ESimCSE Eq. 4, 5

    Args:
        tokens: the result of `Encode.tokens`.
        most: [n], the largest number of tokens that may be doubled; a sentence has no more than its tokens.
        generator: draws the random numbers, on the CPU.
        padding: the id of the padding token.

    >>> ids = torch.tensor([[2, 7, 8, 3]])
    >>> tokens = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    >>> repeat_subwords(tokens, torch.tensor([2]), torch.Generator().manual_seed(1))["input_ids"]
    tensor([[2, 7, 7, 8, 8, 3]])
    """
    inner = inner_tokens(tokens).cpu()
    count = (torch.rand(len(inner), generator=generator) * (most.cpu() + 1)).floor()
    times = 1 + (inner & (random_ranks(inner, generator) < count[:, None])).long()
    seen = tokens["attention_mask"].bool().cpu()
    kept = [torch.arange(len(row))[row].repeat_interleave(more[row]) for row, more in zip(seen, times, strict=True)]
    filler = {"input_ids": padding}
    return {
        name: pad_sequence(
            [row[index.to(row.device)] for row, index in zip(tensor, kept, strict=True)],
            batch_first=True,
            padding_value=filler.get(name, 0),
        )
        for name, tensor in tokens.items()
    }
