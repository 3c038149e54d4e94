"""The vectors of single tokens, for methods that look at more than one vector of a sentence."""

from jaxtyping import Float
from torch import Tensor

from cselab.encoders.encoder import SentenceEncoder
from cselab.encoders.training_forward import TokenizedBatch


def token_states(encoder: SentenceEncoder, tokens: TokenizedBatch) -> Float[Tensor, "n t d"]:
    """The last hidden states of all tokens, padding among them.

    Every process computes them for the whole batch: results from them need no gathering, and their gradient is that of
    one process.
    """
    return encoder.backbone(**tokens).last_hidden_state
