"""Changes of a text or its tokens that should keep the meaning (only `negate` reverses the meaning), one per file.

Changes of texts turn a list of strings into a list of strings. Changes of tokens turn the result of `Encode.tokens`
into tokens for `Encode`. Random numbers come from the generator that is passed in, on the CPU: the same generator
state gives the same change on every device and in every process.
"""

from .cutoff import cut_features, cut_tokens
from .deletion import delete_span, delete_words, reorder_spans
from .inner import inner_tokens
from .masking import mask_spans, mask_tokens
from .negation import negate
from .repetition import repeat_subwords
from .shuffling import shuffle_positions
from .spans import draw_spans
from .substitution import Substitution
from .switch_case import switch_case

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
