"""IS-BERT (Zhang et al. 2020): a sentence's vector shares information with its n-grams and not with those of further
sentences.
"""

import torch
from torch import nn

from cselab.encoders.pooling import mean_tokens
from cselab.losses import Loss, mutual_information
from cselab.methods import Contrastive, Encode, Head, Recipe, Rows, Setup, Views, register
from cselab.methods.components import token_states

WINDOWS = (1, 3, 5)


@register("is_bert", "IS-BERT")
class ISBERT(Contrastive):
    """Convolutions over BERT's tokens make n-gram vectors F; a sentence's n-grams are discriminated from those of all
    further sentences.

        l = mean sp( -F_a(x) . E(x) ) + mean sp( F_a(x') . E(x) ),   sp(z) = log(1 + e^z),  x' != x

    Windows of 1, 3 and 5 tokens give a third of the width each, with ReLU (256 of 768 in the paper). In the paper E(x)
    is the mean of the n-gram vectors, and the convolutions stay part of the encoder. In cselab, E(x) is the encoder's
    vector from a separate pass, so that the trained vector is the saved one. The method has no temperature; the one in
    the list of settings has no effect. The paper trains on the sentences of NLI, 32 per batch, one epoch; its rate is
    not in our copies of the papers, so the recipe has the survey's.

    See also: `cselab.losses.mutual_information`.
    """

    family = "loss"
    positives_by_dropout = False
    head = "none"

    recipes = {"bert-base": Recipe(lr=3e-5, batch_size=32, pooling="mean")}

    def build(self, setup: Setup) -> Head:
        width = setup.width
        widths = [width - 2 * (width // 3), width // 3, width // 3]
        grams = [
            nn.utils.skip_init(nn.Conv1d, width, own, window, padding=window // 2)
            for own, window in zip(widths, WINDOWS, strict=True)
        ]
        for conv in grams:
            nn.init.normal_(conv.weight, std=0.02, generator=setup.generator)
            nn.init.zeros_(conv.bias)
        self.grams = nn.ModuleList(grams)
        return super().build(setup)

    def views(self, encode: Encode, batch: Rows) -> Views:
        tokens = encode.tokens(batch)
        seen = tokens["attention_mask"]
        states = (token_states(encode.encoder, tokens) * seen[..., None]).mT
        parts = torch.cat([conv(states).relu() for conv in self.grams], dim=1).mT
        return Views(encode(tokens), mean_tokens(parts, seen), parts=parts, seen=seen.bool())

    def loss(self, v: Views) -> Loss:
        return mutual_information(v.parts, v.seen, v.anchor)
