"""What several methods are built from: a following encoder, a queue of vectors, the states of tokens, masked words.

A method assigns them to itself in `build`; they are then moved, saved and resumed with the run.
"""

from cselab.methods.pieces.dropout_rate import dropout_rate
from cselab.methods.pieces.guesser import Guesser
from cselab.methods.pieces.input_slope import input_slope
from cselab.methods.pieces.masked_words import MaskedWords
from cselab.methods.pieces.momentum_encoder import MomentumEncoder
from cselab.methods.pieces.queue import Queue
from cselab.methods.pieces.replaced_tokens import replaced_tokens
from cselab.methods.pieces.token_states import token_states
from cselab.methods.pieces.word_tables import antonyms, synonyms

__all__ = [
    "Guesser",
    "MaskedWords",
    "MomentumEncoder",
    "Queue",
    "antonyms",
    "dropout_rate",
    "input_slope",
    "replaced_tokens",
    "synonyms",
    "token_states",
]
