"""Changes of a text or its tokens that should keep the meaning (only `negate` reverses the meaning), one per file.

Changes of texts turn a list of strings into a list of strings. Changes of tokens turn the result of `Encode.tokens`
into tokens for `Encode`. Random numbers come from the generator that is passed in, on the CPU: the same generator
state gives the same change on every device and in every process.
"""

from cselab.augmentations.cutoff import cut_features, cut_tokens
from cselab.augmentations.deletion import delete_span, delete_words, reorder_spans
from cselab.augmentations.inner import inner_tokens
from cselab.augmentations.masking import mask_spans, mask_tokens
from cselab.augmentations.negation import negate
from cselab.augmentations.repetition import repeat_subwords
from cselab.augmentations.shuffling import shuffle_positions
from cselab.augmentations.spans import draw_spans
from cselab.augmentations.substitution import Substitution
from cselab.augmentations.switch_case import switch_case

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
