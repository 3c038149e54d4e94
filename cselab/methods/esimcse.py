"""ESimCSE (Wu et al. 2022): some sub-words are repeated, and a queue adds further negatives."""

from typing import Literal

import torch

from cselab.augmentations import inner_tokens, repeat_subwords
from cselab.methods import Contrastive, Encode, Head, Recipe, Rows, Setup, Views, register
from cselab.methods.components import MomentumEncoder, Queue
from cselab.methods.hyperparameters import Momentum, NonNegativeInt, UnitInterval


@register("esimcse", "ESimCSE")
class ESimCSE(Contrastive):
    """The second view is longer by a few repeated sub-words, so that length no longer identifies a pair.

        k ~ uniform {0 ... max(2, int(rate * N_i))} sub-words are doubled
        l_i = -log( e^{s_i,i+} / ( sum_j e^{s_i,j+} + sum_q e^{s_i,q} ) ),   s = cos / t,  q in the queue

    The queue holds 2.5 batches of 64: vectors of an encoder that follows with `momentum`, without dropout, after the
    shared head; a batch is put in after its loss. `variant="simclr"` is the survey's ESimCSE-SimCLR: no queue.

    `variant="released"` draws k from {0 ... min(10, int(rate * length)) - 1}, [CLS] and [SEP] counted, as the code
    does. That code draws once for the whole training, here every step draws anew. Its slow encoder starts from random
    weights, copied before the checkpoint is loaded; here it starts as the encoder.

    The authors' script has a `rate` of 0.32 for BERT, 0.30 for RoBERTa-base, and 0.28 for RoBERTa-large, where the
    queue holds 128 vectors and dropout is 0.15 (the `recipes` leave dropout as it is).

    See also: `MomentumEncoder` and `Queue`, its second half; `SimCSE`, without either.
    """

    family = "text"
    positives_by_dropout = False
    small = {"queue": 12}
    rate: UnitInterval = 0.32
    counts: Literal["paper", "released"] = "paper"
    queue: NonNegativeInt = 160
    momentum: Momentum = 0.995

    variants = {"paper": {}, "released": {"counts": "released"}, "simclr": {"queue": 0}}
    recipes = {
        "bert-base": Recipe(lr=3e-5),
        "bert-large": Recipe(lr=1e-5),
        "roberta-base": Recipe(lr=1e-5, hyperparameters={"rate": 0.30}),
        "roberta-large": Recipe(lr=1e-5, hyperparameters={"rate": 0.28, "queue": 128}),
    }

    def build(self, setup: Setup) -> Head:
        if self.queue:
            self.slow = MomentumEncoder(setup.encoder, self.momentum)
            self.earlier = Queue(self.queue, setup.width)
        return super().build(setup)

    def views(self, encode: Encode, batch: Rows) -> Views:
        tokens = encode.tokens(batch)
        room = encode.encoder.max_length - tokens["attention_mask"].sum(1)
        padding = encode.encoder.tokenizer.pad_token_id
        longer = repeat_subwords(tokens, self._most(tokens).minimum(room), self.generator, padding)
        v = Views(*encode(tokens, longer))
        if not self.queue:
            return v
        keys = self.slow.keys(encode, tokens, dropout=False)
        v.with_negatives(self.earlier.vectors)
        self.earlier.put(keys)
        return v

    def _most(self, tokens: dict[str, torch.Tensor]) -> torch.Tensor:
        """The largest number of sub-words of each sentence that may be doubled."""
        if self.counts == "released":
            return ((self.rate * tokens["attention_mask"].sum(1)).long().clamp(max=10) - 1).clamp(min=0)
        return (self.rate * inner_tokens(tokens).sum(1)).long().clamp(min=2)
