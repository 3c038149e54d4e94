"""The parts of methods: a following encoder, a queue, the states of tokens, masked words, entities' vectors.

A method assigns them to itself in `build`; they are then moved, saved and resumed with the run.
"""

from .entity_contexts import entity_contexts
from .input_gradient import input_gradient
from .masked_lm_generator import MaskedLMGenerator
from .masked_words import MaskedWords
from .momentum_encoder import MomentumEncoder
from .queue import Queue
from .replaced_tokens import replaced_tokens
from .token_states import token_states
from .word_tables import antonyms, synonyms

__all__ = [
    "MaskedLMGenerator",
    "MaskedWords",
    "MomentumEncoder",
    "Queue",
    "antonyms",
    "entity_contexts",
    "input_gradient",
    "replaced_tokens",
    "synonyms",
    "token_states",
]
