"""Which tokens of a row are the sentence's own."""

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from cselab._util.arguments import checked
from cselab.encoders.speed import to_device
from cselab.encoders.text import TokenizedBatch


@checked
def inner_tokens(tokens: TokenizedBatch) -> Bool[Tensor, "n t"]:
    """Where the sentence's own tokens are: everything but the first token, the last, and padding.

    >>> import torch
    >>> inner_tokens({"attention_mask": torch.tensor([[1, 1, 1, 1], [1, 1, 1, 0]])}).int()
    tensor([[0, 1, 1, 0],
            [0, 1, 0, 0]], dtype=torch.int32)
    """
    seen = tokens["attention_mask"].bool()
    inner = seen & seen.roll(-1, 1)
    inner[:, 0] = inner[:, -1] = False
    return inner


@checked
def random_ranks(inner: Bool[Tensor, "n t"], generator: torch.Generator) -> Int[Tensor, "n t"]:
    """A random order of the inner tokens of each row, from 0 on; all further tokens come after them."""
    drawn = to_device(torch.rand(inner.shape, generator=generator), inner.device)
    return drawn.masked_fill(~inner, 2).argsort(1).argsort(1)
