"""The parts of methods: a following encoder, a queue, the states of tokens, masked words, entities' vectors.

A method assigns them to itself in `build`; they are then moved, saved and resumed with the run.
"""

from cselab.methods.components.entity_contexts import entity_contexts
from cselab.methods.components.input_gradient import input_gradient
from cselab.methods.components.masked_lm_generator import MaskedLMGenerator
from cselab.methods.components.masked_words import MaskedWords
from cselab.methods.components.momentum_encoder import MomentumEncoder
from cselab.methods.components.queue import Queue
from cselab.methods.components.replaced_tokens import replaced_tokens
from cselab.methods.components.token_states import token_states
from cselab.methods.components.word_tables import antonyms, synonyms

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
