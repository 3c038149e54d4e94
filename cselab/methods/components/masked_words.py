"""BERT's masked language modelling, as a further term of a loss."""

from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Bool
from torch import Tensor, nn

from cselab.augmentations import mask_tokens
from cselab.encoders.encoder import SentenceEncoder
from cselab.encoders.folder import load_masked_lm
from cselab.encoders.heads import fresh_linear
from cselab.encoders.open import BUNDLED, find_encoder
from cselab.encoders.training_forward import Encode, TokenizedBatch
from cselab.losses import Loss

from .token_states import token_states


class MaskedWords(nn.Module):
    """Guess masked tokens from their contexts: Linear, GELU, LayerNorm, then the input vectors of all tokens.

        l = mean over masked tokens of -log softmax(E g(h) + b)_token             Devlin et al. 2019

    A bundled encoder starts with the head of its pretraining, and any other encoder with a fresh head.

    See also: `cselab.augmentations.mask_tokens`, which masks.
    """

    def __init__(self, encoder: SentenceEncoder, generator: torch.Generator) -> None:
        super().__init__()
        config = encoder.backbone.config
        self.dense = fresh_linear(config.hidden_size, config.hidden_size, generator)
        self.norm = nn.LayerNorm(config.hidden_size)
        self.bias = nn.Parameter(torch.zeros(config.vocab_size))
        if encoder.name in BUNDLED:
            lm: Any = load_masked_lm(find_encoder(encoder.name, None)[0])
            pretrained = lm.cls.predictions
            self.dense.load_state_dict(pretrained.transform.dense.state_dict())
            self.norm.load_state_dict(pretrained.transform.LayerNorm.state_dict())
            self.bias.data.copy_(pretrained.bias)

    def forward(self, encode: Encode, tokens: TokenizedBatch, share: float, generator: torch.Generator) -> Loss:
        """The loss term `masked_words` of these tokens, with a `share` of them masked."""
        return self.guessed(encode, tokens, *self.mask(encode, tokens, share, generator))

    def mask(
        self, encode: Encode, tokens: TokenizedBatch, share: float, generator: torch.Generator
    ) -> tuple[TokenizedBatch, Bool[Tensor, "n t"]]:
        """These tokens with `share` of them masked, and which are to be guessed."""
        return mask_tokens(tokens, share, generator, encode.encoder.tokenizer.mask_token_id, len(self.bias))

    def guessed(
        self, encode: Encode, tokens: TokenizedBatch, masked: TokenizedBatch, chosen: Bool[Tensor, "n t"]
    ) -> Loss:
        """The term `masked_words` at the places of `mask`, from a separate pass over the masked tokens."""
        encoder = encode.encoder
        hidden = self.norm(F.gelu(self.dense(token_states(encoder, masked)[chosen])))
        logits = F.linear(hidden, encoder.backbone.get_input_embeddings().weight, self.bias)
        return Loss({"masked_words": F.cross_entropy(logits.float(), tokens["input_ids"][chosen])})
