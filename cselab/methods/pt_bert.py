"""PT-BERT (Tan et al. 2022): all sentences get the same length of pseudo-tokens, in two encoders."""

from typing import Literal

import torch
from torch import nn

from cselab.methods import (
    Contrastive,
    Encode,
    Head,
    Recipe,
    Rows,
    SentenceEncoder,
    Setup,
    TokenizedBatch,
    Vectors,
    Views,
    register,
)
from cselab.methods.components import MomentumEncoder, Queue, token_states
from cselab.methods.hyperparameters import Momentum, NonNegativeInt, PositiveInt


@register("pt_bert", "PT-BERT")
class PTBERT(Contrastive):
    """Two encoders make the views; pseudo-tokens remove length and order from the comparison.

        Z = softmax( P Y^T / sqrt d ) Y,     h = softmax( y_CLS Z^T / sqrt d ) Z
        l_i = InfoNCE( h_i, h'_i ; queue of earlier h' )

    Y the token vectors of a sentence, P `pseudo_tokens` learnt rows; h' comes from an encoder that follows with
    `momentum`, shares P and gives no gradient. The queue holds four batches of 64. The encoder's own
    vector, without P, is evaluated.

    In `variant="released"`, Y is only the [CLS] vector, as in the released code: a softmax over one key is 1, so Z
    repeats the vector, h is y_CLS, and P has no effect. The code's attention is a layer of BERT's, with learnt
    queries, keys and values, BERT's number of heads, and dropout on the weights. Its second encoder has a separate P
    and head that follow; in cselab P and head are shared. The recipe is its script's.

    See also: `MomentumEncoder`, `Queue`; `ESimCSE`, which breaks the tie of length by repeating.
    """

    family = "momentum"
    positives_by_dropout = False
    small = {"pseudo_tokens": 4, "queue": 12}
    pseudo_tokens: PositiveInt = 128
    attend: Literal["tokens", "cls"] = "tokens"
    momentum: Momentum = 0.885
    queue: NonNegativeInt = 256

    variants = {"paper": {}, "released": {"attend": "cls"}}
    recipes = {"bert-base": Recipe(lr=3e-5, max_length=64)}

    def build(self, setup: Setup) -> Head:
        width = setup.width
        self.pseudo = nn.Parameter(torch.randn(self.pseudo_tokens, width, generator=setup.generator))
        self.slow, self.earlier = MomentumEncoder(setup.encoder, self.momentum), Queue(self.queue, width)
        return super().build(setup)

    def views(self, encode: Encode, batch: Rows) -> Views:
        tokens, head = encode.tokens(batch), encode.head or nn.Identity()
        anchor = head(self._pooled(encode.encoder, tokens))
        with torch.no_grad():
            self.slow.follow(encode.encoder)
            keys = head(self._pooled(self.slow.encoder, tokens))
        v = Views(anchor, keys).with_negatives(self.earlier.vectors)
        self.earlier.put(keys)
        return v

    def _pooled(self, encoder: SentenceEncoder, tokens: TokenizedBatch) -> Vectors:
        states, seen = token_states(encoder, tokens), tokens["attention_mask"].bool()[:, None]
        cls = states[:, :1]
        if self.attend == "cls":
            states, seen = cls, seen[..., :1]
        width = states.shape[2] ** 0.5
        weights = (self.pseudo @ states.mT / width).masked_fill(~seen, -torch.inf).softmax(2)
        mixed = weights @ states
        return ((cls @ mixed.mT / width).softmax(2) @ mixed).squeeze(1)
