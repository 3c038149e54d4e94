"""The tokens of replaced words."""

from collections.abc import Sequence

import torch
from jaxtyping import Bool
from torch import Tensor

from cselab.encoders.training_forward import Encode


def replaced_tokens(
    encode: Encode, changed: Sequence[tuple[str, Sequence[tuple[int, int]]]]
) -> Bool[Tensor, " tokens"]:
    """For each token of the changed texts, row by row and without padding: is it part of a replacement?

    Args:
        encode: whose tokens they are.
        changed: the result of `Substitution.replaced` for each text: the text, and the places of its replacements.
    """
    read = encode.encoder.tokenizer(
        [text for text, _ in changed], truncation=True, max_length=encode.max_length, return_offsets_mapping=True
    )
    return torch.tensor([
        any(start < end and begin <= start < stop for begin, stop in places)
        for (_, places), offsets in zip(changed, read["offset_mapping"], strict=True)
        for start, end in offsets
    ])  # fmt: skip
