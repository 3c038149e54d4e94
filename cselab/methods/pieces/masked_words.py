"""BERT's masked language modelling, as a further term of a loss."""

import torch
import torch.nn.functional as F
from torch import nn

from cselab.augmentations import mask_tokens
from cselab.encoder import SentenceEncoder
from cselab.encoding import Encode, Tokens
from cselab.heads import fresh_linear
from cselab.losses import Loss
from cselab.methods.pieces.token_states import token_states


class MaskedWords(nn.Module):
    """Guess masked tokens from their contexts: Linear, GELU, LayerNorm, then the input vectors of all tokens.

        l = mean over masked tokens of -log softmax(E g(h) + b)_token             Devlin et al. 2019

    The head is fresh: bundled encoders and checkpoints carry none.

    See also: `cselab.augmentations.mask_tokens`, which masks.
    """

    def __init__(self, encoder: SentenceEncoder, generator: torch.Generator) -> None:
        super().__init__()
        config = encoder.backbone.config
        self.dense = fresh_linear(config.hidden_size, config.hidden_size, generator)
        self.norm = nn.LayerNorm(config.hidden_size)
        self.bias = nn.Parameter(torch.zeros(config.vocab_size))

    def forward(self, encode: Encode, tokens: Tokens, share: float, generator: torch.Generator) -> Loss:
        """The term `masked_words` of these tokens, of which `share` are masked."""
        encoder = encode.encoder
        mask = encoder.tokenizer.mask_token_id
        masked, chosen = mask_tokens(tokens, share, generator, mask, len(self.bias))
        hidden = self.norm(F.gelu(self.dense(token_states(encoder, masked)[chosen])))
        logits = F.linear(hidden, encoder.backbone.get_input_embeddings().weight, self.bias)
        return Loss({"masked_words": F.cross_entropy(logits.float(), tokens["input_ids"][chosen])})
