"""Changes of a text or its tokens that should keep the meaning (only `negate` reverses the meaning).

Changes of texts turn a list of strings into a list of strings. Changes of tokens turn the result of `Encode.tokens`
into tokens for `Encode`. Random numbers come from the generator that is passed in, on the CPU: the same generator
state gives the same change on every device and in every process.
"""

from .tokens import (
    cut_features,
    cut_tokens,
    draw_spans,
    inner_tokens,
    mask_spans,
    mask_tokens,
    repeat_subwords,
    shuffle_positions,
)
from .words import Substitution, delete_span, delete_words, negate, reorder_spans, switch_case

__all__ = [
    "Substitution",
    "cut_features",
    "cut_tokens",
    "delete_span",
    "delete_words",
    "draw_spans",
    "inner_tokens",
    "mask_spans",
    "mask_tokens",
    "negate",
    "reorder_spans",
    "repeat_subwords",
    "shuffle_positions",
    "switch_case",
]
