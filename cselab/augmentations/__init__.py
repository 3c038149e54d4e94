"""Changes of a text, or of its tokens, that are meant to leave the meaning: one a file.

Those of texts take a list of strings and give a list of strings; those of tokens take what `Encode.tokens` gives
and give tokens that `Encode` takes. Random numbers come from the generator that is passed in, on the CPU: the same
generator state gives the same change on every device and in every process.
"""

from cselab.augmentations.cutoff import cut_features, cut_tokens
from cselab.augmentations.inner import first_position, inner_tokens
from cselab.augmentations.repetition import repeat_subwords
from cselab.augmentations.shuffling import shuffle_positions
from cselab.augmentations.switch_case import switch_case

__all__ = [
    "cut_features",
    "cut_tokens",
    "first_position",
    "inner_tokens",
    "repeat_subwords",
    "shuffle_positions",
    "switch_case",
]
