"""From texts to token ids and masks.

A call of transformers' tokenizer makes lists of Python numbers of every text, and pads them one by one. Here the same
tokenizer's own results are kept, and their numbers are read once, when a batch is laid out: a third of the time.

See also: `cselab.encoders.prompts`, which changes what the tokenizer puts around a text.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from tokenizers import Encoding
from torch import Tensor
from transformers.tokenization_utils_base import TruncationStrategy
from transformers.utils import PaddingStrategy

CHARACTERS = 100
"""Of a text so many characters a token of the longest input are read: a line of 50 MB is cut before it is tokenised."""

NAMES = ("input_ids", "token_type_ids", "attention_mask")
"""What models take, in the order of `padded`."""


def encodings(tokenizer: Any, texts: Sequence[str], max_length: int) -> list[Encoding]:
    """The tokens of each text, special tokens among them, cut at `max_length`; not padded."""
    tokenizer.set_truncation_and_padding(
        PaddingStrategy.DO_NOT_PAD, TruncationStrategy.LONGEST_FIRST, max_length, 0, None, None
    )
    tokenizer.backend_tokenizer.encode_special_tokens = tokenizer.split_special_tokens
    return tokenizer.backend_tokenizer.encode_batch_fast([text[: CHARACTERS * max_length] for text in texts])


def padded(tokenizer: Any, batch: Sequence[Encoding]) -> dict[str, Tensor]:
    """What the model takes of a batch, each [n, t]: padded to the longest row, on the tokenizer's side."""
    fillings = {"ids": tokenizer.pad_token_id, "type_ids": tokenizer.pad_token_type_id, "attention_mask": 0}
    longest = max(map(len, batch))
    features = {}
    for name, (numbers, filling) in zip(NAMES, fillings.items(), strict=True):
        if name in tokenizer.model_input_names:
            rows = np.full((len(batch), longest), filling)
            for row, one in zip(rows, batch, strict=True):
                own = slice(longest - len(one), None) if tokenizer.padding_side == "left" else slice(len(one))
                row[own] = getattr(one, numbers)
            features[name] = torch.from_numpy(rows)
    return features
