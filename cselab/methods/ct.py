"""Contrastive Tension (Carlsson et al. 2021): two encoders that agree on a sentence and on nothing else."""

import copy
from typing import Literal

import torch
import torch.nn.functional as F

from cselab.losses import Loss, info_nce
from cselab.methods import Contrastive, Encode, Head, Recipe, Rows, Setup, Views, register
from cselab.methods.hyperparameters import PositiveInt


@register("ct", "Contrastive Tension")
class CT(Contrastive):
    """Two encoders start equal and are trained without dropout and without a head.

        l = mean over pairs of binary cross-entropy( sigmoid( f1(a) f2(b) ), a = b )

    Each sentence forms a pair with itself and with each of `negatives` further sentences (7 in the paper: one equal
    pair in eight). Raw dot products, so that lengths count; `temperature` has no effect. The authors' batch of 16 is
    16 pairs, 2 equal and 14 unequal, of 30 sentences drawn for it; here 16 are sentences, which make 128 pairs. cselab
    keeps the second encoder; the authors' code keeps the encoder with the higher dev score.

    `objective="info_nce"` contrasts the encoders' vectors within the batch, in each direction, as "CT with in-batch
    negatives" of sentence-transformers. sentence-transformers learns 1 / t, starting at 20; in cselab `temperature` is
    constant.

    The paper trains with RMSprop, at rates that fall from 1e-5 to 2e-6; cselab uses AdamW with a linear decay, as
    always. It uses the mean of the tokens as the vector, and 75 tokens.

    See also: `SGOPT`, whose second network is frozen; `MomentumEncoder`, which follows.
    """

    family = "extra network"
    positives_by_dropout = False
    objective: Literal["tension", "info_nce"] = "tension"
    negatives: PositiveInt = 7
    head = "none"

    variants = {"paper": {}, "in_batch": {"objective": "info_nce"}}
    recipes = {"bert-base": Recipe(lr=1e-5, batch_size=16, max_length=75, pooling="mean")}

    def build(self, setup: Setup) -> Head:
        head = super().build(setup)
        self.other = copy.deepcopy(setup.encoder)
        self.other.head = copy.deepcopy(head)
        return head

    def views(self, encode: Encode, batch: Rows) -> Views:
        first = encode(batch, by=self.other, dropout=False)
        return Views(first, encode(batch, dropout=False))

    def loss(self, v: Views) -> Loss:
        if self.objective == "info_nce":
            return 0.5 * (super().loss(v) + info_nce(v.positive, v.anchor, self.temperature))
        others = range(min(self.negatives, len(v.anchor) - 1) + 1)
        pairs = [(v.anchor * v.positive.roll(-shift, 0)).sum(1).float() for shift in others]
        equal = [torch.full_like(dots, float(shift == 0)) for shift, dots in zip(others, pairs, strict=True)]
        tension = F.binary_cross_entropy_with_logits(torch.cat(pairs), torch.cat(equal))
        return Loss({"tension": tension})
