"""CERT (Fang et al. 2020): MoCo on back-translations."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from cselab.encoders.encoder import SentenceEncoder
from cselab.encoders.encoding import Encode
from cselab.encoders.heads import DenseLayers
from cselab.methods.base import Views, register
from cselab.methods.components import MomentumEncoder, Queue
from cselab.methods.contrastive import Contrastive
from cselab.methods.hyperparameters import Momentum, PositiveFloat, PositiveInt
from cselab.methods.recipe import Recipe


@register("cert", "CERT")
class CERT(Contrastive):
    """A sentence against the key of its paraphrase; the negatives are the queue, not the batch.

        l_i = -log( e^{q_i k_i / t} / ( e^{q_i k_i / t} + sum_b e^{q_i k_b / t} ) ),    k_b in the queue

    q = f(sentence), k = f'(paraphrase) of an encoder and projection that follow with `momentum`. CERT's two views are
    back-translations from German and from Chinese, and its fine-tuning on GLUE is not here: give a file whose columns
    sentence and paraphrase hold the two, or take the world's paraphrases. The queue of 6,720 begins as random
    directions; it should be smaller than the corpus. q and k are unit vectors here, as in MoCo.

    The recipe is the released code's. Its optimiser is not here: SGD with momentum 0.9, whose rate falls by a cosine,
    where all methods here have AdamW and a linear decay. The same rate of 4e-5 makes other steps there.

    See also: `BTBERT`, the same rows without a queue; `MomentumEncoder` and `Queue`.
    """

    family = "extra data"
    columns = ("sentence", "paraphrase")
    temperature: PositiveFloat = 0.07
    momentum: Momentum = 0.999
    queue: PositiveInt = 6720
    width: PositiveInt = 128

    recipes = {"bert-base": Recipe(lr=4e-5, batch_size=32, epochs=50, max_length=64)}

    def build(self, encoder: SentenceEncoder, rows: Sequence[Any], generator: torch.Generator) -> nn.Module | None:
        size = encoder.hidden_size
        wide, narrow = nn.Linear(size, size), nn.Linear(size, self.width)
        for layer in (wide, narrow):
            nn.init.normal_(layer.weight, std=0.02, generator=generator)
            nn.init.zeros_(layer.bias)
        head = DenseLayers([(wide, nn.ReLU()), (narrow, nn.Identity())]) if self.head == "mlp" else None
        self.slow = MomentumEncoder(encoder, self.momentum, head)
        self.earlier = Queue(self.queue, size if head is None else self.width, generator)
        return head

    def views(self, encode: Encode, batch: Sequence[Any]) -> Views:
        keys = self.slow.keys(encode, self.column(batch, "paraphrase"))
        v = Views(encode(self.column(batch, "sentence")), keys)
        out = torch.full((len(batch), len(batch)), -torch.inf).fill_diagonal_(0)  # the batch is no negative
        v.weigh(out.to(keys)).against(self.earlier.vectors)
        self.earlier.put(torch.nn.functional.normalize(keys, dim=1))
        return v
