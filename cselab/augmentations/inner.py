"""Which tokens of a row are the sentence's own."""

from collections.abc import Mapping

from jaxtyping import Bool
from torch import Tensor


def inner_tokens(tokens: Mapping[str, Tensor]) -> Bool[Tensor, "n t"]:
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
